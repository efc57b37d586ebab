"""What an autoscaler adds on the way of what is planned."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.node_groups.groups import NodeGroup
from tests.builders import hosts
from tests.questions.autoscaling.clusters import group
from tests.world.clusters import deployment

GROWING = kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="1")]).edited(
    "scale deploy/web=20"
)


@pytest.mark.parametrize(
    ("groups", "verdict", "said"),
    [
        pytest.param([group("pool", "a")], "yes", ["cluster-autoscaler adds 1 node"], id="enough"),
        pytest.param(
            [group("pool", "a", maximum=0)],
            "no",
            [
                "cluster-autoscaler adds no node",
                "Deployment/web: 4 pods still pending: it may have 0 nodes and has them",
            ],
            id="a group at its maximum",
        ),
    ],
)
def test_nodes_are_added_for_what_is_planned(groups: list[NodeGroup], verdict: str, said: list[str]) -> None:
    report = kubespread.plan(GROWING, autoscaler="ca", node_groups=groups)
    assert (report.verdict, list(report.answer[1 : 1 + len(said)])) == (verdict, said)
    assert report.scenario == ""
    assert not any("autoscalers of pods and nodes" in text for text in report.not_modelled)


def test_a_scenario_that_is_printed_has_the_autoscaler() -> None:
    groups = "fixtures/node-groups/three-zones.yaml"
    scenario = kubespread.plan(GROWING, autoscaler="ca", node_groups=groups).scenario
    assert f"autoscaler: ca\n  nodeGroups: {groups}\n" in scenario
