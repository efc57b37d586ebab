"""The constraints of a pod with their letters, as shown above the rows.

The formula, as every renderer writes it: matching + self - minimum = skew, against maxSkew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.reports.judged_nodes import NodeConstraint, ScoreDetail
from kubespread.reports.parts import ConstraintReport, Domain, DomainChange, SkewChange, letter
from kubespread.views.lines import line_width, width_of
from kubespread.views.look import Cell, Line, Sentence, Tone
from kubespread.views.terminal import Layout, tabulate
from kubespread.views.view import Bar, Bars
from kubespread.wording import EMPTY, count_of, counted_in, short_key, some_of


class Spelling(Struct, frozen=True):
    """Spelling of the formula."""

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
    """``1+1−0 = 2 > 1``; with the comparison only if it ``rejects`` the node."""
    if constraint.matching is None:
        return spelling.missing
    minimum = 0 if constraint.global_minimum is None else constraint.global_minimum
    text = f"{constraint.matching}+{constraint.self_match}{spelling.minus}{minimum}{spelling.equals}"
    skew = str(constraint.skew).replace("-", spelling.minus or PRETTY.minus)
    text = f"{'' if spelling.skew_only else text}{skew}"
    return f"{text}{spelling.exceeds}{constraint.max_skew}" if rejects else text


def score_steps(detail: ScoreDetail) -> str:
    """``2>67*3=201``: raw score, normalized score, times the plugin's weight."""
    return f"{detail.raw}>{detail.normalized}*{detail.weight}={detail.weighted}"


_MAX_DOMAINS, _MAX_NAMED, _INDENT = 6, 2, 4


def constraint_lines(constraints: Sequence[ConstraintReport], width: int | None) -> Iterator[Sentence]:
    """Yield one line per constraint, as columns with every domain if there is room."""
    lines = list(tabulate(_columns(constraints), headers=False))
    if width is None or all(line_width(line) <= width for line in map(_strip, lines)):
        yield from (Sentence(line, 0) for line in lines)
        return
    for position, constraint in enumerate(constraints):
        hardness = "hard" if constraint.is_hard else "soft"
        begin = f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew} {hardness} · {constraint.selector}"
        named, counted = (
            " · ".join(filter(None, [begin, *counts, *_not_counted(constraint), *policies(constraint)]))
            for counts in ([_domains(constraint), constraint.minimum_text], [_counts(constraint)])
        )
        has_room = len(constraint.domains) <= _MAX_DOMAINS and width_of(named) <= (width or 0) - _INDENT
        cells = [Cell(f"  {letter(position)} ", Tone.STRONG), Cell(named if has_room else counted)]
        yield Sentence(cells, _INDENT)


def _strip(line: Line) -> Line:
    """Remove the blank cells at the end of a line."""
    cells = list(line)
    while cells and not cells[-1].text.strip():
        cells.pop()
    return cells


