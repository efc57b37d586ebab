"""How a snapshot's workloads are spread, and why: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import WorkloadName
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import world_of
from kubespread.planner.audit.audit import NOT_MODELLED, audits
from kubespread.planner.reports.audit import AuditReport
from kubespread.planner.reports.audited import LEVELS, AuditedWorkload
from kubespread.planner.world.asked import GO_WITH_THEIR_NODES
from kubespread.planner.world.reporting import workload_text
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def audit(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    *,
    namespace: str | None = None,
    selector: str = "",
    preemption: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> AuditReport:
    """How the workloads of ``snapshot`` are spread: what their constraints count, which of them do not hold and why.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all are asked about that have pods or are to
    have some, and pods without a controller by their labels.

    - ``namespace``: that of names without one, else the only one asked about (default: all namespaces).
    - ``selector``: labels of the workloads asked about, as kubectl's ``-l`` has them (default: any labels).
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.
    - ``on_progress``: called after each workload with the number audited so far.

    Raises UsageError, SnapshotError and ManifestError.
    """
    asked = WorkloadsAsked.of(namespace, selector, workloads)
    version = scheduler.release(snapshot.origin.release)
    now, notes = edited(snapshot, scheduler, asked.namespace, preempts=preemption)
    world = world_of(now, scheduler, preempts=preemption)
    default = asked.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    named = asked.named_in(world, default)
    is_asked = named.__contains__ if named else asked.those_in(world)
    rows, made_room, lacking = audits(world, is_asked, on_progress)
    _check(named, rows)
    if not rows:
        raise asked.none_found(now)
    return AuditReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        asked=tuple(map(workload_text, named)),
        namespace=default if named else asked.namespace,
        selector=asked.text,
        preemption=preemption,
        nodes=len(now.nodes),
        made_room=made_room,
        workloads=tuple(sorted(rows, key=_worst_first)),
        gaps=tuple(dict.fromkeys((*source_gaps(now, scheduler), *lacking))),
        not_modelled=NOT_MODELLED,
        notes=notes,
    )


def _worst_first(row: AuditedWorkload) -> tuple[int, str]:
    return -LEVELS.index(row.level), row.workload


def _check(named: Sequence[WorkloadName], rows: Sequence[AuditedWorkload]) -> None:
    """Raise UsageError, a line each, for workloads of which there is nothing to say."""
    found = {row.workload for row in rows}
    # Pods by themselves are told of with those that share their labels.
    missing = [name for name in named if name.kind != "Pod" and workload_text(name) not in found]
    if missing:
        raise UsageError(*map(_nothing_to_say, missing))


def _nothing_to_say(name: WorkloadName) -> str:
    if name.kind in GO_WITH_THEIR_NODES:
        return f"{name.kind}/{name.name}: every node has its own pod of a {name.kind}"
    return f"{name.kind}/{name.name} has no pods in namespace {name.namespace}"
