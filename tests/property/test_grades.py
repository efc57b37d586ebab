"""The grade of a report follows from the numbers on its page."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Scorecard, Snapshot
from kubespread.questions.report.areas import Area
from kubespread.questions.report.report import LEVELS, AreaScore, Badness, ReportLine, grade_of
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import hosts, remade
from tests.world.clusters import deployment

SCORED: tuple[Area, ...] = ("running", "spread", "losses", "budgets", "drains")
_AREA = re.compile(rf"^  (?:{'|'.join(SCORED)}) +(\d+|-)  ", re.MULTILINE)
_CRITICAL = re.compile(r"(\d+) critical")


@cache
def _report() -> Scorecard:
    return kubespread.report(Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"))]))


def _area(place: int, score: int | None) -> AreaScore:
    return AreaScore(area=SCORED[place], score=score, points=score or 0, of=0 if score is None else 100)


def _line(place: int, level: Badness) -> ReportLine:
    return ReportLine(
        key=f"{place}", area="rules", question="report", level=level, what="broken", extent=1, command="kubespread map"
    )


def _by_hand(page: str) -> str | None:
    """From the page alone, as docs/cookbook/report.md has the rule."""
    scores = [int(score) for score in _AREA.findall(page) if score != "-"]
    if not scores:
        return None
    average = sum(scores) // len(scores)
    grade = "F" if average < 50 else "EDCBA"[min(4, average // 10 - 5)]
    critical = _CRITICAL.search(page.splitlines()[0])
    return "C" if critical and grade in "AB" else grade


@settings(max_examples=200, deadline=None)
@given(
    scores=st.lists(st.none() | st.integers(0, 100), min_size=5, max_size=5),
    levels=st.lists(st.sampled_from(LEVELS), max_size=5),
)
def test_the_grade_follows_from_the_numbers_on_the_page(scores: list[int | None], levels: list[Badness]) -> None:
    report = remade(
        _report(),
        areas=tuple(_area(place, score) for place, score in enumerate(scores)),
        lines=tuple(_line(place, level) for place, level in enumerate(levels)),
        answer=(),
    )
    page = terminal.table(report, Look())
    said = re.match(r"(?:No: )?grade ([A-F]), ", page)
    assert report.grade == (said and said[1]) == _by_hand(page)


@given(scores=st.lists(st.integers(0, 99), min_size=1), place=st.data(), critical=st.integers(0, 3))
def test_no_better_score_makes_a_grade_worse(scores: list[int], place: st.DataObject, critical: int) -> None:
    better = list(scores)
    better[place.draw(st.integers(0, len(scores) - 1))] += 1
    before, after = grade_of(scores, critical), grade_of(better, critical)
    assert before is not None
    assert after is not None
    assert after <= before
