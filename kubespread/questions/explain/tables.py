"""One row per node, as wide as the terminal allows.

What rows give up on narrower terminals: blanks, names, columns, and finally the formula's spelling; verdict, arithmetic
and reasons are shortened last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escape
from kubespread.questions.explain.report import ExplainReport, absent_resources
from kubespread.reports.judged_nodes import (
    KEEPING_OFF,
    SPREAD_PLUGIN,
    TAINTED,
    NodeConstraint,
    NodeReport,
    Rejection,
    ScoreDetail,
    without_taint_of_cordon,
)
from kubespread.reports.parts import ConstraintReport, letter
from kubespread.reports.reason_words import short_names
from kubespread.scheduler.causes import TaintDetail
from kubespread.views.constraints import PRETTY, SKEW, TIGHT, Spelling, formula, score_steps
from kubespread.views.lines import cut_end, cut_middle, width_of
from kubespread.views.look import Cell, Look, Rows, Tone
from kubespread.views.terminal import Layout, distinct_names, fold, lay_columns
from kubespread.wording import EMPTY, short_key, some_of

MAX_NODES = 25
"""Number of nodes above which only some are shown."""


class Arithmetic(Struct, frozen=True):
    """Numbers of one constraint for one node, and whether they reject it."""

    numbers: NodeConstraint
    rejects: bool

    def text(self, spelling: Spelling) -> str:
        return formula(self.numbers, spelling, rejects=self.rejects)


class NodeRow(Struct, frozen=True):
    """One node. ``domains``, ``arithmetic`` and ``scores`` go with the columns of the same names in `NodeRows`."""

    node: NodeReport
    domains: tuple[str | None, ...]
    arithmetic: tuple[Arithmetic, ...]
    scores: tuple[ScoreDetail | None, ...]
    why_not: str
    """Reasons in kube-scheduler's words."""
    with_numbers: str
    """Every reason with the numbers behind it."""
    short_reasons: tuple[str, ...]
    """Every reason in few words."""
    short_names: tuple[str, ...]
    """Every reason in a word."""
    taints: tuple[TaintDetail, ...]
    """Taints among the reasons, for which that word is ``tainted``."""


class NodeRows(Struct, frozen=True):
    """Columns of the node table, and one row per node."""

    domains: tuple[str, ...]
    """Topology keys."""
    arithmetic: tuple[ConstraintReport, ...]
    scores: tuple[str, ...]
    """Score plugins that scored, in profile order."""
    rows: tuple[NodeRow, ...]


