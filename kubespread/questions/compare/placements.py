"""Where replicas end up on each side: skews, domains and nodes, whose names leave out what all share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.questions.compare.report import CompareReport, ConstraintDifference, ConstraintSide, SideReport
from kubespread.views.layout import CUT, HANGING, Cell, Line, flowed, shared, wrapped
from kubespread.views.look import Look, Tone
from kubespread.wording import EMPTY, count_of, short_key

ARROW = " → "
_NO_NUMBER = "–"
_LEAST_PREFIX = 12
_MAX_DOMAINS, _MAX_NODES, _MAX_REPLICAS = 6, 10, 6


class NodeNames(Struct, frozen=True):
    """How the nodes of one report are called."""

    prefix: str = ""
    suffix: str = ""

    @classmethod
    def of(cls, report: CompareReport, look: Look) -> NodeNames:
        """In full where no heading tells the rest, and where no terminal limits the line width."""
        names = {node.name for node in report.nodes} | {node.name for node in report.replicas_on_nodes}
        names.update(
            name for replica in report.replicas for name in (replica.before, replica.after) if name is not None
        )
        names.update(report.before.first, report.after.first)
        if not look.headers or look.width is None:
            return cls()
        prefix, suffix = shared([escaped(name) for name in sorted(names)])
        return cls(prefix if len(prefix) >= _LEAST_PREFIX else "", suffix)

    @property
    def left_out(self) -> str:
        """``gke-prod-pool-*``; empty where names are in full."""
        return f"{self.prefix}*{self.suffix}" if self.prefix or self.suffix else ""

    def short(self, name: str) -> str:
        return f"{CUT if self.prefix else ''}{escaped(name).removeprefix(self.prefix).removesuffix(self.suffix)}"


def placements(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Line]:
    """Only skews where placing is not simulated."""
    before, after = report.before, report.after
    if before.replicas is None or after.replicas is None:
        yield from flowed((_constraint(constraint) for constraint in report.constraints), look)
        return
    placed = Cell(f"  {_placed(before, after)}", Tone.BAD if after.pending else Tone.PLAIN)
    yield from wrapped([Cell("REPLICAS", Tone.STRONG), placed], look.width, HANGING)
    yield from flowed((_constraint(constraint) for constraint in report.constraints), look)
    nodes = sorted(report.replicas_on_nodes, key=lambda node: (-abs(node.after - node.before), node.name))
    shown = nodes if look.in_full else nodes[:_MAX_NODES]
    counts = [f"{names.short(node.name)} {node.before:,}{ARROW}{node.after:,}" for node in shown]
    yield from _listed(counts, len(nodes) - len(shown), "node", look)
    moves = [
        f"replica {replica.replica}: {names.short(replica.before)}{ARROW}{names.short(replica.after)}"
        for replica in report.replicas
        if replica.before is not None and replica.after is not None
    ]
    named = moves if look.in_full else moves[:_MAX_REPLICAS]
    yield from _listed(named, len(moves) - len(named), "replica", look)


def _placed(before: SideReport, after: SideReport) -> str:
    """``12 → 11 of 12 placed, 1 pending``."""
    pending = f", {after.pending:,} pending" if after.pending else ""
    if before.replicas == after.replicas:
        return f"{both(str(before.running), str(after.running))} of {after.replicas} placed{pending}"
    return f"{before.running:,} of {before.replicas:,}{ARROW}{after.running:,} of {after.replicas:,} placed{pending}"


def _listed(phrases: Sequence[str], left_out: int, what: str, look: Look) -> Iterator[Line]:
    more = [[Cell(f"and {count_of(left_out, f'more {what}')}", Tone.FAINT)]] if left_out else []
    yield from flowed([*([Cell(phrase)] for phrase in phrases), *more], look, gutter=" · ")


def _constraint(constraint: ConstraintDifference) -> Line:
    """``A zone ≤ 1  a 3 → 2 · b 3 → 4, skew 0 → 2``."""
    before, after = constraint.before, constraint.after
    key = short_key(constraint.topology_key)
    if before is None or after is None:
        only = before or after
        assert only is not None
        when = "before" if after is None else "after"
        return [Cell(only.letter, Tone.STRONG), Cell(f" {key} ≤ {only.max_skew}  only {when}, skew {only.skew}")]
    exceeds = after.is_hard and after.skew > after.max_skew
    limits = both(str(before.max_skew), str(after.max_skew))
    differing = ", ".join(_settings(before, after))
    return [
        Cell(both(before.letter, after.letter), Tone.STRONG),
        Cell(f" {key} ≤ {limits}  "),
        Cell(f"{_domains_said(constraint)}, " if constraint.domains and not constraint.is_about_nodes else ""),
        Cell(f"skew {both(str(before.skew), str(after.skew))}", Tone.BAD if exceeds else Tone.PLAIN),
        Cell(f" ({differing})" if differing else ""),
    ]


def _settings(before: ConstraintSide, after: ConstraintSide) -> Iterator[str]:
    """Other settings that differ, and whether the constraint is soft."""
    hardness = both(*("hard" if side.is_hard else "soft" for side in (before, after)))
    if hardness != "hard":
        yield hardness
    for name, old, new in (
        ("minDomains", before.min_domains, after.min_domains),
        ("nodeAffinityPolicy", before.node_affinity_policy, after.node_affinity_policy),
        ("nodeTaintsPolicy", before.node_taints_policy, after.node_taints_policy),
        ("counting", before.selector, after.selector),
    ):
        if old != new:
            yield f"{name} {_NO_NUMBER if old is None else old}{ARROW}{_NO_NUMBER if new is None else new}"


def _domains_said(constraint: ConstraintDifference) -> str:
    """The domains whose counts differ most; nodes have their own list."""
    domains = sorted(
        constraint.domains, key=lambda domain: (-abs((domain.after or 0) - (domain.before or 0)), domain.value)
    )
    phrases = [
        f"{domain.value or EMPTY} {_count(domain.before)}{ARROW}{_count(domain.after)}"
        for domain in domains[:_MAX_DOMAINS]
    ]
    left_out = len(domains) - len(phrases)
    return " · ".join([*phrases, *([f"and {left_out} more domains"] if left_out else [])])


def _count(matching: int | None) -> str:
    return _NO_NUMBER if matching is None else str(matching)


def both(before: str, after: str) -> str:
    return before if before == after else f"{before}{ARROW}{after}"
