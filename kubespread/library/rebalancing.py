"""Which pods to evict so that constraints hold again: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import WorkloadName
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.policies import read_policy
from kubespread.library.resolving import source_gaps
from kubespread.library.workloads_asked import WorkloadsAsked
from kubespread.library.worlds import world_of
from kubespread.planner.rebalance.candidates import REPLACING
from kubespread.planner.rebalance.rebalance import Question
from kubespread.planner.rebalance.rebalance import rebalance as plan
from kubespread.planner.reports.parts import preempted_pods as said_of
from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.planner.world.asked import AskedWorkloads
from kubespread.planner.world.happenings import Happenings
from kubespread.planner.world.reporting import preempted_pods, workload_text
from kubespread.planner.world.world import World
from kubespread.scenario.types import Named
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of

_DEFAULT = Scheduler()
_MAX_NAMED = 3
_NAMED = ("Deployment", *sorted(REPLACING))


def rebalance(
    snapshot: Snapshot,
    workloads: str | Sequence[str] = (),
    scheduler: Scheduler = _DEFAULT,
    *,
    namespace: str | None = None,
    selector: str = "",
    soft: bool = False,
    descheduler: str | Path | None = None,
    preemption: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> RebalanceReport:
    """The fewest evictions, in an order that disruption budgets allow, after which the spread constraints hold.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any, all are asked about that ``namespace`` and
    ``selector`` choose. Each replacement is placed as kube-scheduler would. Nothing is evicted anywhere.

    - ``namespace``: that of names without one, else the only one asked about (default: all namespaces).
    - ``selector``: labels of the workloads asked about, as kubectl's ``-l`` has them (default: any labels).
    - ``soft``: constraints with ScheduleAnyway, the scheduler's built-in ones among them, are to hold too.
    - ``descheduler``: path of a DeschedulerPolicy (descheduler/v1alpha2), to see what the descheduler would do instead.
    - ``preemption``: let pods preempt those of lower priority, as kube-scheduler does by default.
    - ``on_progress``: called with the number of evictions tried so far.

    Raises UsageError, SnapshotError and ManifestError.
    """
    asked = WorkloadsAsked.of(namespace, selector, workloads)
    _check_kinds(asked.names)
    policy = read_policy(descheduler) if descheduler is not None else None
    version = scheduler.release(snapshot.origin.release)
    now, notes = edited(snapshot, scheduler, asked.namespace, preempts=preemption)
    world = world_of(now, scheduler, preempts=preemption)
    world.settle()
    settled = world.next_step()
    default = asked.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    named = asked.named_in(world, default)
    chosen = named or list(_chosen(world, asked))
    if not chosen:
        raise asked.none_found(now)
    question = Question(chosen, soft, policy, str(descheduler or ""), on_progress)
    report = plan(world, question)
    return replace(
        report,
        kube_version=str(version),
        cluster=cluster_reference(snapshot),
        asked=tuple(map(workload_text, named)),
        namespace=default if named else asked.namespace,
        selector=asked.text,
        preemption=preemption,
        gaps=tuple(dict.fromkeys((*source_gaps(now, scheduler), *report.gaps))),
        notes=(*notes, *report.notes, *_notes(report, settled)),
    )


def _check_kinds(workloads: Sequence[Named]) -> None:
    """Raise UsageError, a line each, for workloads whose pods are not evicted."""
    others = [name for name in workloads if name.kind not in _NAMED]
    if others:
        raise UsageError(
            *(f"{name}: pods of a {name.kind} are not evicted, only those of a {', '.join(_NAMED)}" for name in others)
        )


def _chosen(world: World, asked: WorkloadsAsked) -> Iterable[WorkloadName]:
    counting = AskedWorkloads(world, asked.those_in(world))
    return dict.fromkeys(name for pod in world.book if (name := counting.of(pod)) is not None)


def _notes(report: RebalanceReport, settled: Happenings) -> Iterator[str]:
    if settled.placed:
        were = "was" if len(settled.placed) == 1 else "were"
        made_room = tuple(preempted_pods(settled))
        preempting = f", preempting {said_of(made_room, _MAX_NAMED)}" if made_room else ""
        yield f"{count_of(len(settled.placed), 'pod')} that waited {were} placed before anything is evicted{preempting}"
    if not report.constraints_in_force:
        others = "" if report.soft else ": --soft asks for soft ones too"
        yield f"no hard constraint is in force for {'these workloads' if report.workloads != 1 else 'it'}{others}"
