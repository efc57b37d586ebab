"""A comparison: how the two questions differ, then nodes, where replicas end up, and messages of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.questions.compare.report import (
    CompareReport,
    ConstraintDifference,
    ConstraintSide,
    DomainDifference,
    NodeChange,
    NodeDifference,
    NodeReplicasDifference,
    NodeSide,
    ReplicaDifference,
    SideReport,
)
from kubespread.questions.compare.workloads.report import ClusterSideReport, CompareWorkloadsReport
from kubespread.reports.judged_nodes import SPREAD_PLUGIN, NodeConstraint, without_taint_of_cordon
from kubespread.reports.parts import release_phrase, scheduler_phrase
from kubespread.reports.reason_words import short_names
from kubespread.views.lines import CUT, width_of
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Tone, Weight
from kubespread.views.sheet import Column, Readers, Row, Sheet, count
from kubespread.views.terminal import HANGING, Laid, aim, flowed, folded, shared, subject, tabulated, told_apart
from kubespread.views.view import Bar, Bars, NodeFacts, Tile, View, beside, cluster_phrase, cluster_words
from kubespread.wording import EMPTY, count_of, short_key, verb_of

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
    yield Sentence([Cell("REPLICAS", Tone.STRONG), placed], HANGING, Weight.REASON)
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


_NONE = "none"
_DEFAULT_PROFILE = "profile default-scheduler"
_Named = tuple[str, str]
"""A word for what it is, and which one."""
_AnySide = SideReport | ClusterSideReport
_SEPARATOR, _MINUS = " · ", "−"
_MAX_ROWS, _MAX_ROWS_OF_SCORES = 12, 6
_MAX_NAMED, _NAMES_PER_WIDTH = 3, 3
_FITS = "nothing pending"
_ORDER = list(NodeChange)
_STYLES = {
    NodeChange.GONE: Tone.BAD,
    NodeChange.STOPS: Tone.BAD,
    NodeChange.NEW: Tone.GOOD,
    NodeChange.STARTS: Tone.GOOD,
}
_TONES = {
    NodeChange.STOPS: Tone.BAD,
    NodeChange.GONE: Tone.BAD,
    NodeChange.STARTS: Tone.GOOD,
    NodeChange.NEW: Tone.GOOD,
}


def _why_not(side: NodeSide | None) -> str:
    """Every reason in kube-scheduler's words, constraints by their keys with the skew; empty for a node that fits."""
    if side is None or side.feasible:
        return ""
    violated = [f"{short_key(constraint.topology_key)}: {constraint.reason}" for constraint in side.violated]
    others = [
        reason for rejection in side.rejections if rejection.plugin != SPREAD_PLUGIN for reason in rejection.reasons
    ]
    return "; ".join([*violated, *others] or side.verdict.reasons)


def _difference(node: NodeDifference, *, numbers: bool) -> str:
    """How the node differs, besides its `NodeChange`; with ``numbers`` in its own figures, else in words that nodes
    share.
    """
    change = node.change
    if change is NodeChange.SCORE:
        return _scores(node, numbers=numbers)
    before, after = (_few_words(side, numbers=numbers) for side in (node.before, node.after))
    if change is NodeChange.REASONS:
        return f"{before}{ARROW}{after}"
    if change is NodeChange.GONE:
        return f"did not fit: {before}" if before else "did fit"
    if change is NodeChange.NEW:
        return f"does not fit: {after}" if after else "fits"
    return after if change is NodeChange.STOPS else f"was: {before}"


def signed(number: int) -> str:
    """``+4``, ``−3``."""
    return f"{_MINUS if number < 0 else '+'}{abs(number)}"


def _scores(node: NodeDifference, *, numbers: bool) -> str:
    changes = node.score_changes
    plugins = ", ".join(f"{plugin} {signed(change)}" for plugin, change in changes.items())
    if not numbers or node.before is None or node.after is None:
        return f"{signed(sum(changes.values()))}: {plugins}"
    return f"{node.before.total}{ARROW}{node.after.total}: {plugins}"


