"""Nodes that share their domains share the arithmetic: one row for all of them, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct

from kubespread.questions.explain.node_table import SEPARATOR, Form, constraint_header, cut_items, domain_cell, fullest
from kubespread.questions.explain.report import ExplainReport
from kubespread.questions.explain.rows import telling_rejections
from kubespread.reports.judged_nodes import SPREAD_PLUGIN, NodeConstraint, NodeReport
from kubespread.reports.parts import ConstraintReport
from kubespread.reports.reason_words import words_of
from kubespread.views.constraints import SKEW, TIGHT, Spelling, formula
from kubespread.views.layout import Cell, Laid, Line, cut_end, tabulated
from kubespread.views.look import Look, Tone
from kubespread.wording import short_key

_MAX_NODE_ROWS = 10
_MAX_COMBINATIONS = 25


class SharedArithmetic(Struct, frozen=True):
    """One constraint's numbers for the nodes of a row: one formula where they agree, else the range of their skews."""

    first: NodeConstraint
    differ: bool
    least: int | None
    most: int | None
    """Of the skews; None where no node has the label."""
    over: int
    """How many nodes a hard constraint rejects."""

    def text(self, spelling: Spelling) -> str:
        if not self.differ:
            return formula(self.first, spelling, rejects=bool(self.over))
        skews = f"{self.least}" if self.least == self.most else f"{self.least}–{self.most}"
        if spelling.skew_only:
            return f"{self.over} over" if self.over else skews
        return f"{skews}, {self.over} over" if self.over else skews


class DomainRow(Struct, frozen=True):
    """The nodes of one combination of domains. ``domains`` and ``arithmetic`` go with those of `DomainRows`."""

    domains: tuple[str | None, ...]
    nodes: int
    fitting: int
    matching: int | None
    """Matching pods of the first domain; None where there is no such domain."""
    arithmetic: tuple[SharedArithmetic, ...]
    causes: Counter[str]
    """How many nodes fail for each other reason, by its short name."""

    @property
    def also(self) -> list[str]:
        """``4 cordoned``, the most frequent first."""
        ordered = sorted(self.causes.items(), key=lambda item: (-item[1], item[0]))
        return [f"{count} {short}" for short, count in ordered]


class DomainRows(Struct, frozen=True):
    domains: tuple[str, ...]
    """Topology keys."""
    arithmetic: tuple[ConstraintReport, ...]
    rows: tuple[DomainRow, ...]


def is_by_domain(report: ExplainReport) -> bool:
    """Whether rows by domain say more than rows by node."""
    return len(report.nodes) > _MAX_NODE_ROWS and bool(_coarse(report))


def domain_rows(report: ExplainReport, nodes: Sequence[NodeReport]) -> DomainRows:
    """The rows of ``nodes``, some of the report's, in the order of their first nodes."""
    positions = _grouping(report)
    groups: dict[tuple[str | None, ...], list[NodeReport]] = {}
    for node in nodes:
        groups.setdefault(tuple([node.constraints[position].domain for position in positions]), []).append(node)
    return DomainRows(
        domains=tuple(report.constraints[position].topology_key for position in positions),
        arithmetic=report.constraints,
        rows=tuple(_row(report, domains, positions, members) for domains, members in groups.items()),
    )


def _grouping(report: ExplainReport) -> list[int]:
    """The constraints whose domains define a row: the first coarse one, and hard ones that tell its nodes apart.

    Where every domain is a node, the first constraint.
    """
    coarse = _coarse(report)
    if not coarse:
        return [0] if report.constraints else []
    chosen = coarse[:1]
    for position in coarse[1:]:
        tried = [*chosen, position]
        combinations = _combinations(report, tried)
        if report.constraints[position].is_hard and _combinations(report, chosen) < combinations <= _MAX_COMBINATIONS:
            chosen = tried
    return chosen


def _combinations(report: ExplainReport, positions: Sequence[int]) -> int:
    return len({tuple([node.constraints[position].domain for position in positions]) for node in report.nodes})


def _coarse(report: ExplainReport) -> list[int]:
    """One constraint for each topology key whose domains have several nodes on average."""
    first: dict[str, int] = {}
    for position, constraint in enumerate(report.constraints):
        first.setdefault(constraint.topology_key, position)
    return [
        position
        for position in first.values()
        if 2 * len({node.constraints[position].domain for node in report.nodes}) <= len(report.nodes)
    ]


