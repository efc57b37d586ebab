"""An upgrade: one row per batch, and below it what stops it and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.upgrade.report import UpgradeReport, UpgradeStep
from kubespread.reports.happened import BlockedPod
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Sheet, count
from kubespread.views.terminal import fitted, flowed, room_beside_columns, said_once
from kubespread.views.view import Chart, ChartRow, Frame, Tile, View, about, held_after, held_before, unwanted
from kubespread.wording import count_of

_MAX_STEPS = 20
_LEAST_NAME = 12
_MORE = 12
"""The width of the step's number and the count of further nodes."""
_KEY = "DAEMONS: how many of PLACED are DaemonSet pods on the new nodes"

_Numbered = tuple[int, UpgradeStep]
_STEP: Column[_Numbered] = count("STEP", lambda row: row[0])
_NODES: Column[_Numbered] = Column("NODES", lambda row: row[1].nodes)
_COME: Sequence[Column[_Numbered]] = (
    Column("JOINED", lambda row: row[1].added, on_terminal=lambda row: len(row[1].added), is_number=True),
    count("EVICTED", lambda row: row[1].evicted),
    count("PREEMPTED", lambda row: len(row[1].preempted), hides_empty=True),
    count("PLACED", lambda row: row[1].placed),
    count("DAEMONS", lambda row: row[1].daemons, hides_empty=True),
    count("PENDING", lambda row: row[1].pending, bad=True),
    Column("STATE", lambda row: row[1].state, tone=lambda row: Tone.BAD if row[1].is_bad else Tone.GOOD),
)
_BLOCKED: Sequence[Column[BlockedPod]] = (
    Column("POD", lambda row: row.pod),
    Column("NODE", lambda row: row.node),
    Column("BUDGET", lambda row: row.budget),
    Column("WHY", lambda row: f"{row.message} {row.cause}".strip()),
)


def view(report: UpgradeReport) -> View:
    """The batches, and the pods that cannot be evicted."""
    surge = f", surge {report.surge}" if report.surge else ""
    by = f" with {report.to}" if report.to else ""
    return View(
        **about(report),
        title=f"Replacing {count_of(len(report.nodes), 'node')}{by}, {report.batch} at a time{surge}",
        sheets=[
            Sheet(
                title="Batches",
                columns=(_STEP, _NODES, *_COME),
                rows=list(enumerate(report.steps, 1)),
                is_answer=True,
                tone=_tone,
                frames=lambda row: (row[0], None),
            ),
            Sheet(
                title="Pods that cannot be evicted",
                columns=_BLOCKED,
                tone=lambda _: Tone.BAD,
                frames=lambda _: (len(report.steps), None),
                rows=() if report.blocked is None else report.blocked.pods,
            ),
        ],
        parts=lambda look: _parts(report, look),
        names=report.nodes,
        tiles=_tiles(report, len(report.steps)),
        frames_on=lambda drawn: _frames(report, drawn),
        charts_on=lambda drawn: [_by_zone(report, drawn)],
        stand_ins=report.stand_ins,
        tiles_before=_tiles(report, 0),
    )


def _tone(row: _Numbered) -> Tone:
    return Tone.BAD if row[1].is_bad else Tone.WARN if row[1].pending else Tone.GOOD


def _by_zone(report: UpgradeReport, drawn: TopologyMap) -> Chart:
    """Of each zone the nodes of the pool before, at the fewest meanwhile, and after."""
    zone_of = {node.name: node.path[-1] or "" if node.path else "" for node in drawn.nodes}
    new = {name: zone_of.get(old, "") for name, old in report.stand_ins.items()}
    old_now = Counter(zone_of.get(name, "") for name in report.nodes)
    before, new_now = Counter(old_now), Counter[str]()
    during = {zone: (number, 0) for zone, number in before.items()}
    for step in report.steps:
        first, later = step.added[: step.joined_before], step.added[step.joined_before :]
        new_now.update(new[name] for name in first if name in new)
        old_now.subtract(() if step.is_blocked else (zone_of.get(name, "") for name in step.nodes))
        for zone in before:
            during[zone] = min(during[zone], (old_now[zone], new_now[zone]), key=sum)
        new_now.update(new[name] for name in later if name in new)
    return Chart(
        "Nodes of the pool by zone",
        [
            ChartRow(f"{zone or 'no zone'} {when}", [(Tone.PLAIN, old), (Tone.GOOD, come)], _nodes_there(old, come))
            for zone in sorted(before)
            for when, (old, come) in (
                ("before", (before[zone], 0)),
                ("at the fewest", during[zone]),
                ("after", (old_now[zone], new_now[zone])),
            )
        ],
        {Tone.PLAIN: "old nodes", Tone.GOOD: "new nodes"},
    )


def _nodes_there(old: int, new: int) -> str:
    """``3 old``, ``1 old, 2 new``."""
    return ", ".join(f"{number:,} {word}" for number, word in ((old, "old"), (new, "new")) if number) or "none"


def _tiles(report: UpgradeReport, past: int) -> list[Tile]:
    """After so many steps."""
    steps = report.steps[:past]
    is_over, replaced = past == len(report.steps), sum(len(step.nodes) for step in steps if not step.is_blocked)
    tone = Tone.BAD if any(step.is_blocked for step in steps) else Tone.GOOD if is_over else Tone.PLAIN
    pending = report.left_pending if is_over else steps[-1].pending if steps else 0
    return [
        Tile("nodes replaced", f"{replaced:,} of {len(report.nodes):,}", tone),
        unwanted("pods left pending", pending),
        unwanted("pods gone for good", sum(len(step.lost) for step in steps)),
        Tile("pods evicted", f"{sum(step.evicted for step in steps):,}"),
    ]


def _frames(report: UpgradeReport, drawn: TopologyMap) -> Iterator[Frame]:
    held = held_before(drawn)
    for number, step in enumerate(report.steps, 1):
        stuck = step.is_blocked
        text = f"{step.evicted:,} evicted, {step.placed:,} placed, {step.pending:,} pending"
        label = f"step {number}: {', '.join(step.nodes)}{' blocked' if stuck else ''}"
        states = dict.fromkeys(step.nodes, ("cordoned",)) if stuck else {}
        loads = held_after(step.loads, held, drawn)
        held |= loads
        yield Frame(
            label,
            text,
            step.pods,
            () if stuck else step.nodes,
            step.added,
            states,
            held={**{name: held[name] for name in step.pods if name in held}, **loads},
            tiles=_tiles(report, number),
        )


def _parts(report: UpgradeReport, look: Look) -> Iterator[Sheet[_Numbered] | Line]:
    sheet = Sheet(
        title="", columns=_COME, rows=list(enumerate(report.steps, start=1)), tone=_tone, most=_MAX_STEPS, noun="step"
    )
    shown = sheet.on_screen(look)
    # What distinguishes each node from the others of its pool, even with a single row.
    names = [escaped(name) for name in report.nodes]
    room = max(room_beside_columns(_COME, shown, look) - _MORE, _LEAST_NAME)
    short = dict(zip(names, fitted(names, room), strict=True))
    nodes = replace(_NODES, text=lambda row: f"{short[escaped(row[1].nodes[0])]}{_more(row[1])}")
    key = _KEY if any(step.daemons for _, step in shown) else ""
    yield replace(sheet, columns=[_STEP, nodes, *_COME], key=key)
    yield from flowed([[Cell(said_once(names, list(short.values())), Tone.FAINT)]], look)


def _more(step: UpgradeStep) -> str:
    return f" +{len(step.nodes) - 1}" if len(step.nodes) > 1 else ""
