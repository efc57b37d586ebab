"""Each constraint of a simulation as one phrase: ``A zone ≤ 1  3·3·3 → 37·38·38, skew 0 → 1``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.parts import ConstraintReport, DomainChange, SkewChange, letter
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.layout import BAD, DIM, HEAD, Line, cell
from kubespread.views.phrases import policies
from kubespread.wording import EMPTY, short_key

_MAX_DOMAINS = 6


def constraint_phrases(report: SimulateReport) -> Iterator[Line]:
    """One a constraint; a selector that several share is said once, after the last of them."""
    selectors = [constraint.selector for constraint in report.constraints]
    for position, constraint in enumerate(report.constraints):
        yield _phrase(report, position)
        if constraint.selector not in selectors[position + 1 :]:
            yield [cell(f"counting {constraint.selector}", DIM)]


def _phrase(report: SimulateReport, position: int) -> Line:
    constraint, skew = report.constraints[position], report.skew[position]
    is_exceeded = skew.is_violated
    said = ", ".join([*([] if constraint.is_hard else ["soft"]), *policies(constraint)])
    counts = _counts(report, constraint, report.distribution[position])
    return [
        cell(letter(position), HEAD),
        cell(f" {short_key(constraint.topology_key)} ≤ {constraint.max_skew}  {counts}"),
        cell(f", skew {_change(skew)}" if report.distribution[position] else "", BAD if is_exceeded else ""),
        cell(f" ({said})" if said else ""),
    ]


def _change(skew: SkewChange) -> str:
    after = skew.range_after
    return after if f"{skew.before:,}" == after else f"{skew.before:,} → {after}"


def _counts(report: SimulateReport, constraint: ConstraintReport, changes: Sequence[DomainChange]) -> str:
    """Matching pods of the domains, before and after; names only where no row has them."""
    if not changes:
        return f"no node has the label {constraint.topology_key}"
    if constraint.topology_key == report.grouping or report.is_about_nodes(constraint.topology_key):
        before, after = [change.before for change in changes], [change.after for change in changes]
        if not constraint.is_hard and len(changes) > _MAX_DOMAINS and min(after) != max(after):
            return f"{figures(before)} → up to {max(after)}"
        return f"{figures(before)} → {figures(after)}"
    if len(changes) > _MAX_DOMAINS or len({(change.before, change.after) for change in changes}) == 1:
        ends = (figures([change.before for change in changes]), figures([change.after for change in changes]))
        return f"{' → '.join(ends)} in {len(changes):,} domain{'' if len(changes) == 1 else 's'}"
    return " · ".join(f"{change.value or EMPTY} {change.before:,} → {change.after:,}" for change in changes)


def figures(counts: Sequence[int]) -> str:
    """Pods of domains: ``3 each``, ``37·38·38``, or the extremes of many."""
    least, most = min(counts), max(counts)
    if len(counts) == 1:
        return str(least)
    if least == most:
        return f"{least:,} each"
    return "·".join(map(str, counts)) if len(counts) <= _MAX_DOMAINS else f"{least:,}–{most:,}"
