"""Which instance types Karpenter launches where a file says which there are."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.kube.api.cluster_objects import NodePool
from kubespread.kube.api.decoding import decode
from kubespread.node_groups import Autoscaler, InstanceType, NodeGroup, node_pool_group
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.scenario.autoscaler import read_instance_types
from tests.builders import Data, hard, taint
from tests.questions.autoscaling.clusters import ZONE, machine, waiting, world

CAPACITY, ARCH, OS = "karpenter.sh/capacity-type", "kubernetes.io/arch", "kubernetes.io/os"
NAME = "node.kubernetes.io/instance-type"
SMALL = [machine("a1", "a", cpu="100m"), machine("b1", "b", cpu="100m")]


def kind(name: str, cpu: str = "4", price: float | None = None, **more: Any) -> InstanceType:
    entry = {"name": name, "cpu": cpu, "memory": "64Gi", "price": price, **more}
    document = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "InstanceTypes", "instanceTypes": [entry]}
    return read_instance_types(document)[0]


def pool(*requirements: tuple[str, str, list[str]], name: str = "pool", zones: str = "a", **more: Any) -> NodeGroup:
    """A NodePool; ``taints``, ``startupTaints`` and ``labels`` are those of its nodes."""
    written = [(ZONE, "In", [*zones]), *requirements] if zones else requirements
    spec: Data = {
        "requirements": [{"key": key, "operator": operator, "values": values} for key, operator, values in written],
        **{key: more.pop(key) for key in ("taints", "startupTaints") if key in more},
    }
    template = {"metadata": {"labels": more.pop("labels", {})}, "spec": spec}
    return node_pool_group(decode({"metadata": {"name": name}, "spec": {"template": template, **more}}, NodePool))


def grown(objects: list[Data], pools: list[NodeGroup], types: list[InstanceType]) -> AutoscalingReport:
    return autoscale(world(objects), groups=pools, kind=Autoscaler.KARPENTER, types=types)


def launched(report: AutoscalingReport) -> list[tuple[str, str]]:
    return sorted((each.group, name) for loop in report.loops for each in loop.added for name in each.types)


LARGE, MEDIUM, TINY = kind("large", "16", 0.9), kind("medium", "4", 0.2), kind("tiny", "1", 0.1)
ARM = kind("arm", "4", 0.1, labels={ARCH: "arm64"})
AMD = kind("amd", "4", 0.2, labels={ARCH: "amd64"})
SPOT = kind("m", "4", 0.05, labels={CAPACITY: "spot"})
ON_DEMAND = kind("m", "4", 0.2, labels={CAPACITY: "on-demand"})
PRESENT = machine("p1", "a", cpu="3")
PRESENT["metadata"]["labels"]["karpenter.sh/nodepool"] = "pool"


class Case(NamedTuple):
    objects: list[Data]
    pools: list[NodeGroup]
    types: list[InstanceType]
    launched: list[str]
    left: int = 0


CASES = {
    "the cheapest that one pod fits on": Case(waiting(1), [pool()], [LARGE, MEDIUM, TINY], ["tiny"]),
    "pods are packed as if the largest came, and the cheapest that takes them all does": Case(
        waiting(4), [pool()], [LARGE, MEDIUM, TINY], ["medium"]
    ),
    "so that one large node comes where several small ones would cost less": Case(
        waiting(5), [pool()], [LARGE, MEDIUM, TINY], ["large"]
    ),
    "of types that cost the same the smallest": Case(
        waiting(1), [pool()], [kind("big", "8", 1), kind("less", "4", 1)], ["less"]
    ),
    "then the first by name": Case(waiting(1), [pool()], [kind("b", price=1), kind("a", price=1)], ["a"]),
    "without prices the smallest": Case(waiting(2), [pool()], [kind("b", "9"), kind("a", "3")], ["a"]),
    "one without a price only where none with one fits": Case(
        waiting(1, cpu="2"), [pool()], [kind("free", "2"), TINY, MEDIUM], ["medium"]
    ),
    "a type that the pool's requirements exclude is not launched": Case(
        waiting(1), [pool((NAME, "NotIn", ["tiny"]))], [LARGE, MEDIUM, TINY], ["medium"]
    ),
    "numbers are compared": Case(
        waiting(1),
        [pool(("example.com/generation", "Gt", ["5"]))],
        [
            kind("m5", price=0.1, labels={"example.com/generation": "5"}),
            kind("m6", price=0.2, labels={"example.com/generation": "6"}),
        ],
        ["m6"],
    ),
    "as Karpenter does with the bound itself": Case(
        waiting(1),
        [pool(("example.com/generation", "Gte", ["5"]))],
        [
            kind("m4", price=0.1, labels={"example.com/generation": "4"}),
            kind("m5", price=0.2, labels={"example.com/generation": "5"}),
        ],
        ["m5"],
    ),
    "a label of the pool that a type has otherwise excludes it": Case(
        waiting(1), [pool(labels={ARCH: "amd64"})], [ARM, AMD], ["amd"]
    ),
    "a pod's node selector chooses among types": Case(
        waiting(1, nodeSelector={ARCH: "amd64"}), [pool()], [ARM, AMD], ["amd"]
    ),
    "and the next pod goes to the planned node only if its types leave it one": Case(
        [
            *waiting(1, nodeSelector={ARCH: "amd64"}),
            *[
                {**each, "metadata": {**each["metadata"], "name": "x"}}
                for each in waiting(1, nodeSelector={ARCH: "arm64"})
            ],
        ],
        [pool()],
        [ARM, AMD],
        ["amd", "arm"],
    ),
    "every type runs Linux unless it says otherwise": Case(
        waiting(1, nodeSelector={OS: "linux"}),
        [pool()],
        [kind("windows", price=0.01, labels={OS: "windows"}), MEDIUM],
        ["medium"],
    ),
    "spot is cheaper, if the pool allows it": Case(waiting(1), [pool()], [SPOT, ON_DEMAND], ["m"]),
    "a value that the type leaves open is chosen by the pod": Case(
        waiting(1, nodeSelector={"team": "red"}), [pool(("team", "In", ["blue", "red"]))], [MEDIUM], ["medium"]
    ),
    "among values that the pool has": Case(
        waiting(1, nodeSelector={"team": "green"}), [pool(("team", "In", ["blue", "red"]))], [MEDIUM], [], 1
    ),
    "taints of the pool keep pods away": Case(waiting(1), [pool(taints=[taint("gpu")])], [MEDIUM], [], 1),
    "startup taints are gone once the node is ready": Case(
        waiting(1), [pool(startupTaints=[taint("cilium")])], [MEDIUM], ["medium"]
    ),
    "the pool with the highest weight comes first, however dear": Case(
        waiting(1),
        [pool(name="cheap"), pool((NAME, "In", ["large"]), name="dear", weight=10)],
        [LARGE, TINY],
        ["large"],
    ),
    "a pool may have so many nodes": Case(waiting(8), [pool(limits={"nodes": "1"})], [MEDIUM], ["medium"], left=4),
    "among which are those that it has": Case(
        [*SMALL, PRESENT, *waiting(4)], [pool(limits={"nodes": "1"})], [TINY], [], left=1
    ),
    "limits are those of what a planned node might be at most": Case(
        waiting(8), [pool(limits={"cpu": "8"})], [MEDIUM], ["medium", "medium"]
    ),
    "so a type that is larger than what they leave is none": Case(
        waiting(5), [pool(limits={"cpu": "8"})], [LARGE, MEDIUM], ["medium", "medium"]
    ),
    "nodes that the pool has count, each with its own size": Case(
        [*SMALL, PRESENT, *waiting(7)], [pool(limits={"cpu": "8"})], [MEDIUM], ["medium"]
    ),
    "a type is launched only in its zones": Case(
        waiting(2, [hard(ZONE)]),
        [pool(zones="ab")],
        [kind("here", price=0.1, zones=["a"]), kind("anywhere", price=0.2)],
        ["anywhere", "here"],
    ),
    "a type that no node of the pool can be leaves it without any": Case(
        waiting(1), [pool((ARCH, "In", ["s390x"]))], [ARM, AMD], [], 1
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_launched(case: Case) -> None:
    nodes = [each for each in case.objects if each["kind"] == "Node"]
    report = grown([*([] if nodes else SMALL), *case.objects], case.pools, case.types)
    assert (sorted(name for _, name in launched(report)), report.pods_left) == (sorted(case.launched), case.left)


def test_pods_spread_over_capacity_types_get_both() -> None:
    """The universe of domains is what pools could make: both are there, though no node of either runs."""
    report = grown([*SMALL, *waiting(2, [hard(CAPACITY)])], [pool()], [SPOT, ON_DEMAND])
    assert launched(report) == [("pool/on-demand", "m"), ("pool/spot", "m")]
    assert [(each.name, each.nodes, each.price) for each in report.types] == [("m", 1, "0.05"), ("m", 1, "0.2")]


def test_a_node_of_a_type_has_its_labels_and_those_of_its_pool_and_zone() -> None:
    after = world([*SMALL, *waiting(1)])
    there = pool(labels={"team": "red"}, taints=[taint("web", effect="PreferNoSchedule")])
    autoscale(after, groups=[there], kind=Autoscaler.KARPENTER, types=[AMD])
    (node,) = (each for each in after.cluster.nodes.objects if each.metadata.name.startswith("pool"))
    assert {key: node.metadata.labels.get(key) for key in (NAME, ARCH, ZONE, "team", "karpenter.sh/nodepool")} == {
        NAME: "amd",
        ARCH: "amd64",
        ZONE: "a",
        "team": "red",
        "karpenter.sh/nodepool": "pool",
    }
    assert [each.key for each in node.spec.taints] == ["web"]


def test_who_still_waits_hears_why() -> None:
    pools = [pool(name="limited", limits={"cpu": "1"}), pool((ARCH, "In", ["arm64"]), name="none"), pool(name="small")]
    report = grown([*SMALL, *waiting(1, cpu="9")], pools, [MEDIUM, AMD])
    (pods,) = report.pending
    assert {each.group: each.reason for each in pods.groups} == {
        "limited": "spec.limits of NodePool limited leave 1 of cpu 1, less than the pod requests",
        "none": "on an empty node of it, whatever its instance type: Insufficient cpu",
        "small": "on an empty node of it, whatever its instance type: Insufficient cpu",
    }


@pytest.mark.parametrize(
    ("types", "notes"),
    [
        ([MEDIUM], ()),
        ([kind("a"), kind("b")], ("no instance type has a price: of those that fit the smallest is taken",)),
        ([kind("a"), MEDIUM], ("taken only where none with a price fits, as they have none: a",)),
    ],
    ids=["all have prices", "none has", "one has none"],
)
def test_what_is_said_of_prices(types: list[InstanceType], notes: tuple[str, ...]) -> None:
    assert grown([*SMALL, *waiting(1)], [pool()], types).notes == notes


sizes = st.lists(
    st.tuples(st.integers(1, 8), st.integers(1, 9)), min_size=1, max_size=4, unique_by=lambda size: size[0]
)


@settings(max_examples=30, deadline=None)
@given(sizes, st.lists(st.integers(1, 8), min_size=1, max_size=6))
def test_every_planned_node_is_of_the_cheapest_type_that_takes_its_pods(
    sizes: list[tuple[int, int]], cpus: list[int]
) -> None:
    """By brute force: each pod, the largest first, goes to the emptiest plan that some type could still hold."""
    types = [kind(f"t{cpu}", str(cpu), price) for cpu, price in sizes]
    pods = [
        {**each, "metadata": {**each["metadata"], "name": f"w{place}", "ownerReferences": []}}
        for place, cpu in enumerate(cpus)
        for each in waiting(1, cpu=str(cpu))
    ]
    plans: list[list[int]] = []
    largest = max(cpu for cpu, _ in sizes)
    for cpu in sorted((cpu for cpu in cpus if cpu <= largest), reverse=True):
        open_plans = [plan for plan in plans if sum(plan) + cpu <= largest]
        if open_plans:
            min(open_plans, key=len).append(cpu)
        else:
            plans.append([cpu])
    expected = sorted(min((price, cpu) for cpu, price in sizes if cpu >= sum(plan)) for plan in plans)
    report = grown([*SMALL, *pods], [pool()], types)
    first = [name for loop in report.loops[:1] for each in loop.added for name in each.types]
    assert sorted(first) == sorted(f"t{cpu}" for _, cpu in expected)
    assert report.pods_left >= sum(cpu > largest for cpu in cpus)
