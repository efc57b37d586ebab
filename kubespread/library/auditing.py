"""How a snapshot's workloads are spread, and why: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import TypedDict, Unpack

from kubespread.candidate.references import reference
from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.owners import WorkloadName
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import edited, world_of
from kubespread.planner.audit.audit import NOT_MODELLED, audits
from kubespread.planner.reports.audit import LEVELS, AuditedWorkload, AuditReport
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


class AuditKeywords(TypedDict, total=False):
    """The keywords of `audit`."""

    namespace: str | None
    """Whose workloads are asked about; without it those of all namespaces."""
    selector: str
    """Labels of the workloads that are asked about, as kubectl's ``-l`` has them."""


def audit(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[AuditKeywords],
) -> AuditReport:
    """How the workloads of ``snapshot`` are spread: what their constraints count, which of them do not hold and why.

    ``workloads`` are KIND/NAME, ``deploy/web``; without any all are asked about that have pods, and pods without a
    controller by their labels. The keywords are `AuditKeywords`. Raises UsageError, SnapshotError and ManifestError.
    """
    namespace = options.get("namespace")
    asked = WorkloadsAsked.of(namespace, options.get("selector", ""))
    version = scheduler.release(snapshot.origin.server_version)
    now, notes = edited(snapshot, scheduler, namespace)
    world = world_of(now, scheduler)
    named = _named([workloads] if isinstance(workloads, str) else workloads)
    is_asked = asked.those_in(world)
    rows, lacking = audits(world, lambda name: is_asked(name) and (not named or (name.kind, name.name) in named))
    _check(named, rows, [*world.book.owners], world.workloads.above)
    if not rows:
        raise asked.none_found()
    return AuditReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        namespace=namespace,
        selector=options.get("selector", ""),
        nodes=len(now.nodes),
        workloads=tuple(sorted(rows, key=_worst_first)),
        gaps=tuple(dict.fromkeys((*source_gaps(now, scheduler), *lacking))),
        not_modelled=NOT_MODELLED,
        notes=notes,
    )


def _worst_first(row: AuditedWorkload) -> tuple[int, str]:
    return -LEVELS.index(row.level), row.workload


def _named(workloads: Sequence[str]) -> dict[tuple[str, str], str]:
    """Kind and name of each, and how it was written. Raises UsageError for what is no KIND/NAME."""
    named: dict[tuple[str, str], str] = {}
    for text in workloads:
        found = reference(text)
        if found is None:
            raise UsageError(f"invalid workload {text!r}: expected KIND/NAME, such as deploy/web")
        named[found.kind.kind, found.name] = text
    return named


def _check(
    named: dict[tuple[str, str], str],
    rows: Sequence[AuditedWorkload],
    owners: Sequence[WorkloadName],
    above: Callable[[WorkloadName], WorkloadName],
) -> None:
    """Raise UsageError, a line each, for workloads that have no pods or are not there."""
    found = {tuple(row.workload.split("/")[1:]) for row in rows}
    missing = [key for key in named if key not in found]
    if missing:
        known = {name for name in map(above, owners) if name.kind not in ("DaemonSet", "Node")}
        raise UsageError(
            *(
                f"no pods of {kind}/{name} among the workloads asked about{_instead(kind, name, known)}"
                for kind, name in missing
            )
        )


def _instead(kind: str, name: str, known: Set[WorkloadName]) -> str:
    """Where the workload has pods, or what it was probably to be."""
    elsewhere = sorted(each.namespace for each in known if (each.kind, each.name) == (kind, name))
    if elsewhere:
        return f"; there is one in namespace {', '.join(elsewhere)}"
    return alternatives(name, {each.name for each in known} - {name})
