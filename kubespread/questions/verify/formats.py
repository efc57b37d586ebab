"""Promises as the findings of a check, whose formats for CI are theirs too; as metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from kubespread.questions.check import formats as check
from kubespread.questions.check.report import CheckReport, Finding, Remedy, RuleReport, Severity
from kubespread.questions.verify.report import WORST_FIRST, Kept, VerifiedClause, VerifyReport
from kubespread.views.look import Look
from kubespread.views.plain import Metric, exposed

_SEVERITIES: dict[Kept, Severity] = {
    "broken": Severity.ERROR,
    "unknown": Severity.ERROR,
    "accepted": Severity.WARNING,
    "held": Severity.INFO,
}
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


def prometheus(report: VerifyReport, _look: Look) -> str:
    """How many promises are of which state, and of each by how much it holds."""
    return exposed(_metrics(report))


def _metrics(report: VerifyReport) -> Iterator[Metric]:
    yield (
        "promises",
        "Promises by state, that of the worst clause.",
        [({"state": state}, number) for state, number in report.states.items()],
    )
    yield (
        "promise_held",
        "1 where it holds, 0 where it is broken, accepted or not known.",
        [({**_labels(row), "state": row.state}, int(row.state == "held")) for row in report.clauses],
    )
    yield (
        "promise_margin",
        "How much more there is than is promised, below 0 how much is lacking.",
        [(_labels(row), row.margin) for row in report.clauses if row.margin is not None],
    )


def _labels(row: VerifiedClause) -> dict[str, str]:
    name = {} if row.workload is None else row.workload.labels
    return {"promise": str(row.promise), "clause": row.clause, "promised": row.promised, **name}


def github(report: VerifyReport, look: Look) -> str:
    """An annotation for each promise that does not hold, on its line."""
    return check.github(findings_of(report), look)


def junit(report: VerifyReport, look: Look) -> str:
    """A case for each promise, which passes where it holds or is accepted."""
    return check.junit(findings_of(report, WORST_FIRST), look)


def sarif(report: VerifyReport, _look: Look) -> str:
    """A result for each promise that does not hold."""
    return check.scanned(findings_of(report), lambda _: "docs/cookbook/verify.html")
