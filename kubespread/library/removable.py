"""Which of a snapshot's nodes can go: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubespread.controllers.drain import DrainFlags
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.upgrading import gaps_of, placed_first
from kubespread.library.worlds import world_of
from kubespread.planner.removing.removable import NOT_MODELLED, removals, unknown_controllers
from kubespread.planner.reports.removable import RemovableReport
from kubespread.planner.world.missing import settled
from kubespread.planner.world.under_way import judged_as_it_stands
from kubespread.snapshot.edits.target import nodes_meant, parse_target
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def removable(
    snapshot: Snapshot,
    nodes: str | Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    *,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = False,
    force: bool = False,
    preemption: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> RemovableReport:
    """Which ``nodes`` of ``snapshot`` can be drained and deleted so that every pod finds another node.

    ``nodes`` are names or labels, as edits have them; without any all nodes are asked about. Each is removed by itself,
    and then as many as possible together, greedily.

    - ``ignore_daemonsets``, ``delete_emptydir_data``, ``force``: the flags of ``kubectl drain``. Pods that it would
      refuse to evict hold their nodes.
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.
    - ``on_progress``: called after each node with the number looked at so far.

    Raises UsageError, SnapshotError and ManifestError.
    """
    version = scheduler.release(snapshot.origin.release)
    now, notes = edited(snapshot, scheduler, preempts=preemption)
    targets = [nodes] if isinstance(nodes, str) else nodes
    meant = {node.metadata.name for target in targets for node in nodes_meant(parse_target(target), now.nodes)}
    names = [node.metadata.name for node in now.nodes if not targets or node.metadata.name in meant]
    flags = DrainFlags(force=force, ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data)
    world = world_of(now, scheduler, preempts=preemption)
    under_way = judged_as_it_stands(world)
    waited = settled(world)
    first = placed_first(world, waited, "any node goes")
    rows, together = removals(world.fork(), names, flags, waited, on_progress)
    return RemovableReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        preemption=preemption,
        nodes=len(now.nodes),
        rows=rows,
        together=together,
        gaps=gaps_of(now, scheduler, world),
        not_modelled=NOT_MODELLED,
        notes=(
            *notes,
            *unknown_controllers(world, names, flags),
            *first,
            *under_way,
        ),
    )
