"""All that is wrong with a cluster, or would be: lines of other questions' answers, and what they count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, get_args

from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.questions.report.areas import AREAS, Area
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.parts import Judgment, OfWorkloads, Report
from kubespread.wording import count_of, some_of

Badness = Literal["notice", "warning", "critical"]
LEVELS: tuple[Badness, ...] = get_args(Badness)
"""Levels from the least to the worst."""


_SCORED: Mapping[Area, str] = {
    "running": "desired pods are ready",
    "spread": "workloads of several pods are spread evenly",
    "losses": "workloads of several pods keep one whatever is lost",
    "budgets": "workloads of several pods have a budget that lets one go",
    "drains": "nodes can be drained",
}
_MAX_NAMED = 3
Grade = Literal["A", "B", "C", "D", "E", "F"]
_GRADES: Mapping[Grade, int] = {"A": 90, "B": 80, "C": 70, "D": 60, "E": 50, "F": 0}
"""Least average of the scores for each grade."""


def grade_of(scores: Sequence[int], critical: int) -> Grade | None:
    """The grade of an average, rounded down; C at best where ``critical`` lines say that pods are missing now. None
    without scores.

    Of other lines none counts: one about a constraint goes with it, and deleting constraints must not pay.
    """
    if not scores:
        return None
    average = sum(scores) // len(scores)
    grade: Grade = next(grade for grade, least in _GRADES.items() if average >= least)
    return max(grade, "C") if critical else grade


def level_count(level: Badness, number: int) -> str:
    """``2 critical``, ``1 warning``."""
    return f"{number:,} critical" if level == "critical" else count_of(number, level)


class ReportLine(Report, frozen=True, kw_only=True):
    """One thing that is wrong, or would be."""

    key: str
    """Identity of the line, the same in later reports: ``spread/violated/shop/Deployment/web/zone``."""
    level: Annotated[Badness, Col()]
    """``critical``: pods are missing now. ``warning``: pods would be missing after one more failure, a hard
    constraint does not hold, or a drain is refused. ``notice``: anything else.
    """
    area: Annotated[Area, Col()]
    """Area it is about. ``running``: pods that do. ``losses``: what one failure more takes. ``scaling``: autoscalers,
    and workloads whose next pod fits nowhere. ``budgets``, ``drains``: evictions. ``spread``: over domains. ``rules``:
    what pods ask of their nodes. ``room``: what is left over.
    """
    question: str
    """The question whose answer says it; ``report`` for what no other tells."""
    what: Annotated[str, Col()]
    """The sentence, with its numbers."""
    extent: Annotated[int, Col()]
    """Extent: pods that wait, would be missing or are held, nodes that are, by how much a skew exceeds maxSkew, or
    percent of what is free.
    """
    workloads: tuple[WorkloadName, ...] = ()
    """NAMESPACE/Kind/name of those concerned."""
    nodes: tuple[str, ...] = ()
    """The names of those concerned."""
    since: Annotated[str | None, Col()] = None
    """RFC 3339; null where nothing in the cluster says it."""
    remedy: Annotated[str | None, Col()] = None
    """The change that was tried and helps; null where none was found, or none was looked for."""
    command: Annotated[str, Col(is_command=True)]
    """Command that shows it in full."""

    @property
    def whom(self) -> Annotated[list[WorkloadName | str], Col(readers=Readers.PIPES)]:
        return [*self.workloads, *self.nodes]

    @property
    def badness(self) -> tuple[int, int, int, str]:
        """Order of the lines: the worst first."""
        return -LEVELS.index(self.level), AREAS.index(self.area), -self.extent, self.key


class AreaLines(Report, frozen=True, kw_only=True):
    """Lines of an area: how many, and whom they concern."""

    area: Area
    """Area of the lines."""
    levels: dict[Badness, int]
    """Number of its lines of each level."""
    workloads: tuple[WorkloadName, ...]
    """Workloads that its lines concern, the worst first."""
    nodes: tuple[str, ...]
    """Nodes that its lines concern, the worst first."""

    @property
    def worst(self) -> Badness:
        """The worst level that it has lines of."""
        return max((level for level in LEVELS if self.levels[level]), key=LEVELS.index)

    @property
    def counts(self) -> str:
        """``2 critical, 1 warning``."""
        return ", ".join(level_count(level, self.levels[level]) for level in reversed(LEVELS) if self.levels[level])

    @property
    def what(self) -> str:
        """``shop/Deployment/web, shop/Deployment/api``."""
        return some_of([name.called for name in self.workloads] or self.nodes, _MAX_NAMED)


class AreaScore(Report, frozen=True, kw_only=True):
    """Score of a cluster in one area, by what its pods do and not by what manifests ask for."""

    area: Annotated[Area, Col()]
    """Area of the score."""
    score: Annotated[int | None, Col(nothing="-", metric="score")]
    """``points`` in percent of ``of``, rounded down; null where there is nothing to count."""
    points: float
    """Number of items that are as they should be."""
    of: int
    """Number of items that are counted."""

    @property
    def what(self) -> Annotated[str, Col(header="COUNTED", fit=Fit.END, least=20)]:
        """``36 of 43 desired pods are ready``."""
        if self.area == "losses" and not self.of:
            return "nothing to lose: there are no two zones, or no workload of several pods"
        return f"{self.points:,g} of {self.of:,} {_SCORED[self.area]}"


class Scorecard(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "Scorecard"
    nodes: int
    """Number of nodes in the cluster."""
    workloads: int
    """Number of workloads looked at."""
    areas: tuple[AreaScore, ...]
    """Scores of the areas that can be counted without regard to what is asked for."""
    lines: tuple[ReportLine, ...]
    """The worst first."""
    levels: dict[Badness, int] = {}
    """Number of lines of each level."""
    by_area: tuple[AreaLines, ...] = ()
    """Lines of each area that has any: how many, and whom they concern, the area with the worst line first."""
    opened: tuple[Area, ...] = ()
    """The areas that alone were asked about; empty for all."""
    grade: Grade | None = None
    """A from an average score of 90 on, B 80, C 70, D 60, E 50, else F; C at best while a line is critical. Null where
    the report is unfinished or about some areas, or nothing is scored.
    """

    def __post_init__(self) -> None:
        scores = [area.score for area in self.areas if area.score is not None]
        is_part = self.unfinished is not None or bool(self.opened)
        grade = None if is_part else grade_of(scores, sum(x.level == "critical" for x in self.lines))
        force_setattr(self, "grade", grade)
        force_setattr(self, "levels", _levels(self.lines))
        by_area = {area: [line for line in self.lines if line.area == area] for area in AREAS}
        ordered = dict.fromkeys(line.area for line in self.lines)
        force_setattr(self, "by_area", tuple(_lines_of(area, by_area[area]) for area in ordered))

    def reaching(self, level: Badness) -> list[ReportLine]:
        """The lines of a level, or of a worse one."""
        return [line for line in self.lines if LEVELS.index(line.level) >= LEVELS.index(level)]

    def judged(self) -> Judgment:
        return "no" if self.reaching("warning") else "yes"

    @property
    def is_no(self) -> bool:
        return bool(self.levels["critical"])

    def worst_finding(self) -> str:
        return next((line.what for line in self.lines), "")

    def sentences(self) -> Iterator[str]:
        counts = [level_count(level, self.levels[level]) for level in reversed(LEVELS) if self.levels[level]]
        grade = "" if self.grade is None else f"grade {self.grade}, "
        areas = f" in {', '.join(self.opened)}" if self.opened else ""
        whom = f"{count_of(self.workloads, 'workload')} on {count_of(self.nodes, 'node')}"
        found = f"{', '.join(counts)}{areas} of" if self.lines else f"nothing is wrong{areas} with"
        yield f"{grade}{found} {whom}"
        yield from (f"{area.area} ({area.counts}): {area.what}" for area in self.by_area)


def _levels(lines: Sequence[ReportLine]) -> dict[Badness, int]:
    return {level: sum(line.level == level for line in lines) for level in LEVELS}


def _lines_of(area: Area, lines: Sequence[ReportLine]) -> AreaLines:
    return AreaLines(
        area=area,
        levels=_levels(lines),
        workloads=tuple(dict.fromkeys(name for line in lines for name in line.workloads)),
        nodes=tuple(dict.fromkeys(node for line in lines for node in line.nodes)),
    )
