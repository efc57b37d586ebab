"""Domains, nodes and totals, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.runs import Range
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.aligned import NONE, aligned
from kubespread.views.look import Look
from kubespread.views.simulate.gangs import PLAIN_HEADER, plain_domains
from kubespread.views.simulate.rows import MAX_REPLICAS, domain_rows
from kubespread.views.simulate.scaling import account_of, plain_rows
from kubespread.wording import EMPTY

_DOMAIN_HEADER = ["KEY", "MAX-SKEW", "DOMAIN", "BEFORE", "AFTER"]
_RANGE_HEADER = ["MIN", "MEDIAN", "MAX"]
_NODE_HEADER = ["NODE", "PLACED"]
_RUN_HEADER = ["SEED", "FROM-NODE", "PLACED", "KEY", "SKEW", "LEAST", "MOST"]
_PREEMPTED_HEADER = ["PREEMPTED", "ON-NODE", "FOR", "BROKEN-BUDGETS"]
_TOTALS_HEADER = ["REPLICAS", "RUNNING", "PLACED", "PENDING", "NOT-CREATED", "NOT-MADE", "WHY"]


def write(reports: Sequence[SimulateReport], look: Look) -> str:
    """Up to six blocks, every line with its workload: domains, nodes of what is not spread over domains, runs, what
    domains say to a gang, who is preempted, totals.

    Why replicas are pending comes last, since it holds blanks.
    """
    ranges = any(report.runs is not None for report in reports)
    blocks = {
        (*_DOMAIN_HEADER, *(_RANGE_HEADER if ranges else ())): _domains,
        tuple(_NODE_HEADER): _nodes,
        tuple(_RUN_HEADER): _runs,
        PLAIN_HEADER: _domains_of_gang,
        tuple(_PREEMPTED_HEADER): _preempted,
        tuple(_TOTALS_HEADER): _totals,
    }
    texts = []
    for header, cells_of in blocks.items():
        rows = [[report.pod.namespace, report.subject, *cells] for report in reports for cells in cells_of(report)]
        if rows:
            texts.append(aligned([["NAMESPACE", "WORKLOAD", *header], *rows] if look.headers else rows))
    account = account_of(reports)
    if account is not None and (scaled := plain_rows(account, look)):
        texts.append(scaled)
    return "\n".join(texts)


def _domains(report: SimulateReport) -> Iterator[list[str]]:
    for position, constraint in enumerate(report.constraints):
        for row in domain_rows(report, position):
            change = row.change
            yield [
                constraint.topology_key,
                str(constraint.max_skew),
                change.value or EMPTY,
                str(change.before),
                str(change.after),
                *_range(row.after_runs),
            ]


def _range(after: Range | None) -> list[str]:
    return [] if after is None else [str(after.minimum), str(after.median), str(after.maximum)]


def _nodes(report: SimulateReport) -> Iterator[list[str]]:
    if not any(report.distribution):
        for node, count in report.per_node.items():
            yield [node, str(count)]


def _runs(report: SimulateReport) -> Iterator[list[str]]:
    """A line for each run and constraint."""
    for run in report.runs.each if report.runs is not None else ():
        identity = [NONE if value is None else str(value) for value in (run.seed, run.start)]
        for constraint, skew, domains in zip(report.constraints, run.skew, run.domains, strict=True):
            extremes = [str(min(domains)), str(max(domains))] if domains else [NONE, NONE]
            yield [*identity, str(run.placed), constraint.topology_key, str(skew), *extremes]


def _domains_of_gang(report: SimulateReport) -> Iterator[list[str]]:
    if report.gang is not None:
        yield from plain_domains(report.gang)


def _preempted(report: SimulateReport) -> Iterator[list[str]]:
    for pod in report.preempted:
        yield [pod.pod, pod.node, pod.made_room_for, ",".join(pod.broken_budgets) or NONE]


def _totals(report: SimulateReport) -> Iterator[list[str]]:
    replicas = MAX_REPLICAS if report.replicas is None else str(report.replicas)
    why = report.conclusion or report.stopped or NONE
    lacking = (report.pending, report.not_created, report.not_made_yet)
    yield [replicas, str(report.present), str(report.placed), *map(str, lacking), why]