def _few_words(side: NodeSide | None, *, numbers: bool) -> str:
    """``zone skew 2 > 1 · cpu needs 1, free 0.2 of 7.9``, or ``zone · cpu``; empty for a node that fits."""
    if side is None or side.feasible:
        return ""
    words = [
        _violated(constraint) if numbers else f"{short_key(constraint.topology_key)} skew"
        for constraint in side.violated
    ]
    for rejection in without_taint_of_cordon(side.rejections):
        if rejection.plugin == SPREAD_PLUGIN:
            continue
        if numbers and rejection.details:
            words += [detail.short for detail in rejection.details]
        else:
            words += short_names(rejection.reasons)
    return _SEPARATOR.join(words or short_names(side.verdict.reasons))


def _violated(constraint: NodeConstraint) -> str:
    key = short_key(constraint.topology_key)
    return f"no {key} label" if constraint.skew is None else f"{key} skew {constraint.skew} > {constraint.max_skew}"


def _number_of(side: NodeSide | None, what: str) -> int | None:
    number: int | None = None if side is None else getattr(side, what)
    return number


def _why(node: NodeDifference) -> str:
    """The reasons of each side that has any; the plugins of a score that differs."""
    reasons = {when: _why_not(side) for when, side in (("before", node.before), ("after", node.after))}
    sentences = [f"{when}: {text}" for when, text in reasons.items() if text]
    if sentences or node.before is None or node.after is None:
        return "; ".join(sentences)
    before, after = node.before.scores, node.after.scores
    return ", ".join(f"{name} {before.get(name, 0)}>{after.get(name, 0)}" for name in node.score_changes)


_NODE: Sequence[Column[NodeDifference]] = (
    Column("NODE", lambda node: node.name),
    Column("CHANGE", lambda node: node.change.replace(" ", "-")),
    count("SCORE-BEFORE", lambda node: _number_of(node.before, "total")),
    count("SCORE-AFTER", lambda node: _number_of(node.after, "total")),
    count("RANK-BEFORE", lambda node: _number_of(node.before, "rank")),
    count("RANK-AFTER", lambda node: _number_of(node.after, "rank")),
    Column("WHY", _why),
)
_SKEW: Sequence[Column[ConstraintDifference]] = (
    Column("KEY", lambda row: row.topology_key),
    count("SKEW-BEFORE", lambda row: None if row.before is None else row.before.skew),
    count("SKEW-AFTER", lambda row: None if row.after is None else row.after.skew),
    count("MAX-SKEW-BEFORE", lambda row: None if row.before is None else row.before.max_skew),
    count("MAX-SKEW-AFTER", lambda row: None if row.after is None else row.after.max_skew),
)
_DOMAIN: Sequence[Column[tuple[str, DomainDifference]]] = (
    Column("KEY", lambda row: row[0]),
    Column("DOMAIN", lambda row: row[1].value or EMPTY),
    count("BEFORE", lambda row: row[1].before),
    count("AFTER", lambda row: row[1].after),
)
_ON_NODE: Sequence[Column[NodeReplicasDifference]] = (
    Column("NODE", lambda row: row.name),
    count("REPLICAS-BEFORE", lambda row: row.before),
    count("REPLICAS-AFTER", lambda row: row.after),
)
_REPLICA: Sequence[Column[ReplicaDifference]] = (
    count("REPLICA", lambda row: row.replica),
    Column("NODE-BEFORE", lambda row: row.before, title="Before"),
    Column("NODE-AFTER", lambda row: row.after, title="After"),
)

_Side = tuple[str, SideReport]
_SIDE: Sequence[Column[_Side]] = (
    Column("SIDE", lambda row: row[0]),
    count("NODES", lambda row: row[1].nodes),
    Column("FIT", lambda row: row[1].fitting, is_number=True, title="Fitting"),
    Column("FIRST-CHOICE", lambda row: row[1].first[:3], Readers.PAGES),
    count("REPLICAS", lambda row: row[1].replicas),
    Column("RUNNING", lambda row: row[1].present, Readers.PIPES),
    Column("PLACED", lambda row: row[1].placed, Readers.PIPES),
    # Placed replicas included: a page shows the sum.
    Column("RUNNING", lambda row: None if row[1].replicas is None else row[1].running, Readers.PAGES),
    count("PENDING", lambda row: None if row[1].replicas is None else row[1].pending),
    Column("MESSAGE", lambda row: row[1].message or row[1].stopped),
)

