"""Which of a snapshot's nodes can go: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict, Unpack

from kubespread.controllers.drain import DrainFlags
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.surviving import gaps_of
from kubespread.library.worlds import world_of
from kubespread.planner.removing.removable import NOT_MODELLED, removals, unknown_controllers
from kubespread.planner.reports.removable import RemovableReport
from kubespread.snapshot.edits.target import nodes_meant, parse_target
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


class RemovableKeywords(TypedDict, total=False):
    """The keywords of `removable`."""

    ignore_daemonsets: bool
    """kubectl drain's flag; set unless it is given."""
    delete_emptydir_data: bool
    """kubectl drain's flag; pods with local data hold their nodes unless it is given."""
    force: bool
    """kubectl drain's flag; pods without a controller hold their nodes unless it is given."""
    on_progress: Callable[[int], None] | None
    """Told after each node how many were looked at so far."""


def removable(
    snapshot: Snapshot,
    nodes: str | Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[RemovableKeywords],
) -> RemovableReport:
    """Which ``nodes`` of ``snapshot`` can be drained and deleted so that every pod finds another node.

    ``nodes`` are names or labels, as edits have them; without any all nodes are asked about. Each is removed by itself,
    and then as many as possible together, greedily. The keywords are `RemovableKeywords`.
    Raises UsageError, SnapshotError and ManifestError.
    """
    version = scheduler.release(snapshot.origin.server_version)
    now, notes = edited(snapshot, scheduler)
    targets = [nodes] if isinstance(nodes, str) else nodes
    meant = {node.metadata.name for target in targets for node in nodes_meant(parse_target(target), now.nodes)}
    names = [node.metadata.name for node in now.nodes if not targets or node.metadata.name in meant]
    flags = DrainFlags(
        force=options.get("force", False),
        ignore_daemonsets=options.get("ignore_daemonsets", True),
        delete_emptydir_data=options.get("delete_emptydir_data", False),
    )
    world = world_of(now, scheduler)
    world.settle()
    placed = len(world.happenings.placed)
    rows, together = removals(world.fork(), names, flags, options.get("on_progress"))
    return RemovableReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        nodes=len(now.nodes),
        rows=rows,
        together=together,
        gaps=gaps_of(now, scheduler, world),
        not_modelled=NOT_MODELLED,
        notes=(
            *notes,
            *unknown_controllers(world, names, flags),
            *((f"{placed} pods that waited were placed before any node goes",) if placed else ()),
        ),
    )
