"""Search for the changes that suffice: each alone at its smallest size; if none does, two and three together.

The question asked again after each change is a `Goal`. `advice` reports all that suffice, and joins changes of one kind
with the same effect; `least_change` gives the cheapest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, combinations, islice
from math import comb

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.questions.causes.own_pods import claims_at_fault
from kubespread.questions.commands import option_of
from kubespread.questions.remedies.change import Answer, Change, Goal, Ladder
from kubespread.questions.remedies.families import EVICT, FAMILIES, WAIT, Family, StuckPod, notes_on
from kubespread.reports.advice import COMBINATION, SCHEDULE_ANYWAY, Advice, Costly, NotEnough, Suggestion
from kubespread.wording import count_of

_MOST_TRIALS, _LEAST_TRIALS, _TRIALS_TIMES_NODES = 600, 24, 150_000
"""Most changes an answer tries on small clusters, on any cluster, and times its nodes.

The more pods are in question and the longer these are written, the fewer changes.
"""
_PODS, _LARGE_POD = 10, 16_384
_FEWEST, _CELLS = 24, 20_000
"""The changes tried per family at least, and changes times nodes where that allows more."""
_ONE_BY_ONE = 4
"""Sizes tried from the smallest up, before bisecting the rest."""
_AT_ONCE, _COMBINED = 4, 8
"""Number of changes tried of one family before the next, and used in combinations."""
_MOST_SHARED = 8
"""Maximum number of changes of a family that one of several searches tries."""
_MOST_COMBINED = {2: 300, 3: 100}
_COMBINED_TIMES_PODS = 900
"""Most combinations tried, times the pods in question.

Ten copies, or one pod that is judged by itself and finds no node, take as long as all else of a trial.
"""
_ENOUGH_COMBINED = 3


class TriedChange(Struct, frozen=True):
    """A tried change, with the engine's answer."""

    change: Change
    answer: Answer