_Figures = tuple[str, NodeDifference | None, NodeReplicasDifference | None]
"""A node that differs, or holds a different number of replicas."""


def _figures(report: CompareReport) -> Sheet[_Figures]:
    """Two columns for everything, the plugins' weighted scores among them."""
    both = [side for node in report.nodes for side in (node.before, node.after) if side is not None]
    plugins = dict.fromkeys(plugin for side in both for plugin in side.scores)
    nodes = {node.name: node for node in report.nodes}
    replicas = {replica.name: replica for replica in report.replicas_on_nodes}

    def pair(header: str, figure: Callable[[NodeSide], object]) -> Iterator[Column[_Figures]]:
        for when in ("before", "after"):

            def value(row: _Figures, when: str = when) -> object:
                side = None if row[1] is None else getattr(row[1], when)
                return None if side is None else figure(side)

            # Plugin names keep their spelling.
            name = f"{header}-{when}".upper() if header.islower() else f"{header}_{when}"
            yield Column(name, value)

    return Sheet(
        title="Figures of nodes",
        readers=Readers.SPREADSHEET,
        is_answer=True,
        rows=[(name, nodes.get(name), replicas.get(name)) for name in sorted({*nodes, *replicas})],
        columns=[
            Column("NODE", lambda row: row[0]),
            Column("CHANGE", lambda row: None if row[1] is None else row[1].change.value),
            *pair("feasible", lambda side: "true" if side.feasible else "false"),
            *pair("total", lambda side: side.total),
            *pair("rank", lambda side: side.rank),
            *(column for plugin in plugins for column in pair(plugin, lambda side, name=plugin: side.scores.get(name))),  # type: ignore[misc]
            *pair("why-not", _why_not),
            count("REPLICAS-BEFORE", lambda row: None if row[2] is None else row[2].before),
            count("REPLICAS-AFTER", lambda row: None if row[2] is None else row[2].after),
        ],
    )


def view(report: CompareReport) -> View:
    """Both sides, what differs node by node, and the replicas that go elsewhere."""
    before, after = report.before, report.after
    sides = [("before", before), ("after", after)]
    return View(
        title=f"{both(before.subject, after.subject)} in {after.pod.namespace}, before → after",
        provenance=sources(report),
        answer=[*report.said, *question_differences(before, after)],
        tone=Tone.GOOD if report.same else Tone.WARN,
        sheets=[
            _figures(report),
            Sheet(title="Sides", columns=_SIDE, rows=sides, readers=Readers.PAGES),
            Sheet(title="Nodes that differ", columns=_NODE, rows=report.nodes, readers=Readers.PIPES),
            Sheet(title="Skews", columns=_SKEW, rows=report.constraints, readers=Readers.PIPES),
            Sheet(
                title="Domains",
                columns=_DOMAIN,
                readers=Readers.PIPES,
                rows=[
                    (constraint.topology_key, domain)
                    for constraint in report.constraints
                    for domain in constraint.domains
                ],
            ),
            Sheet(title="Replicas on nodes", columns=_ON_NODE, rows=report.replicas_on_nodes, readers=Readers.PIPES),
            Sheet(title="Replicas that go elsewhere", columns=_REPLICA, rows=report.replicas, is_detail=True),
            Sheet(title="Sides", columns=_SIDE, rows=sides, readers=Readers.PIPES),
        ],
        names=[node.name for node in report.nodes],
        heading=lambda look: _heading(report, NodeNames.of(report, look), look),
        answer_tone=Tone.GOOD if report.same else Tone.BAD,
        parts=lambda look: _parts(report, look),
        remarks="among",
        tiles=list(_tiles(before, after)),
        bars=list(_bars(report)),
        nodes=_node_facts(report),
        beside=beside([before, after]),
    )


