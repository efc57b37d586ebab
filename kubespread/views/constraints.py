"""The constraints of a pod with their letters, as they stand above the rows.

The formula, as every renderer writes it: matching + self - minimum = skew, against maxSkew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.reports.judged_nodes import NodeConstraint, ScoreDetail
from kubespread.reports.parts import ConstraintReport, Domain, letter
from kubespread.views.layout import DIM, HEAD, Column, Line, cell, tabulated, wrapped
from kubespread.views.phrases import policies
from kubespread.wording import EMPTY, short_key


class Spelling(Struct, frozen=True):
    """How the formula is spelled."""

    minus: str
    equals: str
    exceeds: str
    missing: str
    skew_only: bool = False


PRETTY = Spelling(minus="−", equals=" = ", exceeds=" > ", missing="no label")
# For narrow terminals, the second for very narrow ones: count and minimum stand above the rows.
TIGHT = Spelling(minus="−", equals="=", exceeds=">", missing="no label")
SKEW = Spelling(minus="", equals="", exceeds=">", missing="none", skew_only=True)
# No blanks: a column in a pipe is one word.
ASCII = Spelling(minus="-", equals="=", exceeds=">", missing="<none>")


def formula(constraint: NodeConstraint, spelling: Spelling, *, rejects: bool) -> str:
    """``1+1−0 = 2 > 1``; the comparison only where it ``rejects`` the node."""
    if constraint.matching is None:
        return spelling.missing
    minimum = 0 if constraint.global_minimum is None else constraint.global_minimum
    text = f"{constraint.matching}+{constraint.self_match}{spelling.minus}{minimum}{spelling.equals}"
    text = f"{'' if spelling.skew_only else text}{constraint.skew}"
    return f"{text}{spelling.exceeds}{constraint.max_skew}" if rejects else text


def score_steps(detail: ScoreDetail) -> str:
    """``2>67*3=201``: the raw score, the same brought to 0..100, times the plugin's weight."""
    return f"{detail.raw}>{detail.normalized}*{detail.weight}={detail.weighted}"


_MAX_DOMAINS = 6


def constraint_lines(constraints: Sequence[ConstraintReport], width: int | None, *, domains: bool) -> Iterator[Line]:
    """One line a constraint, as columns with every domain where there is room and ``domains`` are not in the rows."""
    if domains:
        lines = list(tabulated(_columns(constraints), headers=False))
        if width is None or all(len(list(wrapped(line, width))) == 1 for line in map(_stripped, lines)):
            yield from lines
            return
    for position, constraint in enumerate(constraints):
        parts = [
            f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew} {'hard' if constraint.is_hard else 'soft'}",
            constraint.selector,
            _counts(constraint),
            *policies(constraint),
        ]
        yield from wrapped([cell(f"  {letter(position)} ", HEAD), cell(" · ".join(parts))], width, indent=4)


def _stripped(line: Line) -> Line:
    """Without what fills up the last columns."""
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    return kept


def _columns(constraints: Sequence[ConstraintReport]) -> list[Column]:
    cells = [
        [cell(letter(position), HEAD) for position in range(len(constraints))],
        [cell(f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}") for constraint in constraints],
        [cell(constraint.when_unsatisfiable) for constraint in constraints],
        [cell(constraint.selector) for constraint in constraints],
        [cell(_domains(constraint)) for constraint in constraints],
        [cell(constraint.minimum_text) for constraint in constraints],
        [cell(", ".join(policies(constraint)), DIM) for constraint in constraints],
    ]
    return [Column("", lines) for lines in cells]


def _domains(constraint: ConstraintReport) -> str:
    """Every domain with its count; of many only the extremes."""
    domains = constraint.domains
    if not domains:
        return f"no node has the label {constraint.topology_key}"
    if len(domains) <= _MAX_DOMAINS:
        return " · ".join(_domain(domain, hard=constraint.is_hard) for domain in domains)
    if len({domain.matching for domain in domains}) == 1:
        return f"{len(domains):,} domains, {domains[0].matching:,} each"
    least = min(domains, key=lambda domain: (not domain.eligible_nodes, domain.matching))
    most = max(domains, key=lambda domain: domain.matching)
    ends = (_domain(domain, hard=constraint.is_hard) for domain in (least, most))
    return f"{len(domains):,} domains, {' … '.join(ends)}"


def _domain(domain: Domain, *, hard: bool) -> str:
    name = domain.value or EMPTY
    return f"{name} excluded" if hard and not domain.eligible_nodes else f"{name} {domain.matching:,}"


def _counts(constraint: ConstraintReport) -> str:
    """``3 domains with 1–3, min 1``: the counts without the names."""
    counted = [domain for domain in constraint.domains if domain.eligible_nodes or not constraint.is_hard]
    if not constraint.domains:
        return f"no node has the label {constraint.topology_key}"
    matching = [domain.matching for domain in counted]
    least, most = min(matching, default=0), max(matching, default=0)
    excluded = len(constraint.domains) - len(counted)
    return "".join(
        (
            f"{len(constraint.domains):,} domain{'' if len(constraint.domains) == 1 else 's'}",
            f" with {least:,}" if least == most else f" with {least:,}–{most:,}",
            f", {excluded} excluded" if excluded else "",
            "" if constraint.global_minimum is None else f", {constraint.minimum_text}",
        )
    )
