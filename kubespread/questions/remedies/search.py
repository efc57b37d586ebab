"""Finds the changes that suffice: each alone at its smallest size; if none does, two and three together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from math import comb

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.questions.remedies.candidates import Family
from kubespread.questions.remedies.change import Answer, Asker, Change, Ladder
from kubespread.questions.remedies.families.constraints import SCHEDULE_ANYWAY
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.verb import Edit

MOST_EFFORT = 7_500
"""The most effort an answer may take, as in `Asker.effort`. What is left of it decides what is tried, so one process
spends it; several would take as long to get ready.
"""
WAIT_TOO = "other pending pods would take the room"
_FEWEST, _CELLS = 24, 20_000
"""The changes tried per family at least, and changes times nodes where that allows more."""
_ONE_BY_ONE = 4
"""Sizes tried from the smallest up, before bisecting the rest."""
_AT_ONCE, _COMBINED = 4, 8
"""The changes tried of one family before those of the next, and those used in combinations."""
_MOST_COMBINED = {2: 300, 3: 200}
_ENOUGH_COMBINED = 3
_LARGE_POD, _BYTES_PER_MILLISECOND = 16_384, 700


class Found(Struct, frozen=True):
    """A change that suffices, with the engine's answer."""

    change: Change
    answer: Answer


