"""The search results as a report: changes of one kind with the same effect are listed together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from kubespread.questions.remedies.candidates import Family
from kubespread.questions.remedies.change import Asker, Change, Ladder
from kubespread.questions.remedies.families.cordons import UNCORDON
from kubespread.questions.remedies.families.evictions import EVICT, WAIT, notes_on
from kubespread.questions.remedies.families.labels import LABEL
from kubespread.questions.remedies.families.new_nodes import ADD_NODE
from kubespread.questions.remedies.families.taints import UNTAINT
from kubespread.questions.remedies.search import Found, Trials, combined, search
from kubespread.questions.remedies.stuck import Stuck
from kubespread.reports.advise import COMBINATION, Advice, Costly, NotEnough, Suggestion
from kubespread.snapshot.edits.verb import Edit

_INTERCHANGEABLE = frozenset({UNCORDON, UNTAINT, LABEL, WAIT, EVICT, ADD_NODE})
"""Families whose changes are interchangeable."""


def advice(
    stuck: Stuck, families: Sequence[Family], asker: Asker, *, combines: bool = True
) -> tuple[Advice, Sequence[Change]]:
    """The advice: single changes that suffice, else combinations; and the change of each suggestion."""
    trials = Trials(asker, stuck.pod)
    searched = search(stuck, families, trials)
    sufficient, untried = searched.found, dict(searched.untried)
    if not sufficient and combines:
        together = combined(stuck, families, trials)
        sufficient = together.found
        if together.untried:
            untried[COMBINATION] = together.untried
    leading = list(_leading(sufficient))
    report = Advice(
        families=tuple(dict.fromkeys(searched.families)),
        enough=tuple(_suggestion(first, alike, stuck) for first, alike in leading),
        not_enough=tuple(_not_enough(searched.not_enough)),
        costly=tuple(_costly(searched.costly)),
        tried=trials.count,
        untried=untried,
    )
    return report, [first.change for first, _ in leading]


def _leading(sufficient: Sequence[Found]) -> Iterator[tuple[Found, Sequence[Found]]]:
    """The first of the changes with the same effect, with others that are as good."""
    leading: dict[Hashable, list[Found]] = {}
    for candidate in sorted(sufficient, key=_rank):
        change = candidate.change
        # Every other change is a suggestion of its own.
        same = change.family if change.family in _INTERCHANGEABLE else (change.settings, change.edits)
        leading.setdefault(same, []).append(candidate)
    for first, *others in leading.values():
        yield first, [other for other in others if other.change.cost == first.change.cost]


def _rank(candidate: Found) -> tuple[int, int, int]:
    """Sorts by the size of the change, then by effects on others, then by the nodes left to choose from."""
    return candidate.change.cost, len(candidate.answer.consequences), -candidate.answer.count


def _suggestion(first: Found, others: Sequence[Found], stuck: Stuck) -> Suggestion:
    answer = first.answer
    return Suggestion(
        change=first.change.said,
        family=first.change.family,
        options=options(first.change),
        nodes=answer.count if stuck.is_one else None,
        placed=None if stuck.is_one else answer.count,
        consequences=answer.consequences,
        notes=tuple(notes_on(stuck, first.change)),
        alternatives=tuple(" ".join(options(other.change)) for other in others),
        constraints=tuple(part.letter for part in first.change.parts if part.letter),
        brief=first.change.brief or first.change.said,
    )


def options(change: Change) -> tuple[str, ...]:
    """The options that reproduce it on the command line."""
    return (*(f"--set {setting}" for setting in change.settings), *map(_option, change.edits))


def _option(edit: Edit) -> str:
    verb, _, rest = str(edit).partition(" ")
    return f"--{verb} {_quoted(rest)}"


def _quoted(text: str) -> str:
    return f"'{text}'" if " " in text else text


def _not_enough(ladders: Sequence[Ladder]) -> Iterator[NotEnough]:
    for family in dict.fromkeys(ladder.family for ladder in ladders):
        alike = [ladder for ladder in ladders if ladder.family == family]
        yield NotEnough(
            family=family,
            changes=tuple(ladder.summary for ladder in alike),
            constraints=tuple(ladder.letter for ladder in alike if ladder.letter),
            together=tuple(ladder.summary for ladder in alike if ladder.of_many),
        )


def _costly(costly: Sequence[tuple[Ladder, Found]]) -> Iterator[Costly]:
    """By family, with the harm that the first of them does to others."""
    by_family: dict[str, list[tuple[Ladder, Found]]] = {}
    for pair in costly:
        by_family.setdefault(pair[0].family, []).append(pair)
    for family, alike in by_family.items():
        yield Costly(
            family=family,
            changes=tuple(ladder.summary for ladder, _ in alike),
            harm=alike[0][1].answer.harm,
            together=tuple(ladder.summary for ladder, _ in alike if ladder.of_many),
        )
