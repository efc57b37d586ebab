"""Question about manifests before they are applied, or about the workloads of a cluster."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import ManifestsQuestion, Namespace, Option, Workload
from kubespread.questions.registry import part

if TYPE_CHECKING:
    from kubespread.candidate.sources import Surroundings
    from kubespread.questions.check.report import CheckReport
    from kubespread.questions.commands import Commands


class Check(ManifestsQuestion["CheckReport"], frozen=True, kw_only=True):
    """Find what will go wrong with the topology spread constraints of manifests, or of a cluster's workloads, each
    finding with a code, numbers and a remedy.

    Manifests are read and checked by themselves. With a cluster (-S, --context or --live) they are also tried on it:
    all replicas are placed, both as they are and with the remedy applied. The annotation kubespread.dev/ignore: KS101
    on a workload silences a rule. In GitHub Actions, the default format is annotations.

    \b
    Examples:
      kubespread check k8s/
      helm template chart | kubespread check -S cluster.json.gz
      kubespread check -S cluster.json.gz -A --fail-on warning
      kubespread check k8s/ -R --base origin/main
      kubespread check k8s/ -R -o sarif > kubespread.sarif
    """

    name = "check"
    summary = "Find topology spread problems before applying manifests."
    yes, no = "no finding at the level of --fail-on", "some finding is"
    never_modelled = (
        "other workloads that are checked at the same time: each is tried by itself, with all its replicas placed anew",
        "autoscalers: no nodes are added (kubespread pending --autoscaler adds them)",
    )
    hands_out = True
    doing = "checking workloads"
    outputs = {
        "table": "a list",
        "sarif": "is SARIF 2.1.0 for code scanning",
        "junit": "is JUnit XML",
        "github": "prints annotations of GitHub Actions",
    }
    may_lack_cluster = True
    by_place = "pods"

    pods: Annotated[
        tuple[Any, ...],
        Workload(
            "Manifests, directories of them, '-', or KIND/NAME in the cluster. Default: standard input when piped, "
            "else the cluster's workloads.",
            metavar="[MANIFEST]...",
            is_piped=True,
        ),
    ] = ()
    namespace: Annotated[
        str | None,
        Namespace("Namespace of manifests that set none, or of the cluster's workloads.", ("-n", "--namespace")),
    ] = None
    selector: Annotated[
        str, Option("Check the workloads with these labels (app=web,tier!=db).", ("-l", "--selector"), "LABELS")
    ] = ""
    select: Annotated[
        tuple[str, ...], Option("Check only these rules, by code or prefix (KS101,KS2).", metavar="CODES")
    ] = ()
    ignore: Annotated[tuple[str, ...], Option("Skip these rules.", metavar="CODES")] = ()
    fail_on: Annotated[
        Literal["error", "warning", "info"], Option("Say no, and exit with 1, when a finding is at least this severe.")
    ] = "error"
    base: Annotated[
        str | None,
        Option(
            "Leave out what is also found in this git revision, where HEAD left it.", metavar="REVISION", is_path=True
        ),
    ] = None
    explain: Annotated[
        str | None,
        Option(
            "Describe a rule and exit.",
            metavar="CODE",
            is_for_scripts=True,
            prints="a rule",
            beside=("no_headers", "quiet"),
        ),
    ] = None

    def ending(self) -> str:
        text: str = part("check", "answer", "rule")(self.explain).page
        return text

    @property
    def needs_cluster(self) -> bool:
        from kubespread.candidate.sources import is_reference

        return not self.pods or any(isinstance(pod, str) and is_reference(pod) for pod in self.pods)

    @property
    def surroundings(self) -> Surroundings:
        from kubespread.candidate.sources import Surroundings

        return Surroundings(namespace=self.namespace, selector=self.selector, recursive=self.recursive)

    def next_command(self, report: CheckReport, commands: Commands) -> str:
        worst = min(report.findings, key=lambda finding: finding.level.rank, default=None)
        if worst is None:
            return ""
        if worst.file is None and isinstance(worst.subject, WorkloadName) and worst.remedy.settings:
            words = (f"--set {quote(setting)}" for setting in worst.remedy.settings)
            return commands.of_workload("simulate", worst.subject, *words)
        return f"kubespread check --explain {worst.code}"