def _tiles(before: SideReport, after: SideReport) -> Iterator[Tile]:
    yield Tile("nodes fit", _moved(before.fitting, after.fitting), _judged_change(before.fitting, after.fitting))
    if before.replicas is not None and after.replicas is not None:
        yield Tile(
            "replicas placed", _moved(before.running, after.running), _judged_change(before.running, after.running)
        )
        yield Tile(
            "replicas pending", _moved(before.pending, after.pending), _judged_change(after.pending, before.pending)
        )
    if before.victims or after.victims:
        gone, go = len(before.victims), len(after.victims)
        yield Tile("pods preempted", _moved(gone, go), _judged_change(go, gone))


def _judged_change(less: int, more: int) -> Tone:
    return Tone.PLAIN if less == more else Tone.GOOD if less < more else Tone.BAD


def _bars(report: CompareReport) -> Iterator[Bars]:
    for constraint in report.constraints:
        if constraint.domains:
            skews = " → ".join(
                "none" if side is None else str(side.skew) for side in (constraint.before, constraint.after)
            )
            bars = [
                Bar(domain.value or EMPTY, domain.before or 0, domain.after or 0, _moved(domain.before, domain.after))
                for domain in constraint.domains
            ]
            title = f"{short_key(constraint.topology_key)} · skew {skews} · domains that differ"
            yield Bars(title, bars, is_beside=True)
    if report.replicas_on_nodes and not any(each.is_about_nodes and each.domains for each in report.constraints):
        bars = [
            Bar(node.name, node.before, node.after, _moved(node.before, node.after))
            for node in report.replicas_on_nodes
        ]
        before, after = report.before.pending, report.after.pending
        if before or after:
            bars.append(Bar("no node", before, after, _moved(before, after)))
        yield Bars("replicas · nodes that differ", bars, is_beside=True)


def _moved(before: int | None, after: int | None) -> str:
    return " → ".join("none" if number is None else str(number) for number in (before, after))


def _node_facts(report: CompareReport) -> NodeFacts:
    held = {replica.name: replica for replica in report.replicas_on_nodes}
    differ = {node.name: node for node in report.nodes}
    rows = {
        name: Row(
            [
                *(_judged(differ[name]) if name in differ else ("", "", "")),
                *((_moved(held[name].before, held[name].after) if name in held else "",) if held else ()),
            ],
            _TONES.get(differ[name].change, Tone.WARN) if name in differ else Tone.PLAIN,
        )
        for name in dict.fromkeys([*differ, *held])
    }
    verdicts = {
        name: f"{difference.change}: {_difference(difference, numbers=True)}" for name, difference in differ.items()
    }
    colors = {Tone.GOOD: "fits now or is new", Tone.BAD: "no longer fits or is gone", Tone.WARN: "differs otherwise"}
    return NodeFacts(("Change", "Score", "How", *(("Replicas",) if held else ())), rows, verdicts, colors=colors)


def _judged(node: NodeDifference) -> tuple[str, str, str]:
    totals = [_total(side) for side in (node.before, node.after)]
    return str(node.change), "" if totals[0] == totals[1] else " → ".join(totals), _difference(node, numbers=True)


def _total(side: NodeSide | None) -> str:
    return "none" if side is None or side.total is None else str(side.total)


def _parts(report: CompareReport, look: Look) -> Iterator[Part]:
    names = NodeNames.of(report, look)
    yield from _nodes_lines(report, names, look)
    yield from placements(report, names, look)
    yield from _messages(report)


