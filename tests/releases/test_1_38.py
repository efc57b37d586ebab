"""What is merged for 1.38, on both sides of it: the release before answers as it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

import kubespread
from kubespread import ClusterWorkloads, Scheduler, Side, Snapshot
from kubespread.kube.versions import LATEST, KubeVersion
from tests.builders import (
    DRIVER,
    device,
    device_class,
    device_request,
    hard,
    node,
    pod,
    pods_on,
    resource_claim,
    resource_slice,
    soft,
    using,
)
from tests.cli.support import FIXTURES, run
from tests.scheduler.asking import SKEWED, ask, reasons, scores

Data = dict[str, Any]
BEFORE, AFTER = "1.37", "1.38"
WEB = str(FIXTURES / "clusters" / "web-in-three-zones.yaml")
UNRELEASED = (
    "Kubernetes 1.38 is not released: answers have what is merged up to v1.38.0-alpha.2, and else are those of 1.37"
)
TWO = [node("n1", zone="a"), node("n2", zone="b")]
OTHERS = [
    pod("going", "n2", labels={})
    | {"metadata": {"name": "going", "namespace": "default", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    pod("elsewhere", "n2", namespace="shop"),
]


def of_everything(**more: Any) -> Data:
    return {**hard(), **more, "labelSelector": {}}


# Why nodes fail, before and since.
SPREADING: dict[str, tuple[list[Data], Data, dict[str, str], dict[str, str]]] = {
    "the selector {} counts all pods of the namespace": (pods_on({"n1": 2}), of_everything(), {}, {"n1": SKEWED}),
    "those without labels too": (pods_on({"n1": 2}, labels={}), of_everything(), {}, {"n1": SKEWED}),
    "but no terminating ones, nor those of other namespaces": (
        [*pods_on({"n1": 1}), *OTHERS],
        of_everything(),
        {},
        {"n1": SKEWED},
    ),
    "no selector at all counts none": (pods_on({"n1": 2}), {**hard(), "labelSelector": None}, {}, {}),
    "a selector with labels counts as it did": (pods_on({"n1": 2}), hard(), {"n1": SKEWED}, {"n1": SKEWED}),
    "with matchLabelKeys {} is a selector with labels": (
        pods_on({"n1": 2}),
        of_everything(matchLabelKeys=["foo"]),
        {"n1": SKEWED},
        {"n1": SKEWED},
    ),
}


@pytest.mark.parametrize("case", SPREADING)
def test_what_spread_constraints_count(case: str) -> None:
    running, constraint, before, since = SPREADING[case]
    asked = [ask([*TWO, *running], pod(constraints=[constraint]), kube_version=each) for each in (BEFORE, AFTER)]
    assert [*map(reasons, asked)] == [before, since]


def test_soft_constraints_score_by_the_same_count() -> None:
    constraint = {**soft(), "labelSelector": {}}
    asked = [
        ask([*TWO, *pods_on({"n1": 2})], pod(constraints=[constraint]), kube_version=each) for each in (BEFORE, AFTER)
    ]
    assert [*map(scores, asked)] == [{"n1": 200, "n2": 200}, {"n1": 0, "n2": 200}]


def budget(selector: Data | None, allowed: int = 0) -> Data:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "kept"},
        "spec": {"minAvailable": 1, **({} if selector is None else {"selector": selector})},
        "status": {"disruptionsAllowed": allowed},
    }


NOT_WEB = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}
# The budget, the labels of the less important victim on n1, and the node that is freed before and since.
BUDGETS: dict[str, tuple[Data, Data, str, str]] = {
    "a budget with {} protects all pods of its namespace": (budget({}), {"app": "web"}, "n1", "n2"),
    "also those without labels": (budget({}), {}, "n1", "n2"),
    "any budget does whose selector matches no labels": (budget(NOT_WEB), {}, "n1", "n2"),
    "one that allows a disruption does not": (budget({}, allowed=1), {}, "n1", "n1"),
    "nor one without a selector": (budget(None), {}, "n1", "n1"),
    "one with labels protects as it did": (budget({"matchLabels": {"app": "web"}}), {"app": "web"}, "n2", "n2"),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_whom_preemption_spares(case: str) -> None:
    protects, labels, before, since = BUDGETS[case]
    objects = [
        node("n1", cpu="1"),
        pod("a", "n1", labels=labels, namespace="kept", requests={"cpu": "1"}, priority=0),
        node("n2", cpu="1"),
        pod("b", "n2", labels={}, requests={"cpu": "1"}, priority=5),
        protects,
    ]
    candidate = pod(priority=10, requests={"cpu": "1"})
    freed = [ask(objects, candidate, kube_version=each).preemption for each in (BEFORE, AFTER)]
    assert [preemption and preemption.node for preemption in freed] == [before, since]


BEYOND = str(2**64)
# A LimitRange, a container's resources, and what is wrong with them before and since.
LIMITS: dict[str, tuple[Data, Data, str | None, str | None]] = {
    "a limit beyond an int64 is above the maximum": (
        {"max": {"memory": "1000"}},
        {"requests": {"memory": "1"}, "limits": {"memory": BEYOND}},
        None,
        f"maximum memory usage per Container is 1k, but limit is {BEYOND} (LimitRange default/lr)",
    ),
    "a request is below a minimum beyond one": (
        {"min": {"memory": BEYOND}},
        {"requests": {"memory": "1"}, "limits": {"memory": BEYOND}},
        None,
        f"minimum memory usage per Container is {BEYOND}, but request is 1 (LimitRange default/lr)",
    ),
    "equal amounts beyond one have the ratio 1": (
        {"maxLimitRequestRatio": {"memory": "1"}},
        {"requests": {"memory": BEYOND}, "limits": {"memory": BEYOND}},
        "memory max limit to request ratio per Container is 1, but no request is specified or request is 0 (LimitRange default/lr)",
        None,
    ),
    "amounts that fit are compared as they were": (
        {"max": {"cpu": "1"}},
        {"requests": {"cpu": "1"}, "limits": {"cpu": "1001m"}},
        "maximum cpu usage per Container is 1, but limit is 1001m (LimitRange default/lr)",
        "maximum cpu usage per Container is 1, but limit is 1001m (LimitRange default/lr)",
    ),
    "a request within a thousandth of the minimum is rounded up before it is compared": (
        {"min": {"cpu": "1"}},
        {"requests": {"cpu": "0.9999"}, "limits": {"cpu": "1"}},
        None,
        None,
    ),
    "a ratio of thousandths": (
        {"maxLimitRequestRatio": {"cpu": "1.5"}},
        {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},
        None,
        None,
    ),
}


@pytest.mark.parametrize("case", LIMITS)
def test_limit_ranges_compare_exactly(case: str) -> None:
    item, resources, before, since = LIMITS[case]
    limit_range = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "lr", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", **item}]},
    }
    candidate = pod(containers=[{"name": "c", "image": "i", "resources": resources}])

    def refused(release: str) -> str | None:
        try:
            ask([*TWO, limit_range], candidate, kube_version=release)
        except kubespread.KubespreadError as error:
            return str(error).partition("is forbidden: ")[2]
        return None

    assert [refused(BEFORE), refused(AFTER)] == [before, since]


def test_a_whole_amount_of_an_extended_resource_may_be_of_any_size() -> None:
    units = {"example.com/units": str(10**16)}
    candidate = pod(containers=[{"name": "c", "image": "i", "resources": {"requests": units, "limits": units}}])
    with pytest.raises(kubespread.ManifestError, match="must be an integer"):
        ask(TWO, candidate, kube_version=BEFORE)
    assert ask(TWO, candidate, kube_version=AFTER).kube_version == AFTER


def test_a_pool_that_is_being_written_keeps_a_request_for_all_devices_off_its_node_alone() -> None:
    updating = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    objects = [
        *TWO,
        device_class("gpu"),
        resource_claim("c", device_request(allocationMode="All")),
        resource_slice("n1", 1, "n1", pool=updating),
        resource_slice("n2", 1, "n2"),
    ]
    why = "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/n1 is currently being updated"
    before, since = (ask(objects, using(claims=("c",)), kube_version=each) for each in (BEFORE, AFTER))
    assert (before.message, before.feasible) == (f'running "DynamicResources" filter plugin: {why}', ())
    assert (since.message, since.feasible, reasons(since)) == (None, ("n2",), {"n1": why})


def shareable(name: str, capacity: str = "memory", *, is_shared: bool = True) -> Data:
    return {**device(name), "allowMultipleAllocations": is_shared, "capacity": {capacity: {"value": "10Gi"}}}


def of_memory(capacity: str) -> Data:
    return resource_claim("c", device_request(capacity={"requests": {capacity: "6Gi"}}))


HELD = {
    **resource_claim("held"),
    "status": {
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": "n1", "device": "a", "shareID": "1"}]}
        }
    },
}
# The claim and what else there is, and whether the node fits before and since.
DEVICES: dict[str, tuple[Data, list[Data], bool, bool]] = {
    "a capacity named with its driver, published without": (
        of_memory(f"{DRIVER}/memory"),
        [resource_slice("n1", [shareable("a")], "n1")],
        False,
        True,
    ),
    "one named without, published with it": (
        of_memory("memory"),
        [resource_slice("n1", [shareable("a", f"{DRIVER}/memory")], "n1")],
        False,
        True,
    ),
    "one named as it is published": (of_memory("memory"), [resource_slice("n1", [shareable("a")], "n1")], True, True),
    "one of another driver": (
        of_memory("other.example.com/memory"),
        [resource_slice("n1", [shareable("a")], "n1")],
        False,
        False,
    ),
    "a device that is shared, and may not be any longer": (
        resource_claim("c", device_request()),
        [HELD, resource_slice("n1", [{**shareable("a", is_shared=False), "capacity": {}}], "n1")],
        True,
        False,
    ),
    "a device that is shared, and may be": (
        resource_claim("c", device_request()),
        [HELD, resource_slice("n1", [{**shareable("a"), "capacity": {}}], "n1")],
        True,
        True,
    ),
}


@pytest.mark.parametrize("case", DEVICES)
def test_devices_that_are_shared(case: str) -> None:
    claim, others, before, since = DEVICES[case]
    objects = [TWO[0], device_class("gpu"), claim, *others]
    asked = [ask(objects, using(claims=("c",)), kube_version=each) for each in (BEFORE, AFTER)]
    assert [report.schedulable for report in asked] == [before, since]


GATES: dict[str, tuple[str, str | None, str | None]] = {
    "one that is gone": ("PodSchedulingReadiness=true", None, "unrecognized feature gate: PodSchedulingReadiness"),
    "one that is gone and concerns no placement": (
        "KubeletTracing=true",
        None,
        "unrecognized feature gate: KubeletTracing",
    ),
    "one that is locked": (
        "DRADeviceTaints=false,DRADeviceTaintRules=false",
        None,
        "cannot set feature gate DRADeviceTaints to false, feature is locked to true",
    ),
    "the strict rules for addresses": (
        "StrictIPCIDRValidation=false",
        None,
        "cannot set feature gate StrictIPCIDRValidation to false, feature is locked to true",
    ),
    "one that is new, for cloud controller managers": (
        "CloudProviderNodeOwnership=true",
        "unrecognized feature gate: CloudProviderNodeOwnership",
        None,
    ),
}


@pytest.mark.parametrize("case", GATES)
def test_gates_that_are_gone_or_locked(case: str) -> None:
    text, before, since = GATES[case]

    def refused(release: str) -> str | None:
        try:
            KubeVersion.parse(release).with_gates(text)
        except kubespread.UsageError as error:
            return str(error)
        return None

    assert [refused(BEFORE), refused(AFTER)] == [before, since]


@pytest.mark.parametrize(
    "gate", ["PodSchedulingReadiness", "MatchLabelKeysInPodAffinity", "DynamicResourceAllocation", "DRADeviceTaints"]
)
def test_what_a_gate_that_is_gone_or_locked_did_stays_on(gate: str) -> None:
    assert KubeVersion.parse(AFTER).has(gate)


@pytest.mark.parametrize(
    ("server", "release"),
    [
        pytest.param("", "1.37", id="a cluster that does not say is taken to be of the newest release"),
        pytest.param("v1.38.0-alpha.2", "1.38.0", id="one of a preview is what it is"),
        pytest.param("v1.39.0", "1.37", id="a later one is taken to be of the newest release"),
    ],
)
def test_the_newest_release_is_the_default(server: str, release: str) -> None:
    assert str(KubeVersion.of_server(server)) == release
    assert str(LATEST) == "1.37"


@pytest.mark.parametrize(
    ("release", "gates", "said"),
    [
        pytest.param("1.35", "", None, id="before the gate was on"),
        pytest.param(BEFORE, "StrictIPCIDRValidation=false", None, id="with the gate off"),
        pytest.param(AFTER, "", "expected an IP address", id="always since"),
    ],
)
def test_addresses_with_leading_zeros(release: str, gates: str, said: str | None) -> None:
    asked = pod()
    asked["spec"]["hostAliases"] = [{"ip": "010.0.0.5", "hostnames": ["a"]}]
    scheduler = Scheduler(kube_version=release, feature_gates=gates)
    with nullcontext() if said is None else pytest.raises(kubespread.ManifestError, match=said):
        kubespread.explain(Snapshot.from_objects(TWO), asked, scheduler)


def test_an_empty_runtime_class_name_is_refused_by_validation() -> None:
    asked = pod()
    asked["spec"]["runtimeClassName"] = ""
    with pytest.raises(kubespread.ManifestError, match="runtimeClassName: expected a value, found an empty string"):
        kubespread.explain(Snapshot.from_objects(TWO), asked, Scheduler(kube_version=AFTER))


AHEAD = Scheduler(kube_version=AFTER)
STEPS = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": ["scale deploy/web=7"]}}
ANSWERS: dict[str, Callable[[Snapshot], Sequence[str]]] = {
    "explain": lambda cluster: kubespread.explain(cluster, "deploy/web", AHEAD).notes,
    "explain, fixing": lambda cluster: kubespread.explain(cluster, "deploy/web", scheduler=AHEAD, fix=True).notes,
    "simulate": lambda cluster: kubespread.simulate(cluster, "deploy/web", 7, AHEAD).notes,
    "plan, by step": lambda cluster: kubespread.plan(cluster, STEPS, AHEAD).notes,
    "audit": lambda cluster: kubespread.audit(cluster, (), AHEAD).notes,
    "survive": lambda cluster: kubespread.survive(cluster, ["zone"], AHEAD).notes,
    "upgrade": lambda cluster: kubespread.upgrade(cluster, "node-a1", AHEAD).notes,
    "pending": lambda cluster: kubespread.pending(cluster, AHEAD).notes,
    "capacity": lambda cluster: kubespread.capacity(cluster, "cpu=1", AHEAD).notes,
    "check": lambda cluster: kubespread.check(cluster, scheduler=AHEAD).notes,
    "compare": lambda cluster: (
        kubespread.compare(Side(cluster, "deploy/web"), Side(cluster, "deploy/web", AHEAD)).after.notes
    ),
    "compare, all workloads": lambda cluster: (
        kubespread.compare(Side(cluster, ClusterWorkloads()), Side(cluster, ClusterWorkloads(), AHEAD)).after.notes
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_every_answer_says_that_the_release_is_none_yet(case: str) -> None:
    assert list(ANSWERS[case](kubespread.load(WEB))).count(UNRELEASED) == 1


@pytest.mark.parametrize(
    "command", ["explain deploy/web", "audit", "compare deploy/web --to-kube-version 1.37", "survive"]
)
def test_a_screen_says_it_where_it_names_the_release(command: str) -> None:
    screen = run(*command.split(), "-S", WEB, "--kube-version", AFTER, "-q", env={"NO_COLOR": "1"}, terminal=120).out
    assert "v1.38 (not released)" in screen
    assert "not released" not in run("explain", "deploy/web", "-S", WEB, "--kube-version", BEFORE, terminal=120).out
