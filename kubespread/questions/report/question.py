"""Question about a whole cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kubespread.errors import UsageError
from kubespread.questions.audit.question import Audit
from kubespread.questions.pending.question import Pending
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
from kubespread.reports.findings import AREAS, Area
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.report.report import Scorecard


class _AreasOrWorkloads(Argument):
    """Areas of a report, which have no slash, and workloads."""

    def decides(self, given: Any) -> Mapping[str, str]:
        return self.says if any("/" in text for text in given) else {}


class Report(WorkloadsQuestion["Scorecard"], frozen=True, kw_only=True):
    """Put everything that is wrong with a cluster, or would be, on one page, the worst first.

    Each line says what, whose, how bad, the command that shows it, and the change that was tried and helps. Most are
    answers of pending, audit and survive; budgets, nodes that cannot be drained and autoscalers at their maximum are
    added. Critical: pods are missing now. Warning: pods would be missing after one more failure or scale-up, a hard
    constraint does not hold, or a drain is refused. Notice: anything else. With --autoscaler pods are missing that
    still are once it has added its nodes.

    \b
    Examples:
      kubespread report -A
      kubespread report losses drains -A
      kubespread report shop/deploy/web
      kubespread report -A -S cluster.json.gz -o markdown
      kubespread report -A --fail-on warning -o html > report.html
      kubespread report -A --autoscaler karpenter --instance-types types.yaml
      kubespread fleet --contexts 'prod-*' report -A
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
            "Areas (running, losses ...), which alone are asked about then, or workloads as KIND/NAME (deploy/web). "
            "Default: a page on all of the namespace.",
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
    def opened(self) -> tuple[Area, ...]:
        """The areas among what is named."""
        return tuple(area for area in AREAS if area in self.workloads)

    def is_about(self, *areas: Area) -> bool:
        """True if one of these areas is asked about."""
        return not self.opened or not set(areas).isdisjoint(self.opened)

    @property
    def named(self) -> tuple[str, ...]:
        others = tuple(name for name in self.workloads if name not in self.opened)
        if unknown := [name for name in others if "/" not in name]:
            from kubespread.kube.api.unknown_fields import alternatives

            told = alternatives(unknown[0], AREAS)
            raise UsageError(
                f"invalid area or workload {unknown[0]!r}: expected [NAMESPACE/]KIND/NAME or an area{told}"
            )
        return others

    def next_command(self, report: Scorecard, _commands: Commands) -> str:
        return next((line.command for line in report.lines), "")

    def unmet(self, report: Scorecard) -> Iterator[str]:
        if self.fail_on is not None and (reaching := report.reaching(self.fail_on)):
            yield f"--fail-on {self.fail_on}: {count_of(len(reaching), 'line')}, the worst: {reaching[0].text}"

    def is_yes(self, report: Scorecard) -> bool:
        return not report.is_no
