"""Constraints before and after a plan: the fullest domain − the minimum = skew, against maxSkew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.parts import letter
from kubespread.planner.reports.rebalance import RebalancedConstraint, RebalanceReport
from kubespread.views.arithmetic import PRETTY
from kubespread.views.flow import INDENT, aim, flowed
from kubespread.views.layout import BAD, DIM, GOOD, Cell, Line, cell, cut_middle, width_of
from kubespread.views.look import Look
from kubespread.views.screen import left_out
from kubespread.wording import EMPTY, short_key, some_of, workload_name

_MAX_CONSTRAINTS = 10
_MAX_DOMAINS = 6
_MAX_WORKLOADS = 2
_LONGEST_NAME = 24
_GUTTER = "   "
_MARGIN = len(INDENT) + 3 * len(_GUTTER)


def constraint_lines(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """A paragraph a violated constraint, those that stay so first where there are many."""
    numbered = [
        (place, each) for place, each in enumerate(report.constraints) if not (each.held_before and each.holds_after)
    ]
    shown = numbered
    if not look.in_full and len(numbered) > _MAX_CONSTRAINTS:
        shown = sorted(numbered, key=lambda each: (each[1].holds_after, each[0]))
        shown = shown[:_MAX_CONSTRAINTS]
    for place, constraint in shown:
        head, counts = _head(letter(place), constraint), _counts(constraint)
        if sum(width_of(each.text) for phrase in (*head, *counts) for each in phrase) <= aim(look) - _MARGIN:
            yield from flowed([*head, *counts], look, gutter=_GUTTER)
        else:
            yield from flowed(head, look, gutter=_GUTTER)
            yield from flowed(counts, look, gutter=_GUTTER, indent=" " * 5)
    yield from left_out(len(numbered) - len(shown), "constraint")


def _head(name: str, constraint: RebalancedConstraint) -> Sequence[Line]:
    workloads = some_of(list(map(workload_name, constraint.workloads)), _MAX_WORKLOADS)
    default = "" if constraint.source == "pod" else f"  {constraint.source} default"
    return [
        [
            cell(f"{name}  {short_key(constraint.topology_key)} ≤ {constraint.max_skew}"),
            cell(f"  {constraint.when_unsatisfiable}{default}", DIM),
        ],
        [cell(workloads)],
    ]


def _counts(constraint: RebalancedConstraint) -> Sequence[Line]:
    before = _skew(constraint, after=False)
    skew = [before] if constraint.steady else [before, Cell(", then "), _skew(constraint, after=True)]
    return [[cell(_domains(constraint))], skew]


def _domains(constraint: RebalancedConstraint) -> str:
    """``a 4→2 · b 1→2``, or the extremes of many."""
    domains = constraint.domains
    if len(domains) <= _MAX_DOMAINS:
        return " · ".join(
            f"{cut_middle(domain.value or EMPTY, _LONGEST_NAME)} {_change(domain.before, domain.after)}"
            for domain in domains
        )
    extremes = [
        f"{min(counts)} to {max(counts)}"
        for counts in ([each.before for each in domains], [each.after for each in domains])
    ]
    key = short_key(constraint.topology_key)
    return f"{len(domains):,} {key}s with {', then '.join(dict.fromkeys(extremes))} pods"


def _change(before: int, after: int) -> str:
    return str(before) if before == after else f"{before}→{after}"


def _skew(constraint: RebalancedConstraint, *, after: bool) -> Cell:
    """``4−0 = 4 > 1``; the comparison only where it is violated."""
    skew = constraint.skew_after if after else constraint.skew_before
    minimum = constraint.minimum_after if after else constraint.minimum_before
    holds = constraint.holds_after if after else constraint.held_before
    text = f"{skew + minimum}{PRETTY.minus}{minimum}{PRETTY.equals}{skew}"
    return Cell(text, GOOD) if holds else Cell(f"{text}{PRETTY.exceeds}{constraint.max_skew}", BAD)
