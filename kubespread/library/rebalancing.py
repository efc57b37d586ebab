"""Which pods to evict so that constraints hold again: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from msgspec.structs import replace

from kubespread.candidate.references import reference, reference_kinds
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import WorkloadName
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.policies import read_policy
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import edited, world_of
from kubespread.planner.rebalance.candidates import REPLACING
from kubespread.planner.rebalance.rebalance import Question
from kubespread.planner.rebalance.rebalance import rebalance as plan
from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.planner.world.applying import exists
from kubespread.planner.world.editing import not_found
from kubespread.planner.world.reporting import workload_of, workload_text
from kubespread.planner.world.world import World
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()
_GO_WITH_THEIR_NODES = frozenset({"DaemonSet", "Node"})
_NAMED = ("Deployment", *sorted(REPLACING))


class RebalanceKeywords(TypedDict, total=False):
    """The keywords of `rebalance`."""

    namespace: str | None
    """That of workloads that are named; else whose workloads are asked about, without it those of all namespaces."""
    selector: str
    """Labels of the workloads that are asked about, as kubectl's ``-l`` has them."""
    soft: bool
    """Whether constraints with ScheduleAnyway, the scheduler's built-in ones among them, are to hold too."""
    descheduler: str | Path | None
    """A DeschedulerPolicy (descheduler/v1alpha2), to see what the descheduler would do instead."""


def rebalance(
    snapshot: Snapshot,
    workloads: Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[RebalanceKeywords],
) -> RebalanceReport:
    """The fewest evictions, in an order that disruption budgets allow, after which the spread constraints hold.

    ``workloads`` are named KIND/NAME; without any, all are asked about that the keywords, `RebalanceKeywords`, choose.
    Each replacement is placed as kube-scheduler would. Nothing is evicted anywhere. Raises UsageError, SnapshotError
    and ManifestError.
    """
    asked = WorkloadsAsked.of(options.get("namespace"), options.get("selector", ""))
    given = options.get("descheduler")
    policy = read_policy(given) if given is not None else None
    if workloads and asked.text:
        raise UsageError("name workloads or choose them by labels, not both")
    version = scheduler.release(snapshot.origin.server_version)
    now, notes = edited(snapshot, scheduler, asked.namespace)
    world = world_of(now, scheduler)
    world.settle()
    placed = len(world.next_step().placed)
    default = asked.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    named = [_named(world, text, default) for text in dict.fromkeys(workloads)]
    chosen = named or list(_chosen(world, asked))
    if not chosen:
        raise asked.none_found()
    question = Question(chosen, options.get("soft", False), policy, str(given or ""))
    report = plan(world, question)
    return replace(
        report,
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        asked=tuple(map(workload_text, named)),
        namespace=default if named else asked.namespace,
        gaps=tuple(dict.fromkeys((*source_gaps(now, scheduler), *report.gaps))),
        notes=(*notes, *report.notes, *_notes(report, placed)),
    )


def _named(world: World, text: str, namespace: str) -> WorkloadName:
    """The workload that is called KIND/NAME; of a Deployment's ReplicaSet it is the Deployment."""
    found = reference(text)
    if found is None:
        raise UsageError(f"invalid workload {text!r}: expected KIND/NAME, KIND one of {reference_kinds()}")
    if found.kind.kind not in _NAMED:
        raise UsageError(f"{text}: pods of a {found.kind.kind} are not evicted, only those of a {', '.join(_NAMED)}")
    name = WorkloadName(found.kind.kind, namespace, found.name)
    if not exists(world, name):
        raise not_found(world, name)
    return world.workloads.above(name, world.book.of(name))


def _chosen(world: World, asked: WorkloadsAsked) -> Iterator[WorkloadName]:
    is_asked = asked.those_in(world)
    known: dict[WorkloadName, None] = {}
    of_owner: dict[WorkloadName, WorkloadName] = {}
    for pod in world.book:
        owner = world.book.owner_of(pod)
        if owner is None:
            known[workload_of(world, pod)] = None
        elif owner not in of_owner:
            above = of_owner[owner] = world.workloads.above(owner, [pod])
            known[above] = None
    return (name for name in known if name.kind not in _GO_WITH_THEIR_NODES and is_asked(name))


def _notes(report: RebalanceReport, placed: int) -> Iterator[str]:
    if placed:
        yield f"{placed} pods that waited were placed before anything is evicted"
    if not report.constraints_in_force:
        others = "" if report.soft else ": --soft asks for soft ones too"
        yield f"no hard constraint is in force for {'these workloads' if report.workloads != 1 else 'it'}{others}"
