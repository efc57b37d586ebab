"""Screen of the nodes that an autoscaler adds, loop by loop, and the reasons pods stay pending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubespread.reports.autoscaling import AutoscalingReport, GroupNodes, ScalingLoop, autoscaler_sentence
from kubespread.views.lines import cut_middle, width_of
from kubespread.views.look import Cell, Look, Part, Text, Tone
from kubespread.views.terminal import (
    INDENT,
    Layout,
    aim,
    by_reason,
    flow,
    fold,
    lay_columns,
    reason_sentences,
    room_beside,
)

_MAX_LOOPS = 12
_FIGURES_WIDTH = 30
"""The width of the other columns."""


def scaling(report: AutoscalingReport, look: Look) -> Iterator[Part]:
    """Yield lines bounded by ``look.width``."""
    yield from flow([[Cell(autoscaler_sentence(report), Tone.BAD if report.pods_left else Tone.GOOD)]], look, indent="")
    if report.loops:
        yield from _loops(report.loops, look)
        yield fold(f"nodes: {_groups(report)}")
        if report.types:
            yield fold(f"instance types: {_types(report)}")
    yield from _unhelped_lines(report)


def _loops(loops: Sequence[ScalingLoop], look: Look) -> Iterator[Part]:
    """All loops if few, else the first and the last."""
    half = _MAX_LOOPS // 2
    is_long = len(loops) > _MAX_LOOPS and not look.in_full
    shown = [*loops[:half], *loops[-half:]] if is_long else loops
    room = aim(look) - _FIGURES_WIDTH
    columns = [
        Layout("LOOP", [str(loop.number) for loop in shown], is_number=True),
        Layout("ADDED", [Cell(_added_nodes(loop.added, room), Tone.STRONG) for loop in shown]),
        Layout("PLACED", [str(loop.placed) for loop in shown], is_number=True),
        Layout("PENDING", [str(loop.left) for loop in shown], is_number=True),
    ]
    why = Layout("WHY NO MORE", [loop.why or "" for loop in shown])
    has_room = room_beside((*columns, why), look) >= 0
    if has_room and any(loop.why for loop in shown):
        columns.append(why)
    yield lay_columns(columns, look, "loop")
    if is_long:
        yield [Cell(f"{INDENT}and {len(loops) - _MAX_LOOPS} loops between these")]
    if not has_room:
        numbered = ((str(loop.number), loop.why) for loop in loops if loop.why is not None)
        for reason, numbers in by_reason(numbered).items():
            which_loops = f"loop {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} of {len(loops)} loops"
            yield fold(f"why no more in {which_loops}: {reason}")


def _added_nodes(added: Sequence[GroupNodes], room: int) -> str:
    """Nodes by group; just the number of groups if too many to name."""
    text = " ".join(f"{group.group} +{len(group.nodes):,}" for group in added)
    if width_of(text) <= room:
        return text
    return cut_middle(
        f"{len(added):,} groups +{sum(len(group.nodes) for group in added):,}" if len(added) > 1 else text, room
    )


def _groups(report: AutoscalingReport) -> str:
    """``w/a 2 → 5 (zone a)``: the zone only where the name does not contain it."""
    changes = []
    for group in report.groups:
        if group.added:
            zone = f" (zone {group.zone})" if group.zone and group.group == group.pool else ""
            change = (
                f"+{group.added:,}" if group.before is None else f"{group.before:,} → {group.before + group.added:,}"
            )
            changes.append((group.group, f"{zone} {change}"))
    return _by_pool(report, changes)


def _types(report: AutoscalingReport) -> str:
    """``2 m6i.2xlarge · 1 c6i.large``."""
    return " · ".join(f"{kind.nodes:,} {kind.name}" for kind in report.types)


def _by_pool(report: AutoscalingReport, changes: Iterable[tuple[str, str]]) -> str:
    """The phrases for each group; a name that several zones share is written once: ``w (a 2 · b 1)``."""
    groups, pools = {group.group: group for group in report.groups}, dict[str, list[tuple[str, str]]]()
    for name, text in changes:
        pools.setdefault(groups[name].pool, []).append((name, text))
    phrases = (
        f"{pool} ({' · '.join(f'{groups[name].zone}{text}' for name, text in zones)})"
        if len(zones) > 1
        else "".join(zones[0])
        for pool, zones in pools.items()
    )
    return " · ".join(phrases)


def _unhelped_lines(report: AutoscalingReport) -> Iterator[Text]:
    """Say why pods still wait, and why one more node of a group does not help."""
    for kind in report.pending:
        count, name = len(kind.pods), f"{kind.workload.kind}/{kind.workload.name}"
        yield fold(f"{count:,} of {name} pending: {kind.message}")
        yield from reason_sentences(((verdict.group, verdict.reason) for verdict in kind.groups), len(kind.groups))
