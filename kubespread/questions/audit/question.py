"""Question about the spread of workloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec.structs import replace

from kubespread.questions.question import Option, WorkloadsQuestion
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.audit.report import AuditReport
    from kubespread.questions.commands import Commands
    from kubespread.views.look import Look


class Audit(WorkloadsQuestion["AuditReport"], frozen=True, kw_only=True):
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    The cause is tried, not guessed: pods that wait are placed and rollouts finished, then the pods are placed from
    scratch, as things are and with one thing changed: without terminating pods, volumes, minDomains, cordons, taints,
    affinity or requests, with labels added, without one plugin's score. The first change that ends it is the cause. At
    risk are workloads that losing one zone, or one domain of --key, would wipe out, also those of one pod, and those
    with pods that are pending, not created or not ready, with a stuck rollout, or whose next pod fits nowhere. Rollouts
    under way are named.

    \b
    Examples:
      kubespread audit -A
      kubespread audit -n shop deploy/web --why
      kubespread audit -A --key karpenter.sh/capacity-type
      kubespread audit -A --fail-on risk -S cluster.json.gz
      kubespread audit -A -q -o prometheus > /var/lib/node_exporter/textfile/kubespread.prom
      kubespread audit -A -w
    """

    name = "audit"
    summary = "Show how every workload is spread, and why unevenly."
    yes, no = "nothing is at the level of --fail-on", "something is"
    never_modelled = ("time: pods are judged where they are, not by how they came there",)
    hands_out = True
    doing = "auditing workloads"
    outputs = {"name": "prints the workloads with findings, the worst first", "prometheus": ""}
    is_watched = True
    by_place = "workloads"

    key: Annotated[
        str,
        Option(
            "Count and lose the domains of this node label, such as a rack or capacity type (default: zones, and hosts "
            "where there are not several).",
            metavar="KEY",
        ),
    ] = ""
    fail_on: Annotated[
        Literal["violated", "uneven", "risk", "unjudged"] | None,
        Option(
            "Exit with 1 when a workload is at this level or above: unjudged (placed by another scheduler), "
            "risk, uneven (a soft constraint exceeded), violated (a hard one; the default).",
            is_for_scripts=True,
        ),
    ] = None
    why: Annotated[
        bool,
        Option(
            "Show what was tried to find each cause, and the result.",
            is_for_scripts=True,
            shown_in=("table", "columns", "json", "yaml"),
        ),
    ] = False

    def unmet(self, report: AuditReport) -> Iterator[str]:
        if self.fail_on is not None and (number := report.reaches(self.fail_on)):
            yield f"--fail-on {self.fail_on}: {count_of(number, 'workload')} at this level or above"

    def is_yes(self, report: AuditReport) -> bool:
        return not report.is_no

    def shown(self, look: Look) -> Look:
        return replace(look, in_full=look.in_full or self.why)

    def next_command(self, report: AuditReport, commands: Commands) -> str:
        worst = next((row for row in report.workloads if row.level != "ok"), None)
        if worst is None:
            return ""
        # Placed afresh it is even: moving pods is what helps.
        if any(finding.code == "drift" for finding in worst.findings):
            return commands.of_workload("rebalance", worst.workload)
        return "" if self.why else commands.of_workload("audit", worst.workload, "--why")
