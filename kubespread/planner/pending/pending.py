"""Everything in a cluster that is stuck: grouped by cause, each group with the least change that frees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.planner.advise.advice import options
from kubespread.planner.advise.change import Change
from kubespread.planner.advise.edited_worlds import EditedWorlds
from kubespread.planner.advise.search import MOST_EFFORT, Found, Trials
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.pending.causes import Waits, cause_of
from kubespread.planner.pending.freeing import Group, Kind, RevisePod, least_change
from kubespread.planner.reports.advise import Suggestion
from kubespread.planner.reports.happened import UnmadePods
from kubespread.planner.reports.pending import StuckGroup
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.reporting import name_of, unmade_pods, workload_of, workload_text
from kubespread.planner.world.unmade import unmade
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World
from kubespread.wording import some_of

NOT_MODELLED = (
    "each group is freed by itself: what one change leaves for the others is not looked at",
    "autoscalers: no nodes are added besides",
)
_MOST_VICTIMS = 2
_FIT = "fits once the others run"


@dataclass(frozen=True, slots=True)
class Told:
    """One group of the report, and the change that it names."""

    group: StuckGroup
    change: Change | None


@dataclass(frozen=True, slots=True)
class _Stuck:
    """Pods that are alike, and what they wait for."""

    kind: Kind
    waits: Waits
    fitting: int = 0
    """How many of them find a node as things are, with those of their workload that come before them."""


def pending(
    world: World,
    is_asked: Callable[[WorkloadName], bool],
    revise: RevisePod,
    version: KubeVersion,
    on_progress: Callable[[int], None] | None = None,
) -> list[Told]:
    """The groups, the largest first. Nothing is placed in ``world``.

    ``on_progress`` is told after each cause of how many pods it is known what frees them.
    """
    by_workload: dict[WorkloadName, list[Kind]] = {}
    for kind in _kinds(world, is_asked):
        by_workload.setdefault(workload_of(world, kind.waiting[0].pod), []).append(kind)
    by_cause: dict[tuple[str, str], list[_Stuck]] = {}
    for kinds in by_workload.values():
        for stuck in _together(world, kinds):
            by_cause.setdefault((stuck.waits.cause, stuck.waits.why), []).append(stuck)
    told: list[Told] = []
    freeing = _Freeing(world, revise, version)
    for alike in sorted(by_cause.values(), key=lambda alike: -sum(len(each.kind) for each in alike)):
        told += freeing.told(alike)
        if on_progress is not None:
            on_progress(sum(len(each.group.pods) for each in told))
    return sorted(told, key=lambda each: (-len(each.group.pods), each.group.why))


def not_made(world: World, told: Iterable[Told]) -> Iterator[UnmadePods]:
    """Pods of the workloads that are stuck that do not even exist."""
    stuck = {workload for each in told for workload in each.group.workloads}
    return (each for each in unmade_pods(world, unmade(world)) if each.workload in stuck) if stuck else iter(())


def _kinds(world: World, is_asked: Callable[[WorkloadName], bool]) -> list[Kind]:
    """Those that wait and are asked about, as kube-scheduler would try them; behind them those with gates."""
    kinds: dict[int, list[Waiting]] = {}
    ordered = {key_of(each.pod): each for each in (*world.queue.in_order(), *world.waiting)}
    for each in ordered.values():
        if is_asked(workload_of(world, each.pod)):
            kinds.setdefault(id(each.template), []).append(each)
    return [Kind(waiting) for waiting in kinds.values()]


def _together(world: World, kinds: Sequence[Kind]) -> Iterator[_Stuck]:
    """What the pods of a workload wait for. Where one fits, or makes room for itself, all are placed one after another:
    those that come later may find no node any more, or one that they did not find before.
    """
    alone = [cause_of(world, kind.waiting[0]) for kind in kinds]
    pairs = list(zip(kinds, alone, strict=True))
    if not any(waits.cause == "fits" or _preempts(world, kind, waits) for kind, waits in pairs):
        yield from map(_Stuck, kinds, alone)
        return
    after = world.fork()
    after.queue.waiting = _waiting(kinds)
    after.settle()
    victims = tuple(name_of(gone.pod) for gone in after.happenings.gone if gone.why == PREEMPTED)
    for kind, waits in pairs:
        left = [each for each in kind.waiting if key_of(each.pod) in after.queue.waiting]
        if not left and victims:
            why = f"preempting {some_of(victims, _MOST_VICTIMS)}"
            yield _Stuck(kind, replace(waits, cause="preempts", why=why, victims=victims), len(kind))
        elif not left:
            yield _Stuck(kind, waits if waits.cause == "fits" else replace(waits, cause="fits", why=_FIT), len(kind))
        elif len(left) == len(kind) and waits.cause != "fits":
            yield _Stuck(kind, waits)
        else:
            fitting = len(kind) - len(left)
            then = cause_of(after, left[0])
            yield _Stuck(kind, replace(then, why=f"{fitting:,} of {len(kind):,} fit; {then.why}"), fitting)


def _preempts(world: World, kind: Kind, waits: Waits) -> bool:
    if waits.cause != "filtered":
        return False
    budgets = world.budgets.current(world.time) if world.surroundings.preempts else ()
    return world.queue.victims(kind.waiting[0], world.living, lambda: budgets) is not None


def _waiting(kinds: Iterable[Kind]) -> dict[PodKey, Waiting]:
    return {key_of(each.pod): each for kind in kinds for each in kind.waiting}


@dataclass
class _Freeing:
    """The search for what frees pods, of which each group may take half of the effort that is left."""

    world: World
    revise: RevisePod
    version: KubeVersion
    left: float = MOST_EFFORT

    @cached_property
    def _worlds(self) -> EditedWorlds:
        return EditedWorlds(lambda: self.world, DEFAULT_NAMESPACE)

    def told(self, alike: Sequence[_Stuck]) -> Iterator[Told]:
        """One group; or several, where a change frees all pods of some kinds and not all of the others."""
        waits = alike[0].waits
        if waits.cause != "filtered":
            yield Told(self._group(alike, None, 0), None)
            return
        ranked = sorted(alike, key=lambda each: -len(each.kind))
        group = Group(self._worlds, [each.kind for each in ranked], self.revise)
        evaluation = ranked[0].waits.evaluation
        assert evaluation is not None
        several = len(group) if len(group) > 1 else None
        fitting = sum(each.fitting for each in alike)
        trials = Trials(group, group.effort + self.left / 2)
        before = group.effort
        in_free_room = None if fitting else several
        best = least_change(Stuck(evaluation, self.version, several, fitting, in_free_room), trials)
        self.left -= group.effort - before
        free = group.freed(best.change) if best is not None else frozenset()
        whole = [each for each in alike if _waiting([each.kind]).keys() <= free]
        if whole and len(whole) < len(alike):
            yield from self.told(whole)
            yield from self.told([each for each in alike if each not in whole])
            return
        yield Told(self._group(alike, best, trials.count), None if best is None else best.change)

    def _group(self, alike: Sequence[_Stuck], best: Found | None, tried: int) -> StuckGroup:
        waits = alike[0].waits
        pods = [each.pod for stuck in alike for each in stuck.kind.waiting]
        workloads = dict.fromkeys(workload_text(workload_of(self.world, pod)) for pod in pods)
        return StuckGroup(
            cause=waits.cause,
            why=waits.why,
            message=waits.message,
            pods=tuple(map(name_of, pods)),
            workloads=tuple(workloads),
            change=None if best is None else _suggestion(best, len(pods)),
            fitting=sum(each.fitting for each in alike),
            victims=waits.victims,
            tried=tried,
        )


def _suggestion(found: Found, pods: int) -> Suggestion:
    change, answer = found.change, found.answer
    return Suggestion(
        change=change.said,
        family=change.family,
        options=options(change),
        nodes=None,
        placed=min(answer.count, pods),
        consequences=answer.consequences,
    )
