"""NodePorts, NodeDeclaredFeatures and sampling."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.scheduler.cluster.nodes import nodes_to_find
from tests.builders import node, pod
from tests.scheduler.asking import ask, reasons

Data = dict[str, Any]


def declaring(name: str, *features: str) -> Data:
    plain = node(name)
    return {**plain, "status": {**plain["status"], "declaredFeatures": list(features)}}


def test_a_pod_needs_kubelets_that_declare_its_features() -> None:
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    candidate = pod(containers=[{"name": "c", "image": "x", "restartPolicy": "Never", "restartPolicyRules": rules}])
    restart, user = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
    nodes = [node("old"), declaring("new", "AAA", restart, user), declaring("unsorted", user, restart)]
    missing = "node(s) didn't match Pod's required features"
    assert reasons(ask(nodes, candidate)) == {"old": missing, "unsorted": missing}


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        (99, None),
        (100, None),
        (150, 100),
        (250, 120),
        (500, 230),
        (1000, 420),
        (2000, 680),
        (5000, 500),
        (5625, 281),
        (10000, 500),
    ],
)
def test_adaptive_sampling(nodes: int, wanted: int | None) -> None:
    assert nodes_to_find(nodes) == wanted


def test_a_percentage_overrides_it() -> None:
    assert (nodes_to_find(1000, 100), nodes_to_find(1000, 20), nodes_to_find(1000, 5)) == (None, 200, 100)
