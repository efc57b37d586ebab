"""Problems of manifests, or of the workloads of a cluster, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from kubespread.kube.owners import WorkloadName
from kubespread.reports.parts import ClusterReport, Judgment, Report, Share
from kubespread.wording import count_of


class Severity(StrEnum):
    """The worst first."""

    ERROR = "error"
    """It does not run, or a constraint does not do what it is for."""
    WARNING = "warning"
    """It works today and will surprise."""
    INFO = "info"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Remedy(Report, frozen=True):
    """A change that would mend it."""

    text: str
    """The change in one sentence."""
    settings: tuple[str, ...] = ()
    """The same as ``--set`` of the other commands takes it, together."""
    edits: tuple[str, ...] = ()
    """The same as edits of the cluster (``uncordon node-7``), together."""
    fields: dict[str, Any] = {}
    """The same as fields of the object, by path, with what each is to be (null: left out), together; empty where
    ``settings`` say it, or it is not about the object's own fields.
    """
    outcome: str | None = None
    """The outcome of applying it, found by running the engine again; null where that was not tried."""
    commands: tuple[str, ...] = ()
    """Commands for kubectl that do it, for a workload that is in the cluster."""

    @property
    def with_outcome(self) -> str:
        """The text, and the outcome."""
        return self.text if self.outcome is None else f"{self.text} ({self.outcome})"


class Finding(Report, frozen=True, kw_only=True):
    code: str
    """``KS203``; a code is never given to another rule."""
    rule: str
    """The rule's name, ``closed-domains``."""
    severity: Severity
    """The rule's severity, unless the numbers call for another."""
    workload: str | None
    """NAMESPACE/Kind/name, null for a file that could not be read."""
    file: str | None
    """Path as it was given, null for a workload of the cluster."""
    line: int | None
    """Line number from 1, null for a workload of the cluster."""
    column: int | None
    """Column number from 1, in characters."""
    field: str
    """The path from the object on, empty where the whole object is meant."""
    message: str
    """The consequence."""
    proven: bool
    """True if the numbers in it come from running the engine on the cluster."""
    remedy: Remedy
    fingerprint: str = ""
    """A hash that stays the same when lines move and numbers change."""

    @property
    def called(self) -> str:
        """The workload in short."""
        return self.workload.called if isinstance(self.workload, WorkloadName) else self.workload or ""

    @property
    def position(self) -> str:
        """``15:9``, if known."""
        return ":".join(str(part) for part in (self.line, self.column) if part is not None)

    @property
    def place(self) -> str:
        """``web.yaml:15:9``, if known."""
        return ":".join(part for part in (self.file, self.position) if part)

    @property
    def in_full(self) -> str:
        """The problem, and its remedy with the outcome where there is one, in one sentence."""
        remedy = self.remedy
        return f"{self.message.removesuffix('.')}. Remedy: {remedy.with_outcome}" if remedy.text else self.message


class RuleReport(Report, frozen=True):
    """One of the rules there are."""

    code: str
    """``KS203``."""
    name: str
    """``closed-domains``."""
    severity: Severity
    """The default severity of its findings."""
    needs_cluster: bool
    """True if it is only asked where there is a cluster."""
    summary: str
    """Its findings, on one line."""
    documentation: str
    """Markdown."""


class CheckReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "CheckReport"
    files: int
    """Number of manifests that were read or could not be."""
    workloads: int
    """Number of workloads that were checked."""
    asked: tuple[str, ...]
    """The codes of the rules that were asked."""
    not_asked: tuple[str, ...]
    """Codes of the rules that were chosen and need a cluster, where there is none."""
    not_chosen: tuple[str, ...] = ()
    """The codes of the rules that were not chosen."""
    fail_on: Severity = Severity.ERROR
    """The bar: the verdict is no when some finding is at least this severe, and yes otherwise."""
    findings: tuple[Finding, ...]
    """Findings by file, line and column; those of the cluster's workloads by namespace, kind and name."""
    rules: tuple[RuleReport, ...]
    """The rules of these findings."""
    ignored: int = 0
    """Findings that an annotation of the workload silences."""
    base: str | None = None
    """The git revision whose findings are left out, as it was given; null where none is."""
    base_commit: str | None = None
    """The commit they are found in: the last one that the base and HEAD have in common."""
    in_base: int = 0
    """Findings that the manifests have there too."""
    patch: str | None = None
    """The remedies of errors and warnings, with --diff, as a unified diff of the manifests, below comments (``#``) for
    those that it lacks; null without.
    """

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)

    def reaches(self, severity: Severity) -> bool:
        """True if some finding is at least that severe."""
        return any(finding.severity.rank <= severity.rank for finding in self.findings)

    def judged(self) -> Judgment:
        return "no" if self.reaches(self.fail_on) else "yes"

    def worst_finding(self) -> str:
        worst = min(self.findings, key=lambda finding: finding.severity.rank, default=None)
        return "" if worst is None else f"{worst.code} {worst.called or worst.place}: {worst.message}"

    def share(self) -> Share:
        bad = [finding for finding in self.findings if finding.severity.rank <= self.fail_on.rank]
        ranks = (len(Severity) - finding.severity.rank for finding in self.findings)
        return Share(len({finding.workload for finding in bad}), self.workloads, "workloads", max(ranks, default=0))

    def sentences(self) -> Iterator[str]:
        """Say what was found, then what was not looked at."""
        excused = [
            f"{number} {where}"
            for number, where in ((self.ignored, "silenced by annotations"), (self.in_base, f"in {self.base} already"))
            if number
        ]
        counts = [_counted(number, severity) for severity in Severity if (number := self.count(severity))]
        nothing = "nothing found" if self.base is None else "nothing new found"
        summary = f"{', '.join(counts) or nothing} in {count_of(self.workloads, 'workload')}"
        yield ", ".join([summary, *excused])
        if self.not_asked:
            need = "it needs" if len(self.not_asked) == 1 else "they need"
            yield f"{count_of(len(self.not_asked), 'rule')} not asked: {need} a cluster (-S FILE)"
        if self.not_chosen:
            yield f"{count_of(len(self.not_chosen), 'rule')} not asked: left out by --select or --ignore"


def _counted(number: int, severity: Severity) -> str:
    return f"{number} info" if severity is Severity.INFO else count_of(number, str(severity))
