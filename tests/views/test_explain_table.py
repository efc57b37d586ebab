"""The table at every width: screens as they were looked at, and what holds for all of them.

``python -m tests.views.test_explain_table`` draws the screens anew.
"""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
from rich.cells import cell_len

import kubespread
from kubespread.questions.explain.tables import rows_of, shown_nodes
from kubespread.views import terminal
from kubespread.views.constraints import PRETTY, SKEW, TIGHT
from kubespread.views.lines import cut_end, cut_middle, width_of
from kubespread.views.look import Look
from tests.cli.support import ROOT
from tests.views.clusters import report

SCREENS = Path(__file__).with_name("screens")
NAMES = ("aws", "gke", "short", "wide")
DRAWN = [
    *product((5, 12), ("aws", "gke"), (1, 2, 4), (80,)),
    *product((5, 12), ("short", "wide"), (2,), (80,)),
    *product((5, 12), ("aws", "gke"), (4,), (100, 120)),
    *product((12,), ("aws",), (2,), (60, 200)),
    *product((50, 500), ("aws", "gke"), (2,), (100,)),
    *product((5000,), ("short",), (1, 4), (80, 200)),
]


def drawn(nodes: int, names: str, constraints: int, width: int) -> str:
    asked = report(nodes, names, constraints, everyone_fails=constraints == 2)
    return terminal.table(asked, Look(width=width))


def screen_of(nodes: int, names: str, constraints: int, width: int) -> Path:
    return SCREENS / f"{nodes}-{names}-{constraints}-constraints-{width}-columns.txt"


@pytest.mark.parametrize(("nodes", "names", "constraints", "width"), DRAWN)
def test_the_screens_are_those_that_were_looked_at(nodes: int, names: str, constraints: int, width: int) -> None:
    assert drawn(nodes, names, constraints, width) == screen_of(nodes, names, constraints, width).read_text()


def test_the_screen_in_the_guide_is_one_of_them() -> None:
    assert screen_of(50, "aws", 2, 100).read_text() in (ROOT / "docs" / "guide.md").read_text()


@pytest.mark.parametrize("seed", range(60))
def test_at_every_width_verdict_arithmetic_and_reasons_are_there(seed: int) -> None:
    rng = random.Random(seed)
    asked = report(
        rng.randint(1, 60),
        rng.choice(NAMES),
        rng.randint(0, 4),
        everyone_fails=rng.random() < 0.5,
        unlabelled=rng.choice((0, 0, 1, 4)),
        pods=rng.random() < 0.3,
    )
    for width in (60, rng.randint(61, 99), rng.randint(100, 220)):
        text = terminal.table(asked, Look(width=width))
        assert max(map(cell_len, text.splitlines())) <= width
        assert_nodes_are_whole(asked, text)


def assert_nodes_are_whole(asked: kubespread.ExplainReport, text: str) -> None:
    shown = shown_nodes(asked, most=25)
    lines = [f"{line} " for line in text.splitlines()]
    start = next(place for place, line in enumerate(lines) if line.startswith("  NODE") and "FITS" in line)
    for row, line in zip(rows_of(asked, shown).rows, lines[start + 1 :], strict=False):
        assert f" {'yes' if row.node.feasible else 'no'} " in line
        assert any(all(each.text(spelling) in line for each in row.arithmetic) for spelling in (PRETTY, TIGHT, SKEW)), (
            line
        )
        if row.short_reasons:
            named = [detail.short for detail in row.taints[:1]]
            assert any(
                reason in line for reason in (row.short_names[0], row.short_reasons[0], row.with_numbers, *named)
            )
        if "tainted" in line or "taint " in line:
            assert all(detail.taint in text for detail in row.taints)


@pytest.mark.parametrize("text", ["ip-10-0-1-23", "zo\u0308ne-e\u0301-x", "東京-リージョン-1", "e\u0301" * 9])
@pytest.mark.parametrize("width", [4, 7, 12])
def test_cutting_counts_columns_and_not_characters(text: str, width: int) -> None:
    assert max(width_of(cut_end(text, width)), width_of(cut_middle(text, width))) <= width


if __name__ == "__main__":
    SCREENS.mkdir(exist_ok=True)
    for which in DRAWN:
        screen_of(*which).write_text(drawn(*which))
