"""What a snapshot's cluster survives, and how its nodes are replaced: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict, Unpack

from msgspec.structs import replace

from kubespread.controllers.drain import DrainFlags
from kubespread.errors import UsageError
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import world_of
from kubespread.planner.remedies import Manner, remedies
from kubespread.planner.reports.survive import SurviveReport
from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.planner.survive import NOT_MODELLED, Domain, Question, default_key, domains, losses
from kubespread.planner.world.world import World
from kubespread.snapshot.edits.target import nodes_meant, parse_target
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

_DEFAULT = Scheduler()


class SurviveKeywords(TypedDict, total=False):
    """The keywords of `survive`."""

    namespace: str | None
    """Whose workloads are asked about; without it those of all namespaces."""
    selector: str
    """Labels of the workloads that are asked about, as kubectl's ``-l`` has them."""
    on_progress: Callable[[int], None] | None
    """Told after each domain how many were lost so far."""


def survive(
    snapshot: Snapshot,
    keys: Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[SurviveKeywords],
) -> SurviveReport:
    """What losing each domain of the topology ``keys`` does to the workloads of ``snapshot``, each domain by itself.

    The nodes of a domain fail, pods are placed again, and then the Node objects are deleted too. Without ``keys`` the
    domains are zones, or hosts where no node is in a zone. All workloads live on; the keywords, `SurviveKeywords`, say
    which are reported. Raises UsageError, SnapshotError and ManifestError.
    """
    asked = WorkloadsAsked.of(options.get("namespace"), options.get("selector", ""))
    version = scheduler.release(snapshot.origin.server_version)
    now, notes = edited(snapshot, scheduler, asked.namespace)
    world = world_of(now, scheduler)
    world.settle()
    lost = list(_domains(world, now, keys))
    question = Question(world, asked.those_in(world))
    if question.is_empty:
        raise asked.none_found(now)
    return SurviveReport(
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        namespace=asked.namespace,
        selector=asked.text,
        workloads=len(question.workloads),
        nodes=len(world.living.nodes.objects),
        pending_before=question.pending,
        losses=tuple(losses(question, _counted(lost, options.get("on_progress")))),
        gaps=gaps_of(now, scheduler, world),
        not_modelled=NOT_MODELLED,
        notes=(*notes, *_notes(world, lost)),
    )


class UpgradeKeywords(TypedDict, total=False):
    """The keywords of `upgrade`."""

    surge: int
    """How many replacements join before the nodes that they replace go."""
    batch: int
    """How many nodes are replaced at a time."""
    ignore_daemonsets: bool
    """kubectl drain's flag; set unless it is given."""
    delete_emptydir_data: bool
    """kubectl drain's flag; set unless it is given."""
    force: bool
    """kubectl drain's flag: evict pods without a controller too. Not set unless it is given."""
    remedies: bool
    """Whether to look for what would get a blocked upgrade through, which is the default."""


def upgrade(
    snapshot: Snapshot, nodes: str, scheduler: Scheduler = _DEFAULT, **options: Unpack[UpgradeKeywords]
) -> UpgradeReport:
    """Replace nodes of ``snapshot`` batch by batch as disruption budgets allow: cordon, drain, delete, add a copy.

    ``nodes`` is a node's name or labels, as edits have them. The keywords are `UpgradeKeywords`.
    Raises UsageError, SnapshotError and ManifestError.
    """
    surge, batch = options.get("surge", 0), options.get("batch", 1)
    if surge < 0:
        raise UsageError(f"surge must be at least 0, not {surge}")
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}")
    version = scheduler.release(snapshot.origin.server_version)
    now, notes = edited(snapshot, scheduler)
    names = [node.metadata.name for node in nodes_meant(parse_target(nodes), now.nodes)]
    flags = DrainFlags(
        force=options.get("force", False),
        ignore_daemonsets=options.get("ignore_daemonsets", True),
        delete_emptydir_data=options.get("delete_emptydir_data", True),
    )
    world = world_of(now, scheduler)
    world.settle()
    start, manner = world.fork(), Manner(tuple(names), surge, batch, flags)
    report = manner.play(world)
    found = tuple(remedies(start, manner, report)) if options.get("remedies", True) else ()
    return replace(
        report,
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        remedies=found,
        gaps=gaps_of(now, scheduler, world),
        notes=(*notes, *report.notes),
    )


def gaps_of(snapshot: Snapshot, scheduler: Scheduler, world: World) -> tuple[str, ...]:
    """What the source lacks, and what had to be taken for granted."""
    return tuple(dict.fromkeys((*source_gaps(snapshot, scheduler), *world.assumed)))


def _domains(world: World, snapshot: Snapshot, keys: Sequence[str]) -> Iterator[Domain]:
    full = [full_topology_key(key, snapshot.nodes) for key in keys] or [default_key(world)]
    check_topology_keys(full, snapshot.nodes, ())
    for key in dict.fromkeys(full):
        yield from domains(world, key)


def _counted(lost: Sequence[Domain], on_progress: Callable[[int], None] | None) -> Iterator[Domain]:
    for number, domain in enumerate(lost):
        if on_progress is not None:
            on_progress(number)
        yield domain


def _notes(world: World, lost: Sequence[Domain]) -> Iterator[str]:
    if world.happenings.placed:
        yield f"{len(world.happenings.placed)} pods that waited were placed before anything is lost"
    for key in dict.fromkeys(domain.key for domain in lost):
        outside = sum(key not in node.metadata.labels for node in world.living.nodes.objects)
        if outside:
            yield f"{outside} nodes without the label {key} are in none of its domains"
