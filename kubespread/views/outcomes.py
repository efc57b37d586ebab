"""Events and rollouts, drawn alike for all questions: columns, tables of a page, passes, frames and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubespread.reports.columns import Fit, Readers
from kubespread.reports.outcome import Outcome, WorkloadChange, badness
from kubespread.reports.parts import ConstraintReport
from kubespread.reports.rollout import KeyRevisions, RolloutPass, RolloutReport
from kubespread.views.lines import cut_middle
from kubespread.views.look import Cell, Look, Rows, Sentence, Tone
from kubespread.views.sheet import Column, Sheet, count
from kubespread.views.terminal import GAP, INDENT, Layout, room_beside, tabulate
from kubespread.views.view import Frame, LoadFigures, Metric, figures, loads_after, loads_before, samples
from kubespread.wording import count_of, short_key

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap

_MAX_FRAMES = 60
TONES: Mapping[str, Tone] = {"yes": Tone.GOOD, "unknown": Tone.WARN, "no": Tone.BAD}

_Change = tuple[Outcome, WorkloadChange]
_DEGRADED: Sequence[Column[_Change]] = (
    Column("AFTER", lambda row: row[0].name, Readers.RECORDS),
    Column("WORKLOAD", lambda row: row[1].workload, short="DEGRADED WORKLOAD", fit=Fit.NAMES),
    count("WANTED", lambda row: row[1].wanted, short="WANT"),
    Column("READY", lambda row: row[1].ready, is_number=True, tone=lambda _: Tone.BAD),
    Column("WHY", lambda row: row[1].why, readers=Readers.RECORDS),
)
_LANDED: Sequence[Column[tuple[Outcome, WorkloadChange, str, int]]] = (
    Column("WORKLOAD", lambda row: row[1].workload),
    Column("AFTER", lambda row: row[0].name),
    Column("NODE", lambda row: row[2]),
    count("PODS", lambda row: row[3]),
)


def tone(row: Outcome) -> Tone:
    return TONES[row.verdict]


def details(rows: Sequence[Outcome]) -> Iterator[Sheet[Any]]:
    """Yield sheets of degraded workloads, and of where pods land."""
    yield Sheet(
        title="Degraded workloads", columns=_DEGRADED, rows=[(row, change) for row in rows for change in row.degraded]
    )
    yield Sheet(
        title="Where pods land",
        columns=_LANDED,
        rows=[
            (row, change, node, pods)
            for row in rows
            for change in row.workloads
            for node, pods in change.landed.items()
        ],
        readers=Readers.PAGES,
    )


def worst_changes(rows: Sequence[Outcome]) -> Sheet[_Change]:
    """Worst outcome of each degraded workload, the one that lacks most first."""
    changes = [(row, change) for row in sorted(rows, key=badness) for change in row.degraded]
    worst: dict[str, _Change] = {}
    for pair in changes:
        _, change = pair
        if change.ready < worst.setdefault(change.workload, pair)[1].ready:
            worst[change.workload] = pair
    return Sheet(
        title="",
        noun="workload",
        columns=[*_DEGRADED, Column("FEWEST-AFTER", lambda row: row[0].name, Readers.TERMINAL)],
        rows=sorted(worst.values(), key=lambda pair: (-pair[1].lacks, pair[1].workload)),
    )


def frame(row: Outcome, loads: dict[str, LoadFigures], drawn: TopologyMap) -> Frame:
    """Frame of the nodes after the row; ``loads``, their figures before it, is updated."""
    changed = loads_after(row.nodes.loads, loads, drawn)
    loads |= changed
    return Frame(
        row.name,
        f"{row.gone:,} gone, {row.placed:,} placed, {count_of(row.pending, 'pod')} pending",
        pods={name: load[0] or 0 for name, load in changed.items()},
        unavailable=row.nodes.left,
        joined=row.nodes.joined,
        states=row.nodes.states,
        loads=changed,
    )


def frames(rows: Sequence[Outcome], drawn: TopologyMap) -> Iterator[Frame]:
    """Yield a frame per row, each continuing the one before."""
    loads = loads_before(drawn)
    return (frame(row, loads, drawn) for row in rows)


def frames_apart(rows: Sequence[Outcome], drawn: TopologyMap) -> Iterator[Frame]:
    """Yield a frame per row, each starting anew; of many the last ones."""
    start = loads_before(drawn)
    restored: dict[str, LoadFigures] = {}
    returning: Sequence[str] = ()
    for row in rows[-_MAX_FRAMES:]:
        shown = frame(row, dict(start), drawn)
        loads, joined, unavailable = {**restored, **shown.loads}, (*row.nodes.joined, *returning), _unavailable(row)
        pods = {name: load[0] or 0 for name, load in loads.items()}
        yield replace(shown, pods=pods, unavailable=unavailable, joined=joined, states={}, loads=loads)
        restored, returning = {name: start[name] for name in shown.loads if name in start}, unavailable


def _unavailable(row: Outcome) -> Sequence[str]:
    """Nodes that the event deletes or makes not ready."""
    silent = [name for name, states in row.nodes.states.items() if "not ready" in states]
    return (*row.nodes.left, *silent)


def metrics(prefix: str, row_type: type[Outcome], rows: Sequence[Outcome]) -> Iterator[Metric]:
    """Yield the number of tried events, a 1 for each that leaves nothing worse, and the figures of each."""
    yield f"{prefix}_outcomes", "Events that were tried.", [({}, len(rows))]
    yes = [int(row.verdict == "yes") for row in rows]
    yield f"{prefix}_ok", "1 where nothing is in the way and nothing is worse.", samples(row_type, rows, yes)
    yield from figures(prefix, row_type, rows)


_MAX_DOMAINS = 6
_MAX_PASSES = 12
_LEAST_DOMAIN = 5


def passes(heading: str, rollout: RolloutReport, look: Look) -> Rows:
    """Table of the passes below ``heading``; of very many the first and the last, unless all are requested."""
    limits = f"maxSurge {rollout.max_surge}, maxUnavailable {rollout.max_unavailable}"
    about = f"  {rollout.strategy}, {count_of(rollout.replicas, 'replica')}, {limits}; per domain old+new"
    shown = list(rollout.passes)
    left_out = 0 if look.in_full else max(0, len(shown) - _MAX_PASSES)
    if left_out:
        half = _MAX_PASSES // 2
        shown = [*shown[:half], *shown[-half:]]
    head, *rows = tabulate(_columns(rollout, shown, look), headers=True)
    if left_out:
        rows.insert(_MAX_PASSES // 2, [Cell(INDENT), Cell(f"… {left_out} passes more (-v)", Tone.FAINT)])
    headed = Sentence([Cell(heading, Tone.STRONG), Cell(about, Tone.FAINT)])
    return Rows([headed, head] if look.headers else [], [[row] for row in rows], "line")


def _columns(rollout: RolloutReport, shown: Sequence[RolloutPass], look: Look) -> list[Layout]:
    columns = [
        Layout("PASS", [str(row.number) for row in shown], is_number=True),
        Layout("OLD", [str(row.running.old) for row in shown], is_number=True),
        Layout("NEW", [str(row.running.new) for row in shown], is_number=True),
        Layout("READY", [str(row.ready.old + row.ready.new) for row in shown], is_number=True),
    ]
    skews = [
        Layout(
            _skew_header(rollout, place),
            [_skew(row.constraints[place], rollout.constraints[place]) for row in shown],
            is_number=True,
        )
        for place in range(min((len(row.constraints) for row in shown), default=0))
    ]
    room = room_beside((*columns, *skews), look)
    return [*columns, *_domains(shown, room), *skews]


def _domains(shown: Sequence[RolloutPass], room: int) -> Iterator[Layout]:
    """A column for each domain of the first constraint with few of them; without room, one with the extremes."""
    rows = [row.constraints for row in shown]
    for place in range(min(map(len, rows), default=0)):
        keys = [constraints[place] for constraints in rows]
        values = [domain.value for domain in keys[-1].domains]
        if len(values) > _MAX_DOMAINS or any([domain.value for domain in key.domains] != values for key in keys):
            continue
        widths = room // max(1, len(values)) - GAP
        if widths >= _LEAST_DOMAIN:
            for position, value in enumerate(values):
                cells = [Cell(f"{key.domains[position].old}+{key.domains[position].new}") for key in keys]
                yield Layout(cut_middle(value or '""', widths), cells, is_number=True)
            return
    for place in range(min(map(len, rows), default=0)):
        keys = [constraints[place] for constraints in rows]
        column = Layout(f"PER {short_key(keys[0].topology_key).upper()}", [_extremes(key) for key in keys])
        if column.width + GAP <= room:
            yield column
        return


def _extremes(key: KeyRevisions) -> Cell:
    """``0–2 old, 1–3 new``: the least and the most of any domain."""
    old, new = [domain.old for domain in key.domains], [domain.new for domain in key.domains]
    return Cell(f"{_figures(old)} old, {_figures(new)} new")


def _figures(counts: Sequence[int]) -> str:
    if not counts:
        return "0"
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"


def _skew_header(rollout: RolloutReport, place: int) -> str:
    return f"SKEW {short_key(rollout.constraints[place].topology_key).upper()}"


def _skew(key: KeyRevisions, constraint: ConstraintReport) -> Cell:
    exceeds = f" > {constraint.max_skew}" if key.skew > constraint.max_skew else ""
    return Cell(f"{key.skew}{exceeds}", Tone.BAD if exceeds and constraint.is_hard else Tone.PLAIN)
