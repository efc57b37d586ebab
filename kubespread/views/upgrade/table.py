"""An upgrade for people: a row a batch, and below what stops it and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.upgrade import UpgradeReport, UpgradeStep
from kubespread.views.flow import INDENT
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    tabulated,
)
from kubespread.views.look import Look
from kubespread.views.names import fitted, legend
from kubespread.views.screen import concluded, headline, room_beside, screen
from kubespread.wording import count_of

_MAX_STEPS = 20
_LEAST_NAME = 12
_MORE = 12
"""What the number of the step and the count of further nodes take."""
_DAEMONS = "DAEMONS"
_LEGEND = f"{_DAEMONS}: those of PLACED that DaemonSets make on the nodes that join"


@screen
def write(report: UpgradeReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every step."""
    yield from headline(_title(report), report, look)
    numbered = list(enumerate(report.steps, start=1))
    # Where many steps are much alike, the last ones tell where it stops.
    shown = numbered if look.in_full else numbered[-_MAX_STEPS:]
    if len(shown) < len(numbered):
        skipped = [step for _, step in numbered[: -len(shown)]]
        evicted, placed = sum(step.evicted for step in skipped), sum(step.placed for step in skipped)
        said = f"{len(skipped):,} steps before: {evicted:,} evicted, {placed:,} placed (-v shows all)"
        yield [Cell(INDENT), cell(said, DIM)]
    joined, state, figures = _joined(shown), _state(shown), list(_figures(shown))
    names = _short_names(report, room_beside((joined, state, *figures), look) - _MORE)
    nodes = Column("NODES", [Cell(f"{names[escaped(step.nodes[0])]}{_more(step)}") for _, step in shown])
    steps = _numbers("STEP", [number for number, _ in shown])
    yield from tabulated([steps, nodes, joined, *figures, state], headers=look.headers)
    if look.headers and any(step.daemons for _, step in shown):
        yield [Cell(INDENT), cell(_LEGEND, DIM)]
    yield from legend(list(names), list(names.values()), look)
    yield from concluded(report.answer, look, others="")


def _title(report: UpgradeReport) -> str:
    manner = [f"{report.batch} at a time", *([f"surge {report.surge}"] if report.surge else [])]
    return f"Replacing {count_of(len(report.nodes), 'node')}, {', '.join(manner)}"


def _short_names(report: UpgradeReport, room: int) -> dict[str, str]:
    """What tells each node from the others of its pool, also where one row is all there is."""
    names = [escaped(name) for name in report.nodes]
    return dict(zip(names, fitted(names, max(room, _LEAST_NAME)), strict=True))


def _more(step: UpgradeStep) -> str:
    return f" +{len(step.nodes) - 1}" if len(step.nodes) > 1 else ""


def _joined(shown: Sequence[tuple[int, UpgradeStep]]) -> Column:
    return _numbers("JOINED", [len(step.added) for _, step in shown])


def _state(shown: Sequence[tuple[int, UpgradeStep]]) -> Column:
    return Column("STATE", [Cell(step.state, BAD if step.is_bad else GOOD) for _, step in shown])


def _figures(shown: Sequence[tuple[int, UpgradeStep]]) -> Iterator[Column]:
    """What became of pods; preempted ones and those of DaemonSets only where there are any."""
    steps = [step for _, step in shown]
    yield _numbers("EVICTED", [step.evicted for step in steps])
    if any(step.preempted for step in steps):
        yield _numbers("PREEMPTED", [len(step.preempted) for step in steps])
    yield _numbers("PLACED", [step.placed for step in steps])
    if any(step.daemons for step in steps):
        yield _numbers(_DAEMONS, [step.daemons for step in steps])
    yield _numbers("PENDING", [step.pending for step in steps], judged=True)


def _numbers(header: str, numbers: Sequence[int], *, judged: bool = False) -> Column:
    styles = ["" if not judged else BAD if number else GOOD for number in numbers]
    return Column(header, [Cell(f"{number:,}", style) for number, style in zip(numbers, styles, strict=True)], True)
