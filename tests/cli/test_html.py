"""``-o html``: every command answers with a page too."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.support import CLUSTER, FIXTURES, POD, run

BLOCKED = str(FIXTURES / "clusters" / "upgrade-blocked.yaml")
COMMANDS: dict[str, list[str]] = {
    "simulate": [POD, "-S", CLUSTER, "--replicas", "2"],
    "compare": [POD, "-S", CLUSTER, "--cordon", "node4"],
    "survive": ["-S", CLUSTER, "--key", "zone"],
    "upgrade": ["pool=blue", "-S", BLOCKED],
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
def test_the_page_holds_what_the_command_answers(command: str) -> None:
    page, told = (run(command, *COMMANDS[command], "-o", form, "-q") for form in ("html", "json"))
    found = EMBEDDED.search(page.out)
    assert found is not None
    assert {**json.loads(found[1]), "provenance": None} == {**json.loads(told.out), "provenance": None}
    assert (page.code, page.err) == (told.code, "")
