"""Everything in a cluster that is stuck: grouped by cause, each group with the least change that frees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.planner.advise.advice import options
from kubespread.planner.advise.change import Change
from kubespread.planner.advise.search import Found
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.pending.causes import Waits, cause_of
from kubespread.planner.pending.freeing import Group, Kind, RevisePod, least_change
from kubespread.planner.reports.advise import Suggestion
from kubespread.planner.reports.pending import StuckGroup
from kubespread.planner.world.pod_book import key_of
from kubespread.planner.world.reporting import name_of, workload_of, workload_text
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World

NOT_MODELLED = (
    "each group is freed by itself: what one change leaves for the others is not looked at",
    "autoscalers: no nodes are added besides",
)


@dataclass(frozen=True, slots=True)
class Told:
    """One group of the report, and the change that it names."""

    group: StuckGroup
    change: Change | None


def pending(
    world: World,
    is_asked: Callable[[WorkloadName], bool],
    revise: RevisePod,
    version: KubeVersion,
    on_progress: Callable[[int], None] | None = None,
) -> list[Told]:
    """The groups, the largest first. Nothing is placed in ``world``, which does not preempt.

    ``on_progress`` is told after each cause of how many pods it is known what frees them.
    """
    kinds = _kinds(world, is_asked)
    by_cause: dict[tuple[str, str], list[tuple[Kind, Waits]]] = {}
    for kind in kinds:
        waits = cause_of(world, kind.waiting[0])
        by_cause.setdefault((waits.cause, waits.why), []).append((kind, waits))
    told: list[Told] = []
    for found in by_cause.values():
        told += _Stuck(world, revise, version).told(found)
        if on_progress is not None:
            on_progress(sum(len(each.group.pods) for each in told))
    return sorted(told, key=lambda each: (-len(each.group.pods), each.group.why))


def _kinds(world: World, is_asked: Callable[[WorkloadName], bool]) -> list[Kind]:
    """Those that wait and are asked about, as kube-scheduler would try them; behind them those with gates."""
    kinds: dict[int, list[Waiting]] = {}
    ordered = {key_of(each.pod): each for each in (*world.queue.in_order(), *world.waiting)}
    for each in ordered.values():
        if is_asked(workload_of(world, each.pod)):
            kinds.setdefault(id(each.template), []).append(each)
    return [Kind(waiting) for waiting in kinds.values()]


@dataclass(frozen=True, slots=True)
class _Stuck:
    """Pods with one cause."""

    world: World
    revise: RevisePod
    version: KubeVersion

    def told(self, found: Sequence[tuple[Kind, Waits]]) -> Iterator[Told]:
        """One group; or several, where a change frees all pods of some kinds and not all of the others."""
        kinds, waits = [kind for kind, _ in found], found[0][1]
        if waits.cause != "filtered":
            yield Told(self._group(kinds, waits, None), None)
            return
        ranked = sorted(found, key=lambda pair: -len(pair[0]))
        group = Group(self.world, [kind for kind, _ in ranked], self.revise)
        evaluation = ranked[0][1].evaluation
        assert evaluation is not None
        best = least_change(group, Stuck(evaluation, self.version))
        freed = group.freed[best.change] if best is not None else frozenset()
        whole = [pair for pair in found if all(key_of(each.pod) in freed for each in pair[0].waiting)]
        if whole and len(whole) < len(found):
            yield from self.told(whole)
            yield from self.told([pair for pair in found if pair not in whole])
            return
        yield Told(self._group(kinds, waits, best), None if best is None else best.change)

    def _group(self, kinds: Sequence[Kind], waits: Waits, best: Found | None) -> StuckGroup:
        pods = [each.pod for kind in kinds for each in kind.waiting]
        workloads = dict.fromkeys(workload_text(workload_of(self.world, pod)) for pod in pods)
        return StuckGroup(
            cause=waits.cause,
            why=waits.why,
            message=waits.message,
            pods=tuple(map(name_of, pods)),
            workloads=tuple(workloads),
            change=None if best is None else _suggestion(best, len(pods)),
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
