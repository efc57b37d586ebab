"""Everything that is stuck in a snapshot's cluster: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from kubespread.candidate.candidate import Surroundings
from kubespread.candidate.setting import parse_settings
from kubespread.candidate.stored import from_stored_pod
from kubespread.errors import ManifestError, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.versions import KubeVersion
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.patches import commands_for
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import world_of
from kubespread.planner.pending.freeing import RevisePod
from kubespread.planner.pending.pending import NOT_MODELLED, Told, not_made
from kubespread.planner.pending.pending import pending as pending_groups
from kubespread.planner.reports.pending import PendingReport, StuckGroup
from kubespread.planner.world.under_way import judged_as_it_stands
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def pending(
    snapshot: Snapshot,
    scheduler: Scheduler = _DEFAULT,
    *,
    namespace: str | None = None,
    selector: str = "",
    preemption: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> PendingReport:
    """The pods of ``snapshot`` without a node, by what keeps them from one, each group with the least change that frees
    it.

    A change is proven by making it and letting all pods of the group be placed. Pods that fit as things are, that have
    scheduling gates, lack a claim or name another scheduler are groups of their own.

    - ``namespace``: whose pods are asked about (default: those of all namespaces).
    - ``selector``: labels of the workloads asked about, as kubectl's ``-l`` has them (default: any labels).
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.
    - ``on_progress``: called now and then with the number of pods that were looked at.

    Raises UsageError, SnapshotError and ManifestError.
    """
    asked = WorkloadsAsked.of(namespace, selector)
    version = scheduler.release(snapshot.origin.release)
    now, notes = edited(snapshot, scheduler, asked.namespace, preempts=preemption)
    world = world_of(now, scheduler, preempts=preemption)
    under_way = judged_as_it_stands(world, asked.those_in(world))
    told = pending_groups(world, asked.those_in(world), _reviser(now, version), version, on_progress)
    if not told:
        asked.check_any(world, now)
    return PendingReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        namespace=asked.namespace,
        selector=asked.text,
        preemption=preemption,
        nodes=len(world.living.nodes.objects),
        pending=sum(len(each.group.pods) for each in told),
        groups=tuple(_with_commands(each, now) for each in told),
        not_made=tuple(not_made(world, told)),
        gaps=tuple(dict.fromkeys((*source_gaps(now, scheduler), *world.assumed))),
        not_modelled=NOT_MODELLED,
        notes=(*notes, *under_way),
    )


def _reviser(snapshot: Snapshot, version: KubeVersion) -> RevisePod:
    known: dict[tuple[int, tuple[str, ...]], tuple[Pod, Pod | None]] = {}

    def revise(pod: Pod, settings: Sequence[str]) -> Pod | None:
        key = id(pod), tuple(settings)
        if key not in known:
            surroundings = Surroundings(snapshot.objects, version, settings=parse_settings(settings))
            try:
                revised = from_stored_pod(pod, surroundings).pod
            except (ManifestError, UsageError):
                revised = None
            # Kept with the pod itself, so that no other has its identity.
            known[key] = pod, revised
        return known[key][1]

    return revise


def _with_commands(told: Told, snapshot: Snapshot) -> StuckGroup:
    group = told.group
    if group.change is None or told.change is None:
        return group
    commands = commands_for(told.change, group.workloads, snapshot)
    return msgspec.structs.replace(group, change=msgspec.structs.replace(group.change, commands=commands))
