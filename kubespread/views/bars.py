"""Constraints as bars: the matching pods of each domain, and how far from the minimum they are."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.reports.parts import ConstraintReport, Domain, DomainChange, SkewChange, letter
from kubespread.views.phrases import policies
from kubespread.views.sheet import Tone
from kubespread.views.view import Bar, Bars
from kubespread.wording import EMPTY, short_key


def title(constraint: ConstraintReport, position: int) -> str:
    """``A zone ≤ 1 DoNotSchedule · app=web · min 1``."""
    parts = [
        f"{letter(position)} {short_key(constraint.topology_key)} ≤ {constraint.max_skew} "
        f"{constraint.when_unsatisfiable}",
        constraint.selector,
        constraint.minimum_text,
        *policies(constraint),
    ]
    return " · ".join(part for part in parts if part)


def asked_bars(constraint: ConstraintReport, position: int, *, one_more: bool = True) -> Bars:
    """The domains as they are; with ``one_more``, each with the effect of one more pod."""
    minimum = constraint.global_minimum or 0
    more = constraint.self_match if one_more else 0
    bars = [_candidate_bar(domain, constraint, minimum, more) for domain in constraint.domains]
    return Bars(title(constraint, position), bars, minimum + constraint.max_skew if constraint.is_hard else None)


def _candidate_bar(domain: Domain, constraint: ConstraintReport, minimum: int, more: int) -> Bar:
    name = domain.value or EMPTY
    if constraint.is_hard and not domain.eligible_nodes:
        return Bar(name, domain.matching, domain.matching, "excluded")
    skew = constraint.skew_with(domain.matching, more)
    exceeds = skew > constraint.max_skew
    added = f"+{more}" if more else ""
    arithmetic = f"{domain.matching:,}{added}−{minimum} = {skew}{f' > {constraint.max_skew}' if exceeds else ''}"
    tone = (Tone.BAD if constraint.is_hard else Tone.WARN) if exceeds else Tone.GOOD
    return Bar(name, domain.matching, domain.matching, arithmetic, tone)


def placed_bars(constraint: ConstraintReport, position: int, changes: Sequence[DomainChange], skew: SkewChange) -> Bars:
    """The domains before the first placement and after the last one."""
    was = "" if skew.before == skew.after else f"{skew.before:,} → "
    exceeds = f" > {constraint.max_skew}" if skew.after > constraint.max_skew else ""
    bars = [
        Bar(change.value or EMPTY, change.before, change.after, f"{change.before:,} → {change.after:,}")
        for change in changes
    ]
    return Bars(f"{title(constraint, position)} · skew {was}{skew.after:,}{exceeds}", bars)
