"""What older releases do otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, pods_on, taint
from tests.scheduler.asking import SKEWED, ask, reasons, scores

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


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("1.18.10", True),
        ("1.18.11", False),
        ("1.18", False),
        ("1.19.1", True),
        ("1.19.3", True),
        ("1.19.4", False),
        ("1.19", False),
        ("1.20.0", False),
    ],
)
def test_a_constraint_without_any_domain_let_every_node_pass_up_to_a_patch(version: str, fits: bool) -> None:
    found = at_version(version, [node("n1"), node("n2")], pod(constraints=[hard()]))
    assert found.feasible == (("n1", "n2") if fits else ())


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.23", None),
        ("1.24", 'nodeinfo not found for node name "gone"'),
        ("1.27.13", 'nodeinfo not found for node name "gone"'),
        ("1.27", None),
        ("1.28.9", 'nodeinfo not found for node name "gone"'),
        ("1.28.10", None),
        ("1.29.4", 'nodeinfo not found for node name "gone"'),
        ("1.29.5", None),
        ("1.30.0", None),
    ],
)
def test_a_name_without_a_node_ended_the_cycle_up_to_a_patch(version: str, message: str | None) -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in ("gone", "n1")]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    report = at_version(version, [node("n1"), node("n2")], pod(affinity={"nodeAffinity": required}))
    assert (report.message, report.feasible) == (message, () if message else ("n1",))


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
        snapshot, pod(requests={"cpu": "2"}, priority=5), kubespread.Scheduler(kube_version=version)
    )
    assert report.preemption is not None
    assert report.preemption.tail == tail
