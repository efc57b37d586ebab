"""Removable nodes: one row per node, with many the first of each sort, and by cause what blocks the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.removable.report import HOLDS, HeldBy, LandedOfGroup, NodeRemoval, RemovableReport
from kubespread.reports.happened import down_meanwhile
from kubespread.views.look import Cell, Line, Look, Tone, Weight
from kubespread.views.sheet import Column, Fit, Readers, Sheet, count
from kubespread.views.terminal import (
    fitted,
    folded,
    headline,
    left_out,
    remarks,
    room_beside_columns,
    said_once,
    together,
)
from kubespread.views.view import Frame, NodeFacts, Tile, View, about, held_after, held_before, some, unwanted
from kubespread.wording import count_of, says, some_of, verb_of

_MAX_ROWS = 20
_WIDEST_ZONE = 16
_MAX_REASONS, _MAX_NAMED = 6, 2
_LEAST_NAME = 12
_MAX_PODS = 3


def _consequences(row: NodeRemoval) -> Iterator[str]:
    """Effects of removing a node, besides moving its pods, and what else is to be known of it."""
    if local := [pod for remark in row.remarks if remark.cause == "localStorage" for pod in remark.pods]:
        yield f"deletes the local data of {some_of(local, _MAX_PODS)}"
    if row.alone:
        yield from down_meanwhile(pod for remark in row.remarks if remark.cause == "down" for pod in remark.pods)
    yield from (f"leaves {violation}" for violation in row.violated)
    if row.until_deleted and row.alone:
        yield says(row.until_deleted, "pod", "wait until the Node object is deleted")
    if row.preempted:
        find = verb_of(len(row.preempted), "find another node")
        yield f"preempts {some_of(row.preempted, _MAX_PODS)}, which {find}"
    if row.lost:
        yield f"loses {some_of(row.lost, _MAX_PODS)} for good"


def _causes(row: NodeRemoval) -> list[HeldBy]:
    return list(dict.fromkeys(hold.cause for hold in row.held))


_NODE: Sequence[Column[NodeRemoval]] = (
    Column("NODE", lambda row: row.node),
    Column("ZONE", lambda row: row.domain, readers=Readers.TERMINAL | Readers.PIPES, most=_WIDEST_ZONE),
    count("PODS", lambda row: row.pods),
    Column("ALONE", lambda row: row.alone, tone=lambda row: Tone.GOOD if row.alone else Tone.BAD),
    Column("TOGETHER", lambda row: row.place, is_number=True, nothing="-"),
    count("WAIT", lambda row: row.until_deleted, hides_empty=True),
    Column(
        "HELD-BY",
        _causes,
        text=lambda row: ", ".join(HOLDS[cause].word for cause in _causes(row)),
        fit=Fit.END,
        hides_empty=True,
        readers=Readers.ALL & ~Readers.PAGES,
    ),
    Column(
        "WHY",
        lambda row: "; ".join((*(hold.said() for hold in row.held), *_consequences(row))),
        readers=Readers.RECORDS,
    ),
)


_PRICE: Column[NodeRemoval] = Column("PRICE", lambda row: row.price, is_number=True, nothing="?")


def _tone(row: NodeRemoval) -> Tone:
    return Tone.GOOD if row.place else Tone.PLAIN if row.alone else Tone.BAD


def _columns(report: RemovableReport) -> Sequence[Column[NodeRemoval]]:
    name, zone, *others = _NODE
    return _NODE if report.cost is None else [name, zone, _PRICE, *others]


def view(report: RemovableReport) -> View:
    """One row per node: its place in the order of removal, and what blocks it."""
    nodes = Sheet(
        title="Nodes", columns=_columns(report), rows=report.rows, is_answer=True, readers=Readers.PIPES, tone=_tone
    )
    facts = about(report)
    return View(
        **facts,
        title=f"Which of {count_of(report.nodes, 'node')} can go",
        sheets=[
            nodes,
            Sheet(
                title="Where pods land when nodes go together",
                columns=_LANDED,
                rows=report.together.landed,
                readers=Readers.PAGES,
                is_detail=True,
                frames=lambda row: (row.group, None),
            ),
        ],
        nodes=NodeFacts.of(
            nodes,
            _verdict,
            {Tone.GOOD: "goes, with the others", Tone.PLAIN: "can go, but alone", Tone.BAD: "held: cannot go"},
            _word,
        ),
        heading=lambda look: headline([Cell(_question(report), Tone.STRONG)], facts["provenance"], look),
        parts=lambda look: _parts(report, look),
        remarks="among",
        names=report.together.by_group,
        tiles=_tiles(report),
        frames_on=lambda drawn: _frames(report, drawn),
        before={},
        dot="pod landing here",
        opens_at=0,
    )


_LANDED: Sequence[Column[LandedOfGroup]] = (
    Column("WORKLOAD", lambda row: row.workload),
    count("GROUP", lambda row: row.group),
    Column("NODE", lambda row: row.node),
    count("PODS", lambda row: row.pods),
)


def _tiles(report: RemovableReport) -> Sequence[Tile]:
    alone, together = sum(row.alone for row in report.rows), report.together
    return [
        some("nodes can go alone", alone, len(report.rows)),
        Tile("can go together", f"{len(together.nodes):,}", Tone.GOOD if together.nodes else Tone.BAD),
        Tile("pods placed elsewhere for that", f"{together.moved:,}"),
        unwanted("pods gone for good", len(together.lost)),
        *([Tile("of what nodes cost", report.cost.change)] if report.cost is not None else ()),
    ]


def _frames(report: RemovableReport, drawn: TopologyMap) -> Iterator[Frame]:
    """A frame a group: its nodes go at once."""
    together, held = report.together, held_before(drawn)
    saved = [f"; saves {report.cost.pricing.text(group.amount)}" for group in together.saved] if report.cost else []
    names, left = iter(together.nodes), dict[str, int]()
    for number, size in enumerate(together.groups, 1):
        gone, landed = [*islice(names, size)], Counter[str]()
        for row in together.landed:
            if row.group == number:
                landed[row.node] += row.pods
        text = says(landed.total(), "pod", "find a new node")
        goes = f"{some_of(gone, _MAX_NAMED)} {verb_of(size, 'go')}"
        loads = held_after(together.loads[number - 1], held, drawn)
        held |= loads
        told = {name: held[name] for name in (*left, *landed) if name in held}
        yield Frame(
            goes,
            f"{text}{saved[number - 1] if saved else ''}",
            pods={**left, **landed},
            gone=gone,
            held={**told, **loads},
        )
        left = dict.fromkeys(landed, 0)


def _verdict(row: NodeRemoval) -> str:
    return "can go alone" if row.alone else f"cannot go: {', '.join(_causes(row))}"


def _word(row: NodeRemoval) -> str:
    """``goes``, ``can go``, ``budget: web-0``: what keeps it, and whose pod that is."""
    if row.alone or not row.held:
        return "goes" if row.place else "can go"
    hold = row.held[0]
    return f"{HOLDS[hold.cause].word}{f': {hold.pods[0].name}' if hold.pods else ''}"


def _question(report: RemovableReport) -> str:
    if len(report.rows) == 1:
        return f"Removing {report.rows[0].node} of {count_of(report.nodes, 'node')}"
    of_rows = f"{len(report.rows):,} of " if len(report.rows) < report.nodes else ""
    return f"Removing each of {of_rows}{count_of(report.nodes, 'node')}"


def _parts(report: RemovableReport, look: Look) -> Iterator[Sheet[NodeRemoval] | Line]:
    """Rows, and by reason what blocks nodes, the one with the most nodes first."""
    # Those that go together, in their order, then those that cannot go.
    rows = sorted(report.rows, key=lambda row: (row.place is None, row.place or 0, row.alone))
    sheet = Sheet(title="", columns=_columns(report), rows=rows, tone=_tone, most=_MAX_ROWS, noun="node")
    name, *others = sheet.columns
    names = [escaped(row.node) for row in report.rows]
    room = max(room_beside_columns(others, sheet.on_screen(look), look), _LEAST_NAME)
    short = dict(zip(names, fitted(names, room), strict=True))
    key = said_once(names, list(short.values()))
    yield replace(sheet, columns=[replace(name, text=lambda row: short[escaped(row.node)]), *others], key=key)
    yield from remarks(report.answer)
    reasons = together(
        (short[escaped(row.node)], text)
        for row in report.rows
        for text in _reasons(row)
        if text not in report.answer[0]
    )
    ordered = sorted(reasons.items(), key=lambda reason: -len(reason[1]))
    shown = ordered if look.in_full or look.rows is not None else ordered[:_MAX_REASONS]
    for text, nodes in shown:
        yield folded(f"{some_of(nodes, _MAX_NAMED)}: {text}", weight=Weight.REASON)
    yield from left_out(len(ordered) - len(shown), "reason")


def _reasons(row: NodeRemoval) -> Iterator[str]:
    yield from (hold.said(names_protected=False) for hold in row.held)
    yield from (f"goes, and {consequence}" for consequence in _consequences(row))
