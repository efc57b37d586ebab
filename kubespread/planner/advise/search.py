"""Which changes suffice: each asked about alone, the least size of it; where none does, two and three together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import comb

from kubespread.planner.advise.candidates import Family, most_tried
from kubespread.planner.advise.change import Answer, Asker, Change, Ladder
from kubespread.planner.advise.families.constraints import SCHEDULE_ANYWAY
from kubespread.planner.advise.stuck import Stuck

_ONE_BY_ONE = 4
"""Sizes tried from the least on, before the rest is halved again and again."""
_OF_A_FAMILY = 8
"""How many changes of one family go into combinations."""
_MOST_COMBINED = {2: 300, 3: 200}
_ENOUGH_COMBINED = 3
_COPIES_COMBINED, _COPIES_REFINED = 24_000, 900
"""How many copies are placed for combinations of one size, and with how many of them each more is looked for: to make
a combination as small as it can be takes some fifty questions.
"""
_FEWEST_COMBINED = 60


@dataclass(frozen=True, slots=True)
class Found:
    """A change that suffices, and what the engine says then."""

    change: Change
    answer: Answer


@dataclass(slots=True)
class Searched:
    """What came of all changes that were tried."""

    found: list[Found] = field(default_factory=list)
    """Those that suffice alone, in the order of families; else combinations."""
    not_enough: list[Ladder] = field(default_factory=list)
    families: list[str] = field(default_factory=list)
    """The kinds of changes of which there were any."""
    untried: dict[str, int] = field(default_factory=dict)
    """Per family how many changes were not tried."""


@dataclass(slots=True)
class Combined:
    """What came of several changes together."""

    found: list[Found] = field(default_factory=list)
    """Those that cost least first."""
    untried: int = 0
    """How many combinations were not tried, where too few suffice of those that were."""


def search(stuck: Stuck, families: Sequence[Family], asker: Asker) -> Searched:
    """Every change of ``families`` alone, as far as `most_tried` goes."""
    searched = Searched()
    most = most_tried(len(stuck.evaluation.cluster), stuck.copies)
    for family in families:
        ladders = iter(family(stuck))
        for ladder in islice(ladders, most):
            searched.families.append(ladder.family)
            found = smallest(ladder, asker) if ladder.can_help else None
            if found is not None:
                searched.found.append(found)
            else:
                searched.not_enough.append(ladder)
        if left := list(ladders):
            searched.untried[left[0].family] = len(left)
    return searched


def smallest(ladder: Ladder, asker: Asker, beside: Sequence[Change] = ()) -> Found | None:
    """The least size that suffices together with ``beside``."""

    def ask(place: int) -> Found | None:
        part = ladder.at(place)
        answer = asker.ask(_joined([part, *beside]))
        return Found(part, answer) if answer is not None and answer.suffices else None

    if ladder.sizes <= _ONE_BY_ONE:
        return next(filter(None, map(ask, range(ladder.sizes))), None)
    best = ask(ladder.sizes - 1)
    if best is None:
        return None
    for place in range(_ONE_BY_ONE):
        if (found := ask(place)) is not None:
            return found
    low, high = _ONE_BY_ONE, ladder.sizes - 1
    while low < high:
        middle = (low + high) // 2
        if (found := ask(middle)) is not None:
            high, best = middle, found
        else:
            low = middle + 1
    return best


def combined(stuck: Stuck, families: Sequence[Family], asker: Asker) -> Combined:
    """A few combinations of two changes that suffice, else of three, those that cost least first.

    Constraints are relaxed to find them, and then only as far as it takes. What rejects one pod everywhere may not once
    something else is changed too, so nothing is ruled out.
    """
    stuck = replace(stuck, lacking=1) if stuck.is_one else stuck
    ladders = [ladder for family in families for ladder in islice(family(stuck), _OF_A_FAMILY) if ladder.sizes]
    strongest = sorted(_strongest(ladders), key=lambda each: each.most.cost)
    enough = max(1, min(_ENOUGH_COMBINED, _COPIES_REFINED // stuck.copies))
    combined = Combined()
    for size, at_most in _MOST_COMBINED.items():
        most = min(at_most, max(_FEWEST_COMBINED, _COPIES_COMBINED // stuck.copies))
        sufficient = (each for each in islice(combinations(strongest, size), most) if _suffices(each, asker))
        found = [_refined(together, ladders, asker) for together in islice(sufficient, enough)]
        if len(found) < enough:
            combined.untried += max(0, comb(len(strongest), size) - most)
        if found:
            combined.found = sorted(found, key=lambda each: each.change.cost)
            break
    return combined


def _strongest(ladders: Sequence[Ladder]) -> Iterator[Ladder]:
    """Of changes of a constraint only the one that does away with it."""
    relaxed = {ladder.subject for ladder in ladders if ladder.family == SCHEDULE_ANYWAY}
    return (each for each in ladders if each.family == SCHEDULE_ANYWAY or each.subject not in relaxed)


def _suffices(together: Sequence[Ladder], asker: Asker) -> bool:
    answer = asker.ask(_joined([ladder.most for ladder in together]))
    return answer is not None and answer.suffices


def _refined(together: Sequence[Ladder], ladders: Sequence[Ladder], asker: Asker) -> Found:
    """The same with each part as small as the others allow, one after another."""
    parts = [ladder.most for ladder in together]
    for place, ladder in enumerate(together):
        others = [*parts[:place], *parts[place + 1 :]]
        tried = (smallest(each, asker, others) for each in (*_weaker(ladder, ladders), ladder))
        found = next(filter(None, tried), None)
        parts[place] = parts[place] if found is None else found.change
    change = _joined(parts)
    answer = asker.ask(change)
    assert answer is not None
    return Found(change, answer)


def _weaker(ladder: Ladder, ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Changes of the same constraint that keep it hard."""
    if ladder.family != SCHEDULE_ANYWAY:
        return ()
    same = [each for each in ladders if each is not ladder and each.subject == ladder.subject]
    return sorted(same, key=lambda each: each.at(0).cost)


def _joined(changes: Sequence[Change]) -> Change:
    first, *others = changes
    for other in others:
        first = first.joined(other)
    return first
