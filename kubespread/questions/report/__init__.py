"""Everything that is wrong with a cluster, or would be, on one page: the findings of other questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from msgspec.structs import force_setattr

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.audit import Audit
from kubespread.questions.pending import Pending
from kubespread.questions.question import (
    WORKLOADS,
    Argument,
    AutoscalerName,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    WorkloadsQuestion,
)
from kubespread.questions.survive import Survive
from kubespread.reports import parts
from kubespread.reports.columns import Col, Readers
from kubespread.reports.findings import AREAS, LINES, Area
from kubespread.reports.parts import Finding, Judgment, OfWorkloads
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

Badness = Literal["notice", "warning", "critical"]
LEVELS: tuple[Badness, ...] = get_args(Badness)
"""From the least to the worst."""


_MAX_NAMED = 3


def level_count(level: Badness, number: int) -> str:
    """``2 critical``, ``1 warning``."""
    return f"{number:,} critical" if level == "critical" else count_of(number, level)


class ReportLine(Finding, frozen=True, kw_only=True, rename={"text": "what"}):
    words: ClassVar = LINES

    key: str
    """Identity of the line, the same in later reports: ``spread/violated/shop/Deployment/web/zone``."""
    level: Annotated[Badness, Col()]
    """Level of the line.

    ``critical``: pods are missing now, or no rollout completes. ``warning``: pods would be missing after one more
    failure, a hard constraint does not hold, or a drain is refused. ``notice``: anything else.
    """
    area: Annotated[Area, Col()]
    """Area of the line.

    ``running``: running pods. ``spread``: constraints and domains. ``drains``, ``budgets``: evictions. ``losses``:
    effects of one more failure. ``scaling``: autoscalers, and workloads whose next pod fits nowhere.
    """
    question: str
    """Question that the line is from; ``report`` for lines of its own."""
    text: Annotated[str, Col(header="WHAT")]
    """The sentence, with its numbers."""
    extent: Annotated[int, Col()]
    """Number of pods pending, missing or held, or of workloads or nodes, or the excess of a skew over maxSkew."""
    workloads: tuple[WorkloadName, ...] = ()
    """NAMESPACE/Kind/name of the workloads concerned."""
    nodes: tuple[str, ...] = ()
    """Names of the nodes concerned."""
    since: Annotated[str | None, Col()] = None
    """Creation of the oldest pending pod, RFC 3339; null for other lines, and if unknown."""
    remedy: Annotated[str | None, Col()] = None
    """Tried change that helps; null if none was found, or looked for."""
    command: Annotated[str, Col(is_command=True)]
    """Command that shows it in full."""

    @property
    def whom(self) -> Annotated[list[WorkloadName | str], Col(readers=Readers.PIPES)]:
        return [*self.workloads, *self.nodes]

    @property
    def badness(self) -> tuple[int, int, int, str]:
        """Order of the lines: the worst first, and of one level present faults before possible ones."""
        return -LEVELS.index(self.level), AREAS.index(self.area), -self.extent, self.key


class AreaLines(parts.Report, frozen=True, kw_only=True):
    """Lines of an area: how many, and whom they concern."""

    area: Area
    """Area of the lines."""
    levels: dict[Badness, int]
    """Number of its lines of each level."""
    workloads: tuple[WorkloadName, ...]
    """Workloads of its lines, the worst first."""
    nodes: tuple[str, ...]
    """Nodes of its lines, the worst first."""

    @property
    def worst(self) -> Badness:
        return max((level for level in LEVELS if self.levels[level]), key=LEVELS.index)

    @property
    def counts(self) -> str:
        """``2 critical, 1 warning``."""
        return ", ".join(level_count(level, self.levels[level]) for level in reversed(LEVELS) if self.levels[level])

    @property
    def subjects(self) -> str:
        """``shop/Deployment/web, shop/Deployment/api``."""
        return some_of([name.short_name for name in self.workloads] or self.nodes, _MAX_NAMED)

    @property
    def sentence(self) -> str:
        return f"{self.area} ({self.counts}): {self.subjects}"


class Scorecard(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "Scorecard"
    only_no_counts = True
    nodes: int
    workloads: int
    lines: tuple[ReportLine, ...]
    """The worst first."""
    levels: dict[Badness, int] = {}
    """Number of lines of each level."""
    by_area: tuple[AreaLines, ...] = ()
    """Lines of each area that has any; the area with the worst line first."""
    opened: tuple[Area, ...] = ()
    """Areas that the page is limited to; empty for all."""

    def __post_init__(self) -> None:
        force_setattr(self, "levels", _levels(self.lines))
        by_area = {area: [line for line in self.lines if line.area == area] for area in AREAS}
        ordered = dict.fromkeys(line.area for line in self.lines)
        force_setattr(self, "by_area", tuple(_lines_of(area, by_area[area]) for area in ordered))

    def reaching(self, level: Badness) -> list[ReportLine]:
        """Lines of a level, or of a worse one."""
        return [line for line in self.lines if LEVELS.index(line.level) >= LEVELS.index(level)]

    def judge(self) -> Judgment:
        return "no" if self.reaching("warning") else "yes"

    @property
    def is_no(self) -> bool:
        return bool(self.levels["critical"])

    def all_findings(self) -> Iterable[Finding]:
        return self.lines

    def worst_finding(self) -> str:
        return next((line.text for line in self.lines), "")

    def sentences(self) -> Iterator[str]:
        counts = [level_count(level, self.levels[level]) for level in reversed(LEVELS) if self.levels[level]]
        areas = f" in {', '.join(self.opened)}" if self.opened else ""
        whom = f"{count_of(self.workloads, 'workload')} on {count_of(self.nodes, 'node')}"
        headline = f"{', '.join(counts)}{areas} of" if self.lines else f"nothing is wrong{areas} with"
        yield f"{headline} {whom}"
        yield from (area.sentence for area in self.by_area)


def _levels(lines: Sequence[ReportLine]) -> dict[Badness, int]:
    return {level: sum(line.level == level for line in lines) for level in LEVELS}


def _lines_of(area: Area, lines: Sequence[ReportLine]) -> AreaLines:
    return AreaLines(
        area=area,
        levels=_levels(lines),
        workloads=tuple(dict.fromkeys(name for line in lines for name in line.workloads)),
        nodes=tuple(dict.fromkeys(node for line in lines for node in line.nodes)),
    )


class _AreasOrWorkloads(Argument, frozen=True):
    """Areas of a report, which have no slash, and workloads."""

    def decides(self, value: Any) -> Mapping[str, str]:
        return self.says if any("/" in text for text in value) else {}


class Report(WorkloadsQuestion["Scorecard"], frozen=True, kw_only=True):
    """Put everything that is wrong with a cluster, or would be, on one page, the worst first.

    Each line says what is wrong, where and how badly, with the command that shows it and a tried change that helps.
    Most are answers of pending, audit and survive; budgets, nodes that cannot be drained and autoscalers at their
    maximum are added. Critical: pods are missing now, or no rollout completes. Warning: pods would be missing after one
    more failure or scale-up, a hard constraint does not hold, or a drain is refused. Notice: anything else. With
    --autoscaler, pods count as missing only if they still are after it has added nodes.

    \b
    Examples:
      kubespread report -A
      kubespread report losses drains -A
      kubespread report shop/deploy/web
      kubespread report -A -S cluster.json.gz -o markdown
      kubespread report -A --fail-on warning -o html > report.html
      kubespread report -A --autoscaler karpenter --instance-types types.yaml
      kubespread fleet fleet/*.json.gz report -A
    """

    name = "report"
    summary = "Show all that is wrong with a cluster, the worst first."
    yes, no = "nothing is at the level of --fail-on", "something is"
    never_modelled = (
        *Audit.never_modelled,
        *Pending.never_modelled,
        *Survive.never_modelled,
        "autoscaled workloads that all find room at their maximum together are not scaled up alone",
    )
    hands_out = True
    doing = "asking one question after another"
    outputs = {"table": "a list", "name": "prints the workloads with lines, the worst first", "prometheus": ""}

    workloads: Annotated[
        tuple[str, ...],
        _AreasOrWorkloads(
            "Only these areas (running, losses ...), or workloads as KIND/NAME (deploy/web). Default: "
            "everything in the namespace.",
            metavar="[AREA|WORKLOAD]...",
            words=AREAS,
            says={WORKLOADS: "by name"},
        ),
    ] = ()
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    fail_on: Annotated[
        Literal["critical", "warning", "notice"] | None,
        Option(
            "Exit with 1 when a line is at this level or above: notice, warning, critical (the default).",
            is_for_scripts=True,
        ),
    ] = None

    @property
    def areas(self) -> tuple[Area, ...]:
        """Areas among the positional arguments."""
        return tuple(area for area in AREAS if area in self.workloads)

    def is_about(self, *areas: Area) -> bool:
        return not self.areas or not set(areas).isdisjoint(self.areas)

    @property
    def workload_names(self) -> tuple[str, ...]:
        others = tuple(name for name in self.workloads if name not in self.areas)
        if unknown := [name for name in others if "/" not in name]:
            from kubespread.kube.api.unknown_fields import alternatives

            hint = alternatives(unknown[0], AREAS)
            raise UsageError(
                f"invalid area or workload {unknown[0]!r}: expected [NAMESPACE/]KIND/NAME or an area{hint}"
            )
        return others

    def next(self, report: Scorecard, _commands: Commands) -> str:
        return next((line.command for line in report.lines), "")

    def check(self, report: Scorecard) -> Iterator[str]:
        if self.fail_on is not None and (reaching := report.reaching(self.fail_on)):
            yield f"--fail-on {self.fail_on}: {count_of(len(reaching), 'line')}, the worst: {reaching[0].text}"
