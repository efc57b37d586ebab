"""What an autoscaler adds on the way of what is planned."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.node_groups import NodeGroup
from tests.builders import Data, hosts
from tests.questions.autoscaling.clusters import group, machine
from tests.world.clusters import budget, deployment, stateful_set

GROWING = kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="1")]).edited(
    "scale deploy/web=20"
)


@pytest.mark.parametrize(
    ("groups", "verdict", "joined", "said"),
    [
        pytest.param([group("pool", "a")], "yes", 1, "every step done in full; nothing is worse", id="enough"),
        pytest.param(
            [group("pool", "a", maximum=0)],
            "no",
            0,
            "step 1: 4 pods pending (Deployment/web): 0/2 nodes are available: 2 Insufficient cpu (cluster-autoscaler: it "
            "may have 0 nodes and has them)",
            id="a group at its maximum",
        ),
    ],
)
def test_nodes_are_added_for_what_is_planned(groups: list[NodeGroup], verdict: str, joined: int, said: str) -> None:
    report = kubespread.plan(GROWING, autoscaler="ca", node_groups=groups)
    assert (report.verdict, [len(step.nodes.joined) for step in report.steps]) == (verdict, [joined])
    assert said in report.answer
    assert not any("autoscalers of pods and nodes" in text for text in report.not_modelled)


FAT = [*deployment("web", ("n1", "n1"), cpu="2"), *deployment("fat", ("n2",), cpu="3"), budget("web", minAvailable=1)]


@pytest.mark.parametrize(
    ("step", "objects"),
    [
        pytest.param("rollout deploy/web", [*deployment("web", ("n1", "n2"), cpu="3")], id="a rollout"),
        pytest.param(
            "rollout sts/db cpu=3",
            [*stateful_set("db", ("n1", "n2")), *deployment("fat", ("n1", "n2"), cpu="2")],
            id="pods one by one",
        ),
        pytest.param("drain n1", FAT, id="a drain that a budget held"),
    ],
)
@pytest.mark.parametrize(("most", "verdict"), [(9, "yes"), (2, "no")])
def test_what_waited_for_nodes_goes_on(step: str | Data, objects: list[Data], most: int, verdict: str) -> None:
    nodes = [machine("n1", pool="pool"), machine("n2", pool="pool")]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": [step]}}
    groups = [group(maximum=most)]
    report = kubespread.plan(
        kubespread.Snapshot.from_objects([*nodes, *objects]), scenario=scenario, autoscaler="ca", node_groups=groups
    )
    played = report.steps[0]
    is_done = not played.get("blocked") and all(rollout.complete for rollout in played.rollouts)
    assert (report.verdict, is_done) == (verdict, verdict == "yes")
    assert all(rollout.fewest_ready >= 1 for rollout in played.rollouts)
