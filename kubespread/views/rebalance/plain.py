"""Constraints, evictions and the descheduler's rounds, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look
from kubespread.wording import EMPTY, short_key

_CONSTRAINT_HEADER = ["KEY", "MAX-SKEW", "WHENUNSATISFIABLE", "SKEW", "SKEW-AFTER", "DOMAINS", "WORKLOADS"]
STEP_HEADER = ["STEP", "POD", "NODE", "LANDS-ON", "DOMAINS", "WAITS-FOR", "WORKLOAD"]
_SCALE_HEADER = ["WORKLOAD", "REPLICAS", "REPLICAS-AFTER", "DELETE-FIRST"]
_ROUND_HEADER = ["ROUND", "EVICTED", "HELD", "PENDING", "VIOLATED"]


def write(report: RebalanceReport, look: Look) -> str:
    """One block for each; a block without rows is left out, but that of the evictions: it is the answer."""
    blocks = (
        (_CONSTRAINT_HEADER, list(_constraint_rows(report))),
        (STEP_HEADER, list(step_rows(report))),
        (_SCALE_HEADER, list(_scale_rows(report))),
        (_ROUND_HEADER, list(_round_rows(report))),
    )
    shown = (block for block in blocks if block[1] or block[0] is STEP_HEADER)
    return "\n".join(columns(header, rows, headers=look.headers) for header, rows in shown)


def _constraint_rows(report: RebalanceReport) -> Iterator[list[object]]:
    for each in report.constraints:
        domains = (f"{domain.value or EMPTY}={domain.before}>{domain.after}" for domain in each.domains)
        yield [
            each.topology_key, each.max_skew, each.when_unsatisfiable, each.skew_before, each.skew_after,
            ",".join(domains), ",".join(each.workloads),
        ]  # fmt: skip


def step_rows(report: RebalanceReport) -> Iterator[list[object]]:
    """A row an eviction."""
    for step in report.steps:
        changes = (
            f"{short_key(change.topology_key)}={_domain(change.before)}>{_domain(change.after)}"
            for change in step.domains
        )
        yield [
            step.number, step.pod, step.node, step.lands_on, ",".join(changes) or NONE, step.waits_for or NONE,
            step.workload,
        ]  # fmt: skip


def _domain(value: str | None) -> str:
    return NONE if value is None else value or EMPTY


def _scale_rows(report: RebalanceReport) -> Iterator[list[object]]:
    for each in report.scale_downs:
        yield [each.workload, each.replicas, each.replicas_after, ",".join(marked.pod for marked in each.pods)]


def _round_rows(report: RebalanceReport) -> Iterator[list[object]]:
    for each in report.descheduler.rounds if report.descheduler is not None else ():
        held = sum(staying.pods for staying in each.held)
        yield [each.number, len(each.evicted), held, each.pending, each.violated]
