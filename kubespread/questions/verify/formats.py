"""Promises as metrics."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.verify.report import VerifiedClause, VerifyReport
from kubespread.views.look import Look
from kubespread.views.plain import Metric, exposed


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
