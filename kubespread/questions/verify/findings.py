"""Promises as the findings of a check, whose formats for CI are theirs too: one is on its line of the file."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from kubespread.questions.check.report import CheckReport, Finding, Remedy, RuleReport, Severity
from kubespread.questions.verify.report import Kept, VerifiedClause, VerifyReport

_SEVERITIES: dict[Kept, Severity] = {
    "broken": Severity.ERROR, "unknown": Severity.ERROR, "accepted": Severity.WARNING, "held": Severity.INFO,
}  # fmt: skip
"""Nobody may take for a yes what is not known."""
_RULE = RuleReport(
    code="promise",
    name="promise",
    severity=Severity.ERROR,
    needs_cluster=True,
    summary="A promise does not hold.",
    documentation="What is promised of workloads and of the cluster, in a file of kind Promises, does not hold.",
)


def findings_of(report: VerifyReport, states: Sequence[Kept] = ("broken", "unknown", "accepted")) -> CheckReport:
    """Those promises of ``report`` that are in one of ``states``, in the order of the file."""
    rows = [row for row in report.clauses if row.state in states]
    return CheckReport(
        kube_version=report.kube_version,
        cluster=report.cluster,
        files=int(report.file is not None),
        workloads=len({row.workload for row in report.clauses if row.workload is not None}),
        asked=(),
        not_asked=(),
        findings=tuple(_finding(row, report.file) for row in rows),
        rules=(_RULE,),
        unfinished=report.unfinished,
    )


def _finding(row: VerifiedClause, file: str | None) -> Finding:
    return Finding(
        code=_RULE.code,
        rule=row.clause,
        severity=_SEVERITIES[row.state],
        workload=row.called,
        file=file,
        line=row.line,
        column=None,
        field=f"promises[{row.promise - 1}].{row.clause}",
        message=row.of_promise,
        proven=row.state != "unknown",
        remedy=Remedy(text=""),
        fingerprint=sha256(f"{row.called} {row.clause} {row.promised}".encode()).hexdigest()[:32],
    )
