"""What older releases do otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, pods_on, taint
from tests.scheduler.asking import MISSING, SKEWED, ask, reasons, scores

Data = dict[str, Any]


def at_version(version: str, objects: list[Data], candidate: Data) -> kubespread.ExplainReport:
    return kubespread.explain(
        kubespread.Snapshot.from_objects(objects), candidate, kubespread.Scheduler(kube_version=version)
    )


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.36", "node(s) had untolerated taint(s)"),
        ("1.34", "node(s) had untolerated taint(s)"),
        ("1.34.1", "node(s) had untolerated taint {k: }"),
        ("1.23", "node(s) had taint {k: }, that the pod didn't tolerate"),
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
    assert (reasons(at_version(version, objects, candidate)), reasons(at_version("1.36", objects, candidate))) == (
        older,
        newest,
    )


def test_what_a_version_drops_is_said() -> None:
    report = at_version("1.26", TWO_ZONES, pod(constraints=[hard(minDomains=3)]))
    assert report.notes == (
        "spec.topologySpreadConstraints[0].minDomains is dropped: Kubernetes 1.26 does not have it",
    )
    assert report.not_modelled == ()


def test_dynamic_resources_score_since_1_35() -> None:
    assert (
        "DynamicResources" in at_version("1.34", TWO_ZONES, pod()).nodes[0].scores,
        scores(ask(TWO_ZONES, pod()), "DynamicResources"),
    ) == (False, {"n1": 0, "n2": 0})


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.17", "kube-scheduler 1.17 does not spread pods: topologySpreadConstraints are on by default since 1.18"),
        ("1.39", "kube-scheduler 1.39 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38"),
        ("latest", "invalid Kubernetes version 'latest': expected 1.X or 1.X.Y"),
    ],
)
def test_versions_that_are_not_modelled(version: str, message: str) -> None:
    with pytest.raises(kubespread.UsageError) as refused:
        at_version(version, TWO_ZONES, pod())
    assert str(refused.value) == message


OTHERS = {"matchLabels": {"app": "others"}}
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
    "a node that fails two plugins": (
        [node("n1", cpu="1", taints=[taint("k")])],
        pod(requests={"cpu": "2"}),
        {
            "1.20": "0/1 nodes are available: 1 node(s) had taint {k: }, that the pod didn't tolerate.",
            "1.19": "0/1 nodes are available: 1 Insufficient cpu.",
        },
    ),
    "a node selector": (
        [node("n1")],
        pod(nodeSelector={"disk": "ssd"}),
        {
            "1.21": "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
            "1.20": "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity.",
            "1.19": "0/1 nodes are available: 1 node(s) didn't match node selector.",
        },
    ),
    "a node name": (
        [node("n1")],
        pod(on="n2"),
        {
            "1.21": "0/1 nodes are available: 1 node(s) didn't match the requested node name.",
            "1.20": "0/1 nodes are available: 1 node(s) didn't match the requested hostname.",
        },
    ),
    "pod affinity": (
        [node("n1", zone="z1")],
        pod(
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": OTHERS}]
                }
            }
        ),
        {
            "1.22": "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
            "1.21": "0/1 nodes are available: 1 node(s) didn't match pod affinity rules, 1 node(s) didn't match pod affinity/anti-affinity rules.",
            "1.20": "0/1 nodes are available: 1 node(s) didn't match pod affinity rules, 1 node(s) didn't match pod affinity/anti-affinity.",
        },
    ),
    "nodes left out beforehand or one by one": (
        [node("n1", unschedulable=True), node("n2")],
        pinned(PINNED[:1]),
        {
            "1.24": "0/2 nodes are available: 1 node(s) were unschedulable.",
            "1.23": "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable.",
        },
    ),
    "a label that is missing": (
        [node("n1"), node("n2", zone="z", unschedulable=True)],
        pod(constraints=[hard()]),
        {
            "1.19": f"0/2 nodes are available: 1 {MISSING}, 1 node(s) were unschedulable.",
            "1.18": f"0/2 nodes are available: 1 {SKEWED}, 1 node(s) were unschedulable.",
        },
    ),
    "a label that no node has": (
        [node("n1")],
        pod(constraints=[hard()]),
        {"1.20": f"0/1 nodes are available: 1 {MISSING}.", "1.19": ""},
    ),
    "an over-committed node and a pod that wants nothing of it": (
        [node("n1", cpu="1"), pod("p", "n1", requests={"cpu": "1200m"})],
        pod(requests={"memory": "1Gi"}),
        {"1.28": "", "1.27": "0/1 nodes are available: 1 Insufficient cpu."},
    ),
}


# n3 is not eligible, and shares z1 with n1, which is.
INELIGIBLE = [
    node("n1", zone="z1", disk="ssd"),
    node("n2", zone="z2", disk="ssd"),
    node("n3", zone="z1"),
    *pods_on({"n3": 2}),
]


@pytest.mark.parametrize(
    ("version", "rejected"), [("1.24", {}), ("1.23", {"n1": SKEWED}), ("1.19", {"n1": SKEWED}), ("1.18", {})]
)
def test_pods_on_nodes_that_are_not_eligible_counted_for_five_releases(version: str, rejected: dict[str, str]) -> None:
    found = reasons(at_version(version, INELIGIBLE, pod(nodeSelector={"disk": "ssd"}, constraints=[hard()])))
    assert {name: reason for name, reason in found.items() if name != "n3"} == rejected


def test_before_1_24_nodes_that_fit_are_listed_by_name_without_scores() -> None:
    report = at_version("1.23", [node("b", cpu="16"), node("a", cpu="4")], pod())
    assert (
        report.feasible,
        [(entry.scores, entry.score_details, entry.total) for entry in report.nodes],
        report.not_modelled,
    ) == (
        ("a", "b"),
        [({}, {}, None), ({}, {}, None)],
        ("scores of kube-scheduler 1.23: nodes that fit are listed by name",),
    )


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_by_version(case: str) -> None:
    objects, candidate, expected = MESSAGES[case]
    assert {version: at_version(version, objects, candidate).message or "" for version in expected} == expected


@pytest.mark.parametrize(
    ("version", "tail"),
    [
        ("1.37", "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
        (
            "1.36",
            "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ),
        ("1.33", "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."),
        ("1.28", "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."),
        ("1.23", None),
    ],
)
def test_the_preemption_text_by_version(version: str, tail: str | None) -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n", cpu="1")])
    report = kubespread.explain(
        snapshot, pod(requests={"cpu": "2"}, priority=5), kubespread.Scheduler(kube_version=version), preemption=True
    )
    assert report.preemption is not None
    assert report.preemption.tail == tail
