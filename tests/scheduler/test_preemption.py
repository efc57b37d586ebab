"""DefaultPreemption: eligibility, victims, budgets, the choice of the node, and the text when nothing helps."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, taint
from tests.scheduler.asking import with_args

Data = dict[str, Any]

TAIL = "preemption: "
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


def ask(candidate: Data, *objects: Data) -> Data:
    report = kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate, preemption=True)
    assert report.preemption is not None
    found = report.to_dict()["preemption"]
    assert isinstance(found, dict)
    return found


def running(
    name: str,
    on: str,
    cpu: str,
    priority: int = 0,
    *,
    start: str | None = None,
    labels: Data | None = None,
    **spec: Any,
) -> Data:
    plain = pod(name, on, labels=labels or {"app": name}, requests={"cpu": cpu}, priority=priority, **spec)
    return {**plain, "status": {"phase": "Running", **({"startTime": start} if start else {})}}


def wanting(cpu: str, priority: int = 10, **spec: Any) -> Data:
    return pod(requests={"cpu": cpu}, priority=priority, **spec)


def budget(allowed: int, match: Data) -> Data:
    meta = {"name": "b", "namespace": "default"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": {"matchLabels": match}},
        "status": {"disruptionsAllowed": allowed},
    }


def small(name: str) -> Data:
    return node(name, cpu="4")


FOUND: dict[str, tuple[Data, list[Data], tuple[str, list[str], int]]] = {
    "the least important top victim wins over fewer victims": (
        wanting("3"),
        [
            small("n1"),
            running("a", "n1", "2", 0),
            running("b", "n1", "2", 5),
            small("n2"),
            running("c", "n2", "2", 1),
            running("d", "n2", "2", 1, start="2026-01-01T00:00:00Z"),
            small("n3"),
            running("e", "n3", "4", 100),
        ],
        ("n2", ["default/d", "default/c"], 0),
    ),
    "pods that can stay are put back": (
        wanting("2"),
        [small("n1"), running("a", "n1", "2", 0), running("b", "n1", "1", 5), running("c", "n1", "1", 3)],
        ("n1", ["default/a"], 0),
    ),
    "a budget's pods are spared where others will do": (
        wanting("2"),
        [
            small("n1"),
            running("a", "n1", "2", labels={"app": "a"}),
            running("b", "n1", "2", labels={"app": "b"}),
            budget(0, {"app": "a"}),
        ],
        ("n1", ["default/b"], 0),
    ),
    "and evicted where they will not": (
        wanting("4"),
        [small("n1"), running("a", "n1", "4", labels={"app": "a"}), budget(0, {"app": "a"})],
        ("n1", ["default/a"], 1),
    ),
    "the later started victim goes": (
        wanting("4"),
        [
            small("n1"),
            running("a", "n1", "4", start="2026-01-01T00:00:00Z"),
            small("n2"),
            running("b", "n2", "4", start="2026-02-01T00:00:00Z"),
        ],
        ("n2", ["default/b"], 0),
    ),
    "equal nodes: the smallest name": (
        wanting("4"),
        [small("n2"), running("b", "n2", "4"), small("n1"), running("a", "n1", "4")],
        ("n1", ["default/a"], 0),
    ),
    "spreading is counted without the victims": (
        wanting("1", 5, constraints=[hard(match={"app": "web"})], labels={"app": "web"}),
        [
            node("n1", zone="a", cpu="4"),
            running("a", "n1", "1", labels={"app": "web"}),
            running("b", "n1", "1", labels={"app": "web"}),
            node("n2", zone="b", cpu="4"),
            running("c", "n2", "4", 100),
        ],
        ("n1", ["default/b", "default/a"], 0),
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_node_is_found(case: str) -> None:
    candidate, objects, (name, victims, violations) = FOUND[case]
    tail = f"preemption: found a potential placement for pod on node {name}, preempting {len(victims)} victims"
    assert ask(candidate, *objects) == {"node": name, "victims": victims, "violations": violations, "tail": tail}


TAILS: dict[str, tuple[Data, list[Data], str]] = {
    "nodes that can never take it": (
        wanting("5"),
        [small("n1"), node("n2", taints=[taint("k")])],
        f"{TAIL}0/2 nodes are available: 2 {NOT_HELPFUL}.",
    ),
    "mixed dry runs": (
        wanting("3"),
        [
            small("n1"),
            running("a", "n1", "3", 100),
            running("b", "n1", "1", 0),
            small("n2"),
            running("c", "n2", "4", 100),
        ],
        f"{TAIL}0/2 nodes are available: 1 Insufficient cpu, 1 {NO_VICTIMS}.",
    ),
    "equal priority never preempts": (
        wanting("4", 0),
        [small("n1"), running("a", "n1", "4", 0)],
        f"{TAIL}0/1 nodes are available: 1 {NO_VICTIMS}.",
    ),
    "a pod that never preempts": (
        wanting("4", preemptionPolicy="Never"),
        [small("n1"), running("a", "n1", "4", 0)],
        f"{TAIL}not eligible due to preemptionPolicy=Never.",
    ),
    "a pod rejected before any node was asked": (
        wanting(
            "1",
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {"key": "metadata.name", "operator": "In", "values": [name]} for name in "ab"
                                ]
                            }
                        ]
                    }
                }
            },
        ),
        [small("n1")],
        "not found",
    ),
}


@pytest.mark.parametrize("case", TAILS)
def test_nothing_helps(case: str) -> None:
    candidate, objects, tail = TAILS[case]
    assert ask(candidate, *objects) == {"node": None, "victims": [], "violations": 0, "tail": tail}


def test_it_is_answered_only_when_asked_and_when_nothing_fits() -> None:
    full = kubespread.Snapshot.from_objects([small("n1"), running("a", "n1", "4")])
    free = kubespread.Snapshot.from_objects([small("n1")])
    assert kubespread.explain(full, wanting("4")).preemption is None
    assert kubespread.explain(free, wanting("4"), preemption=True).preemption is None


def test_priority_comes_from_the_snapshots_classes() -> None:
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    candidate = pod(requests={"cpu": "4"}, priorityClassName="urgent")
    assert ask(candidate, small("n1"), running("a", "n1", "4", 999), urgent)["node"] == "n1"


BLOCKED = "0/1 nodes are available: 1 No preemption victims found for incoming pod."


@pytest.mark.parametrize(
    ("plugins", "tail", "tail_in_1_36"),
    [
        ("{}", f"preemption: {BLOCKED}", f"no new claims to deallocate, preemption: {BLOCKED}"),
        ("{postFilter: {disabled: [{name: DynamicResources}]}}", f"preemption: {BLOCKED}", f"preemption: {BLOCKED}"),
        ("{postFilter: {disabled: [{name: DefaultPreemption}]}}", None, "no new claims to deallocate"),
        ("{multiPoint: {disabled: [{name: DefaultPreemption}]}}", None, "no new claims to deallocate"),
        ("{postFilter: {disabled: [{name: '*'}]}}", None, None),
        (
            "{postFilter: {disabled: [{name: '*'}], enabled: [{name: DefaultPreemption}]}}",
            f"preemption: {BLOCKED}",
            f"preemption: {BLOCKED}",
        ),
    ],
)
def test_the_profile_says_who_is_asked(plugins: str, tail: str | None, tail_in_1_36: str | None) -> None:
    config = f"{{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{{plugins: {plugins}}}]}}"
    snapshot = kubespread.Snapshot.from_objects(
        [node("n1", cpu="1"), pod("low", "n1", requests={"cpu": "500m"}, priority=7)]
    )
    for version, said in (("1.37", tail), ("1.36", tail_in_1_36)):
        report = kubespread.explain(
            snapshot,
            pod(requests={"cpu": "1"}, priority=7),
            kubespread.Scheduler(config, kube_version=version),
            preemption=True,
        )
        assert report.preemption is not None
        assert (report.preemption.node, report.preemption.tail, report.not_modelled) == (None, said, ())


def test_a_pod_with_claims_hears_so_up_to_1_36() -> None:
    report = kubespread.explain(
        kubespread.Snapshot.from_objects([node("n1", cpu="1")]),
        pod(requests={"cpu": "2"}, priority=7, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}]),
        kubespread.Scheduler(kube_version="1.36"),
        preemption=True,
    )
    assert report.preemption is not None
    assert (
        report.preemption.tail
        == "still not schedulable, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    ("given", "nominated"), [({}, "b"), ({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}, "a")]
)
def test_the_search_ends_with_enough_candidates(given: Data, nominated: str) -> None:
    full = [small("a"), running("x", "a", "4", 5), small("b"), running("y", "b", "4", 1)]
    config = with_args("DefaultPreemption", **given)
    report = kubespread.explain(
        kubespread.Snapshot.from_objects(full), wanting("4"), kubespread.Scheduler(config=config), preemption=True
    )
    assert report.preemption is not None
    assert report.preemption.node == nominated
