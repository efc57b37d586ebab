"""``--html FILE``: every command writes its answer as a page too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, run

BLOCKED = str(FIXTURES / "clusters" / "upgrade-blocked.yaml")
COMMANDS: dict[str, list[str]] = {
    "simulate": [POD, "-S", CLUSTER, "--replicas", "2"],
    "compare": [POD, "-S", CLUSTER, "--cordon", "node4"],
    "survive": ["-S", CLUSTER, "--key", "zone"],
    "upgrade": ["--nodes", "pool=blue", "-S", BLOCKED],
    "plan": ["--drain", "pool=blue", "-S", BLOCKED],
    "map": [POD, "-S", CLUSTER],
    "check": [POD],
    "explain": [POD, "--fix", "-S", CLUSTER, "--cordon", "node4"],
    "pending": ["-A", "-S", BLOCKED],
    "audit": ["-A", "-S", BLOCKED],
    "report": ["-A", "-S", BLOCKED],
    "verify": [str(FIXTURES / "promises" / "room.yaml"), "-S", BLOCKED],
    "capacity": ["--request", "cpu=1", "-S", CLUSTER],
    "removable": ["-S", BLOCKED],
    "rebalance": ["-A", "-S", BLOCKED],
}
EMBEDDED = re.compile(r'<script type="application/json" id="report">(.*?)</script>')


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_holds_what_the_command_answers(command: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    result = run(command, *COMMANDS[command], "--html", file, "-o", "json", "-q")
    found = EMBEDDED.search(file.read_text())
    assert found is not None
    assert json.loads(found[1]) == json.loads(result.out)
    assert result.err == ""


def test_what_happens_after_a_simulation_is_a_page_too(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    result = run("plan", "cordon node4", "-f", POD, "--steps", "-S", CLUSTER, "--html", file, "-o", "json", "-q")
    found = EMBEDDED.search(file.read_text())
    assert found is not None
    assert json.loads(found[1]) == json.loads(result.out)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/page.html", "No such file or directory"),
        (".", "Is a directory"),
        (f"{'x' * 300}.html", "File name too long"),
    ],
)
def test_a_file_that_cannot_be_is_found_before_the_cluster_is_read(name: str, message: str, tmp_path: Path) -> None:
    target = tmp_path / name
    result = run("explain", POD, "-S", tmp_path / "no-cluster.yaml", "--html", target)
    assert (result.code, result.err) == (2, f"error: {target}: {message}\n")


def test_standard_output_has_the_answer_and_no_page() -> None:
    result = run("explain", POD, "-S", CLUSTER, "--html", "-")
    assert result == (2, "", "error: --html -: standard output is for the answer: name a file\n")


def test_a_page_that_cannot_be_written_leaves_nothing_half(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("before")
    for target, code in {"/dev/full": 2, "/proc/page.html": 2, str(tmp_path / "link.html"): 0}.items():
        if code == 0:
            Path(target).symlink_to(file)
        assert run("explain", POD, "-S", CLUSTER, "-q", "-o", "name", "--html", target).code == code
    assert EMBEDDED.search(file.read_text()) is not None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.html", "page.html"]
