"""What an autoscaler of nodes adds for the replicas of one workload, on the cluster without those that run already."""

from __future__ import annotations

import dataclasses

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.meta import OwnerReference
from kubespread.questions.autoscaling.asked import autoscaler_of, grown, growth
from kubespread.questions.check.lint.trial import Subject
from kubespread.questions.check.question import Check
from kubespread.questions.scene import Scene
from kubespread.questions.worlds import world_of
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.world.reporting.difference import Grow
from kubespread.world.store.pod_book import key_of


class Growing(Struct, frozen=True):
    """The cluster, and its autoscaler."""

    autoscale: Grow
    scene: Scene

    @classmethod
    def of(cls, question: Check, scene: Scene) -> Growing | None:
        """None without an autoscaler. Raises UsageError and ManifestError."""
        kind = autoscaler_of(question)
        if kind is not None and scene.given is None:
            raise UsageError(f"--autoscaler {kind} adds nodes to a cluster, and none is given (-S FILE)")
        autoscale = None if kind is None else growth(question, scene.now)
        return None if autoscale is None else cls(autoscale, scene)

    def added(
        self, subject: Subject, replicas: int, objects: ClusterObjects, assumed: dict[str, None]
    ) -> AutoscalingReport | None:
        """What is added for so many replicas, tried by themselves. None where they would find nodes, of DaemonSets, and
        of workloads whose replicas have claims of their own, which are not made here.
        """
        if subject.is_daemon or subject.told_apart is not None:
            return None
        running, name = {key_of(pod) for pod in subject.running}, subject.name.name
        # One that is not in the cluster: its own controller would delete what is more than its replicas.
        owner = OwnerReference(kind="ReplicaSet", name=f"{name}-checked", controller=True)
        meta = replace(subject.pod.metadata, owner_references=[owner])
        others = [pod for pod in self.scene.now.pods if pod.spec.node_name and key_of(pod) not in running]
        own = [replace(subject.pod, metadata=replace(meta, name=f"{name}-{number}")) for number in range(replicas)]
        tried = dataclasses.replace(self.scene.now, pods=(*others, *own), objects=objects)
        world = world_of(tried, self.scene.scheduler, preempts=False, assumed=assumed)
        scaled = grown(self.autoscale, world)
        if scaled is None:
            return None
        pending = tuple(replace(kind, workload=subject.name) for kind in scaled.report.pending)
        return replace(scaled.report, pending=pending)
