"""-w asks again when a file changes: redrawn in place on a terminal, one line a change in a pipe."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, Result, run

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", re.MULTILINE)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return Path(shutil.copy(CLUSTER, tmp_path / "cluster.yaml"))


def watched(
    monkeypatch: pytest.MonkeyPatch, *changes: Callable[[], object], terminal: int | None = None
) -> Callable[..., Result]:
    """The program watching while ``changes`` happen one after another, and then interrupted."""
    waiting = iter(changes)

    def pause(_seconds: float) -> None:
        change = next(waiting, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    monkeypatch.setattr(time, "sleep", pause)
    return lambda *arguments: run(*arguments, "-w", terminal=terminal)


def without_node4(cluster: Path) -> Callable[[], object]:
    return lambda: cluster.write_text(cluster.read_text().replace("name: node4", "name: node5"))


def test_one_line_a_change_in_a_pipe(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = (lambda: None, without_node4(cluster), lambda: None, lambda: cluster.touch())
    result = watched(monkeypatch, *changes)("explain", POD, "-S", cluster)
    assert (result.code, result.err) == (0, "")
    assert TIME.sub("", result.out) == "1 of 4 nodes fits: node4\n1 of 4 nodes fits: node5\n"


def test_simulate_too(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = watched(monkeypatch, lambda: cluster.write_text(cluster.read_text().replace("node4", "node5")))(
        "simulate", POD, "--replicas", "max", "-S", cluster
    )
    assert TIME.sub("", result.out).splitlines()[0].startswith("437 fit; 0/4 nodes are available: ")


def test_audit_reads_no_manifest_and_is_watched_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Path(shutil.copy(FIXTURES / "clusters" / "audit.yaml", tmp_path / "cluster.yaml"))
    change = cluster.read_text().replace("maxSkew: 1", "maxSkew: 4")
    result = watched(monkeypatch, lambda: cluster.write_text(change))("audit", "-q", "-S", cluster)
    assert TIME.sub("", result.out).splitlines() == [
        "4 workloads: 1 violated, 1 uneven, 1 at risk, 1 fine",
        "4 workloads: 1 uneven, 1 at risk, 2 fine",
    ]


def test_a_terminal_is_redrawn_in_place(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = watched(monkeypatch, without_node4(cluster), terminal=100)("explain", POD, "-S", cluster)
    first, second = result.out.split("\x1b[H")[1:]
    assert "1 of 4 nodes fits: node4" in first
    assert "1 of 4 nodes fits: node5" in second
    assert second.endswith("· watching, Ctrl-C ends it\x1b[K\n\x1b[J")
    assert all(line.endswith("\x1b[K") for line in second.splitlines()[:-1])
    assert "\x1b[2J" not in second


def test_what_breaks_for_a_while_is_said_and_mended(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = cluster.read_text()
    changes = (lambda: cluster.write_text("kind: [\n"), lambda: cluster.write_text(good + "\n"))
    lines = TIME.sub("", watched(monkeypatch, *changes)("explain", POD, "-S", cluster).out).splitlines()
    assert [lines[0], lines[2]] == ["1 of 4 nodes fits: node4"] * 2
    assert lines[1].startswith(f"error: {cluster}:2: YAML syntax: ")


def test_what_is_wrong_from_the_start_ends_it(tmp_path: Path) -> None:
    assert run("explain", POD, "-w", "-S", tmp_path / "none.yaml").code == 3
    once = "error: standard input can be read only once: --watch needs files or a running cluster\n"
    assert run("explain", POD, "-w", "-S", "-") == (2, "", once)
    assert run("explain", "-w", "-S", CLUSTER, stdin=b"").err == once
