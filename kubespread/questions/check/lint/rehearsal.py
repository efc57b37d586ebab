"""A Deployment on a cluster where nothing else happens: its replicas are placed, and then it is rolled out."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, limits
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.admission.quota import allowance
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota, TopologySpreadConstraint
from kubespread.kube.api.kinds import WORKLOADS
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import WorkloadName
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.world.events.applying import AppliedWorkload, apply_workload
from kubespread.world.events.rollouts import NewTemplate, rolled_out
from kubespread.world.events.world import World
from kubespread.world.store.owners import Made
from kubespread.world.store.store import Surroundings
from kubespread.world.store.waiting import LivingCluster, Scheduled

_BEGINNING = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_OLD, _NEW = "old", "new"


def rehearse(cluster: Cluster, deployment: Deployment, pod: Pod, scheduled: Scheduled) -> RolloutReport:
    """The rollout to a template that does not differ in anything that scheduling reads, as with ``kubectl rollout
    restart``.

    ``cluster`` holds none of the Deployment's pods: the first replicas are placed there before the rollout begins.
    ``pod`` is its next pod, admitted. Other pods stay where they are: nothing is preempted. Quotas count what they
    count in ``cluster``.
    """
    # Only its own ReplicaSets are read, and it makes them itself.
    by_type = {cls: objects for cls, objects in cluster.objects.by_type.items() if cls not in WORKLOADS}
    objects = dataclasses.replace(cluster.objects, by_type=by_type)
    world = World(
        (),
        (),
        objects,
        Surroundings(
            lambda _: scheduled,
            _making_none,
            _BEGINNING,
            scheduled[0].version,
            preempts=False,
            admission=AdmissionPlugins(),
        ),
    )
    world.living = LivingCluster(cluster.with_objects(objects))
    name = WorkloadName("Deployment", pod.metadata.namespace, deployment.metadata.name)
    own = replace(deployment, metadata=replace(deployment.metadata, namespace=name.namespace))
    old, new = (_revision(own, revision) for revision in (_OLD, _NEW))
    apply_workload(world, AppliedWorkload(_pod_of(pod, _OLD), name, old, own.spec.replicas))
    world.next_step()
    running = world.rollouts[name].deployment
    restarted = replace(running, spec=replace(new.spec, replicas=running.spec.replicas))
    return rolled_out(world, name, NewTemplate(restarted, _pod_of(pod, _NEW), _NEW))


class Stall(Struct, frozen=True):
    """A rolling update whose first new pod is not created, or finds no node, while no old pod may go."""

    max_surge: int
    message: str
    """The API server's, or kube-scheduler's."""


def stall_at_once(
    cluster: Cluster, deployment: Deployment, pod: Pod, on: Sequence[int], plugins: Framework
) -> Stall | None:
    """Whether the first pass of `rehearse` would be its last, at the cost of placing one pod.

    ``on`` are the positions of the nodes of the old ones. Raises SchedulingError where kube-scheduler would fail.
    """
    surge, unavailable = limits(deployment)
    if not surge or unavailable:
        return None
    old, new = (_pod_of(pod, revision) for revision in (_OLD, _NEW))
    allowed = allowance(new, cluster.objects.of(ResourceQuota))
    if allowed.copies is not None and allowed.copies <= len(on):
        return Stall(surge, allowed.refusal)
    message = evaluate(plugins, cluster.after(Change(come=[(old, node) for node in on])), new).message
    return None if message is None else Stall(surge, message)


def _revision(deployment: Deployment, revision: str) -> Deployment:
    template = deployment.spec.template
    assert template is not None
    annotated = replace(template.metadata, annotations={**template.metadata.annotations, TEMPLATE_HASH: revision})
    return replace(
        deployment, spec=replace(deployment.spec, template=replace(template, metadata=annotated), paused=False)
    )


def _pod_of(pod: Pod, revision: str) -> Pod:
    """The pod with the hash of ``revision`` for its own, which the API server may have merged into its selectors."""
    labels = {**pod.metadata.labels, TEMPLATE_HASH: revision}
    constraints = [_counting(constraint, revision) for constraint in pod.spec.topology_spread_constraints]
    return replace(
        pod,
        metadata=replace(pod.metadata, labels=labels),
        spec=replace(pod.spec, topology_spread_constraints=constraints),
    )


def _counting(constraint: TopologySpreadConstraint, revision: str) -> TopologySpreadConstraint:
    selector = constraint.label_selector
    if TEMPLATE_HASH not in constraint.match_label_keys or selector is None:
        return constraint
    merged = [
        replace(expression, values=[revision]) if expression.key == TEMPLATE_HASH else expression
        for expression in selector.match_expressions
    ]
    return replace(constraint, label_selector=replace(selector, match_expressions=merged))


def _making_none(name: WorkloadName, _objects: ClusterObjects) -> Made:
    raise AssertionError(f"{name} has its template")  # a ReplicaSet made here has what its Deployment gives it
