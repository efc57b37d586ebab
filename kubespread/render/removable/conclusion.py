"""Which nodes can go, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.escaping import escaped
from kubespread.planner.reports.removable import RemovableReport
from kubespread.render.phrases import count_of, some_of

_MAX_NAMED = 4


def conclusion(report: RemovableReport) -> Iterator[str]:
    """How many can go alone, and which together in which order."""
    together = report.together
    yield from (f"together they leave {escaped(each)}" for each in together.violated)
    if together.preempted:
        yield f"together they preempt {count_of(together.preempted, 'pod')}, each of which finds another node"
    alone = sum(row.alone for row in report.rows)
    if not alone:
        yield f"none of {count_of(len(report.rows), 'node')} can go"
        return
    said = f"{alone:,} of {count_of(len(report.rows), 'node')} can go alone"
    if alone == 1:
        yield f"{said}: {escaped(next(row.node for row in report.rows if row.alone))}"
        return
    named = some_of(list(map(escaped, together.nodes)), _MAX_NAMED)
    groups = f", cordoned in groups of {', '.join(map(str, together.groups))}" if len(together.groups) > 1 else ""
    said = f"{said}, {len(together.nodes):,} together"
    if len(together.nodes) <= _MAX_NAMED and not together.untried:
        yield f"{said}, in this order{groups}: {named}"
        return
    # Of many the names would bury the answer.
    yield f"together, in this order{groups}: {named}"
    if together.untried:
        yield f"together with these, {count_of(together.untried, 'other')} that can go alone were not tried"
    yield said
