"""All that is wrong with a cluster, or would be: lines of other questions' answers, and what they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.reports.parts import Judgment, Report, ScheduledReport
from kubespread.wording import count_of

Badness = Literal["notice", "warning", "critical"]
LEVELS: tuple[Badness, ...] = get_args(Badness)
"""From the least to the worst."""
Area = Literal["running", "losses", "scaling", "budgets", "drains", "spread", "rules", "room"]
AREAS: tuple[Area, ...] = get_args(Area)


class ReportLine(Report, frozen=True, kw_only=True):
    """One thing that is wrong, or would be."""

    key: str
    """What it is about, the same in later reports: ``spread/violated/shop/Deployment/web/zone``."""
    area: Area
    """What it is about. ``running``: pods that do. ``losses``: what one failure more takes. ``scaling``: autoscalers.
    ``budgets``, ``drains``: evictions. ``spread``: over domains. ``rules``: what pods ask of their nodes. ``room``:
    what is left over.
    """
    question: str
    """The question whose answer says it; ``report`` for what no other tells."""
    level: Badness
    """``critical``: pods are missing now. ``warning``: pods would be missing after one more failure or scale-up, a hard
    constraint does not hold, or a drain is refused. ``notice``: anything else.
    """
    what: str
    """The sentence, with its numbers."""
    extent: int
    """How much it concerns: pods that wait, would be missing or are held, nodes that are, by how much a skew exceeds
    maxSkew, or percent of what is free.
    """
    workloads: tuple[WorkloadName, ...] = ()
    """NAMESPACE/Kind/name of those concerned."""
    nodes: tuple[str, ...] = ()
    """The names of those concerned."""
    since: str | None = None
    """RFC 3339; null where nothing in the cluster says it."""
    command: str
    """What shows it in full."""
    remedy: str | None = None
    """The change that was tried and helps; null where none was found, or none was looked for."""
    commands: tuple[str, ...] = ()
    """The same for kubectl, where it has something to change in the cluster."""

    @property
    def badness(self) -> tuple[int, int, int, str]:
        """In which order lines come: the worst first."""
        return -LEVELS.index(self.level), AREAS.index(self.area), -self.extent, self.key


class AreaScore(Report, frozen=True, kw_only=True):
    """How well a cluster does in one area, by what its pods do and not by what manifests ask for."""

    area: Area
    """Which of them."""
    score: int | None
    """``points`` in percent of ``of``, rounded down; null where there is nothing to count."""
    points: float
    """How many are as they should be."""
    of: int
    """How many there are."""
    counted: str
    """What the points are."""


class Scorecard(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "Scorecard"
    asked: tuple[WorkloadName, ...] = ()
    """The workloads named in the question, NAMESPACE/Kind/name; empty if all selected ones are asked about."""
    namespace: str | None
    """The namespace whose workloads are asked about, null for all."""
    selector: str
    """The labels of those workloads, empty for all."""
    nodes: int
    """How many the cluster has."""
    workloads: int
    """How many are asked about."""
    areas: tuple[AreaScore, ...]
    """Of the areas that can be counted without regard to what is asked for."""
    lines: tuple[ReportLine, ...]
    """The worst first."""
    levels: dict[Badness, int] = {}
    """How many lines are of each level."""
    nodes_lost: int = 0
    """How many nodes were lost, each by itself, to find the worst: of many those with the most to lose."""

    def __post_init__(self) -> None:
        levels = {level: sum(line.level == level for line in self.lines) for level in LEVELS}
        force_setattr(self, "levels", levels)
        super().__post_init__()

    def reaches(self, level: Badness) -> int:
        """How many lines are of a level, or of a worse one."""
        return sum(self.levels[at] for at in LEVELS[LEVELS.index(level) :])

    def judged(self) -> Judgment:
        return "no" if self.reaches("warning") else "yes"

    def sentences(self) -> Iterator[str]:
        counts = [count_of(self.levels[level], level) for level in reversed(LEVELS) if level != "critical"]
        of = f"of {count_of(self.workloads, 'workload')} on {count_of(self.nodes, 'node')}"
        if not self.lines:
            yield f"nothing is wrong {of}"
        else:
            yield f"{self.levels['critical']:,} critical, {', '.join(counts)} {of}"
        yield from (f"the worst: {line.what}" for line in self.lines[:1])