def _row(
    report: ExplainReport, domains: tuple[str | None, ...], positions: Sequence[int], nodes: Sequence[NodeReport]
) -> DomainRow:
    return DomainRow(
        domains=domains,
        nodes=len(nodes),
        fitting=sum([node.feasible for node in nodes]),
        matching=nodes[0].constraints[positions[0]].matching if positions else None,
        arithmetic=tuple(
            _shared([node.constraints[position] for node in nodes], constraint)
            for position, constraint in enumerate(report.constraints)
        ),
        causes=Counter(short for node in nodes if not node.feasible for short in _causes(report, node)),
    )


def _shared(numbers: Sequence[NodeConstraint], constraint: ConstraintReport) -> SharedArithmetic:
    skews = {number.skew for number in numbers}
    known_skews = [skew for skew in skews if skew is not None]
    return SharedArithmetic(
        first=numbers[0],
        differ=len(skews) > 1 or any(number.matching != numbers[0].matching for number in numbers),
        least=min(known_skews, default=None),
        most=max(known_skews, default=None),
        over=sum([not number.satisfied for number in numbers]) if constraint.is_hard else 0,
    )


def _causes(report: ExplainReport, node: NodeReport) -> set[str]:
    """What rejects a node besides the constraints; where no plugin does, the verdict on the pod as a whole."""
    rejections = telling_rejections(report, node)
    reasons = [reason for rejection in rejections if rejection.plugin != SPREAD_PLUGIN for reason in rejection.reasons]
    return {words_of(reason).short for reason in (reasons if rejections else node.verdict.reasons)}


_MAX_ROWS = 25
_LONGEST_BAR = 8


_FORMS = (
    Form(gap=3),
    Form(),
    Form(pods=False),
    Form(pods=False, name=32),
    Form(pods=False, name=24, spelling=TIGHT),
    Form(pods=False, name=16, spelling=TIGHT),
    Form(pods=False, name=16, spelling=SKEW),
    Form(pods=False, name=10, spelling=SKEW, gap=1),
)


def domain_table(rows: DomainRows, look: Look) -> Iterator[Line]:
    """The first rows, and a summary of the others."""
    shown, others = rows.rows[:_MAX_ROWS], rows.rows[_MAX_ROWS:]
    columns, gap, room = fullest(_FORMS, look.width, partial(_columns, rows, shown))
    if room is not None:
        columns[-1] = Laid(cut_end(columns[-1].header, room), [Cell(cut_items(row.also, room)) for row in shown])
    if not any(row.also for row in shown):
        columns.pop()
    yield from tabulated(columns, gap, headers=look.headers)
    if others:
        nodes, fitting = sum(row.nodes for row in others), sum(row.fitting for row in others)
        yield [Cell(f"  {len(others):,} more rows with {nodes:,} nodes, of which {fitting:,} fit", Tone.FAINT)]


def _columns(rows: DomainRows, shown: Sequence[DomainRow], form: Form) -> list[Laid]:
    columns = [
        Laid(
            Cell(short_key(key).upper()).text,
            [
                Cell("(no label)") if row.domains[place] is None else domain_cell(row.domains[place], form.name)
                for row in shown
            ],
        )
        for place, key in enumerate(rows.domains)
    ]
    columns += [
        Laid("NODES", [Cell(str(row.nodes)) for row in shown], is_number=True),
        Laid("FIT", [Cell(str(row.fitting), Tone.GOOD if row.fitting else Tone.BAD) for row in shown], is_number=True),
    ]
    if rows.domains and form.pods:
        columns.append(Laid("PODS", _pods(shown)))
    columns += [
        Laid(
            constraint_header(place, constraint.topology_key, form.spelling),
            [_arithmetic(row.arithmetic[place], form.spelling) for row in shown],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]
    columns.append(Laid("ALSO", [Cell(SEPARATOR.join(row.also)) for row in shown]))
    return columns


def _arithmetic(shared: SharedArithmetic, spelling: Spelling) -> Cell:
    return Cell(shared.text(spelling), Tone.BAD if shared.over else Tone.PLAIN)


def _pods(rows: Sequence[DomainRow]) -> list[Cell]:
    """Matching pods as numbers and as bars; the most pods get the longest bar."""
    most = max((row.matching or 0 for row in rows), default=0)
    unit = max(1, -(-most // _LONGEST_BAR))
    lengths = [-(-(row.matching or 0) // unit) for row in rows]
    return [
        Cell(f"{'█' * length} {'' if row.matching is None else row.matching}".strip())
        for length, row in zip(lengths, rows, strict=True)
    ]