def shown_nodes(report: ExplainReport, *, most: int) -> Sequence[NodeReport]:
    """Nodes that get a row; of many, the best and the nearest misses."""
    if len(report.nodes) <= most:
        return report.nodes
    fitting = [node for node in report.nodes if node.feasible][: most * 3 // 5]
    failing = sorted((node for node in report.nodes if not node.feasible), key=_distance)
    chosen = {node.name for node in (*fitting, *failing[: most - len(fitting)])}
    return [node for node in report.nodes if node.name in chosen]


def _distance(node: NodeReport) -> tuple[int, int, int]:
    """Distance from fitting: resources it does not have at all, rejections, then by how much it exceeds constraints."""
    excess = (
        max(0, constraint.skew - constraint.max_skew) if constraint.skew is not None else constraint.max_skew
        for constraint in node.constraints
    )
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return absent_resources(node), len(node.rejections) + failing, sum(excess)


def rows_of(report: ExplainReport, nodes: Sequence[NodeReport]) -> NodeRows:
    """Rows of some ``nodes``, with the columns of the whole report."""
    shown = _domain_columns(report)
    plugins = tuple(dict.fromkeys(plugin for node in report.nodes for plugin in node.scores))
    return NodeRows(
        domains=tuple(report.constraints[position].topology_key for position in shown),
        arithmetic=report.constraints,
        scores=plugins,
        rows=tuple(
            NodeRow(
                node=node,
                domains=tuple(node.constraints[position].domain for position in shown),
                arithmetic=tuple(
                    Arithmetic(numbers, rejects=constraint.is_hard and not numbers.satisfied)
                    for numbers, constraint in zip(node.constraints, report.constraints, strict=True)
                ),
                scores=tuple(node.score_details.get(plugin) for plugin in plugins),
                why_not=why_not(report, node),
                with_numbers=why_not(report, node, numbers=True),
                short_reasons=short_reasons(report, node, numbers=True),
                short_names=short_reasons(report, node, numbers=False),
                taints=tuple(
                    detail
                    for rejection in telling_rejections(report, node)
                    for detail in rejection.details
                    if isinstance(detail, TaintDetail)
                ),
            )
            for node in nodes
        ),
    )


def _domain_columns(report: ExplainReport) -> list[int]:
    """Positions of the constraints with a column for the domain: one per key, none if each node is its own domain."""
    shown: dict[str, int] = {}
    for position, constraint in enumerate(report.constraints):
        if any(node.constraints[position].domain not in (None, node.name) for node in report.nodes):
            shown.setdefault(constraint.topology_key, position)
    return list(shown.values())


def why_not(report: ExplainReport, node: NodeReport, *, numbers: bool = False) -> str:
    """Reasons the node fails, in kube-scheduler's words, with constraints by their letter; ``numbers`` adds the numbers
    behind each.
    """
    reasons: list[str] = []
    for rejection in counting_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons += (
                f"{letter(position)}: {node.constraints[position].reason or ''}"
                for position in failed_constraints(report, node)
            )
        elif numbers and rejection.details and not _repeats_reasons(rejection):
            details = "; ".join(detail.short for detail in rejection.details)
            reasons.append(f"{'; '.join(rejection.reasons)} ({details})")
        else:
            reasons += rejection.reasons
    if not node.feasible and not reasons:
        reasons += node.verdict.reasons
    return "; ".join(reasons)


def short_reasons(report: ExplainReport, node: NodeReport, *, numbers: bool) -> tuple[str, ...]:
    """Reasons the node fails in few words: ``A B``, ``cpu needs 1, free 0.2 of 7.9``; without ``numbers`` a word each:
    ``A B``, ``cpu``.
    """
    reasons: list[str] = []
    for rejection in telling_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons.insert(0, " ".join(letter(position) for position in failed_constraints(report, node)))
        elif numbers and rejection.details:
            reasons += [detail.short for detail in rejection.details]
        else:
            reasons += short_names(rejection.reasons)
    return tuple(reasons or ([] if node.feasible else short_names(node.verdict.reasons)))


def _repeats_reasons(rejection: Rejection) -> bool:
    """True if the details only repeat the reasons."""
    return [detail.short for detail in rejection.details] == short_names(rejection.reasons)


def counting_rejections(report: ExplainReport, node: NodeReport) -> Iterator[Rejection]:
    """Yield rejections by plugins that the profile runs."""
    return (rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins)


def telling_rejections(report: ExplainReport, node: NodeReport) -> list[Rejection]:
    """Rejections without a cordon's taint if the cordon itself is among them."""
    return without_taint_of_cordon(counting_rejections(report, node))


def failed_constraints(report: ExplainReport, node: NodeReport) -> Iterator[int]:
    """Yield positions of the hard constraints that reject the node."""
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            yield position


SEPARATOR = " · "
"""Text between the reasons of a row."""
_TAINTED, _MAX_TAINTS = KEEPING_OFF[TAINTED], 3
_LEAST_REASONS = 20
_LONGEST_HEADER = 14


class RowForm(Struct, frozen=True):
    gap: int = 2
    name: int | None = None
    """Maximum width of the names of nodes and domains."""
    domains: bool = True
    score: bool = True
    spelling: Spelling = PRETTY
    full_reasons: bool = False


def _fullest(width: int | None, columns_of: Callable[[RowForm], list[Layout]]) -> tuple[list[Layout], int, int | None]:
    """The columns of the first form that fits, the gap between them, and the width of the last one, the reasons.

    Reasons may take up to two fifths of the terminal if the formula keeps its room.
    """
    if width is None:
        return columns_of(_FORMS[0]), _FORMS[0].gap, None
    columns, gap, room = list[Layout](), 1, 0
    for form, least in _attempts(width):
        columns, gap = columns_of(form), form.gap
        room = width - 2 - sum(column.width + gap for column in columns[:-1])
        if (columns[-1].width if form.full_reasons else min(columns[-1].width, least)) <= room:
            break
    return columns, gap, max(1, room)


def _attempts(width: int) -> Iterator[tuple[RowForm, int]]:
    spelled_out = [form for form in _FORMS if not form.spelling.skew_only]
    ample = max(_LEAST_REASONS, 2 * width // 5)
    yield from ((form, ample) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in _FORMS if form.spelling.skew_only)


def _domain_cell(domain: str | None, width: int | None) -> Cell:
    safe = Cell("" if domain is None else domain or EMPTY)
    return safe if width is None else Cell(cut_middle(safe.text, width))


def _constraint_header(position: int, topology_key: str, spelling: Spelling) -> str:
    """``A zone``, not much longer than the formula below it; just the letter where there is no room."""
    if spelling.skew_only:
        return letter(position)
    return cut_end(Cell(f"{letter(position)} {short_key(topology_key)}").text, _LONGEST_HEADER)


def _cut_items(items: Sequence[str], width: int) -> str:
    """Join as many of ``items`` as fit, at least one, and the number of the others."""
    items = [escape(item) for item in items]
    if width_of(whole := SEPARATOR.join(items)) <= width:
        return whole
    for number in range(len(items) - 1, 0, -1):
        shorter = f"{SEPARATOR.join(items[:number])} +{len(items) - number}"
        if width_of(shorter) <= width:
            return shorter
    more = f" +{len(items) - 1}" if len(items) > 1 else ""
    return f"{cut_end(items[0], max(1, width - len(more)))}{more}"


_FORMS = (
    RowForm(gap=3, full_reasons=True),
    RowForm(gap=3),
    RowForm(),
    RowForm(name=32),
    RowForm(name=32, domains=False),
    RowForm(name=24, domains=False),
    RowForm(name=24, domains=False, score=False),
    RowForm(name=20, domains=False, score=False, spelling=TIGHT),
    RowForm(name=16, domains=False, score=False, spelling=TIGHT),
    RowForm(name=16, domains=False, score=False, spelling=SKEW),
    RowForm(name=12, domains=False, score=False, spelling=SKEW),
    RowForm(gap=1, name=8, domains=False, score=False, spelling=SKEW),
)


def node_table(rows: NodeRows, suffix: str, look: Look) -> Rows:
    """Rows in the fullest form that fits; ``suffix`` is the shared end of all names, shown in the title.

    Nothing is shortened if the columns of score plugins are requested.
    """
    width = None if look.wide else look.width
    columns, gap, room = _fullest(width, partial(_columns_of_nodes, rows, suffix, look.wide))
    if room is not None:
        columns[-1] = _fit(rows, columns[-1], room)
    if all(row.node.feasible for row in rows.rows):
        # Reasons are left out.
        columns.pop()
    table = lay_columns(columns, look, "node", gap)
    # Those that have no room in their rows.
    pairs = zip(rows.rows, columns[-1].cells, strict=True)
    taints = dict.fromkeys(taint.taint for row, cell in pairs if _TAINTED in cell.text for taint in row.taints)
    if not taints or not look.headers:
        return table
    return replace(table, header=[fold(f"{_TAINTED}: {some_of([*taints], _MAX_TAINTS)}"), *table.header])


def _columns_of_nodes(rows: NodeRows, suffix: str, wide: bool, form: RowForm) -> list[Layout]:
    """Name, domains, verdict, arithmetic, plugins' scores if ``wide``, score, and the reasons last."""
    totals = ["" if row.node.total is None else str(row.node.total) for row in rows.rows]
    has_score = form.full_reasons or (form.score and any(totals))
    return [
        _names(rows, suffix, form.name),
        *(_domains(rows, form.name) if form.domains else ()),
        Layout("FITS", [_FITS if row.node.feasible else _FAILS for row in rows.rows]),
        *_arithmetic_of_nodes(rows, form.spelling),
        *(_plugin_scores(rows) if wide else ()),
        *([Layout("SCORE", totals, is_number=True)] if has_score else ()),
        _reasons(rows, form.full_reasons),
    ]


def _names(rows: NodeRows, suffix: str, width: int | None) -> Layout:
    safe = [escape(row.node.name.removesuffix(suffix)) for row in rows.rows]
    return Layout("NODE", list(map(Cell, safe if width is None else distinct_names(safe, width))))


def _domains(rows: NodeRows, width: int | None) -> list[Layout]:
    return [
        Layout(escape(short_key(key).upper()), [_domain_cell(row.domains[place], width) for row in rows.rows])
        for place, key in enumerate(rows.domains)
    ]


def _arithmetic_of_nodes(rows: NodeRows, spelling: Spelling) -> list[Layout]:
    return [
        Layout(
            _constraint_header(place, constraint.topology_key, spelling),
            [
                Cell(term.text(spelling), Tone.BAD if term.rejects else Tone.PLAIN)
                for term in (row.arithmetic[place] for row in rows.rows)
            ],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]


def _plugin_scores(rows: NodeRows) -> list[Layout]:
    return [
        Layout(plugin, [score_steps(detail) if detail else "" for detail in details], is_number=True)
        for plugin, details in zip(rows.scores, zip(*(row.scores for row in rows.rows), strict=True), strict=True)
    ]


def _reasons(rows: NodeRows, full: bool) -> Layout:
    texts = (row.with_numbers if full else SEPARATOR.join(row.short_reasons) for row in rows.rows)
    return Layout("WHY NOT", texts)


_FITS, _FAILS = Cell("yes", Tone.GOOD), Cell("no", Tone.BAD)


def _fit(rows: NodeRows, reasons: Layout, width: int) -> Layout:
    """The reasons; one word each where there is no room for numbers, with the taints as long as there is for these."""
    cells = [
        reason if width_of(reason.text) <= width else Cell(_in_brief(row, width))
        for row, reason in zip(rows.rows, reasons.cells, strict=True)
    ]
    return Layout(cut_end(reasons.header, width), cells)


def _in_brief(row: NodeRow, width: int) -> str:
    taints = [detail.short for detail in row.taints]
    named = [text for name in row.short_names for text in (taints if name == _TAINTED else [name])]
    whole = escape(SEPARATOR.join(named))
    return whole if width_of(whole) <= width else _cut_items(row.short_names, width)
