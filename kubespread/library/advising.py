"""What has to change for a pod, or for all replicas of a workload, to fit: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from kubespread.candidate.sources import Choosing, PodGiven, read_once
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.patches import with_patches
from kubespread.library.resolving import Resolved, resolve
from kubespread.library.revising import reviser
from kubespread.library.scaled_advice import Replicas, advise_replicas
from kubespread.library.simulating import SimulateOptions
from kubespread.library.worlds import world_of
from kubespread.planner.advise.advise import Advised, advise_pod
from kubespread.planner.advise.edited_worlds import EditedWorlds
from kubespread.planner.advise.one_pod import OnePod
from kubespread.planner.manner import Manner
from kubespread.planner.reports.advise import AdviseReport
from kubespread.scheduler.building import framework
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def advise(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    preemption: bool = True,
) -> AdviseReport:
    """The smallest changes after which ``pod`` fits some node of ``snapshot``, or all ``replicas`` of it find one.

    Each is found by making it and asking the engine again. Combinations are looked for only where no single change
    suffices.

    - ``replicas``: desired replicas, those already running among them (default: the workload's own; of a DaemonSet one
      more pod).
    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none.
    - ``recursive``: read directories with those below them.
    - ``template_path``: path of the pod template in kinds unknown to kubespread (default: ``spec.template``).
    - ``set``: fields to change before the pod is admitted: ``maxSkew[zone]=2``, ``cpu=500m``.
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.

    Raises ManifestError, SnapshotError and UsageError.
    """
    pods = [read_once(each, template_path) for each in given_pods(pod)]
    choosing = Choosing(name, namespace, recursive=recursive, template_path=template_path)
    asked = resolve(snapshot, pods, scheduler, replace(choosing, one_only=True), settings=set, preempts=preemption)
    candidate = asked.candidates[0]
    if replicas is None and candidate.workload is not None and not candidate.is_daemon:
        replicas = candidate.replicas
    if replicas is None:
        advised = _of_one_pod(asked, scheduler, preempts=preemption)
    else:
        options = SimulateOptions(choosing=choosing, settings=set, manner=Manner(preempts=preemption))
        assumed = asked.cluster.assumed
        advised = advise_replicas(
            asked, Replicas(pods, replicas, snapshot, scheduler, options, assumed, candidate.workload)
        )
    report = with_patches(advised, asked, set, name)
    return report.about(cluster_reference(snapshot)).with_gaps(asked.gaps_of(candidate))


def _of_one_pod(asked: Resolved, scheduler: Scheduler, *, preempts: bool) -> Advised:
    candidate, profile = asked.candidates[0], asked.profiles[0]
    plugins = framework(profile)
    worlds = EditedWorlds(
        lambda: world_of(asked.snapshot, scheduler, preempts=preempts, assumed=asked.cluster.assumed),
        candidate.pod.metadata.namespace,
    )
    asker = OnePod(candidate.pod, asked.cluster, plugins, reviser(asked), worlds, preempts)
    advised = advise_pod(asked.cluster, candidate.pod, plugins, profile, asker)
    workload = candidate.workload
    return replace(
        advised,
        report=structs.replace(
            advised.report,
            workload=None if workload is None else f"{workload.kind}/{workload.name}",
            admission=candidate.admission,
            notes=candidate.notes,
        ),
    )
