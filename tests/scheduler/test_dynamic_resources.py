"""DynamicResources: which nodes have devices for all of a pod's claims, case by case."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import kubespread
from kubespread.scheduler.plugins.dynamicresources import allocation
from tests.builders import device, device_class, device_request, node, pod, resource_claim, resource_slice, taint, using
from tests.scheduler.asking import ask, reasons, scores

Data = dict[str, Any]

NOT_ENOUGH = "cannot allocate all claims"
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


def distinct(count: int) -> Data:
    """A claim for so many devices of different NUMA nodes."""
    return resource_claim("c", device_request(count=count), constraints=[{"distinctAttribute": "gpu.example.com/numa"}])


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


GPU_RESOURCE = "example.com/gpu"
PROVIDING = device_class("gpu", resource=GPU_RESOURCE)


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
    report = ask([*nodes, GPU, claim], using(claims=("c",), priority=7), kube_version="1.36")
    assert report.preemption is not None
    assert str(report.preemption.tail).partition(", preemption: ")[0] == text


def test_a_claim_out_of_reach_is_not_resolved_by_preemption() -> None:
    report = ask([node("n1"), allocated(resource_claim("c"), ON_N2)], using(claims=("c",)))
    (entry,) = report.nodes
    assert (entry.verdict.code, entry.verdict.plugin) == ("UnschedulableAndUnresolvable", "DynamicResources")


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
