"""What is asked of how workloads are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec.structs import replace

from kubespread.questions.question import Argument, Function, Option, WorkloadsQuestion

if TYPE_CHECKING:
    from kubespread.kube.api.kinds import Kind
    from kubespread.questions.audit.report import AuditReport
    from kubespread.questions.commands import Commands
    from kubespread.questions.workloads_asked import WorkloadsAsked
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.look import Look


class Audit(WorkloadsQuestion["AuditReport"], frozen=True, kw_only=True):
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    The cause is tried, not guessed: pods that wait are placed and rollouts finished, then the pods are placed from
    scratch, as things are and with one thing changed: without terminating pods, volumes, minDomains, cordons, taints,
    affinity or requests, with labels added, without one plugin's score. The first change that ends it is the cause. At
    risk are workloads that losing one zone, or one domain of --key, would wipe out, also those of one pod, and those
    with pods that are pending, not created or not ready, with a stuck rollout, or whose next pod fits nowhere. Rollouts
    under way are named. Of a Service it counts the ready endpoints by zone, and audits the workloads behind it.

    \b
    Examples:
      kubespread audit -A
      kubespread audit -n shop deploy/web --why
      kubespread audit -n shop svc/web
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
    function = Function(
        """How the workloads of ``snapshot`` are spread: what their constraints count, which of them do not hold and
        why.

        ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``, or Services, ``svc/web``; without any all are asked
        about that have pods or are to have some, and pods without a controller by their labels. The namespace is that
        of names without one, else the only one asked about; without it all are.

        Raises UsageError, SnapshotError and ManifestError.
        """,
        "snapshot workloads scheduler",
        "namespace selector key preemption jobs timeout on_progress",
    )

    workloads: Annotated[
        tuple[str, ...],
        Argument(
            "Workloads as KIND/NAME (deploy/web, sts/db), or Services (svc/web). Default: all workloads of the "
            "namespace.",
            metavar="[WORKLOAD]...",
        ),
    ] = ()
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
            "Exit with 1 when a workload or Service is at this level or above: unjudged (placed by another scheduler), "
            "risk, uneven (a soft constraint exceeded), violated (a hard one; the default).",
            is_for_scripts=True,
        ),
    ] = None
    why: Annotated[
        bool,
        Option(
            "Show what was tried to find each cause, and the result.",
            is_for_scripts=True,
            shown_in=("table", "plain", "json", "yaml"),
        ),
    ] = False

    def asked_in(self, snapshot: Snapshot, more: Sequence[Kind] = ()) -> WorkloadsAsked:
        from kubespread.kube.api.kinds import SERVICE

        return super().asked_in(snapshot, (*more, SERVICE))

    def is_yes(self, report: AuditReport) -> bool:
        return not report.is_no

    def shown(self, look: Look) -> Look:
        return replace(look, in_full=look.in_full or self.why)

    def next_command(self, report: AuditReport, commands: Commands) -> str:
        worst = next((row.workload for row in report.workloads if row.level != "ok" or report.services), None)
        return "" if worst is None or self.why else commands.of_workload("audit", worst, "--why")
