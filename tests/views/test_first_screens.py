"""First screens of answers about clusters as clouds make them: they fit, and what they say to type next runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import ClusterSide, Snapshot
from tests.cli.support import run
from tests.questions.clouds import CLOUDS, ZONE, cluster
from tests.views.first_screens import height, lacking

WEB: Mapping[str, Any] = {"namespace": "shop"}
ANSWERS: Mapping[str, Callable[[Snapshot, str], Any]] = {
    "advise": lambda cloud, _: kubespread.advise(cloud, "deploy/web", replicas=40, **WEB),
    "audit": lambda cloud, _: kubespread.audit(cloud),
    "capacity": lambda cloud, _: kubespread.capacity(cloud),
    "check": lambda cloud, _: kubespread.check(cloud),
    "compare": lambda cloud, node: kubespread.compare(ClusterSide(cloud), ClusterSide(cloud.edited(f"cordon {node}"))),
    "explain": lambda cloud, _: kubespread.explain(cloud, "deploy/web", **WEB),
    "map": lambda cloud, _: kubespread.topology_map(cloud),
    "pending": lambda cloud, _: kubespread.pending(cloud.edited("scale-requests shop/deploy/web=99")),
    "plan": lambda cloud, node: kubespread.plan(cloud.edited(f"drain {node} --ignore-daemonsets")),
    "rebalance": lambda cloud, _: kubespread.rebalance(cloud),
    "removable": lambda cloud, _: kubespread.removable(cloud),
    "report": lambda cloud, _: kubespread.report(cloud),
    "simulate": lambda cloud, _: kubespread.simulate(cloud, "deploy/web", replicas=40, **WEB),
    "survive": lambda cloud, _: kubespread.survive(cloud),
    "upgrade": lambda cloud, node: kubespread.upgrade(cloud, node),
}  # fmt: skip


def _dump(tmp_path: Path, cloud: str) -> str:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(cloud)}))
    return str(file)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_first_screen_has_the_verdict_the_worst_row_and_a_command(cloud: str, tmp_path: Path) -> None:
    snapshot = kubespread.load(_dump(tmp_path, cloud))
    node = snapshot.nodes[0].metadata.name
    assert [fault for question, ask in ANSWERS.items() for fault in lacking(question, ask(snapshot, node))] == []


COMMANDS = (
    "audit -A", "survive -A", "removable", "capacity", "map", "check -A", "report -A",
    "explain deploy/web -n shop", "simulate deploy/web -n shop --replicas 40", "simulate deploy/web -n shop",
    "advise deploy/web -n shop --replicas 12 --set cpu=3", "upgrade NODE", f"upgrade {ZONE}=europe-west4-a",
    "plan --drain NODE", "pending -A --scale shop/deploy/web=99", "compare -A --cordon NODE",
)  # fmt: skip


def test_the_command_to_type_next_runs(tmp_path: Path) -> None:
    path = _dump(tmp_path, "GKE")
    node = kubespread.load(path).nodes[0].metadata.name
    following = list[str]()
    for words in (command.replace("NODE", node).split() for command in COMMANDS):
        answer = run(*words, "-S", path, "--color", "never", terminal=80, rows=24)
        assert answer.code in (0, 1), (words, answer.err)
        assert height(answer.out, 80) <= 22, words
        commands = [line for line in answer.out.splitlines() if "kubespread " in line]
        assert commands, words
        following.append(commands[-1].partition("kubespread ")[2])
    ends = [(line, run(*shlex.split(line), "-o", "json")) for line in dict.fromkeys(following)]
    assert [(line, end.code, end.err) for line, end in ends if end.code not in (0, 1)] == []