class Trials(Struct, dict=True):
    """The changes tried so far: none twice, and no more than the effort allows."""

    asker: Asker
    pod: Pod
    """The pod in question, or one of several."""
    most_effort: float = MOST_EFFORT
    tried: dict[tuple[tuple[str, ...], tuple[Edit, ...]], Found | None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many changes were tried."""
        return len(self.tried)

    @property
    def is_over(self) -> bool:
        return self.asker.effort + self.count * self._extra >= self.most_effort

    @cached_property
    def _extra(self) -> float:
        """The extra effort per question for a pod larger than anyone writes by hand."""
        return max(0, len(msgspec.json.encode(self.pod)) - _LARGE_POD) / _BYTES_PER_MILLISECOND

    def ask(self, change: Change) -> Answer | None:
        key = change.settings, change.edits
        if key not in self.tried:
            answer = self.asker.ask(change)
            self.tried[key] = None if answer is None else Found(change, answer)
        tried = self.tried[key]
        return None if tried is None else tried.answer

    def if_sufficient(self, change: Change) -> Found | None:
        """The change, if it suffices."""
        answer = self.ask(change)
        return Found(change, answer) if answer is not None and answer.suffices else None

    def if_sufficient_alone(self, change: Change) -> Found | None:
        """The change, if it would suffice with no other pods waiting: these take the room it makes."""
        answer = self.asker.ask_alone(change) if change.edits else None
        if answer is None or not answer.suffices:
            return None
        return Found(change, replace(answer, harm=(WAIT_TOO,)))

    def best_of_those_that_help(self, fitting: int) -> Found | None:
        """Of the changes with which more than ``fitting`` pods find a node and none loses its own, the one that helps
        most and costs least.
        """
        helping = (attempt for attempt in self.tried.values() if attempt is not None and not attempt.answer.harm)
        ranked = sorted(helping, key=lambda attempt: (-attempt.answer.count, attempt.change.cost))
        return next((attempt for attempt in ranked if attempt.answer.count > fitting), None)


class Searched(Struct):
    """The results of all changes tried."""

    found: list[Found] = field(default_factory=list)
    """Those that suffice alone, in the order of families; else combinations."""
    not_enough: list[Ladder] = field(default_factory=list)
    costly: list[tuple[Ladder, Found]] = field(default_factory=list)
    """Changes that harm others, each at the first size that does."""
    families: list[str] = field(default_factory=list)
    """The kinds of changes that had candidates."""
    untried: dict[str, int] = field(default_factory=dict)
    """Per family how many changes were not tried."""

    def add(self, ladder: Ladder, trials: Trials, stuck: Stuck) -> None:
        """Try a change at its sizes."""
        smallest_size = smallest(ladder, trials, stuck)
        if smallest_size is not None:
            self.found.append(minimal([smallest_size.change], trials))
        elif (costly := _costly(ladder, trials) or trials.if_sufficient_alone(ladder.most)) is not None:
            self.costly.append((ladder, costly))
        else:
            self.not_enough.append(ladder)

    def leave(self, ladder: Ladder) -> None:
        """Count a change as not tried."""
        self.untried[ladder.family] = self.untried.get(ladder.family, 0) + 1


def search(stuck: Stuck, families: Sequence[Family], trials: Trials, most: int = _FEWEST) -> Searched:
    """Every change of ``families`` alone, within the effort, and on large clusters the first ``most`` of each.

    Families take turns, a few changes at a time.
    """
    searched = Searched()
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
                searched.add(ladder, trials, stuck)
        if len(turn) == _AT_ONCE < more:
            pending.append((ladders, more - _AT_ONCE))
        else:
            for ladder in ladders:
                searched.leave(ladder)
    return searched


def search_least(stuck: Stuck, families: Sequence[Family], trials: Trials, most: int) -> Found | None:
    """The cheapest change that suffices alone, within the effort; ``most`` as for `search`.

    Families take turns. Small sizes of all are tried first: what costs more than a sufficient change can be skipped.
    """
    least: Found | None = None
    most = max(most, _CELLS // max(len(stuck.evaluation.cluster), 1))
    ladders: list[Ladder] = []
    pending = [(family.least_cost, family.changes(stuck), most) for family in families]
    while pending:
        least_cost, changes, more = pending.pop(0)
        if least is None or least_cost < least.change.cost:
            turn = list(islice(changes, min(_AT_ONCE, more)))
            for ladder in turn:
                least = _cheaper(least, ladder, min(ladder.sizes, _ONE_BY_ONE), trials, stuck)
            ladders += turn
            if len(turn) == _AT_ONCE < more:
                pending.append((least_cost, changes, more - _AT_ONCE))
    for ladder in ladders:
        least = _cheaper(least, ladder, ladder.sizes, trials, stuck)
    return None if least is None else minimal([least.change], trials)


def _cheaper(least: Found | None, ladder: Ladder, sizes: int, trials: Trials, stuck: Stuck) -> Found | None:
    """A sufficient size of ``ladder`` that is cheaper than ``least``, else ``least``."""
    if least is not None:
        sizes = bisect_left(range(sizes), least.change.cost, key=lambda place: ladder.at(place).cost)
    if not sizes or trials.is_over:
        return least
    return smallest(replace(ladder, sizes=sizes), trials, stuck) or least


def _costly(ladder: Ladder, trials: Trials) -> Found | None:
    """The smallest tried size that would suffice but harms others."""
    for place in dict.fromkeys((*range(min(ladder.sizes, _ONE_BY_ONE)), ladder.sizes - 1)):
        change = ladder.at(place)
        earlier = trials.tried.get((change.settings, change.edits))
        if earlier is not None and earlier.answer.is_met:
            return earlier
    return None


def smallest(
    ladder: Ladder, trials: Trials, stuck: Stuck, before: Sequence[Change] = (), after: Sequence[Change] = ()
) -> Found | None:
    """The smallest size that suffices together with the given changes, as a change alone.

    What helps no pod at its largest size is assumed to help at none; for one pod, so is what does not suffice.
    """

    def ask(place: int) -> Found | None:
        part = ladder.at(place)
        answer = trials.ask(joined([*before, part, *after]))
        return Found(part, answer) if answer is not None and answer.suffices else None

    if ladder.sizes <= _ONE_BY_ONE:
        return next(filter(None, map(ask, range(ladder.sizes))), None)
    best = ask(ladder.sizes - 1)
    if best is None:
        answer = trials.ask(joined([*before, ladder.most, *after]))
        if stuck.is_one or answer is None or answer.count <= stuck.fitting:
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


class Combined(Struct):
    """The results of combined changes."""

    found: list[Found] = field(default_factory=list)
    """Those that cost least first."""
    untried: int = 0
    """Combinations not tried, if too few of those tried suffice."""


def combined(stuck: Stuck, families: Sequence[Family], trials: Trials, enough: int = _ENOUGH_COMBINED) -> Combined:
    """A few sufficient combinations of two changes, else of three, the cheapest first.

    Constraints are fully relaxed to find them, and then tightened as far as possible. What rejects one pod everywhere
    may not after another change, so nothing is ruled out.
    """
    stuck = replace(stuck, lacking=stuck.lacking or 1, in_free_room=None)
    ladders = [ladder for family in families for ladder in islice(family.changes(stuck), _COMBINED)]
    strongest = sorted(_strongest(ladders), key=lambda ladder: ladder.most.cost)
    combined = Combined()
    for size, at_most in _MOST_COMBINED.items():
        sufficient: dict[tuple[tuple[str, ...], tuple[Edit, ...]], Found] = {}
        tried = 0
        for together in islice(combinations(strongest, size), at_most):
            if trials.is_over or len(sufficient) >= enough:
                break
            tried += 1
            answer = trials.ask(joined([ladder.most for ladder in together]))
            if answer is not None and answer.suffices:
                refined = _refined(together, ladders, trials, stuck)
                sufficient[refined.change.settings, refined.change.edits] = refined
        if len(sufficient) < enough:
            combined.untried += max(0, comb(len(strongest), size) - tried)
        if sufficient:
            combined.found = sorted(sufficient.values(), key=lambda pair: pair.change.cost)
            break
    return combined


def _strongest(ladders: Sequence[Ladder]) -> Iterator[Ladder]:
    """Of a constraint's changes, only the one that removes it."""
    relaxed = {ladder.letter for ladder in ladders if ladder.family == SCHEDULE_ANYWAY}
    return (ladder for ladder in ladders if ladder.family == SCHEDULE_ANYWAY or ladder.letter not in relaxed)


def _refined(together: Sequence[Ladder], ladders: Sequence[Ladder], trials: Trials, stuck: Stuck) -> Found:
    """The combination with each part as small as the others allow, one after another, and without parts it does not
    need.
    """
    parts = [ladder.most for ladder in together]
    for place, ladder in enumerate(together):
        before, after = parts[:place], parts[place + 1 :]
        tried = (smallest(weaker, trials, stuck, before, after) for weaker in (*_weaker(ladder, ladders), ladder))
        sufficient = next(filter(None, tried), None)
        parts[place] = parts[place] if sufficient is None else sufficient.change
    return minimal(parts, trials)


def minimal(parts: Sequence[Change], trials: Trials) -> Found:
    """A sufficient subset of ``parts``, which suffice together: without parts, nodes or labels that the rest does not
    need, within the effort.
    """
    kept = list(parts)
    for part in parts:
        without = [other for other in kept if other is not part]
        if without and not trials.is_over and trials.if_sufficient(joined(without)) is not None:
            kept = without
    for place, part in enumerate(tuple(kept)):
        for piece in part.pieces:
            if trials.is_over or not kept[place].pieces:
                break
            fewer = [*kept[:place], kept[place].without(piece), *kept[place + 1 :]]
            if trials.if_sufficient(joined(fewer)) is not None:
                kept = fewer
    fewest = trials.if_sufficient(joined(kept))
    assert fewest is not None
    return fewest


def _weaker(ladder: Ladder, ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Changes of the same constraint that keep it hard."""
    if ladder.family != SCHEDULE_ANYWAY:
        return ()
    same = [other for other in ladders if other is not ladder and other.letter == ladder.letter]
    return sorted(same, key=lambda other: other.least.cost)


def joined(changes: Sequence[Change]) -> Change:
    """All of them together."""
    first, *others = changes
    for other in others:
        first = first.joined(other)
    return first
