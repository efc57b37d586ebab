"""Whatever is asked, the report names the proposed semantics it goes by, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import kubespread
from kubespread import Scheduler, Side, Snapshot
from tests.cli.support import run

ROOT = Path(__file__).parents[2]
WEB = str(ROOT / "fixtures" / "clusters" / "web-in-three-zones.yaml")
OUTAGE = str(ROOT / "fixtures" / "scenarios" / "zone-outage.yaml")
PROPOSED = Scheduler(proposed="empty-selector,fully-tainted-domains")
NAMED = ["empty-selector", "fully-tainted-domains"]
STEPS = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": ["scale deploy/web=7"]}}

ANSWERS: dict[str, Callable[[Snapshot], Sequence[str]]] = {
    "explain": lambda cluster: kubespread.explain(cluster, "deploy/web", PROPOSED).notes,
    "simulate": lambda cluster: kubespread.simulate(cluster, "deploy/web", 7, PROPOSED).notes,
    "simulate, and then": lambda cluster: (
        kubespread.simulate_then(cluster, ["deploy/web"], ["scale=9"], PROPOSED, replicas=7).notes
    ),
    "play": lambda cluster: kubespread.play(cluster, STEPS, PROPOSED).notes,
    "survive": lambda cluster: kubespread.survive(cluster, ["zone"], PROPOSED).notes,
    "upgrade": lambda cluster: kubespread.upgrade(cluster, "node-a1", PROPOSED).notes,
    "compare, before": lambda cluster: compared(cluster).before.notes,
    "compare, after": lambda cluster: compared(cluster).after.notes,
    "a snapshot that is edited": lambda cluster: kubespread.after_edits(cluster, PROPOSED)[1],
}


def compared(cluster: Snapshot) -> kubespread.CompareReport:
    side = Side(cluster, "deploy/web", PROPOSED)
    return kubespread.compare(side, side)


@pytest.mark.parametrize("edits", [(), ("cordon node-b1",)], ids=["as it is", "edited"])
@pytest.mark.parametrize("case", ANSWERS)
def test_the_answer_names_what_is_proposed(case: str, edits: Sequence[str]) -> None:
    notes = ANSWERS[case](kubespread.load(WEB).edited(*edits))
    assert [note.split()[2] for note in notes if note.startswith("proposed semantics ")] == NAMED


COMMANDS = [
    ["play", OUTAGE, "-S", WEB],
    ["survive", "-S", WEB],
    ["upgrade", "--nodes", "node-a1", "-S", WEB],
    ["compare", "deploy/web", "--cordon", "node-b1", "-S", WEB],
    ["simulate", "deploy/web", "--then", "scale=9", "-S", WEB],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_the_command_line_says_it_once(command: list[str]) -> None:
    said = run(*command, "--proposed", "empty-selector").err.splitlines()
    assert len([line for line in said if "proposed semantics empty-selector (kubernetes#141340)" in line]) == 1
    assert "proposed" not in run(*command).err
