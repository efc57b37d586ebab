"""NodePorts, NodeDeclaredFeatures and sampling."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.scheduler.cluster.nodes import nodes_to_find
from tests.builders import node, pod
from tests.scheduler.asking import ask, reasons

Data = dict[str, Any]

TAKEN = "node(s) didn't have free ports for the requested pod ports"


def ports(*given: Data, sidecar: bool = False, **spec: Any) -> Data:
    held = {"name": "c", "image": "x", "ports": [{"containerPort": 80, **port} for port in given]}
    if sidecar:
        return pod(initContainers=[{**held, "name": "i", "restartPolicy": "Always"}], **spec)
    return pod(containers=[held], **spec)


def used(*given: Data, **spec: Any) -> Data:
    plain = ports(*given, **spec)
    return {**plain, "metadata": {**plain["metadata"], "name": "p"}, "spec": {**plain["spec"], "nodeName": "n"}}


PORTS: dict[str, tuple[Data, Data, bool]] = {
    "the same port": (used({"hostPort": 80}), ports({"hostPort": 80}), False),
    "another port": (used({"hostPort": 81}), ports({"hostPort": 80}), True),
    "another protocol": (used({"hostPort": 80, "protocol": "UDP"}), ports({"hostPort": 80}), True),
    "another address": (
        used({"hostPort": 80, "hostIP": "1.1.1.1"}),
        ports({"hostPort": 80, "hostIP": "1.1.1.2"}),
        True,
    ),
    "any address against one": (used({"hostPort": 80, "hostIP": "1.1.1.1"}), ports({"hostPort": 80}), False),
    ":: is no wildcard": (used({"hostPort": 80, "hostIP": "1.1.1.1"}), ports({"hostPort": 80, "hostIP": "::"}), True),
    "but the any address covers it": (used({"hostPort": 80}), ports({"hostPort": 80, "hostIP": "::"}), False),
    "hostNetwork claims container ports": (used({}, hostNetwork=True), ports({}, hostNetwork=True), False),
    "a sidecar's ports count": (used({"hostPort": 80}), ports({"hostPort": 80}, sidecar=True), False),
}


@pytest.mark.parametrize("case", PORTS)
def test_ports(case: str) -> None:
    existing, candidate, fits = PORTS[case]
    assert reasons(ask([node("n"), existing], candidate)) == ({} if fits else {"n": TAKEN})


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
