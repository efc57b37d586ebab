"""A rollout pass by pass: old and new pods per domain where there are few, the extremes where there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kubespread.reports.parts import ConstraintReport
from kubespread.reports.rollout import KeyRevisions, RolloutPass, RolloutReport
from kubespread.views.lines import cut_middle
from kubespread.views.look import Cell, Look, Rows, Sentence, Tone
from kubespread.views.terminal import GAP, HANGING, INDENT, Laid, room_beside, tabulated
from kubespread.views.view import Frame
from kubespread.wording import count_of, short_key

_MAX_DOMAINS = 6
_MAX_PASSES = 12
_LEAST_DOMAIN = 5


def passes(heading: str, rollout: RolloutReport, look: Look) -> Rows:
    """Below ``heading``; of very many passes the first and the last, unless all are wanted."""
    limits = f"maxSurge {rollout.max_surge}, maxUnavailable {rollout.max_unavailable}"
    about = f"  {rollout.strategy}, {count_of(rollout.replicas, 'replica')}, {limits}; per domain old+new"
    shown = list(rollout.passes)
    left_out = 0 if look.in_full else max(0, len(shown) - _MAX_PASSES)
    if left_out:
        half = _MAX_PASSES // 2
        shown = [*shown[:half], *shown[-half:]]
    head, *rows = tabulated(_columns(rollout, shown, look), headers=True)
    if left_out:
        rows.insert(_MAX_PASSES // 2, [Cell(INDENT), Cell(f"… {left_out} passes more (-v)", Tone.FAINT)])
    headed = Sentence([Cell(heading, Tone.STRONG), Cell(about, Tone.FAINT)], HANGING)
    return Rows([headed, head] if look.headers else [], [[row] for row in rows], "line")


def _columns(rollout: RolloutReport, shown: Sequence[RolloutPass], look: Look) -> list[Laid]:
    columns = [
        Laid("PASS", [str(row.number) for row in shown], is_number=True),
        Laid("OLD", [str(row.running.old) for row in shown], is_number=True),
        Laid("NEW", [str(row.running.new) for row in shown], is_number=True),
        Laid("READY", [str(row.ready.old + row.ready.new) for row in shown], is_number=True),
    ]
    skews = [
        Laid(
            _skew_header(rollout, place),
            [_skew(row.constraints[place], rollout.constraints[place]) for row in shown],
            is_number=True,
        )
        for place in range(min((len(row.constraints) for row in shown), default=0))
    ]
    room = room_beside((*columns, *skews), look)
    return [*columns, *_domains(shown, room), *skews]


def _domains(shown: Sequence[RolloutPass], room: int) -> Iterator[Laid]:
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
                yield Laid(cut_middle(value or '""', widths), cells, is_number=True)
            return
    for place in range(min(map(len, rows), default=0)):
        keys = [constraints[place] for constraints in rows]
        column = Laid(f"PER {short_key(keys[0].topology_key).upper()}", [_extremes(key) for key in keys])
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


def pods_at_start(rollout: RolloutReport) -> Mapping[str, int]:
    """Of each node, before the first pass."""
    return {node.name: node.old + node.new for node in rollout.start}


def pass_frames(whose: str, rollout: RolloutReport, now: Counter[str], *, tells_old: bool) -> Iterator[Frame]:
    """Each pass of the rollout that ``whose`` names, with the nodes it changed. ``now`` holds the number of pods drawn
    on each node so far, and is updated.
    """
    held = {**pods_at_start(rollout)}
    for row in rollout.passes:
        for node in row.nodes:
            now[node.name] += node.old + node.new - held.get(node.name, 0)
            held[node.name] = node.old + node.new
        pods = {node.name: now[node.name] for node in row.nodes}
        old = {node.name: node.old for node in row.nodes} if tells_old else {}
        yield Frame(f"{whose} pass {row.number}", _pass_text(row), pods, old=old)


def _pass_text(row: RolloutPass) -> str:
    running, ready = row.running, row.ready.old + row.ready.new
    skews = "".join(f"; {short_key(key.topology_key)} skew {key.skew}" for key in row.constraints)
    return f"{running.old} old and {running.new} new pods running, {ready} ready{skews}"
