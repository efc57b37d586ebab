"""Where replicas end up on either side: skews, domains and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.compare import CompareReport, ConstraintDifference, ConstraintSide, SideReport
from kubespread.views.compare.node_names import NodeNames
from kubespread.views.flow import HANGING, flowed
from kubespread.views.layout import BAD, DIM, HEAD, Line, cell, wrapped
from kubespread.views.look import Look
from kubespread.wording import EMPTY, short_key

_MAX_DOMAINS, _MAX_NODES, _MAX_REPLICAS = 6, 10, 6
_ARROW = " → "
_NONE = "–"


def placements(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Line]:
    """Skews alone where placing is not simulated."""
    before, after = report.before, report.after
    if before.replicas is None or after.replicas is None:
        yield from flowed((_constraint(each) for each in report.constraints), look)
        return
    placed = cell(f"  {_placed(before, after)}", BAD if after.pending else "")
    yield from wrapped([cell("REPLICAS", HEAD), placed], look.width, HANGING)
    yield from flowed((_constraint(each) for each in report.constraints), look)
    nodes = sorted(report.replicas_on_nodes, key=lambda node: (-abs(node.after - node.before), node.name))
    shown = nodes if look.in_full else nodes[:_MAX_NODES]
    counts = [f"{names.short(node.name)} {node.before:,}{_ARROW}{node.after:,}" for node in shown]
    yield from _listed(counts, len(nodes) - len(shown), "node", look)
    moves = [
        f"replica {each.replica}: {names.short(each.before)}{_ARROW}{names.short(each.after)}"
        for each in report.replicas
        if each.before is not None and each.after is not None
    ]
    named = moves if look.in_full else moves[:_MAX_REPLICAS]
    yield from _listed(named, len(moves) - len(named), "replica", look)


def _placed(before: SideReport, after: SideReport) -> str:
    """``12 → 11 of 12 placed, 1 pending``."""
    pending = f", {after.pending:,} pending" if after.pending else ""
    if before.replicas == after.replicas:
        return f"{_both(str(before.running), str(after.running))} of {after.replicas} placed{pending}"
    return f"{before.running:,} of {before.replicas:,}{_ARROW}{after.running:,} of {after.replicas:,} placed{pending}"


def _listed(phrases: Sequence[str], left_out: int, what: str, look: Look) -> Iterator[Line]:
    more = [[cell(f"and {left_out} more {what}{'' if left_out == 1 else 's'}", DIM)]] if left_out else []
    yield from flowed([*([cell(phrase)] for phrase in phrases), *more], look, gutter=" · ")


def _constraint(constraint: ConstraintDifference) -> Line:
    """``A zone ≤ 1  a 3 → 2 · b 3 → 4, skew 0 → 2``."""
    before, after = constraint.before, constraint.after
    key = short_key(constraint.topology_key)
    if before is None or after is None:
        only = before or after
        assert only is not None
        when = "before" if after is None else "after"
        return [cell(only.letter, HEAD), cell(f" {key} ≤ {only.max_skew}  only {when}, skew {only.skew}")]
    exceeds = after.is_hard and after.skew > after.max_skew
    limits = _both(str(before.max_skew), str(after.max_skew))
    said = ", ".join(_settings(before, after))
    return [
        cell(_both(before.letter, after.letter), HEAD),
        cell(f" {key} ≤ {limits}  "),
        cell(f"{_domains(constraint)}, " if constraint.domains and not constraint.is_about_nodes else ""),
        cell(f"skew {_both(str(before.skew), str(after.skew))}", BAD if exceeds else ""),
        cell(f" ({said})" if said else ""),
    ]


def _settings(before: ConstraintSide, after: ConstraintSide) -> Iterator[str]:
    """What else is set otherwise, and whether the constraint is soft."""
    hardness = _both(*("hard" if side.is_hard else "soft" for side in (before, after)))
    if hardness != "hard":
        yield hardness
    for name, old, new in (
        ("minDomains", before.min_domains, after.min_domains),
        ("nodeAffinityPolicy", before.node_affinity_policy, after.node_affinity_policy),
        ("nodeTaintsPolicy", before.node_taints_policy, after.node_taints_policy),
        ("counting", before.selector, after.selector),
    ):
        if old != new:
            yield f"{name} {_NONE if old is None else old}{_ARROW}{_NONE if new is None else new}"


def _domains(constraint: ConstraintDifference) -> str:
    """Those whose counts differ most; nodes are listed by themselves."""
    domains = sorted(
        constraint.domains, key=lambda domain: (-abs((domain.after or 0) - (domain.before or 0)), domain.value)
    )
    phrases = [
        f"{domain.value or EMPTY} {_count(domain.before)}{_ARROW}{_count(domain.after)}"
        for domain in domains[:_MAX_DOMAINS]
    ]
    left_out = len(domains) - len(phrases)
    return " · ".join([*phrases, *([f"and {left_out} more domains"] if left_out else [])])


def _count(matching: int | None) -> str:
    return _NONE if matching is None else str(matching)


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before}{_ARROW}{after}"
