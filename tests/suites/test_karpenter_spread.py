"""Karpenter's own tests of topology spread: how many pods each domain has once it has made its nodes.

Source: kubernetes-sigs/karpenter, pkg/controllers/provisioning/scheduling/topology_test.go (0.37), the 50 cases up to
and without "Pod Affinity/Anti-Affinity", of which 45 are taken: 32 here, 13 in test_karpenter_spread_rounds.py.
Karpenter's tests bind the pods as Karpenter means them; here kube-scheduler places them once the nodes are there. Nodes
have one size here, that of the instance type Karpenter's fake cloud would choose. A NodePool that may choose between
capacity types, architectures or values of a key of its own is one group for each here, see karpenter_pools.py.

Not applicable, 5 cases: "should not spread an invalid label selector" is skipped by Karpenter itself since Kubernetes
1.24. The four under "NodeClaim Name" spread over karpenter.sh/nodeclaim, whose values are the names of nodes to come;
kubespread knows that of kubernetes.io/hostname alone, which is a limit of the model.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.node_groups.groups import NodeGroup
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE
from tests.suites.karpenter_pools import (
    ARCH,
    CAPACITY_TYPE,
    ON_DEMAND,
    SPOT,
    Z1,
    Z2,
    Z3,
    counts,
    node,
    pool,
    prefer_spread,
    provision,
    spread,
    there,
    wanted,
)
from tests.suites.node_terms import preferred, required

Data = dict[str, Any]

FULL = "2"
"""The cpu of a node on which a pod that asks for 1.1 leaves no room for another."""
TYPES = [pool(SPOT, name="spot"), pool(ON_DEMAND, name="on-demand")]


def counted(*own: str) -> list[Data]:
    """Two nodes with a label each and one without, and pods on them of which three count."""
    first, second = own
    words = [word for word in own if "=" in word]
    nodes = [
        node("first", None if words else first, *words[:1], pods="0"),
        node("second", None if words else second, *words[1:], pods="0"),
        node("third", None, pods="0"),
    ]
    ended = [{**each, "status": {"phase": phase}} for phase in ("Failed", "Succeeded") for each in there("first")]
    terminating = wanted(1)
    terminating[0]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    elsewhere = there("first")
    elsewhere[0]["metadata"]["namespace"] = "wrong"
    unlabeled = there("first", own={})
    return [*nodes, *ended, *terminating, *elsewhere, *unlabeled, *there("third"), *there("first", 2), *there("second")]


Case = tuple[list[NodeGroup], list[Data], list[Data], str, list[int]]

# The pools, what is there, the pods, and how many of those that match each domain has in the end.
ZONAL: dict[str, Case] = {
    "should balance pods across zones (match labels)": ([pool()], [], wanted(4, spread(ZONE)), ZONE, [2, 1, 1]),
    "should balance pods across zones (match expressions)": (
        [pool()],
        [],
        wanted(
            4, spread(ZONE, labelSelector={"matchExpressions": [{"key": "test", "operator": "In", "values": ["test"]}]})
        ),
        ZONE,
        [2, 1, 1],
    ),
    "should respect NodePool zonal constraints": (
        [pool(zones=(Z1, Z2, Z3))],
        [],
        wanted(4, spread(ZONE)),
        ZONE,
        [2, 1, 1],
    ),
    "should respect NodePool zonal constraints (subset) with requirements": (
        [pool(zones=(Z1, Z2))],
        [],
        wanted(4, spread(ZONE)),
        ZONE,
        [2, 2],
    ),
    "should respect NodePool zonal constraints (subset) with labels": (
        [pool(labels=(f"{ZONE}={Z1}",))],
        [],
        wanted(4, spread(ZONE)),
        ZONE,
        [4],
    ),
    "should respect NodePool zonal constraints (subset) with requirements and labels": (
        [pool(zones=(Z1, Z2), labels=(f"{ZONE}={Z1}",))],
        [],
        wanted(4, spread(ZONE)),
        ZONE,
        [4],
    ),
    "should respect NodePool zonal constraints (subset) with labels across NodePools": (
        [pool(zones=(Z1, Z2), labels=(f"{ZONE}={Z1}",)), pool(labels=(f"{ZONE}={Z2}",), name="second")],
        [],
        wanted(4, spread(ZONE)),
        ZONE,
        [2, 2],
    ),
    "should respect NodePool zonal constraints (existing pod)": (
        [pool(zones=(Z1, Z2), cpu=FULL)],
        [node("n3", Z3, cpu=FULL), *there("n3", cpu="1.1")],
        wanted(6, spread(ZONE), cpu="1.1"),
        ZONE,
        [2, 2, 1],
    ),
    "should schedule to the non-minimum domain if its all that's available": (
        [pool(zones=(Z3,), cpu=FULL)],
        [node("n1", Z1, cpu=FULL), *there("n1", cpu="1.1"), node("n2", Z2, cpu=FULL), *there("n2", cpu="1.1")],
        wanted(10, spread(ZONE, 5), cpu="1.1"),
        ZONE,
        [6, 1, 1],
    ),
    "should only schedule to minimum domains if already violating max skew": (
        [pool(cpu=FULL)],
        [
            *(node(f"n{zone[-1]}{copy}", zone, cpu=FULL) for zone in (Z1, Z2, Z3) for copy in range(3)),
            *(each for copy in range(3) for each in there(f"n1{copy}", cpu="1.1")),
        ],
        wanted(3, spread(ZONE), cpu="1.1"),
        ZONE,
        [3, 2, 1],
    ),
    "should not violate max-skew when unsat = do not schedule": (
        [pool(zones=(Z2, Z3), cpu=FULL)],
        [node("n1", Z1, cpu=FULL), *there("n1", cpu="1.1", topologySpreadConstraints=[spread(ZONE)])],
        wanted(10, spread(ZONE), cpu="1.1"),
        ZONE,
        [2, 2, 1],
    ),
    "should not violate max-skew when unsat = do not schedule (discover domains)": (
        [pool(zones=(Z2, Z3), cpu=FULL)],
        [node("n1", Z1, cpu=FULL), *there("n1", cpu="1.1")],
        wanted(10, spread(ZONE), cpu="1.1"),
        ZONE,
        [2, 2, 1],
    ),
    # A pod that waits, though kube-scheduler has not said so, is left out: here it would be placed.
    "should only count running/scheduled pods with matching labels scheduled to nodes with a corresponding domain": (
        [pool()],
        counted(Z1, Z2),
        wanted(2, spread(ZONE)),
        ZONE,
        [2, 2, 1],
    ),
    "should match all pods when labelSelector is not specified": ([pool()], [], wanted(1), ZONE, [1]),
    "should respect minDomains constraints": (
        [pool(zones=(Z1, Z2))],
        [],
        wanted(3, spread(ZONE, minDomains=3)),
        ZONE,
        [1, 1],
    ),
    "satisfied minDomains constraints (equal) should allow expected pod scheduling": (
        [pool(zones=(Z1, Z2, Z3))],
        [],
        wanted(11, spread(ZONE, minDomains=3)),
        ZONE,
        [4, 4, 3],
    ),
    "satisfied minDomains constraints (greater than minimum) should allow expected pod scheduling": (
        [pool(zones=(Z1, Z2, Z3))],
        [],
        wanted(11, spread(ZONE, minDomains=2)),
        ZONE,
        [4, 4, 3],
    ),
}

OTHERS: dict[str, Case] = {
    "Hostname: should balance pods across nodes": ([pool()], [], wanted(4, spread(HOSTNAME)), HOSTNAME, [1, 1, 1, 1]),
    "Hostname: should balance pods on the same hostname up to maxskew": (
        [pool()],
        [],
        wanted(4, spread(HOSTNAME, 4)),
        HOSTNAME,
        [4],
    ),
    "should balance pods across capacity types": (TYPES, [], wanted(4, spread(CAPACITY_TYPE)), CAPACITY_TYPE, [2, 2]),
    # The same question here: the pool above may choose between all capacity types, this one names both.
    "should respect NodePool capacity type constraints": (
        TYPES,
        [],
        wanted(4, spread(CAPACITY_TYPE)),
        CAPACITY_TYPE,
        [2, 2],
    ),
    "should not violate max-skew when unsat = do not schedule (capacity type)": (
        [pool(ON_DEMAND, cpu=FULL)],
        [node("spot", Z1, SPOT, cpu=FULL), *there("spot", cpu="1.1")],
        wanted(5, spread(CAPACITY_TYPE), cpu="1.1"),
        CAPACITY_TYPE,
        [2, 1],
    ),
    "should violate max-skew when unsat = schedule anyway (capacity type)": (
        [pool(ON_DEMAND, cpu=FULL)],
        [node("spot", Z1, SPOT, cpu=FULL), *there("spot", cpu="1.1")],
        wanted(5, prefer_spread(CAPACITY_TYPE), cpu="1.1"),
        CAPACITY_TYPE,
        [5, 1],
    ),
    "Capacity type: should only count running/scheduled pods with matching labels": (
        TYPES,
        counted(SPOT, ON_DEMAND),
        wanted(2, spread(CAPACITY_TYPE)),
        CAPACITY_TYPE,
        [3, 2],
    ),
    "Capacity type: should match all pods when labelSelector is not specified": (
        TYPES,
        [],
        wanted(1),
        CAPACITY_TYPE,
        [1],
    ),
    "should balance pods across capacity-types (node required affinity constrained)": (
        TYPES,
        [node("first", Z1, ON_DEMAND), *there("first")],
        wanted(
            5, spread(CAPACITY_TYPE), affinity={"nodeAffinity": required(f"{ZONE} In {Z2} & {CAPACITY_TYPE} In spot")}
        ),
        CAPACITY_TYPE,
        [5, 1],
    ),
    "should balance pods across capacity-types (no constraints)": (
        [pool(SPOT)],
        [node("single", Z1, ON_DEMAND, pods="1"), *there("single")],
        wanted(5, spread(CAPACITY_TYPE), cpu="2"),
        CAPACITY_TYPE,
        [2, 1],
    ),
    "should balance pods across arch (no constraints)": (
        [pool(f"{ARCH}=arm64")],
        [node("single", Z1, f"{ARCH}=amd64", pods="1"), *there("single")],
        wanted(5, spread(ARCH), cpu="2"),
        ARCH,
        [2, 1],
    ),
    "Combined Zonal Topology and Node Affinity: should limit spread options by nodeSelector": (
        [pool()],
        [],
        [*wanted(5, spread(ZONE), nodeSelector={ZONE: Z1}), *wanted(10, spread(ZONE), nodeSelector={ZONE: Z2})],
        ZONE,
        [10, 5],
    ),
    "should limit spread options by node requirements": (
        [pool()],
        [],
        wanted(10, spread(ZONE), affinity={"nodeAffinity": required(f"{ZONE} In {Z1},{Z2}")}),
        ZONE,
        [5, 5],
    ),
    "should not limit spread options by preferred node affinity": (
        [pool()],
        [],
        wanted(6, spread(ZONE), affinity={"nodeAffinity": preferred(w1=f"{ZONE} In {Z1},{Z2}")}),
        ZONE,
        [2, 2, 2],
    ),
    "Combined Capacity Type Topology and Node Affinity: should limit spread options by nodeSelector": (
        TYPES,
        [],
        [
            *wanted(5, prefer_spread(CAPACITY_TYPE), nodeSelector={CAPACITY_TYPE: "spot"}),
            *wanted(5, prefer_spread(CAPACITY_TYPE), nodeSelector={CAPACITY_TYPE: "on-demand"}),
        ],
        CAPACITY_TYPE,
        [5, 5],
    ),
}


@pytest.mark.parametrize("case", [*ZONAL, *OTHERS])
def test_how_many_pods_each_domain_has(case: str) -> None:
    pools, objects, pods, key, expected = {**ZONAL, **OTHERS}[case]
    world, _ = provision(pools, objects, pods)
    assert counts(world, key) == expected
