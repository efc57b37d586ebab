"""How a snapshot's nodes are replaced: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from kubespread.controllers.drain import DrainFlags
from kubespread.errors import UsageError
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.resolving import source_gaps
from kubespread.library.worlds import world_of
from kubespread.planner.remedies import Manner, Remedies
from kubespread.planner.remedies import remedies as remedies_of
from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.missing import Missing, settled
from kubespread.planner.world.pod_book import PodKey
from kubespread.planner.world.reporting import name_of
from kubespread.planner.world.under_way import judged_as_it_stands
from kubespread.planner.world.world import World
from kubespread.snapshot.edits.target import nodes_meant, parse_target
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, some_of

_DEFAULT = Scheduler()
_MAX_NAMED = 3


def upgrade(
    snapshot: Snapshot,
    nodes: str,
    scheduler: Scheduler = _DEFAULT,
    *,
    surge: int = 0,
    batch: int = 1,
    ignore_daemonsets: bool = True,
    delete_emptydir_data: bool = True,
    force: bool = False,
    preemption: bool = True,
    remedies: bool = True,
) -> UpgradeReport:
    """Replace nodes of ``snapshot`` batch by batch as disruption budgets allow: cordon, drain, delete, add a copy.

    ``nodes`` is a node's name or labels, as edits have them.

    - ``surge``: the number of new nodes that join before those that they replace are drained, 0 or more.
    - ``batch``: the number of nodes replaced at a time, 1 or more.
    - ``ignore_daemonsets``, ``delete_emptydir_data``, ``force``: the flags of ``kubectl drain``.
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.
    - ``remedies``: look for what would get a blocked upgrade through.

    Raises UsageError, SnapshotError and ManifestError.
    """
    if surge < 0:
        raise UsageError(f"surge must be at least 0, not {surge}")
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}")
    version = scheduler.release(snapshot.origin.release)
    now, notes = edited(snapshot, scheduler, preempts=preemption)
    pool = parse_target(nodes)
    nodes_meant(pool, now.nodes)
    flags = DrainFlags(force=force, ignore_daemonsets=ignore_daemonsets, delete_emptydir_data=delete_emptydir_data)
    world = world_of(now, scheduler, preempts=preemption)
    under_way = judged_as_it_stands(world)
    waited = settled(world)
    first = placed_first(world, waited, "any node is replaced")
    start, manner = world.fork(), Manner(pool, surge, batch, flags)
    report = manner.play(world, Missing(world, waited))
    found = remedies_of(start, manner, report, waited) if remedies else Remedies()
    return replace(
        report,
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        preemption=preemption,
        remedies=tuple(found.options),
        remedies_lose={option: lost for option, lost in found.options.items() if lost},
        remedies_tried=found.tried,
        remedies_untried=found.untried,
        gaps=gaps_of(now, scheduler, world),
        notes=(*notes, *first, *under_way, *report.notes),
    )


def gaps_of(snapshot: Snapshot, scheduler: Scheduler, world: World) -> tuple[str, ...]:
    """What the source lacks, and what had to be taken for granted."""
    return tuple(dict.fromkeys((*source_gaps(snapshot, scheduler), *world.assumed)))


def placed_first(world: World, waited: Collection[PodKey], before: str) -> tuple[str, ...]:
    """What to say of a world that has just settled: how many pods have a node only since, and whom they pushed away."""
    if not waited:
        return ()
    were = "was" if len(waited) == 1 else "were"
    victims = [name_of(gone.pod) for gone in world.happenings.gone if gone.why == PREEMPTED]
    preempting = f", preempting {some_of(victims, _MAX_NAMED)}" if victims else ""
    said = f"{count_of(len(waited), 'pod')} that waited {were} placed before {before}{preempting}"
    return (f"{said}; to wait again is not held against it",)
