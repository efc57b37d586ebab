"""Comparisons as they look on clusters from five nodes to a thousand."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from kubespread.views import plain
from kubespread.views.look import Look
from tests.views.compare_screens import CHANGES, SCREENS_KEPT, OfAll, Screen, answered
from tests.views.simulate_screens import SCREENS, Cloud


@pytest.mark.parametrize("kept", SCREENS_KEPT, ids=lambda kept: kept.name)
def test_the_screen_is_the_one_that_was_looked_at(kept: Screen | OfAll) -> None:
    assert kept.text == (SCREENS / kept.name).read_text()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_about_all_workloads_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(cell_len, OfAll(width).text.splitlines())) <= width


def test_every_screen_that_is_kept_is_looked_at() -> None:
    assert {path.name for path in SCREENS.glob("compare-*.txt")} == {kept.name for kept in SCREENS_KEPT}


@pytest.mark.parametrize("cloud", ["aws", "gke"])
@pytest.mark.parametrize("change", CHANGES)
def test_no_line_is_wider_than_the_terminal(change: str, cloud: Cloud) -> None:
    for width in (40, 60, 80, 100, 120, 200):
        for in_full in (False, True):
            lines = Screen(change, 12, cloud, width, in_full).text.splitlines()
            assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("change", CHANGES)
def test_a_thousand_nodes_are_summed_up(change: str) -> None:
    assert len(Screen(change, 1000, "aws", 120).text.splitlines()) <= 22


PLAIN = """\
NODE                                  CHANGE        SCORE-BEFORE   SCORE-AFTER   RANK-BEFORE   RANK-AFTER   WHY
gke-prod-default-pool-1a2b3c4d-0000   other-score   458            538           7             7            PodTopologySpread 0>80
gke-prod-default-pool-1a2b3c4d-0002   other-score   458            538           8             8            PodTopologySpread 0>80

KEY                           SKEW-BEFORE   SKEW-AFTER   MAX-SKEW-BEFORE   MAX-SKEW-AFTER
topology.kubernetes.io/zone   1             6            1                 2
kubernetes.io/hostname        1             2            1                 1
"""


def test_in_a_pipe_what_differs_is_columns() -> None:
    text = plain.plain(answered("made-soft", 12, "gke"), Look())
    assert text.startswith(PLAIN)
    blocks = [block.splitlines()[0].split() for block in text.split("\n\n")]
    assert [block[0] for block in blocks] == ["NODE", "KEY", "KEY", "NODE", "REPLICA", "SIDE"]
    bare = plain.plain(answered("made-soft", 12, "gke"), Look(headers=False))
    assert bare.splitlines()[0].split()[:2] == ["gke-prod-default-pool-1a2b3c4d-0000", "other-score"]


def test_a_spreadsheet_has_a_row_for_every_node_that_differs() -> None:
    report = answered("made-soft", 12, "gke")
    header, *rows = plain.csv(report, Look()).splitlines()
    assert header.split(",")[:4] == ["node", "change", "feasible_before", "feasible_after"]
    assert header.split(",")[-2:] == ["replicas_before", "replicas_after"]
    differing = {node.name for node in report.nodes} | {node.name for node in report.replicas_on_nodes}
    assert [row.split(",")[0] for row in rows] == sorted(differing)
    assert {len(row.split(",")) for row in rows} == {len(header.split(","))}
