"""NodePorts, NodeDeclaredFeatures, sampling, and what older releases do otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.scheduler.sampling import nodes_to_find
from tests.builders import hard, node, pod, pods_on, taint
from tests.scheduler.asking import SKEWED, ask, reasons, scores

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
    "another address": (used({"hostPort": 80, "hostIP": "1.1.1.1"}), ports({"hostPort": 80, "hostIP": "1.1.1.2"}), True),
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
    candidate = pod(containers=[{"name": "c", "image": "x", "restartPolicyRules": rules}])
    restart, user = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
    nodes = [node("old"), declaring("new", "AAA", restart, user), declaring("unsorted", user, restart)]
    missing = "node(s) didn't match Pod's required features"
    assert reasons(ask(nodes, candidate)) == {"old": missing, "unsorted": missing}


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [(99, None), (100, None), (150, 100), (250, 120), (500, 230), (1000, 420), (2000, 680), (5000, 500), (5625, 281), (10000, 500)],
)
def test_adaptive_sampling(nodes: int, wanted: int | None) -> None:
    assert nodes_to_find(nodes) == wanted


def test_a_percentage_overrides_it() -> None:
    assert (nodes_to_find(1000, 100), nodes_to_find(1000, 20), nodes_to_find(1000, 5)) == (None, 200, 100)


def at_version(version: str, objects: list[Data], candidate: Data) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate, kube_version=version)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.36", "node(s) had untolerated taint(s)"),
        ("1.34", "node(s) had untolerated taint(s)"),
        ("1.34.1", "node(s) had untolerated taint {k: }"),
    ],
)
def test_the_taint_text_follows_the_patch(version: str, text: str) -> None:
    assert reasons(at_version(version, [node("n", taints=[taint("k")])], pod())) == {"n": text}


TWO_ZONES = [node("n1", zone="z1"), node("n2", zone="z2")]
DROPS: dict[str, tuple[list[Data], Data, str, dict[str, str], dict[str, str]]] = {
    "minDomains before 1.27": (
        [*TWO_ZONES, *pods_on({"n1": 2, "n2": 2})],
        pod(constraints=[hard(minDomains=3)]),
        "1.26",
        {},
        {"n1": SKEWED, "n2": SKEWED},
    ),
    "policies before 1.26": (
        [*TWO_ZONES, node("n3", zone="z3", taints=[taint("k")]), *pods_on({"n1": 2, "n2": 2})],
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        "1.25",
        {"n1": SKEWED, "n2": SKEWED, "n3": "node(s) had untolerated taint {k: }"},
        {"n3": "node(s) had untolerated taint(s)"},
    ),
    "matchLabelKeys before 1.27": (
        [*TWO_ZONES, *pods_on({"n1": 2}, labels={"foo": "bar", "rev": "1"})],
        pod(labels={"foo": "bar", "rev": "2"}, constraints=[hard(matchLabelKeys=["rev"])]),
        "1.26",
        {"n1": SKEWED},
        {},
    ),
    "the empty selector before 1.27": (
        [*TWO_ZONES, *pods_on({"n1": 1})],
        pod(constraints=[hard(labelSelector={})]),
        "1.26",
        {"n1": SKEWED},
        {},
    ),
}


@pytest.mark.parametrize("case", DROPS)
def test_verdicts_by_version(case: str) -> None:
    objects, candidate, version, older, newest = DROPS[case]
    assert (reasons(at_version(version, objects, candidate)), reasons(at_version("1.36", objects, candidate))) == (older, newest)


def test_what_a_version_drops_is_said() -> None:
    report = at_version("1.26", TWO_ZONES, pod(constraints=[hard(minDomains=3)]))
    assert report.notes == ("spec.topologySpreadConstraints[0].minDomains is dropped: Kubernetes 1.26 does not have it",)
    assert report.not_modelled == ("scores of kube-scheduler 1.26: those of 1.34 stand in for them",)


def test_dynamic_resources_score_since_1_35() -> None:
    assert (
        "DynamicResources" in at_version("1.34", TWO_ZONES, pod()).nodes[0].scores,
        scores(ask(TWO_ZONES, pod()), "DynamicResources"),
    ) == (
        False,
        {"n1": 0, "n2": 0},
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.23", "kube-scheduler 1.23 is not modelled: versions 1.24 to 1.36 are"),
        ("1.37", "kube-scheduler 1.37 is not modelled: versions 1.24 to 1.36 are"),
        ("latest", "invalid Kubernetes version 'latest': expected 1.X or 1.X.Y"),
    ],
)
def test_versions_that_are_not_modelled(version: str, message: str) -> None:
    with pytest.raises(kubespread.UsageError) as refused:
        at_version(version, TWO_ZONES, pod())
    assert str(refused.value) == message


PINNED = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]


def pinned(*terms: list[Data]) -> Data:
    selector = {"nodeSelectorTerms": [{"matchFields": fields} for fields in terms]}
    return pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}})


MESSAGES: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "nodes left out beforehand": (
        [node("n1", unschedulable=True), node("n2"), node("n3")],
        pinned(PINNED[:1]),
        {
            "1.36": "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
            "1.31": "0/3 nodes are available: 1 node(s) were unschedulable.",
        },
    ),
    "a pod rejected as a whole": (
        [node("n1"), node("n2"), node("n3")],
        pinned(PINNED),
        {
            "1.26": "0/3 nodes are available: pod affinity terms conflict.",
            "1.25": "0/3 nodes are available: 3 pod affinity terms conflict.",
        },
    ),
    "one contradictory term of two": (
        [node("n1", unschedulable=True)],
        pinned(PINNED, PINNED[:1]),
        {
            "1.27": "0/1 nodes are available: 1 node(s) were unschedulable.",
            "1.26": "0/1 nodes are available: pod affinity terms conflict.",
        },
    ),
    "an over-committed node and a pod that wants nothing of it": (
        [node("n1", cpu="1"), pod("p", "n1", requests={"cpu": "1200m"})],
        pod(requests={"memory": "1Gi"}),
        {"1.28": "", "1.27": "0/1 nodes are available: 1 Insufficient cpu."},
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_by_version(case: str) -> None:
    objects, candidate, expected = MESSAGES[case]
    assert {version: at_version(version, objects, candidate).message or "" for version in expected} == expected


@pytest.mark.parametrize(
    ("version", "tail"),
    [
        ("1.36", "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
        ("1.33", "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."),
        ("1.28", "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."),
    ],
)
def test_the_preemption_text_by_version(version: str, tail: str) -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n", cpu="1")])
    report = kubespread.explain(snapshot, pod(requests={"cpu": "2"}, priority=5), kube_version=version, preemption=True)
    assert report.preemption is not None
    assert report.preemption.tail == tail