def _columns(constraints: Sequence[ConstraintReport]) -> list[Layout]:
    remarks = (", ".join((*policies(constraint), *_not_counted(constraint))) for constraint in constraints)
    return [
        Layout("", [Cell(letter(place), Tone.STRONG) for place in range(len(constraints))]),
        Layout("", [f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}" for constraint in constraints]),
        Layout("", [constraint.when_unsatisfiable for constraint in constraints]),
        Layout("", [constraint.selector for constraint in constraints]),
        Layout("", [_domains(constraint) for constraint in constraints]),
        Layout("", [constraint.minimum_text for constraint in constraints]),
        Layout("", [Cell(text, Tone.FAINT) for text in remarks]),
    ]


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


_NOT_COUNTED = {
    "nodeAffinity": "no node there matches nodeSelector and node affinity",
    "nodeTaints": "taints there are not tolerated",
    "topologyKeys": "no node there has every constraint's topologyKey",
}


def _domain(domain: Domain, *, hard: bool) -> str:
    is_counted = not hard or domain.not_counted is None
    return counted_in(domain.value, f"{domain.matching:,}") if is_counted else f"{domain.value or EMPTY} not counted"


def _not_counted(constraint: ConstraintReport) -> list[str]:
    """``dc-c not counted: no node there matches nodeSelector and node affinity``, domains that are alike together."""
    by_reason: dict[str, list[str]] = {}
    for domain in constraint.domains if constraint.is_hard else ():
        if domain.not_counted is not None:
            by_reason.setdefault(_NOT_COUNTED[domain.not_counted], []).append(domain.value or EMPTY)
    return [f"{some_of(names, _MAX_NAMED)} not counted: {reason}" for reason, names in by_reason.items()]


def _counts(constraint: ConstraintReport) -> str:
    """``3 domains with 1–3, min 1``: the counts without the names, of the domains that count."""
    counted = [domain for domain in constraint.domains if domain.eligible_nodes or not constraint.is_hard]
    if not constraint.domains:
        return f"no node has the label {constraint.topology_key}"
    matching = [domain.matching for domain in counted]
    least, most = min(matching, default=0), max(matching, default=0)
    return "".join(
        (
            count_of(len(counted), "domain"),
            f" with {least:,}" if least == most else f" with {least:,}–{most:,}",
            "" if constraint.global_minimum is None else f", {constraint.minimum_text}",
        )
    )


def policies(constraint: ConstraintReport) -> list[str]:
    """Policies that differ from the defaults, in words."""
    words = []
    if constraint.min_domains is not None:
        words.append(f"minDomains {constraint.min_domains}")
    if constraint.node_affinity_policy != "Honor":
        words.append(f"nodeAffinityPolicy {constraint.node_affinity_policy}")
    if constraint.node_taints_policy != "Ignore":
        words.append(f"nodeTaintsPolicy {constraint.node_taints_policy}")
    if constraint.counts_nothing:
        words.append("no labelSelector: counts no pods")
    elif not constraint.self_match:
        words.append("the pod does not match its own selector")
    if constraint.source != "pod":
        words.append(f"{constraint.source} default")
    return words


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


def current_bars(constraint: ConstraintReport, position: int, *, one_more: bool = True) -> Bars:
    """Bars of the current domains; with ``one_more``, each with one more pod."""
    minimum = constraint.global_minimum or 0
    more = constraint.self_match if one_more else 0
    bars = [_candidate_bar(domain, constraint, minimum, more) for domain in constraint.domains]
    return Bars(title(constraint, position), bars, minimum + constraint.max_skew if constraint.is_hard else None)


def _candidate_bar(domain: Domain, constraint: ConstraintReport, minimum: int, more: int) -> Bar:
    name = domain.value or EMPTY
    if constraint.is_hard and domain.not_counted is not None:
        return Bar(name, domain.matching, domain.matching, f"not counted: {_NOT_COUNTED[domain.not_counted]}")
    skew = constraint.skew_with(domain.matching, more)
    exceeds = skew > constraint.max_skew
    added = f"+{more}" if more else ""
    arithmetic = f"{domain.matching:,}{added}−{minimum} = {skew}{f' > {constraint.max_skew}' if exceeds else ''}"
    tone = (Tone.BAD if constraint.is_hard else Tone.WARN) if exceeds else Tone.GOOD
    return Bar(name, domain.matching, domain.matching, arithmetic, tone)


def placed_bars(constraint: ConstraintReport, position: int, changes: Sequence[DomainChange], skew: SkewChange) -> Bars:
    """Bars of the domains before the first placement and after the last one."""
    was = "" if skew.before == skew.after else f"{skew.before:,} → "
    exceeds = f" > {constraint.max_skew}" if skew.after > constraint.max_skew else ""
    bars = [
        Bar(change.value or EMPTY, change.before, change.after, f"{change.before:,} → {change.after:,}")
        for change in changes
    ]
    return Bars(f"{title(constraint, position)} · skew {was}{skew.after:,}{exceeds}", bars)
