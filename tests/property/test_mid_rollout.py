"""Every question about clusters in which much is under way: whatever the answer is, there is one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Side, Snapshot
from kubespread.errors import KubespreadError
from tests.builders import Data, ago
from tests.property.rolling import NODES, clusters
from tests.property.workloads_on_nodes import snapshot_of
from tests.world.clusters import budget, daemon_set, job

STEPS = ["drain n0 --ignore-daemonsets --force --delete-emptydir-data", "fail n1", "restore n1"]
QUESTIONS: dict[str, Callable[[Snapshot], Any]] = {
    "pending": kubespread.pending,
    "audit": kubespread.audit,
    "check": kubespread.check,
    "survive": kubespread.survive,
    "removable": kubespread.removable,
    "upgrade": lambda snapshot: kubespread.upgrade(snapshot, "pool=x", remedies=False),
    "rebalance": kubespread.rebalance,
    "capacity": lambda snapshot: kubespread.capacity(snapshot, "cpu=1"),
    "map": kubespread.topology_map,
    "steps": lambda snapshot: kubespread.plan(
        snapshot, {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": STEPS}}
    ),
}
OF_WORKLOADS: dict[str, Callable[[Snapshot, str], Any]] = {
    "explain": kubespread.explain,
    "simulate": kubespread.simulate,
    "simulate, from scratch": lambda snapshot, name: kubespread.simulate(snapshot, name, from_scratch=True),
    "plan": lambda snapshot, name: kubespread.plan(snapshot, [f"rollout {name} cpu=100m", f"scale {name}=1"]),
    "compare": lambda snapshot, name: kubespread.compare(
        Side(snapshot, name), Side(snapshot.edited("cordon n0"), name)
    ),
    "explain, fixing": partial(kubespread.explain, fix=True),
}


@st.composite
def busy(draw: st.DrawFn) -> list[Data]:
    """The same with gated, nominated and failed pods, a Job that is half done, a DaemonSet and budgets."""
    made = draw(clusters())
    for each in (each for each in made if each["kind"] == "Pod"):
        state = draw(st.sampled_from(["", "", "", "gated", "nominated", "failed", "preempts"]))
        if state == "failed":
            each["status"] = {**each["status"], "phase": "Failed"}
        elif state == "preempts":
            each["spec"] = {**each["spec"], "priority": 100}
        elif "nodeName" not in each["spec"] and state == "gated":
            each["spec"] = {**each["spec"], "schedulingGates": [{"name": "gate"}]}
        elif "nodeName" not in each["spec"] and state == "nominated":
            each["status"] = {**each["status"], "nominatedNodeName": draw(st.sampled_from([*NODES, "gone"]))}
    rules: st.SearchStrategy[Data] = st.sampled_from(
        [{"maxUnavailable": 1}, {"maxUnavailable": 0}, {"minAvailable": "50%"}]
    )
    made += [budget(app, **draw(rules)) for app in draw(st.sampled_from([(), ("web",), ("web", "db")]))]
    own, *pods = job("batch", tuple(draw(st.lists(st.sampled_from(NODES), min_size=1, max_size=3))), completions=3)
    for each in pods:
        each["status"] = {"phase": draw(st.sampled_from(["Running", "Succeeded", "Failed"]))}
        if draw(st.booleans()):
            each["metadata"]["deletionTimestamp"] = ago(5)
    return [*made, *draw(st.sampled_from([[own, *pods], pods, []])), *daemon_set("agent", ("n0", "n2"), cpu="100m")]


@settings(max_examples=4, deadline=None)
@given(objects=busy())
def test_no_question_ends_in_a_crash(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    short = {"Deployment": "deploy", "StatefulSet": "sts"}
    names = [f"{short[each['kind']]}/{each['metadata']['name']}" for each in objects if each["kind"] in short]
    asked = [partial(question, snapshot) for question in QUESTIONS.values()]
    asked += [partial(question, snapshot, name) for question in OF_WORKLOADS.values() for name in names]
    # An error is a line for people, and none of an option that nobody gave.
    assert [said for ask in asked if "--set" in (said := error_of(ask))] == []


def error_of(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except KubespreadError as error:
        return str(error)
    return ""