def _nodes_lines(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Part]:
    before, after = report.before, report.after
    yield Sentence([Cell("NODES", Tone.STRONG), Cell(f"  {_fitting(before, after)}")], HANGING, Weight.REASON)
    rows = _rows_of(report.nodes, in_full=look.in_full)
    columns = [
        Laid("", [Cell(row.change.value, _STYLES.get(row.change, Tone.PLAIN)) for row in rows.rows]),
        Laid("", _names(rows.rows, names, aim(look) // _NAMES_PER_WIDTH)),
        Laid("", [row.text for row in rows.rows]),
    ]
    lines = tabulated(columns, headers=False) if rows.rows else ()
    yield Rows([], [[Sentence(line, HANGING)] for line in lines], "node")
    phrases = [[Cell(sentence, Tone.FAINT)] for sentence in _left_out(rows.left_out)]
    if report.unchanged_nodes:
        phrases.append(
            [
                Cell(
                    f"{count_of(report.unchanged_nodes, 'node')} as before" if report.nodes else "all as before",
                    Tone.FAINT,
                )
            ]
        )
    if rows.left_out or any(len(row.nodes) > 1 for row in rows.rows):
        phrases.append([Cell("--full: node by node", Tone.FAINT)])
    yield from flowed(phrases, look, gutter=" · ")
    if before.first != after.first and before.first and after.first:
        yield folded(f"first choice {_first(before, names)}{ARROW}{_first(after, names)}")


def _fitting(before: SideReport, after: SideReport) -> str:
    """``12 → 8 of 12 fit``."""
    fit = f"{after.fitting:,} of {after.nodes:,} {verb_of(after.fitting, 'fit')}"
    if before.nodes != after.nodes:
        return f"{before.fitting:,} of {before.nodes:,}{ARROW}{fit}"
    return fit if before.fitting == after.fitting else f"{before.fitting:,}{ARROW}{fit}"


def _names(rows: Sequence[_Row], names: NodeNames, width: int) -> Iterator[str]:
    """The nodes of each row; of one alone its name, told apart from those of others."""
    alone = {node.name: names.short(node.name) for row in rows for node in row.nodes if len(row.nodes) == 1}
    apart = dict(zip(alone, told_apart(list(alone.values()), width), strict=True))
    for row in rows:
        called = [names.short(node.name) for node in row.nodes]
        listed = ", ".join(called)
        if len(called) == 1:
            yield apart[row.nodes[0].name]
        else:
            yield listed if len(called) <= _MAX_NAMED and width_of(listed) <= width else count_of(len(called), "node")


def _left_out(rows: Sequence[_Row]) -> Iterator[str]:
    """How many nodes have no row, by what differs; --full shows all."""
    for change in NodeChange:
        nodes = [node for row in rows if row.change is change for node in row.nodes]
        if not nodes:
            continue
        totals = [sum(node.score_changes.values()) for node in nodes]
        span = f", {signed(min(totals))} to {signed(max(totals))}" if change is NodeChange.SCORE else ""
        yield f"{change.value}: {len(nodes):,} more{span}"


def _first(side: SideReport, names: NodeNames) -> str:
    return names.short(side.first[0]) if len(side.first) == 1 else f"any of {len(side.first):,}"


def _messages(report: CompareReport) -> Iterator[Line]:
    """What kube-scheduler says of the pod now and of the first replica that stays pending, where the sides differ."""
    before, after = report.before, report.after
    if (before.message, before.stopped) == (after.message, after.stopped):
        return
    yield [Cell("MESSAGE", Tone.STRONG)]
    for when, side in (("before", before), ("after", after)):
        texts = list(dict.fromkeys(filter(None, (side.message, side.conclusion, side.stopped)))) or [_FITS]
        for message in texts:
            yield folded(f"{when}: {message}", weight=Weight.REASON)


class _Row(Struct, frozen=True):
    """Nodes with one `NodeChange`, and what is said of all of them."""

    change: NodeChange
    nodes: Sequence[NodeDifference]
    text: str


class _Rows(Struct, frozen=True):
    rows: Sequence[_Row]
    left_out: Sequence[_Row]
    """With many rows, those with the fewest nodes."""


def _rows_of(nodes: Sequence[NodeDifference], *, in_full: bool) -> _Rows:
    """Verdicts before scores; with ``in_full`` each node by itself, with its own figures."""
    if in_full:
        singles = [_Row(node.change, [node], _difference(node, numbers=True)) for node in nodes]
        return _Rows(sorted(singles, key=lambda row: _ORDER.index(row.change)), ())
    groups: dict[tuple[NodeChange, str], list[NodeDifference]] = {}
    for node in nodes:
        groups.setdefault((node.change, _difference(node, numbers=False)), []).append(node)
    rows = [_Row(change, alike, _shared_difference(alike) or text) for (change, text), alike in groups.items()]
    rows.sort(key=lambda row: (_ORDER.index(row.change), -len(row.nodes), row.nodes[0].name))
    verdicts = [row for row in rows if row.change is not NodeChange.SCORE]
    scores = [row for row in rows if row.change is NodeChange.SCORE]
    return _Rows(
        [*verdicts[:_MAX_ROWS], *scores[:_MAX_ROWS_OF_SCORES]], [*verdicts[_MAX_ROWS:], *scores[_MAX_ROWS_OF_SCORES:]]
    )


def _shared_difference(nodes: Sequence[NodeDifference]) -> str | None:
    """In figures, where all nodes share them."""
    text = _difference(nodes[0], numbers=True)
    return text if all(_difference(node, numbers=True) == text for node in nodes[1:]) else None


def _heading(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Line]:
    before, after = report.before, report.after
    subject = both(before.subject, after.subject)
    namespace = both(before.pod.namespace, after.pod.namespace)
    headline = [Cell(subject, Tone.STRONG), Cell(f" in {namespace}, before → after")]
    yield from heading(headline, report, f"nodes {names.left_out}" if names.left_out else "", look)


def heading(headline: Line, report: CompareReport | CompareWorkloadsReport, note: str, look: Look) -> Iterator[Line]:
    """The headline with what both sides share and a ``note``, and a line for each difference between the questions;
    nothing without headers.
    """
    if not look.headers:
        return
    before, after = report.before, report.after
    pairs = zip(_provenance(before), _provenance(after), strict=True)
    untold = "" if scheduler_phrase(after.kube_version, after.cluster) else " ".join(_provenance(after)[1])
    shared = [text for old, new in pairs if old == new and (text := " ".join(filter(None, old))) != untold]
    phrases = [" · ".join(note for note in (*shared, report.manner) if note not in ("", _DEFAULT_PROFILE)), note]
    yield from subject([headline, *([Cell(phrase, Tone.FAINT)] for phrase in phrases)], look)
    for setting in question_differences(before, after):
        yield folded(setting)


def sources(report: CompareReport | CompareWorkloadsReport) -> str:
    """The clusters and the releases in one line."""
    before, after = report.before, report.after
    where = ARROW.join(dict.fromkeys([cluster_phrase(before.cluster), cluster_phrase(after.cluster)]))
    release = scheduler_phrase(after.kube_version, after.cluster)
    if before.kube_version != after.kube_version:
        release = f"kube-scheduler {release_phrase(before.kube_version)}{ARROW}{release_phrase(after.kube_version)}"
    return " · ".join(part for part in (where, release, report.manner) if part)


def question_differences(before: _AnySide, after: _AnySide) -> Iterator[str]:
    """``snapshot monday.json → tuesday.json``, ``after: cordon node-7``: what the two sides do not have in common."""
    pairs = zip(_provenance(before), _provenance(after), strict=True)
    yield from (_changed(old, new) for old, new in pairs if old != new)
    for what, old, new in (
        ("manifest", before.asked.manifest, after.asked.manifest),
        ("scheduler config", before.asked.scheduler_config, after.asked.scheduler_config),
        ("feature gates", before.asked.feature_gates, after.asked.feature_gates),
    ):
        if old != new:
            yield f"{what} {old or _NONE}{ARROW}{new or _NONE}"
    for side, when in ((before, "before"), (after, "after")):
        settings = [f"set {setting}" for setting in side.asked.settings]
        other = after if side is before else before
        if (side.asked.edits, side.asked.settings) != (other.asked.edits, other.asked.settings):
            yield from (f"{when}: {setting}" for setting in (*side.asked.edits, *settings))


def _changed(before: _Named, after: _Named) -> str:
    """``kube-scheduler v1.30 → v1.36``, the word once where it is the same."""
    old, new = (" ".join(filter(None, parts)) or _NONE for parts in (before, after))
    return f"{old}{ARROW}{after[1] if before[0] and before[0] == after[0] else new}"


def _provenance(side: _AnySide) -> tuple[_Named, _Named, _Named]:
    """The cluster, the release and the profile."""
    cluster, snapshot = cluster_words(side.cluster), side.cluster and side.cluster.snapshot
    return (
        cluster if any(cluster) or not snapshot else ("snapshot", snapshot),
        ("kube-scheduler", release_phrase(side.kube_version)),
        ("profile", side.scheduler_name) if side.scheduler_name is not None else ("", ""),
    )
