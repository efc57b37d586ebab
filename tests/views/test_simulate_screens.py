"""Simulations as they look on clusters from five nodes to five thousand."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import remade
from tests.views.simulate_screens import SCREENS, SCREENS_KEPT, Cloud, Screen, answered


@pytest.mark.parametrize("kept", SCREENS_KEPT, ids=lambda kept: kept.path.stem)
def test_the_screen_is_the_one_that_was_looked_at(kept: Screen) -> None:
    assert kept.text == kept.path.read_text()
    assert max(map(cell_len, kept.text.splitlines())) <= kept.width


def test_every_screen_that_is_kept_is_looked_at() -> None:
    assert {path.name for path in SCREENS.glob("simulate-*.txt")} == {kept.path.name for kept in SCREENS_KEPT}


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("cloud", ["aws", "gke", "short"])
def test_one_workload_on_twelve_nodes_is_about_twelve_lines(cloud: Cloud, width: int) -> None:
    for replicas in (15, None):
        lines = terminal.table(answered(12, cloud, 1, replicas), Look(width=width)).splitlines()
        assert len(lines) <= 13


def test_counts_of_thousands_are_written_alike() -> None:
    report = remade(answered(5, "short", 1, 15)[0], replicas=None, present=1200, placed=79951)
    assert report.answer[0] == "79,951 fit, 1,200 already running"


def test_nothing_to_place_is_said_in_the_same_words_on_the_screen_and_beside_it() -> None:
    report = remade(answered(5, "short", 1, 15)[0], replicas=9, present=9, placed=0)
    said = "9 of 9 replicas already running, nothing to place"
    assert report.answer[0] == said
    assert said in terminal.table([report], Look(width=120)).splitlines()[0]


def test_skews_give_way_to_the_names_of_workloads() -> None:
    parts = ["applicationset-controller", "dex-server", "notifications-controller", "application-controller", "server"]
    (report,) = answered(5, "short", 1, 15)
    reports = [remade(report, workload=f"Deployment/argocd-{part}") for part in parts]
    _, _, header, *lines = terminal.table(reports, Look(width=80)).splitlines()
    assert header.split() == ["WORKLOAD", "WANT", "RUN", "PLACED", "PENDING", "SURVIVE"]
    assert [line.split()[0] for line in lines[: len(parts)]] == [f"argocd-{part}" for part in parts]
