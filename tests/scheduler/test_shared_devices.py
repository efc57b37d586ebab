"""DynamicResources: devices that are partitioned, consumed, shared or bound late, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import (
    device,
    device_class,
    device_request,
    node,
    resource_claim,
    resource_claim_template,
    resource_slice,
    using,
)
from tests.scheduler.asking import ask

Data = dict[str, Any]

DRIVER = "gpu.example.com"
NOT_ENOUGH, ELSEWHERE = "cannot allocate all claims", "resourceclaim not available on the node"
INVALID = "invalid resource pools were encountered"
NODES = [node("n1", zone="z1"), node("n2", zone="z2")]
GPU, BROKEN = device_class("gpu"), {"key": "broken", "value": "x", "effect": "NoSchedule"}
FAILED = 'running "DynamicResources" filter plugin: claim default/c, '


def everywhere(reason: str) -> dict[str, str]:
    return {"n1": reason, "n2": reason}


def partition(name: str, memory: str, counters: str = "gpu", **fields: Any) -> Data:
    consumed = [{"counterSet": counters, "counters": {"memory": {"value": memory}}}]
    return {**device(name), "consumesCounters": consumed, **fields}


def counted(pool: str, memory: str, devices: list[Data], on: str | None = None, *, count: int = 2) -> list[Data]:
    """A pool with one counter set in a slice of its own and one slice of devices."""
    spec = {"pool": {"name": pool, "generation": 1, "resourceSliceCount": count}}
    sets = [{"name": "gpu", "counters": {"memory": {"value": memory}}}]
    return [
        resource_slice(f"{pool}-counters", [], on, **spec, sharedCounters=sets),
        resource_slice(f"{pool}-devices", devices, on, **spec),
    ]


def shared(name: str, memory: str = "10Gi", policy: Data | None = None, **fields: Any) -> Data:
    capacity: Data = {"value": memory} if policy is None else {"value": memory, "requestPolicy": policy}
    return {**device(name), "allowMultipleAllocations": True, "capacity": {"memory": capacity}, **fields}


def wants(memory: str, name: str = "r", **exactly: Any) -> Data:
    return device_request(name, capacity={"requests": {"memory": memory}}, **exactly)


def holding(name: str, device_name: str, **result: Any) -> Data:
    """A claim of another pod."""
    results = [{"request": "r", "driver": DRIVER, "pool": "p", "device": device_name, **result}]
    return {**resource_claim(name), "status": {"allocation": {"devices": {"results": results}}}}


def one(**fields: Any) -> Data:
    return resource_claim("c", device_request(**fields))


COUNTERS: dict[str, tuple[list[Data], dict[str, str]]] = {
    "a partition for which there is memory": ([one(), *counted("p", "20Gi", [partition("a", "10Gi")])], {}),
    "a partition too large for the counter": (
        [one(), *counted("p", "20Gi", [partition("a", "30Gi")])],
        everywhere(NOT_ENOUGH),
    ),
    "two partitions for which there is memory for one": (
        [one(count=2), *counted("p", "20Gi", [partition("a", "15Gi"), partition("b", "15Gi")])],
        everywhere(NOT_ENOUGH),
    ),
    "smaller partitions instead of the first ones": (
        [one(count=2), *counted("p", "20Gi", [partition("a", "15Gi"), partition("b", "10Gi"), partition("c", "10Gi")])],
        {},
    ),
    "what is allocated has taken the memory": (
        [one(), holding("other", "a"), *counted("p", "20Gi", [partition("a", "15Gi"), partition("b", "10Gi")])],
        everywhere(NOT_ENOUGH),
    ),
    "what is allocated on another node has taken the memory of a pool with slices for each": (
        [
            one(),
            holding("other", "a"),
            *counted("p", "20Gi", [partition("a", "15Gi")], "n1", count=3)[1:],
            *counted("p", "20Gi", [], count=3)[:1],
            resource_slice(
                "p-more",
                [partition("b", "10Gi"), partition("c", "5Gi")],
                "n2",
                pool={"name": "p", "generation": 1, "resourceSliceCount": 3},
            ),
        ],
        {"n1": NOT_ENOUGH},
    ),
    "a counter that is overdrawn keeps back a partition that does not consume it": (
        [one(), holding("other", "a"), *counted("p", "20Gi", [partition("a", "30Gi"), partition("b", "0")])],
        everywhere(NOT_ENOUGH),
    ),
    "more partitions than counters, in very many combinations": (
        [
            one(count=17),
            resource_slice(
                "p-counters",
                [],
                pool={"name": "p", "generation": 1, "resourceSliceCount": 2},
                sharedCounters=[{"name": f"gpu-{at}", "counters": {"memory": {"value": "40Gi"}}} for at in range(8)],
            ),
            resource_slice(
                "p-devices",
                [partition(f"d{at}", "20Gi", f"gpu-{at % 8}") for at in range(24)],
                pool={"name": "p", "generation": 1, "resourceSliceCount": 2},
            ),
        ],
        everywhere(NOT_ENOUGH),
    ),
    "a device without counters beside partitions": (
        [one(), holding("other", "a"), *counted("p", "20Gi", [partition("a", "20Gi"), device("b")])],
        {},
    ),
    "admin access takes counters too": (
        [one(adminAccess=True), holding("other", "a"), *counted("p", "20Gi", [partition("a", "15Gi")])],
        everywhere(NOT_ENOUGH),
    ),
    "a counter set that does not exist": (
        [one(), *counted("p", "20Gi", [partition("a", "1Gi", "gone")])],
        everywhere(INVALID),
    ),
    "a counter set twice": (
        [
            one(),
            *counted("p", "20Gi", [partition("a", "1Gi")], count=3),
            resource_slice(
                "again",
                [],
                pool={"name": "p", "generation": 1, "resourceSliceCount": 3},
                sharedCounters=[{"name": "gpu", "counters": {}}],
            ),
        ],
        everywhere(INVALID),
    ),
    "counters that are still to be written": (
        [one(), counted("p", "20Gi", [partition("a", "1Gi")])[1]],
        everywhere(NOT_ENOUGH),
    ),
    "all partitions at once where only some fit": (
        [one(allocationMode="All"), *counted("p", "20Gi", [partition("a", "15Gi"), partition("b", "15Gi")])],
        everywhere(NOT_ENOUGH),
    ),
    "pools of two drivers with one name have counters of their own": (
        [
            resource_claim("c", device_request("r", count=2)),
            *counted("p", "20Gi", [partition("a", "15Gi")]),
            *[
                {
                    **each,
                    "metadata": {"name": f"net-{each['metadata']['name']}"},
                    "spec": {**each["spec"], "driver": "net.example.com"},
                }
                for each in counted("p", "20Gi", [partition("a", "15Gi")])
            ],
        ],
        {},
    ),
    "a partition whose taint is not tolerated leaves its memory to others": (
        [one(), *counted("p", "20Gi", [partition("a", "15Gi", taints=[BROKEN]), partition("b", "15Gi")])],
        {},
    ),
    "devices that choose their nodes themselves": (
        [one(), resource_slice("p", [device("a") | {"nodeName": "n2"}], allNodes=False, perDeviceNodeSelection=True)],
        {"n1": NOT_ENOUGH},
    ),
    "a slice of which each node reaches one device": (
        [
            one(count=2),
            resource_slice(
                "p",
                [device("a") | {"nodeName": "n2"}, device("b") | {"nodeName": "n1"}, device("c") | {"allNodes": True}],
                allNodes=False,
                perDeviceNodeSelection=True,
            ),
        ],
        {},
    ),
    "all devices are all that are for the node": (
        [
            one(allocationMode="All"),
            holding("other", "a"),
            resource_slice(
                "p",
                [device("a") | {"nodeName": "n2"}, device("b") | {"nodeName": "n1"}],
                allNodes=False,
                perDeviceNodeSelection=True,
            ),
        ],
        {"n2": NOT_ENOUGH},
    ),
}


@pytest.mark.parametrize(("kube_version", "fits"), [("1.36.2", []), ("1.37", ["n1"])])
def test_up_to_1_36_counters_of_other_nodes_that_are_being_written_forbid_all_devices(
    kube_version: str, fits: list[str]
) -> None:
    unfinished = counted("p", "20Gi", [], "n2", count=3)[0]
    objects = [one(allocationMode="All"), resource_slice("q", 1, "n1"), unfinished]
    asked = ask([node("n1"), GPU, *objects], using(claims=("c",)), kube_version=kube_version)
    text = f"{FAILED}request r: asks for all devices, but resource pool {DRIVER}/p is currently being updated"
    assert (list(asked.feasible), asked.message) == (fits, None if fits else text)


def test_which_counters_hold_for_pools_of_one_name_is_open_in_1_36() -> None:
    objects = COUNTERS["pools of two drivers with one name have counters of their own"][0]
    said = [
        list(ask([*NODES, GPU, *objects], using(claims=("c",)), kube_version=version).not_modelled)
        for version in ("1.36.2", "1.37")
    ]
    assert said == [["DynamicResources: which driver's counters hold for pools called p, of several drivers"], []]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 12), st.integers(1, 8))
def test_replicas_stop_where_counters_or_capacity_end(partitions: list[int], counter: int, request: int) -> None:
    """Each copy takes the first partition that is left; each share its part of the capacity."""
    parts = [partition(f"d{number}", str(size)) for number, size in enumerate(partitions)]
    left, placed = counter, 0
    for size in partitions:
        if size <= left:
            left, placed = left - size, placed + 1
    slices = counted("p", str(counter), parts, "n1")
    assert _placed([node("n1"), *slices, resource_claim_template("t", device_request())]) == placed
    objects = [resource_slice("p", [shared("a", "8")]), resource_claim_template("t", wants(str(request)))]
    assert _placed([node("n1"), *objects]) == 8 // request


def _placed(objects: list[Data]) -> int:
    snapshot = kubespread.Snapshot.from_objects([GPU, *objects])
    report = kubespread.simulate(snapshot, using(templates=("t",)), replicas=9)
    return len(report.placements)


def test_a_pod_that_goes_gives_back_its_share_and_its_counters() -> None:
    objects = [
        node("n1"),
        GPU,
        *counted("p", "20Gi", [partition("a", "15Gi"), partition("b", "15Gi")], "n1"),
        {
            **holding("mine", "a"),
            "metadata": {
                "name": "mine",
                "namespace": "default",
                "uid": "mine",
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Pod", "name": "old", "uid": "old", "controller": True}
                ],
            },
        },
        using("old", claims=("mine",))
        | {"metadata": {"name": "old", "namespace": "default", "uid": "old", "labels": {"app": "old"}}},
        resource_claim("c", device_request()),
    ]
    objects[-2]["spec"]["nodeName"] = "n1"
    snapshot = kubespread.Snapshot.from_objects(objects)
    after = snapshot.edited("delete-pods app=old")
    assert [kubespread.explain(each, using(claims=("c",))).schedulable for each in (snapshot, after)] == [False, True]
