"""An upgrade for people: a row a batch, and below what stops it and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.upgrade import UpgradeReport, UpgradeStep
from kubespread.render.flow import INDENT, aim
from kubespread.render.layout import (
    BAD,
    DIM,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    tabulated,
)
from kubespread.render.look import Look
from kubespread.render.names import fitted, legend
from kubespread.render.phrases import count_of
from kubespread.render.screen import concluded, headline, screen
from kubespread.render.upgrade.conclusion import conclusion

_MAX_STEPS = 20
_LEAST_NAME = 12
_BESIDE_NAMES = 56
"""What the other columns take, and the count of further nodes."""


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
    names = _short_names(report, look)
    yield from tabulated(_columns(report, shown, names), headers=look.headers)
    yield from legend(list(names), list(names.values()), look)
    yield from concluded(conclusion(report), look, others="")


def _title(report: UpgradeReport) -> str:
    manner = [f"{report.batch} at a time", *([f"surge {report.surge}"] if report.surge else [])]
    return f"Replacing {count_of(len(report.nodes), 'node')}, {', '.join(manner)}"


def _short_names(report: UpgradeReport, look: Look) -> dict[str, str]:
    """What tells each node from the others of its pool, also where one row is all there is."""
    names = [escaped(name) for name in report.nodes]
    return dict(zip(names, fitted(names, max(aim(look) - _BESIDE_NAMES, _LEAST_NAME)), strict=True))


def _columns(report: UpgradeReport, shown: Sequence[tuple[int, UpgradeStep]], names: Mapping[str, str]) -> list[Column]:
    is_blocked = [report.blocked is not None and number == len(report.steps) for number, _ in shown]
    more = [f" +{len(step.nodes) - 1}" if len(step.nodes) > 1 else "" for _, step in shown]
    firsts = [names[escaped(step.nodes[0])] for _, step in shown]
    return [
        Column("STEP", [Cell(str(number)) for number, _ in shown], True),
        Column("NODES", [Cell(f"{name}{others}") for name, others in zip(firsts, more, strict=True)]),
        Column("JOINED", [Cell(str(len(step.added))) for _, step in shown], True),
        Column("EVICTED", [Cell(str(step.evicted)) for _, step in shown], True),
        Column("PLACED", [Cell(str(step.placed)) for _, step in shown], True),
        Column("PENDING", [Cell(str(step.pending), BAD if step.pending else GOOD) for _, step in shown], True),
        Column("STATE", [Cell("blocked", BAD) if each else Cell("done", GOOD) for each in is_blocked]),
    ]