def most_trials(stuck: StuckPod) -> int:
    """Number of changes to try for an answer; it does not depend on the machine's speed."""
    nodes, pods = max(1, len(stuck.evaluation.cluster)), (stuck.lacking or 0) + stuck.fitting
    most = min(_MOST_TRIALS, max(_LEAST_TRIALS, _TRIALS_TIMES_NODES // (nodes * (1 + pods // _PODS))))
    return max(1, most // (1 + len(msgspec.json.encode(stuck.pod)) // _LARGE_POD))


class Attempts(Struct):
    """Tried changes, each tried once, up to a limit."""

    goal: Goal
    most: int = _MOST_TRIALS
    fitting: int | None = None
    """Number of pods that fit without any change; None for a single pod."""
    tried: dict[Hashable, TriedChange | None] = field(default_factory=dict)

    @classmethod
    def build(cls, goal: Goal, stuck: StuckPod, most: int) -> Attempts:
        return cls(goal, most, None if stuck.is_one else stuck.fitting)

    @property
    def count(self) -> int:
        return len(self.tried)

    @property
    def is_over(self) -> bool:
        return self.count >= self.most

    @property
    def why_none(self) -> str:
        """Reason why no change suffices."""
        if not self.most:
            return "kubespread explain --fix tries what would help: too much was tried for other workloads"
        if not self.count:
            return "none to try: no constraint, request or label to change, and no working node to copy"
        return f"none of {count_of(self.count, 'change')} tried gets all of them placed"

    def ask(self, change: Change) -> Answer | None:
        if change.key not in self.tried:
            answer = self.goal.ask(change)
            self.tried[change.key] = None if answer is None else TriedChange(change, answer)
        tried = self.tried[change.key]
        return None if tried is None else tried.answer

    def if_sufficient(self, change: Change) -> TriedChange | None:
        """Try a change; None if it does not suffice."""
        answer = self.ask(change)
        return TriedChange(change, answer) if answer is not None and answer.suffices else None

    def most_helpful(self) -> TriedChange | None:
        """The change that places the most pods without harm to others, of equals the cheapest; None if none helps."""
        helping = (attempt for attempt in self.tried.values() if attempt is not None and not attempt.answer.harm)
        ranked = sorted(helping, key=lambda attempt: (-attempt.answer.count, attempt.change.cost))
        return next((attempt for attempt in ranked if attempt.answer.count > (self.fitting or 0)), None)


class TriedChanges(Struct):
    """Results of all tried changes."""

    sufficient: list[TriedChange] = field(default_factory=list)
    """Changes that suffice alone, by family; else combinations."""
    not_enough: list[Ladder] = field(default_factory=list)
    costly: list[tuple[Ladder, TriedChange]] = field(default_factory=list)
    """Changes that harm others, each at the first such size."""
    families: list[str] = field(default_factory=list)
    """Kinds of changes with candidates."""
    untried: dict[str, int] = field(default_factory=dict)
    """Number of untried changes, by family."""

    def add(self, ladder: Ladder, trials: Attempts) -> None:
        """Try a change at its sizes."""
        smallest_size = smallest(ladder, trials)
        if smallest_size is not None:
            self.sufficient.append(minimal([smallest_size.change], trials))
        elif (costly := _costly(ladder, trials)) is not None:
            self.costly.append((ladder, costly))
        else:
            self.not_enough.append(ladder)

    def leave(self, ladder: Ladder) -> None:
        """Count a change as untried."""
        self.untried[ladder.family] = self.untried.get(ladder.family, 0) + 1


def search(stuck: StuckPod, families: Sequence[Family], trials: Attempts, most: int = _FEWEST) -> TriedChanges:
    """Try every change of ``families`` alone, within the limit; on large clusters the first ``most`` of each.

    Families take turns, a few changes at a time.
    """
    searched = TriedChanges()
    most = max(most, _CELLS // max(len(stuck.evaluation.cluster), 1))
    pending = [(family.changes(stuck), most) for family in families]
    while pending:
        ladders, more = pending.pop(0)
        turn = list(islice(ladders, min(_AT_ONCE, more)))
        for ladder in turn:
            searched.families.append(ladder.family)
            if trials.is_over:
                searched.leave(ladder)
            else:
                searched.add(ladder, trials)
        if len(turn) == _AT_ONCE < more:
            pending.append((ladders, more - _AT_ONCE))
        else:
            for ladder in ladders:
                searched.leave(ladder)
    return searched


def search_least(stuck: StuckPod, families: Sequence[Family], trials: Attempts, most: int) -> TriedChange | None:
    """The cheapest change that suffices alone, within the limit; ``most`` as for `search`.

    Families take turns. Small sizes of all are tried first, so that changes costlier than a sufficient one are skipped.
    """
    least: TriedChange | None = None
    most = max(most, _CELLS // max(len(stuck.evaluation.cluster), 1))
    ladders: list[Ladder] = []
    pending = [(family.least_cost, family.changes(stuck), most) for family in families]
    while pending:
        least_cost, changes, more = pending.pop(0)
        if least is None or least_cost < least.change.cost:
            turn = list(islice(changes, min(_AT_ONCE, more)))
            for ladder in turn:
                least = _cheaper(least, ladder, min(ladder.sizes, _ONE_BY_ONE), trials)
            ladders += turn
            if len(turn) == _AT_ONCE < more:
                pending.append((least_cost, changes, more - _AT_ONCE))
    for ladder in ladders:
        least = _cheaper(least, ladder, ladder.sizes, trials)
    return None if least is None else minimal([least.change], trials)


def _cheaper(least: TriedChange | None, ladder: Ladder, sizes: int, trials: Attempts) -> TriedChange | None:
    """A sufficient size of ``ladder`` that is cheaper than ``least``, else ``least``."""
    if least is not None:
        sizes = bisect_left(range(sizes), least.change.cost, key=lambda place: ladder.change_at(place).cost)
    if not sizes or trials.is_over:
        return least
    return smallest(replace(ladder, sizes=sizes), trials) or least


def _costly(ladder: Ladder, trials: Attempts) -> TriedChange | None:
    """The smallest tried size that would suffice but harms others."""
    for place in dict.fromkeys((*range(min(ladder.sizes, _ONE_BY_ONE)), ladder.sizes - 1)):
        change = ladder.change_at(place)
        earlier = trials.tried.get(change.key)
        if earlier is not None and earlier.answer.is_met:
            return earlier
    return None


def smallest(
    ladder: Ladder, trials: Attempts, before: Sequence[Change] = (), after: Sequence[Change] = ()
) -> TriedChange | None:
    """The smallest size that suffices together with the given changes, as a single change.

    A change that helps no pod at its largest size is assumed to help at none; for one pod, so is one that does not
    suffice.
    """

    def ask(place: int) -> TriedChange | None:
        part = ladder.change_at(place)
        answer = trials.ask(join([*before, part, *after]))
        return TriedChange(part, answer) if answer is not None and answer.suffices else None

    if ladder.sizes <= _ONE_BY_ONE:
        return next(filter(None, map(ask, range(ladder.sizes))), None)
    best = ask(ladder.sizes - 1)
    if best is None:
        answer = trials.ask(join([*before, ladder.most, *after]))
        if trials.fitting is None or answer is None or answer.count <= trials.fitting:
            return None
    for place in range(_ONE_BY_ONE):
        if (sufficient := ask(place)) is not None:
            return sufficient
    low, high = _ONE_BY_ONE, ladder.sizes - 1
    while best is not None and low < high and not trials.is_over:
        middle = (low + high) // 2
        if (sufficient := ask(middle)) is not None:
            high, best = middle, sufficient
        else:
            low = middle + 1
    return best


def combine(
    stuck: StuckPod, families: Sequence[Family], trials: Attempts, enough: int = _ENOUGH_COMBINED
) -> tuple[list[TriedChange], int]:
    """Sufficient combinations of two changes, else of three, the cheapest first; and the number of untried ones.

    All count as tried if enough suffice. The most promising changes of each family are combined first, and ones of
    other pods last. Constraints are fully relaxed to find combinations, and then tightened as far as possible. What
    rejects one pod everywhere may not after another change, so nothing is ruled out.
    """
    stuck = replace(stuck, lacking=stuck.lacking or 1, in_free_room=None, is_combined=True)
    pods = stuck.fitting + (stuck.lacking or 0) * (_PODS if stuck.are_distinct else 1)
    most = min(trials.most, trials.count + _COMBINED_TIMES_PODS // (1 + pods // _PODS))
    trials = replace(trials, fitting=trials.fitting or 0, most=most)
    ranked = [pair for family in families for pair in enumerate(islice(family.changes(stuck), _COMBINED))]
    ranks, ladders = {id(ladder): rank for rank, ladder in ranked}, [ladder for _, ladder in ranked]
    strongest = sorted(_strongest(ladders), key=lambda ladder: ladder.most.cost)
    keeping_others = [ladder for ladder in strongest if ladder.family not in (WAIT, EVICT)]
    of_the_pod = [ladder for ladder in strongest if not ladder.most.edits]
    untried = 0
    for size, at_most in _MOST_COMBINED.items():
        sufficient: dict[Hashable, TriedChange] = {}
        tried = 0
        promising = (
            nsmallest(at_most, combinations(some, size), key=lambda parts: sum(ranks[id(ladder)] for ladder in parts))
            for some in (keeping_others, of_the_pod, strongest)
        )
        for together in dict.fromkeys(chain.from_iterable(promising)):
            if trials.is_over or len(sufficient) >= enough:
                break
            tried += 1
            answer = trials.ask(join([ladder.most for ladder in together]))
            if answer is not None and answer.suffices:
                refined = _refine(together, ladders, trials)
                sufficient[refined.change.key] = refined
        if len(sufficient) < enough:
            untried += max(0, comb(len(strongest), size) - tried)
        if sufficient:
            return sorted(sufficient.values(), key=lambda pair: pair.change.cost), untried
    return [], untried


def least_change(
    stuck: StuckPod, trials: Attempts, families: Sequence[Family], most: int, combining: Sequence[Sequence[Family]] = ()
) -> TriedChange | None:
    """The cheapest change that suffices alone, else a combination from the first of ``combining`` that has one.

    ``most`` is as for `search`; ``combining`` is by default all ``families``.
    """
    if trials.is_over:
        return None
    if (alone := search_least(stuck, families, trials, most)) is not None:
        return alone
    for some in combining or (families,):
        if sufficient := combine(stuck, some, trials, enough=1)[0]:
            return sufficient[0]
    return None


class SharedSearch(Struct):
    """Searches for several goals with one shared limit; each may take half of the rest.

    Results depend on order alone, if one process makes them all.
    """

    tried: int = 0

    def least(self, goal: Goal, stuck: StuckPod) -> tuple[TriedChange | None, str]:
        """The least sufficient change or combination; else the most helpful change, and the reason none suffices."""
        if fault := claims_at_fault(stuck.evaluation):
            return None, fault
        most = most_trials(stuck)
        trials = Attempts.build(goal, stuck, max(0, 2 * most - self.tried + 1) // 2)
        # Pods that make way for others are made again elsewhere, or are missed: no manifest should be edited for that.
        families = [family for family in FAMILIES if family.of != "other pod"]
        of_the_pod = [family for family in families if family.of != "node"]
        least = least_change(stuck, trials, families, _MOST_SHARED, (of_the_pod, families))
        self.tried += trials.count
        return (least, "") if least is not None else (trials.most_helpful(), trials.why_none)


def _strongest(ladders: Sequence[Ladder]) -> Iterator[Ladder]:
    """Ladders without the smaller changes of a constraint that another one removes."""
    relaxed = {ladder.letter for ladder in ladders if ladder.family == SCHEDULE_ANYWAY}
    return (ladder for ladder in ladders if ladder.family == SCHEDULE_ANYWAY or ladder.letter not in relaxed)


def _refine(together: Sequence[Ladder], ladders: Sequence[Ladder], trials: Attempts) -> TriedChange:
    """The combination with each part as small as the others allow, one after another, and without parts it does not
    need.
    """
    parts = [ladder.most for ladder in together]
    for place, ladder in enumerate(together):
        before, after = parts[:place], parts[place + 1 :]
        tried = (smallest(weaker, trials, before, after) for weaker in (*_weaker(ladder, ladders), ladder))
        sufficient = next(filter(None, tried), None)
        parts[place] = parts[place] if sufficient is None else sufficient.change
    return minimal(parts, trials)


def minimal(parts: Sequence[Change], trials: Attempts) -> TriedChange:
    """Drop parts, nodes and labels of a sufficient combination that are not needed, within the limit."""
    needed = list(parts)
    for part in parts:
        without = [other for other in needed if other is not part]
        if without and not trials.is_over and trials.if_sufficient(join(without)) is not None:
            needed = without
    for place, part in enumerate(tuple(needed)):
        for piece in part.pieces:
            if trials.is_over or not needed[place].pieces:
                break
            fewer = [*needed[:place], needed[place].remove(piece), *needed[place + 1 :]]
            if trials.if_sufficient(join(fewer)) is not None:
                needed = fewer
    fewest = trials.if_sufficient(join(needed))
    assert fewest is not None
    return fewest


def _weaker(ladder: Ladder, ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Changes of the same constraint that keep it hard."""
    if ladder.family != SCHEDULE_ANYWAY:
        return ()
    same = [other for other in ladders if other is not ladder and other.letter == ladder.letter]
    return sorted(same, key=lambda other: other.least.cost)


def join(changes: Sequence[Change]) -> Change:
    first, *others = changes
    for other in others:
        first = first.join(other)
    return first


def advice(
    stuck: StuckPod, families: Sequence[Family], goal: Goal, *, combines: bool = True
) -> tuple[Advice, Sequence[Change]]:
    """Sufficient single changes, else combinations; and the change of each suggestion."""
    trials = Attempts.build(goal, stuck, most_trials(stuck))
    searched = search(stuck, families, trials)
    sufficient, untried = searched.sufficient, dict(searched.untried)
    if not sufficient and combines:
        sufficient, combinations_untried = combine(stuck, families, trials)
        if combinations_untried:
            untried[COMBINATION] = combinations_untried
    leading = list(_leading(sufficient))
    report = Advice(
        families=tuple(dict.fromkeys(searched.families)),
        enough=tuple(_suggestion(first, alike, stuck) for first, alike in leading),
        not_enough=tuple(_not_enough(searched.not_enough)),
        costly=tuple(_by_family(searched.costly)),
        tried=trials.count,
        untried=untried,
    )
    return report, [first.change for first, _ in leading]


def _leading(sufficient: Sequence[TriedChange]) -> Iterator[tuple[TriedChange, Sequence[TriedChange]]]:
    """The first of the changes with the same effect, with others that are as good."""
    leading: dict[Hashable, list[TriedChange]] = {}
    # The cheapest change comes first, then the one with the fewest effects on others, then with the most nodes to
    # choose from.
    for candidate in sorted(
        sufficient, key=lambda tried: (tried.change.cost, len(tried.answer.consequences), -tried.answer.count)
    ):
        change = candidate.change
        # One node is as good as another; every other change is a suggestion of its own.
        same = change.key if change.settings or change.together else change.family
        alike = leading.setdefault(same, [])
        # Of a change to several nodes one may be left, which was found by itself too.
        if change.key not in (other.change.key for other in alike):
            alike.append(candidate)
    for first, *others in leading.values():
        yield first, [other for other in others if other.change.cost == first.change.cost]


def _suggestion(first: TriedChange, others: Sequence[TriedChange], stuck: StuckPod) -> Suggestion:
    answer = first.answer
    return Suggestion(
        change=first.change.text,
        family=first.change.family,
        options=options(first.change),
        nodes=answer.count if stuck.is_one else None,
        placed=None if stuck.is_one else answer.count,
        consequences=answer.consequences,
        notes=tuple(notes_on(stuck, first.change)),
        alternatives=tuple(" ".join(options(other.change)) for other in others),
        constraints=tuple(part.letter for part in first.change.parts if part.letter),
        brief=first.change.brief or first.change.text,
    )


def options(change: Change) -> tuple[str, ...]:
    """Options that make the change on the command line; none if a part has none."""
    if not all(edit.form.option for edit in change.edits):
        return ()
    return (*(f"--set {setting}" for setting in change.settings), *map(option_of, map(str, change.edits)))


def _not_enough(ladders: Sequence[Ladder]) -> Iterator[NotEnough]:
    for family in dict.fromkeys(ladder.family for ladder in ladders):
        alike = [ladder for ladder in ladders if ladder.family == family]
        yield NotEnough(
            family=family,
            changes=tuple(ladder.summary for ladder in alike),
            constraints=tuple(ladder.letter for ladder in alike if ladder.letter),
            together=tuple(ladder.summary for ladder in alike if ladder.of_many),
        )


def _by_family(costly: Sequence[tuple[Ladder, TriedChange]]) -> Iterator[Costly]:
    """Group by family, with the harm that the first of them does to others."""
    by_family: dict[str, list[tuple[Ladder, TriedChange]]] = {}
    for pair in costly:
        by_family.setdefault(pair[0].family, []).append(pair)
    for family, alike in by_family.items():
        yield Costly(
            family=family,
            changes=tuple(ladder.summary for ladder, _ in alike),
            harm=alike[0][1].answer.harm,
            together=tuple(ladder.summary for ladder, _ in alike if ladder.of_many),
        )
