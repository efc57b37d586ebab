"""DynamicResources: which nodes have devices for all of a pod's claims, case by case."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import kubespread
from kubespread.scheduler.plugins.dynamicresources import allocation
from tests.builders import (
    device,
    device_class,
    device_request,
    node,
    pod,
    resource_claim,
    resource_claim_template,
    resource_slice,
    taint,
    using,
)
from tests.scheduler.asking import ask, reasons, scores

Data = dict[str, Any]

ELSEWHERE = "resourceclaim not available on the node"
NOT_ENOUGH = "cannot allocate all claims"
IN_Z1 = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}]}
ON_N2 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}
NODES = [node("n1", zone="z1"), node("n2", zone="z2")]
GPU = device_class("gpu")
BROKEN = {"key": "broken", "value": "x", "effect": "NoSchedule"}


def everywhere(reason: str) -> dict[str, str]:
    return {"n1": reason, "n2": reason}


def allocated(claim: Data, selector: Data | None = None, *devices: str, users: int = 1) -> Data:
    """A claim with devices of the pool ``n1``."""
    results = [{"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": each} for each in devices]
    allocation: Data = {"devices": {"results": results}}
    if selector is not None:
        allocation["nodeSelector"] = selector
    reserved = [{"resource": "pods", "name": f"p{at}", "uid": f"u{at}"} for at in range(users)]
    return {**claim, "status": {"allocation": allocation, "reservedFor": reserved}}


def first_available(*alternatives: Data) -> Data:
    return {"name": "r", "firstAvailable": list(alternatives)}


def alternative(name: str, count: int = 1, device_class: str = "gpu") -> Data:
    return {"name": name, "deviceClassName": device_class, "count": count}


def claims(case: Data, *more: Data) -> list[Data]:
    """A claim ``c``, a class and the given slices."""
    return [case, GPU, *more]


CLAIMS: dict[str, tuple[list[Data], dict[str, str]]] = {
    "a device for it on one node": (
        claims(resource_claim("c", device_request()), resource_slice("n1", 1, "n1")),
        {"n2": NOT_ENOUGH},
    ),
    "no slices listed at all": (claims(resource_claim("c", device_request())), everywhere(NOT_ENOUGH)),
    "a claim that does not exist": (
        [resource_claim("c", namespace="other"), GPU],
        everywhere('could not find ResourceClaim "default/c"'),
    ),
    "no claims listed at all": ([], {}),
    "a claim that is being deleted": (
        [{**(c := resource_claim("c")), "metadata": {**c["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}],
        everywhere('resourceclaim "c" is being deleted'),
    ),
    "a class that does not exist": (
        claims(resource_claim("c", device_request("req", "tpu"))),
        everywhere("request req: device class tpu does not exist"),
    ),
    "an alternative whose class does not exist": (
        claims(resource_claim("c", first_available(alternative("a"), alternative("b", device_class="tpu")))),
        everywhere("request r/b: device class tpu does not exist"),
    ),
    "no classes listed at all": (
        [resource_claim("c", device_request()), resource_slice("n1", 1, "n1")],
        {"n2": NOT_ENOUGH},
    ),
    "a class is not asked for again once allocated": (
        claims(allocated(resource_claim("c", device_request("r", "tpu")), IN_Z1)),
        {"n2": ELSEWHERE},
    ),
    "allocated on a named node": (claims(allocated(resource_claim("c"), ON_N2)), {"n1": ELSEWHERE}),
    "allocated without a selector": (claims(allocated(resource_claim("c"))), {}),
    "many pods use it already": (claims(allocated(resource_claim("c"), users=256)), {}),
    "more devices than a node has": (
        claims(
            resource_claim("c", device_request(count=2)), resource_slice("n1", 1, "n1"), resource_slice("n2", 2, "n2")
        ),
        {"n1": NOT_ENOUGH},
    ),
    "devices of several pools together": (
        claims(
            resource_claim("c", device_request(count=3)), resource_slice("n1", 1, "n1"), resource_slice("shared", 2)
        ),
        {"n2": NOT_ENOUGH},
    ),
    "a device in use": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("n1", 1, "n1"),
            resource_slice("n2", 1, "n2"),
            allocated(resource_claim("other"), ON_N2, "dev-0"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "admin access to a device in use": (
        claims(
            resource_claim("c", device_request(adminAccess=True)),
            resource_slice("n1", 1, "n1"),
            allocated(resource_claim("other"), None, "dev-0"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "a slice for the nodes of a zone": (
        claims(resource_claim("c", device_request()), resource_slice("zonal", 1, IN_Z1)),
        {"n2": NOT_ENOUGH},
    ),
    "a slice for all nodes": (claims(resource_claim("c", device_request()), resource_slice("fabric", 1)), {}),
    "a slice that says nothing of nodes": (
        claims(resource_claim("c", device_request()), resource_slice("odd", 1, allNodes=False)),
        everywhere(NOT_ENOUGH),
    ),
    "a selector of the class": (
        [
            resource_claim("c", device_request()),
            device_class("gpu", 'device.attributes["gpu.example.com"].mem > 20'),
            resource_slice("n1", [device("a", mem=10), device("b", mem=40)], "n1"),
            resource_slice("n2", [device("a", mem=20)], "n2"),
        ],
        {"n2": NOT_ENOUGH},
    ),
    "a selector of the request": (
        claims(
            resource_claim("c", device_request("r", "gpu", 'device.attributes["gpu.example.com"].model == "a"')),
            resource_slice("n1", [device("a", model="b")], "n1"),
            resource_slice("n2", [device("a", model="a")], "n2"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "the second alternative": (
        claims(
            resource_claim("c", first_available(alternative("two", 2), alternative("one"))),
            resource_slice("n1", 1, "n1"),
            resource_slice("n2", 2, "n2"),
        ),
        {},
    ),
    "all devices of a node": (
        claims(
            resource_claim("c", device_request(allocationMode="All")),
            resource_slice("n1", 2, "n1"),
            resource_slice("n2", 0, "n2"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "all devices, one of them in use": (
        claims(
            resource_claim("c", device_request(allocationMode="All")),
            resource_slice("n1", 2, "n1"),
            resource_slice("n2", 2, "n2"),
            allocated(resource_claim("other"), None, "dev-1"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "devices with one value of an attribute": (
        claims(
            resource_claim("c", device_request(count=2), constraints=[{"matchAttribute": "gpu.example.com/numa"}]),
            resource_slice("n1", [device("a", numa=0), device("b", numa=1)], "n1"),
            resource_slice("n2", [device("a", numa=0), device("b", numa=1), device("c", numa=1)], "n2"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "a constraint on an attribute that devices lack": (
        claims(
            resource_claim("c", device_request(), constraints=[{"matchAttribute": "gpu.example.com/numa"}]),
            resource_slice("n1", [device("a", numa=0)], "n1"),
            resource_slice("n2", 1, "n2"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "a constraint among some requests": (
        claims(
            resource_claim(
                "c",
                device_request("a"),
                device_request("b"),
                constraints=[{"requests": ["a"], "matchAttribute": "gpu.example.com/numa"}],
            ),
            resource_slice("n1", [device("a", numa=0), device("b")], "n1"),
            resource_slice("n2", 2, "n2"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "devices with different values of an attribute": (
        claims(
            resource_claim("c", device_request(count=2), constraints=[{"distinctAttribute": "gpu.example.com/numa"}]),
            resource_slice("n1", [device("a", numa=0), device("b", numa=0)], "n1"),
            resource_slice("n2", [device("a", numa=0), device("b", numa=0), device("c", numa=1)], "n2"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "a tainted device": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("n1", [device("a", taints=[BROKEN])], "n1"),
            resource_slice("n2", [device("a", taints=[{**BROKEN, "effect": "None"}])], "n2"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "a tainted device that the request tolerates": (
        claims(
            resource_claim("c", device_request(tolerations=[{"key": "broken", "operator": "Exists"}])),
            resource_slice("n1", [device("a", taints=[BROKEN])], "n1"),
            resource_slice("n2", [device("a", taints=[{**BROKEN, "key": "old"}])], "n2"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "an earlier choice is taken back for a later request": (
        claims(
            resource_claim(
                "c",
                device_request("any"),
                device_request("big", "gpu", 'device.attributes["gpu.example.com"].mem > 20'),
            ),
            resource_slice("n1", [device("a", mem=40), device("b", mem=10)], "n1"),
            resource_slice("n2", [device("a", mem=40)], "n2"),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "a pool whose driver is still writing it": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("n1", 1, "n1", pool={"name": "n1", "generation": 1, "resourceSliceCount": 2}),
            resource_slice("n2", 1, "n2"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "a pool complete with slices of other nodes": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("a", 1, "n1", pool={"name": "p", "generation": 1, "resourceSliceCount": 2}),
            resource_slice("b", [], "n2", pool={"name": "p", "generation": 1, "resourceSliceCount": 2}),
        ),
        {"n2": NOT_ENOUGH},
    ),
    "slices of an older generation": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("a", 1, "n1", pool={"name": "p", "generation": 1, "resourceSliceCount": 2}),
            resource_slice("b", 1, "n2", pool={"name": "p", "generation": 2, "resourceSliceCount": 1}),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "an older generation that is complete on its node counts all the same": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("a", 1, "n1", pool={"name": "p", "generation": 1, "resourceSliceCount": 1}),
            resource_slice("b", 1, "n2", pool={"name": "p", "generation": 2, "resourceSliceCount": 1}),
        ),
        {},
    ),
    "two devices of one name": (
        claims(
            resource_claim("c", device_request()),
            resource_slice("n1", [device("a"), device("a")], "n1"),
            resource_slice("n2", 1, "n2"),
        ),
        {"n1": "invalid resource pools were encountered"},
    ),
}


@pytest.mark.parametrize("case", CLAIMS)
def test_nodes_without_what_a_claim_needs_are_rejected(case: str) -> None:
    objects, expected = CLAIMS[case]
    assert reasons(ask([*NODES, *objects], using(claims=("c",)))) == expected


TEMPLATES: dict[str, tuple[list[Data], dict[str, str]]] = {
    "a claim made from it": (
        [resource_claim_template("t", device_request()), GPU, resource_slice("n1", 1, "n1")],
        {"n2": NOT_ENOUGH},
    ),
    "a template that does not exist": (
        [resource_claim_template("other"), GPU],
        everywhere('pod "default/web": ResourceClaim not created yet'),
    ),
    "no templates listed at all": ([GPU], {}),
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_a_template_is_judged_by_the_claim_it_makes(case: str) -> None:
    objects, expected = TEMPLATES[case]
    assert reasons(ask([*NODES, *objects], using(templates=("t",)))) == expected


def test_a_claim_that_was_made_for_another_pod_is_not_shared() -> None:
    made = resource_claim("web-t-x1", device_request())
    waiting = {
        **using(templates=("t",)),
        "status": {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "web-t-x1"}]},
    }
    waiting["metadata"]["uid"] = "u"
    snapshot = kubespread.Snapshot.from_objects([*NODES, GPU, resource_slice("n1", 1, "n1"), made, waiting])
    stranger = "ResourceClaim default/web-t-x1 was not created for Pod default/web (Pod is not owner)"
    assert reasons(kubespread.explain(snapshot, "pod/web")) == everywhere(stranger)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u", "controller": True}
    ]
    snapshot = kubespread.Snapshot.from_objects([*NODES, GPU, resource_slice("n1", 1, "n1"), made, waiting])
    assert reasons(kubespread.explain(snapshot, "pod/web")) == {"n2": NOT_ENOUGH}


ERRORS: dict[str, tuple[list[Data], str]] = {
    "a selector of a class fails": (
        [
            resource_claim("c", device_request("r", "bad")),
            device_class("bad", 'device.attributes["gpu.example.com"].nothere == "x"'),
            resource_slice("n1", 1, "n1"),
        ],
        "class bad: selector #0: CEL runtime error: no such key: nothere",
    ),
    "a selector of a request fails": (
        claims(resource_claim("c", device_request("r", "gpu", "true", "1 / 0 == 1")), resource_slice("n1", 1, "n1")),
        "claim default/c: selector #1: CEL runtime error: division by zero",
    ),
    "a selector of a request cannot be compiled": (
        claims(
            resource_claim("c", device_request("r", "gpu", "true", "device.driver > 1")), resource_slice("n1", 1, "n1")
        ),
        "claim default/c: selector #1: CEL compile error: compilation failed: ERROR: <input>:1:15: "
        "found no matching overload for '_>_' applied to '(string, int)'\n | device.driver > 1\n | ..............^",
    ),
    "all devices of a pool that is being written": (
        claims(
            resource_claim("c", device_request(allocationMode="All")),
            resource_slice("n1", 1, "n1", pool={"name": "n1", "generation": 1, "resourceSliceCount": 2}),
        ),
        "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/n1 is currently being updated",
    ),
    "all devices, against a constraint": (
        claims(
            resource_claim(
                "c", device_request(allocationMode="All"), constraints=[{"matchAttribute": "gpu.example.com/numa"}]
            ),
            resource_slice("n1", [device("a", numa=0), device("b", numa=1)], "n1"),
        ),
        "claim default/c, request r: cannot add device gpu.example.com/n1/b because a claim constraint would not be satisfied",
    ),
    "more devices than a claim can hold": (
        claims(resource_claim("c", device_request("a", count=20), device_request("b", count=20))),
        "claim default/c: number of requested devices 40 exceeds the claim limit of 32",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_is_wrong_with_a_claim_or_class_ends_the_cycle(case: str) -> None:
    objects, error = ERRORS[case]
    assert ask([*NODES, *objects], using(claims=("c",))).message == f'running "DynamicResources" filter plugin: {error}'


def distinct(count: int) -> Data:
    """A claim for so many devices of different NUMA nodes."""
    return resource_claim("c", device_request(count=count), constraints=[{"distinctAttribute": "gpu.example.com/numa"}])


SEARCHES: dict[str, tuple[list[Data], dict[str, str]]] = {
    "more requests than devices, each of which would do for each": (
        claims(resource_claim("c", *(device_request(f"r{at}") for at in range(12))), resource_slice("n1", 11, "n1")),
        {"n1": NOT_ENOUGH},
    ),
    "as many requests as devices, in the only order that works": (
        claims(
            resource_claim(
                "c",
                *(
                    device_request(f"r{at}", "gpu", f'device.attributes["gpu.example.com"].mem >= {at}')
                    for at in range(8)
                ),
            ),
            resource_slice("n1", [device(f"d{at}", mem=7 - at) for at in range(8)], "n1"),
        ),
        {},
    ),
    "an alternative with fewer devices where the claim would hold too many": (
        claims(
            resource_claim(
                "c", first_available(alternative("a", 20), alternative("b", 5)), device_request("s", count=20)
            ),
            resource_slice("n1", 40, "n1"),
        ),
        {},
    ),
    "alternatives that are too large together, whichever is taken": (
        claims(
            resource_claim(
                "c",
                {**first_available(alternative("a", 19, "none"), alternative("b", 20)), "name": "r"},
                {**first_available(alternative("a", 13), alternative("b", 14)), "name": "s"},
            ),
            device_class("none", "false"),
            resource_slice("n1", 40, "n1"),
        ),
        {"n1": NOT_ENOUGH},
    ),
    "many values, and enough of them": (
        claims(distinct(8), resource_slice("n1", [device(f"d{at}", numa=at % 8) for at in range(48)], "n1")),
        {},
    ),
}


@pytest.mark.parametrize("case", SEARCHES)
def test_searches_that_have_to_go_back_come_to_an_end(case: str) -> None:
    objects, expected = SEARCHES[case]
    assert reasons(ask([node("n1"), *objects], using(claims=("c",)))) == expected


def test_a_search_among_too_many_combinations_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "MAX_STEPS", 2_000)
    offered = resource_slice("n1", [device(f"d{at}", numa=at % 8) for at in range(48)], "n1")
    report = ask([node("n1"), *claims(distinct(9), offered)], using(claims=("c",)))
    assert reasons(report) == {"n1": "timed out trying to allocate devices"}


def test_alternatives_that_are_listed_earlier_score_higher() -> None:
    claim = resource_claim("c", first_available(alternative("a", 4), alternative("b", 2), alternative("c", 1)))
    slices = [resource_slice(f"n{count}", count, f"n{count}") for count in (1, 2, 4)]
    report = ask([*(node(f"n{count}") for count in (1, 2, 4)), GPU, claim, *slices], using(claims=("c",)))
    # 8, 7 and 6 points brought to 100, each counted twice.
    assert scores(report, "DynamicResources") == {"n1": 150, "n2": 174, "n4": 200}


def with_limit(**limits: str) -> Data:
    return pod(containers=[{"name": "c", "image": "x", "resources": {"limits": limits}}])


def having(name: str, **allocatable: str) -> Data:
    plain = node(name)
    plain["status"]["allocatable"] |= {
        key.replace("__", "/").replace("_", "."): value for key, value in allocatable.items()
    }
    return plain


GPU_RESOURCE = "example.com/gpu"
PROVIDING = device_class("gpu", resource=GPU_RESOURCE)
RESOURCES: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "a node has it, the other has devices for it": (
        [having("n1", example_com__gpu="2"), having("n2"), having("n3"), PROVIDING, resource_slice("n2", 1, "n2")],
        with_limit(**{GPU_RESOURCE: "1"}),
        {"n3": NOT_ENOUGH},
    ),
    "no slices at all": (
        [having("n1", example_com__gpu="2"), having("n2"), PROVIDING],
        with_limit(**{GPU_RESOURCE: "1"}),
        {"n2": NOT_ENOUGH},
    ),
    "a node never mixes both": (
        [having("n1", example_com__gpu="2"), having("n2"), PROVIDING, resource_slice("shared", 8)],
        with_limit(**{GPU_RESOURCE: "3"}),
        {"n1": f"Insufficient {GPU_RESOURCE}"},
    ),
    "without a class behind it": (
        [having("n1", example_com__gpu="2"), having("n2"), GPU],
        with_limit(**{GPU_RESOURCE: "1"}),
        {"n2": f"Insufficient {GPU_RESOURCE}"},
    ),
    "by the name of a class": (
        [having("n1"), having("n2"), GPU, resource_slice("n2", 1, "n2")],
        with_limit(**{"deviceclass.resource.kubernetes.io/gpu": "1"}),
        {"n1": NOT_ENOUGH},
    ),
    "beside another that nobody provides": (
        [having("n1"), having("n2"), PROVIDING, resource_slice("shared", 1)],
        with_limit(**{GPU_RESOURCE: "1", "example.com/fpga": "1"}),
        everywhere("Insufficient example.com/fpga"),
    ),
    "of two classes for one resource the first by name provides it": (
        [
            having("n1"),
            device_class("a", "true", resource=GPU_RESOURCE),
            device_class("b", "false", resource=GPU_RESOURCE),
            resource_slice("n1", 1, "n1"),
        ],
        with_limit(**{GPU_RESOURCE: "1"}),
        {},
    ),
}


@pytest.mark.parametrize("case", RESOURCES)
def test_extended_resources_come_from_the_node_or_from_devices(case: str) -> None:
    objects, candidate, expected = RESOURCES[case]
    assert reasons(ask(objects, candidate)) == expected


def containers(*counts: int, init: tuple[int, ...] = (), sidecars: tuple[int, ...] = ()) -> Data:
    def made(name: str, count: int) -> Data:
        return {"name": name, "image": "x", "resources": {"limits": {GPU_RESOURCE: str(count)} if count else {}}}

    first = [{**made(f"s{at}", count), "restartPolicy": "Always"} for at, count in enumerate(sidecars)]
    first += [made(f"i{at}", count) for at, count in enumerate(init)]
    return pod(initContainers=first, containers=[made(f"c{at}", count) for at, count in enumerate(counts)])


@pytest.mark.parametrize(
    ("candidate", "needed"),
    [
        (containers(1, 2), 3),
        (containers(2, init=(1, 2)), 2),
        (containers(1, 1, init=(3, 4)), 4),
        (containers(1, init=(3,), sidecars=(1,)), 4),
    ],
)
def test_init_containers_use_the_devices_of_the_containers_after_them(candidate: Data, needed: int) -> None:
    nodes = [node(f"n{count}") for count in range(1, 6)]
    slices = [resource_slice(f"n{count}", count, f"n{count}") for count in range(1, 6)]
    report = ask([*nodes, PROVIDING, *slices], candidate)
    assert sorted(reasons(report)) == [f"n{count}" for count in range(1, needed)]


def test_before_1_36_devices_provide_no_resource() -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n1"), PROVIDING, resource_slice("n1", 1, "n1")])
    report = kubespread.explain(snapshot, with_limit(**{GPU_RESOURCE: "1"}), kubespread.Scheduler(kube_version="1.35"))
    assert reasons(report) == {"n1": f"Insufficient {GPU_RESOURCE}"}


GATES: dict[str, tuple[Data, str]] = {
    "DRAPrioritizedList": (
        first_available(alternative("a")),
        "0/1 nodes are available: resource claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled.",
    ),
    "DRAAdminAccess": (
        device_request(adminAccess=True),
        'running "DynamicResources" filter plugin: claim default/c, request r: admin access is requested, but the feature is disabled',
    ),
}


@pytest.mark.parametrize("gate", GATES)
def test_what_a_gate_that_is_off_does_to_a_claim(gate: str) -> None:
    request, message = GATES[gate]
    snapshot = kubespread.Snapshot.from_objects(
        [node("n1"), GPU, resource_slice("n1", 1, "n1"), resource_claim("c", request)]
    )
    scheduler = kubespread.Scheduler(kube_version="1.35", feature_gates=f"{gate}=false")
    assert kubespread.explain(snapshot, using(claims=("c",)), scheduler).message == message


def test_before_1_36_taints_of_devices_do_not_count() -> None:
    snapshot = kubespread.Snapshot.from_objects(
        [
            node("n1"),
            GPU,
            resource_slice("n1", [device("a", taints=[BROKEN])], "n1"),
            resource_claim("c", device_request()),
        ]
    )
    report = kubespread.explain(snapshot, using(claims=("c",)), kubespread.Scheduler(kube_version="1.35"))
    assert reasons(report) == {}


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (allocated(resource_claim("c"), ON_N2, users=1), "still not schedulable"),
        (allocated(resource_claim("c"), ON_N2, users=0), "deallocation of ResourceClaim completed"),
        (resource_claim("c", device_request("r", "ghost")), "no new claims to deallocate"),
    ],
    ids=["used by others", "used by nobody", "refused outright"],
)
def test_a_claim_that_nobody_uses_is_given_up_where_no_node_is_left(claim: Data, text: str) -> None:
    nodes = [node("n1"), node("n2", taints=[taint("closed")])]
    report = ask([*nodes, GPU, claim], using(claims=("c",), priority=7), preemption=True, kube_version="1.36")
    assert report.preemption is not None
    assert str(report.preemption.tail).partition(", preemption: ")[0] == text


def test_a_claim_out_of_reach_is_not_resolved_by_preemption() -> None:
    report = ask([node("n1"), allocated(resource_claim("c"), ON_N2)], using(claims=("c",)))
    (entry,) = report.nodes
    assert (entry.verdict.code, entry.verdict.plugin) == ("UnschedulableAndUnresolvable", "DynamicResources")


SHORT: dict[str, tuple[list[Data], list[str]]] = {
    "a claim elsewhere": ([allocated(resource_claim("c"), ON_N2)], ["devices of claim default/c are elsewhere"]),
    "no devices at all": (
        claims(resource_claim("c", device_request())),
        ["r of default/c needs 1, the node has no devices"],
    ),
    "nothing that matches": (
        claims(resource_claim("c", device_request("r", "gpu", "false")), resource_slice("n1", 3, "n1")),
        ["r of default/c needs 1, none of 3 devices match"],
    ),
    "devices in use and with taints": (
        claims(
            resource_claim("c", device_request(count=2)),
            allocated(resource_claim("other"), None, "a"),
            resource_slice("n1", [device("a"), device("b", taints=[BROKEN]), device("c")], "n1"),
        ),
        ["r of default/c needs 2, 1 of 3 free (1 in use, 1 tainted)"],
    ),
    "every alternative, where none will do": (
        claims(
            resource_claim("c", first_available(alternative("a", 3), alternative("b", 2))),
            resource_slice("n1", 1, "n1"),
        ),
        ["r/a of default/c needs 3, 1 of 1 free", "r/b of default/c needs 2, 1 of 1 free"],
    ),
    "requests that only together are too many": (
        claims(resource_claim("c", device_request("a"), device_request("b")), resource_slice("n1", 1, "n1")),
        [],
    ),
}


@pytest.mark.parametrize("case", SHORT)
def test_what_is_missing_is_told(case: str) -> None:
    objects, expected = SHORT[case]
    (entry,) = ask([node("n1"), *objects], using(claims=("c",))).nodes
    assert [detail.short for rejection in entry.rejections for detail in rejection.details] == expected


GAPS: dict[str, tuple[list[Data], Data, tuple[str, ...]]] = {
    "nothing of devices": (
        [],
        using(claims=("c",)),
        ("no ResourceClaim objects: where the pod's resource claims are allocated is not evaluated",),
    ),
    "claims alone": (
        [resource_claim("c", device_request())],
        using(claims=("c",)),
        (
            "no DeviceClass objects: requests of the pod's resource claims are taken to select any device",
            "no ResourceSlice objects: no node is taken to have devices for the pod's resource claims",
        ),
    ),
    "a claim that is allocated": ([allocated(resource_claim("c"))], using(claims=("c",)), ()),
    "everything": (
        [resource_claim("c", device_request()), GPU, resource_slice("n1", 1, "n1")],
        using(claims=("c",)),
        (),
    ),
    "no template": (
        [resource_claim("c")],
        using(templates=("t",)),
        ("no ResourceClaimTemplate objects: the claims made from them are not evaluated",),
    ),
    "no claims, so that nothing is in use": (
        [resource_claim_template("t", device_request()), GPU, resource_slice("n1", 1, "n1")],
        using(templates=("t",)),
        ("no ResourceClaim objects: no device is taken to be in use",),
    ),
}


@pytest.mark.parametrize("case", GAPS)
def test_what_the_snapshot_lacks_is_said(case: str) -> None:
    objects, candidate, gaps = GAPS[case]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}
    found = ask([node("n1"), pod("running", "n1"), service, *objects], candidate).gaps
    assert found == (
        "no LimitRange, PriorityClass, ResourceQuota objects: pods are created as if there were none",
        *gaps,
    )


ATTRIBUTES = 'device.attributes["a"]'
COMPLEX = f"{ATTRIBUTES}.all(x, {ATTRIBUTES}.all(y, {ATTRIBUTES}.all(z, x.matches(y + z))))"
UNMODELLED: dict[str, tuple[list[Data], list[str]]] = {
    "nothing special": (claims(resource_claim("c", device_request()), resource_slice("n1", 1, "n1")), []),
    "a selector that is not evaluated": (
        claims(
            resource_claim("c", device_request("r", "gpu", 'google.protobuf.Duration{} == duration("0s")')),
            resource_slice("n1", 1, "n1"),
        ),
        [
            'DynamicResources: the selector google.protobuf.Duration{} == duration("0s") uses google.protobuf.Duration{}; '
            "it is taken to select every device"
        ],
    ),
    "a selector that is too complex": (
        claims(resource_claim("c", device_request("r", "gpu", COMPLEX)), resource_slice("n1", 1, "n1")),
        [f"DynamicResources: the API server refuses the selector {COMPLEX}: too complex, exceeds cost limit"],
    ),
}


@pytest.mark.parametrize("case", UNMODELLED)
def test_what_is_not_evaluated_is_named(case: str) -> None:
    objects, expected = UNMODELLED[case]
    report = ask([node("n1"), *objects], using(claims=("c",)))
    assert (list(report.not_modelled), report.schedulable) == (expected, True)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            "^gpu-[0-9]$",
            "is matched by Python's patterns, since google-re2 is not installed; one that RE2 may read otherwise is taken "
            "to select every device",
        ),
        (
            "^(gpu-)+[[:digit:]]$",
            "uses the pattern ^(gpu-)+[[:digit:]]$, which takes the package google-re2; it is taken to select every device",
        ),
    ],
)
def test_without_re2_it_is_said_what_matches(wanted: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    selector = f"'gpu-1'.matches('{wanted}')"
    objects = claims(resource_claim("c", device_request("r", "gpu", selector)), resource_slice("n1", 1, "n1"))
    report = ask([node("n1"), *objects], using(claims=("c",)))
    assert (list(report.not_modelled), report.schedulable) == (
        [f"DynamicResources: the selector {selector} {said}"],
        True,
    )
