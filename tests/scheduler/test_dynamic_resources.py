"""DynamicResources: what resource claims decide without any device being allocated."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import node, pod
from tests.scheduler.asking import ask, reasons

Data = dict[str, Any]

ELSEWHERE = "resourceclaim not available on the node"


def device_class(name: str) -> Data:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}}


def claim(name: str, *requests: Data, allocated_to: list[Data] | None = None, namespace: str = "default") -> Data:
    made: Data = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": list(requests)}},
    }
    if allocated_to is not None:
        made["status"] = {"allocation": {"nodeSelector": {"nodeSelectorTerms": allocated_to}}}
    return made


def exactly(device_class_name: str) -> Data:
    return {"name": "req", "exactly": {"deviceClassName": device_class_name}}


def using(**source: str) -> Data:
    return pod(resourceClaims=[{"name": "gpu", **source}])


IN_Z1 = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}]
ON_N2 = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]
ALTERNATIVES = {
    "name": "req",
    "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "tpu"}],
}


def everywhere(reason: str) -> dict[str, str]:
    return {"n1": reason, "n2": reason}


CASES: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "a claim that exists": ([claim("c", exactly("gpu")), device_class("gpu")], using(resourceClaimName="c"), {}),
    "a claim that does not": (
        [claim("c", namespace="other")],
        using(resourceClaimName="c"),
        everywhere('could not find ResourceClaim "default/c"'),
    ),
    "no claims listed at all": ([], using(resourceClaimName="c"), {}),
    "a claim that a template will generate": ([claim("c")], using(resourceClaimTemplateName="t"), {}),
    "a class that does not exist": (
        [claim("c", exactly("tpu")), device_class("gpu")],
        using(resourceClaimName="c"),
        everywhere("request req: device class tpu does not exist"),
    ),
    "an alternative whose class does not exist": (
        [claim("c", ALTERNATIVES), device_class("gpu")],
        using(resourceClaimName="c"),
        everywhere("request req/b: device class tpu does not exist"),
    ),
    "no classes listed at all": ([claim("c", exactly("tpu"))], using(resourceClaimName="c"), {}),
    "a class is not asked for again once allocated": (
        [claim("c", exactly("tpu"), allocated_to=IN_Z1), device_class("gpu")],
        using(resourceClaimName="c"),
        {"n2": ELSEWHERE},
    ),
    "allocated on a named node": ([claim("c", allocated_to=ON_N2)], using(resourceClaimName="c"), {"n1": ELSEWHERE}),
}


@pytest.mark.parametrize("case", CASES)
def test_claims(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert reasons(ask([node("n1", zone="z1"), node("n2", zone="z2"), *objects], candidate)) == expected


def test_a_claim_out_of_reach_is_not_resolved_by_preemption() -> None:
    report = ask([node("n1"), claim("c", allocated_to=ON_N2)], using(resourceClaimName="c"))
    (entry,) = report.nodes
    assert (entry.verdict.code, entry.verdict.plugin) == ("UnschedulableAndUnresolvable", "DynamicResources")


@pytest.mark.parametrize(
    ("objects", "gap"),
    [
        ([], ("no ResourceClaim objects: where the pod's resource claims are allocated is not evaluated",)),
        (
            [claim("c")],
            (
                "no DeviceClass objects: whether the classes that the pod's resource claims ask for exist is not evaluated",
            ),
        ),
        ([claim("c"), device_class("gpu")], ()),
    ],
)
def test_what_the_snapshot_lacks_is_said(objects: list[Data], gap: tuple[str, ...]) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}
    assert ask([node("n1"), pod("running", "n1"), service, *objects], using(resourceClaimName="c")).gaps == gap
