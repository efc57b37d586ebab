"""Problems of manifests, or of the workloads of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import ManifestsQuestion, NamespaceOption, Option, WorkloadOption
from kubespread.questions.registry import part
from kubespread.reports.findings import SEVERITIES
from kubespread.reports.findings import Severity as CiSeverity
from kubespread.reports.parts import ClusterReport, Finding, Judgment, Position, Report, RuleReport
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.candidate.sources import Surroundings
    from kubespread.questions.commands import Commands


class Severity(StrEnum):
    """The worst first."""

    ERROR = "error"
    """Pods do not run, or a constraint does not work."""
    WARNING = "warning"
    """It works today, and will fail in a foreseeable case."""
    INFO = "info"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Remedy(Report, frozen=True):
    """A change that fixes a finding."""

    text: str
    """The change in one sentence."""
    settings: tuple[str, ...] = ()
    """Settings that make the change together, for ``--set``."""
    edits: tuple[str, ...] = ()
    """Edits of the cluster that make the change together (``uncordon node-7``)."""
    outcome: str | None = None
    """Outcome of the change, from running the engine again; null if it was not tried."""
    commands: tuple[str, ...] = ()
    """kubectl commands that make the change, for a workload in the cluster."""

    @property
    def with_outcome(self) -> str:
        return self.text if self.outcome is None else f"{self.text} ({self.outcome})"


_IN_JSON = {"level": "severity", "subject": "workload", "text": "message"}


class CheckFinding(Finding, frozen=True, kw_only=True, rename=_IN_JSON):
    code: str
    """``KS203``; never reused for another rule."""
    rule: str
    """The rule's name, ``closed-domains``."""
    level: Severity
    """The rule's severity, unless the numbers call for another."""
    subject: str = ""
    """NAMESPACE/Kind/name of the workload; empty for a file that could not be read."""
    file: str | None
    """Path as given; null for a workload of the cluster."""
    line: int | None
    """From 1; null for a workload of the cluster."""
    column: int | None
    """In characters, from 1; null for a workload of the cluster."""
    field: str
    """Path within the object; empty for the whole object."""
    text: str
    """Consequence in a sentence."""
    proven: bool
    """True if its numbers come from running the engine on the cluster."""
    remedy: Remedy
    fingerprint: str = ""
    """A hash that stays the same when lines move and numbers change."""

    @property
    def title(self) -> str:
        return f"{self.code} {self.rule}"

    @property
    def source_position(self) -> Position:
        return Position(self.file, self.line, self.column, self.field)

    @property
    def short_name(self) -> str:
        """Short name of the workload."""
        return self.subject.short_name if isinstance(self.subject, WorkloadName) else self.subject

    @property
    def position(self) -> str:
        """``15:9``; empty if unknown."""
        return ":".join(str(part) for part in (self.line, self.column) if part is not None)

    @property
    def place(self) -> str:
        """``web.yaml:15:9``; empty if unknown."""
        return ":".join(part for part in (self.file, self.position) if part)

    @property
    def in_full(self) -> str:
        """The finding and its remedy, with the outcome if it was tried, in one sentence."""
        remedy = self.remedy
        return f"{self.text.removesuffix('.')}. Remedy: {remedy.with_outcome}" if remedy.text else self.text


class CheckReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "CheckReport"
    files: int
    """Number of manifests, including unreadable ones."""
    workloads: int
    """Number of workloads that were checked, including refused ones."""
    asked: tuple[str, ...]
    """Codes of the rules that ran."""
    not_asked: tuple[str, ...]
    """Codes of chosen rules that did not run because they need a cluster."""
    not_chosen: tuple[str, ...] = ()
    """Codes of the rules that were not chosen."""
    fail_on: Severity = Severity.ERROR
    """The verdict is no if some finding is at least this severe."""
    findings: tuple[CheckFinding, ...]
    """Findings in manifests by file, line and column, in the cluster's workloads by namespace, kind and name."""
    rules: tuple[RuleReport, ...]
    """Rules of these findings."""
    ignored: int = 0
    """Number of findings silenced by annotations."""

    def count(self, severity: Severity) -> int:
        return sum(finding.level is severity for finding in self.findings)

    def reaches(self, severity: Severity) -> bool:
        """True if some finding is at least that severe."""
        return any(finding.level.rank <= severity.rank for finding in self.findings)

    def judge(self) -> Judgment:
        return "no" if self.reaches(self.fail_on) else "yes"

    def all_findings(self) -> Iterable[Finding]:
        return self.findings

    @property
    def bar(self) -> CiSeverity:
        return SEVERITIES[self.fail_on]

    @property
    def pages(self) -> Sequence[RuleReport]:
        return self.rules

    def worst_finding(self) -> str:
        worst = min(self.findings, key=lambda finding: finding.level.rank, default=None)
        return "" if worst is None else f"{worst.code} {worst.short_name or worst.place}: {worst.text}"

    def sentences(self) -> Iterator[str]:
        """Yield the number of findings by severity, then the number of rules that did not run."""
        counts = [_count_text(number, severity) for severity in Severity if (number := self.count(severity))]
        summary = f"{', '.join(counts) or 'nothing found'} in {count_of(self.workloads, 'workload')}"
        yield f"{summary}, {self.ignored} silenced by annotations" if self.ignored else summary
        if self.not_asked:
            need = "it needs" if len(self.not_asked) == 1 else "they need"
            yield f"{count_of(len(self.not_asked), 'rule')} not asked: {need} a cluster (-S FILE)"
        if self.not_chosen:
            yield f"{count_of(len(self.not_chosen), 'rule')} not asked: left out by --select or --ignore"


def _count_text(number: int, severity: Severity) -> str:
    return f"{number} info" if severity is Severity.INFO else count_of(number, str(severity))


class _PageOfRule(Option, frozen=True):
    """Option that prints the page of a rule, given by its code or name."""

    def read(self, text: str) -> str:
        page: str = part("check", "answer", "rule")(text).page
        return page


class Check(ManifestsQuestion["CheckReport"], frozen=True, kw_only=True):
    """Find topology spread problems in manifests, or in a cluster's workloads, each with a code, numbers and a remedy.

    Manifests are read and checked by themselves. With a cluster (-S, --context or --live) they are also tried on it:
    all replicas are placed, both as they are and with the remedy applied. The annotation kubespread.dev/ignore: KS101
    on a workload silences a rule. In GitHub Actions, the default format is annotations.

    \b
    Examples:
      kubespread check k8s/
      helm template chart | kubespread check -S cluster.json.gz
      kubespread check -S cluster.json.gz -A --fail-on warning
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
        WorkloadOption(
            "Manifests, directories of them, '-', or KIND/NAME in the cluster. Default: standard input when piped, "
            "else the cluster's workloads.",
            metavar="[MANIFEST]...",
            is_piped=True,
        ),
    ] = ()
    namespace: Annotated[
        str | None,
        NamespaceOption("Namespace of manifests that set none, or of the cluster's workloads.", ("-n", "--namespace")),
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
    explain: Annotated[
        str | None,
        _PageOfRule(
            "Describe a rule and exit.",
            metavar="CODE",
            is_for_scripts=True,
            prints="a rule",
            beside=("no_headers", "quiet"),
        ),
    ] = None

    @property
    def needs_cluster(self) -> bool:
        from kubespread.candidate.sources import is_reference

        return not self.pods or any(isinstance(pod, str) and is_reference(pod) for pod in self.pods)

    @property
    def surroundings(self) -> Surroundings:
        from kubespread.candidate.sources import Surroundings

        return Surroundings(namespace=self.namespace, selector=self.selector, recursive=self.recursive)

    def next(self, report: CheckReport, commands: Commands) -> str:
        worst = min(report.findings, key=lambda finding: finding.level.rank, default=None)
        if worst is None:
            return ""
        if worst.file is None and isinstance(worst.subject, WorkloadName) and worst.remedy.settings:
            words = (f"--set {quote(setting)}" for setting in worst.remedy.settings)
            return commands.of_workload("simulate", worst.subject, *words)
        return f"kubespread check --explain {worst.code}"
