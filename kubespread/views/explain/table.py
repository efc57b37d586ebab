"""The table for people: the constraints on top, one line a node or a domain, the verdict at the bottom."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.explain import ExplainReport, summary
from kubespread.views.explain.counted import counted_table
from kubespread.views.explain.domain_rows import domain_rows, is_by_domain
from kubespread.views.explain.domain_table import domain_table
from kubespread.views.explain.heading import constraint_lines, title
from kubespread.views.explain.node_names import shared_suffix
from kubespread.views.explain.node_table import node_table
from kubespread.views.explain.rows import rows_of, shown_and_left_out
from kubespread.views.layout import BAD, DIM, GOOD, Cell, Line, cell, wrapped
from kubespread.views.look import Look, RowOf
from kubespread.views.screen import screen


@screen
def write(report: ExplainReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds."""
    by_domain = not look.all_nodes and not look.wide and is_by_domain(report)
    by_domain = by_domain if look.by is None else look.by is RowOf.DOMAIN
    suffix = shared_suffix([node.name for node in report.nodes]) if look.headers and look.width is not None else ""
    if look.headers:
        yield from title(report, suffix, look.width)
        yield from constraint_lines(report.constraints, look.width, domains=not by_domain)
    if by_domain:
        yield from domain_table(domain_rows(report, report.nodes), look)
    elif report.nodes:
        yield from _nodes(report, suffix, look)
    yield from counted_table(report, suffix, look)
    yield from _verdict(report, suffix, look, by_domain=by_domain)


def _nodes(report: ExplainReport, suffix: str, look: Look) -> Iterator[Line]:
    """Of many the best fits and the nearest misses, and the others by domain."""
    shown, left_out = shown_and_left_out(report, all_nodes=look.all_nodes)
    yield from node_table(rows_of(report, shown), suffix, look)
    if left_out:
        yield [Cell(f"  The other {len(left_out):,} nodes (--all-nodes shows every node):", DIM)]
        yield from domain_table(domain_rows(report, left_out), look)


def _verdict(report: ExplainReport, suffix: str, look: Look, *, by_domain: bool) -> Iterator[Line]:
    if by_domain:
        yield [Cell("  --by node shows nodes one by one", DIM)]
    if report.nodes:
        yield from wrapped([cell(summary(report, suffix), GOOD if report.schedulable else BAD)], look.width)
    for said in report.answer[1:]:
        yield from wrapped([cell(said)], look.width)
