"""Karpenter's own tests of topology spread that go on for several rounds, or ask for more than one number.

Source and what is not applicable: see test_karpenter_spread.py; 13 cases. A next round finds the nodes and pods of the
ones before, and pods that are new.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.world.events.world import World
from tests.builders import hard
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE
from tests.suites.karpenter_pools import (
    ALL_ZONES,
    ARCH,
    CAPACITY_TYPE,
    ON_DEMAND,
    SPOT,
    Z1,
    Z2,
    Z3,
    added,
    counts,
    nodes_of,
    pool,
    prefer_spread,
    provision,
    spread,
    wanted,
)
from tests.suites.node_terms import required

Data = dict[str, Any]

TYPES = [pool(SPOT, name="spot"), pool(ON_DEMAND, name="on-demand")]
FAKE_OFFERINGS = [pool(SPOT, name="spot", zones=(Z1, Z2)), pool(ON_DEMAND, name="on-demand")]
"""Karpenter's fake cloud has no spot nodes in the third zone."""


def test_should_ignore_unknown_topology_keys() -> None:
    unknown, plain = wanted(1, spread("unknown")), wanted(1)
    world, _ = provision([pool()], unknown, plain)
    assert (len(nodes_of(world, unknown)), len(nodes_of(world, plain))) == (0, 1)


# The case stands under "Zonal" and, once more, under "CapacityType".
@pytest.mark.parametrize("pools", [[pool()], TYPES])
def test_should_handle_interdependent_selectors(pools: list[Any]) -> None:
    pods = wanted(5, spread(HOSTNAME), own={})
    world, rounds = provision(pools, pods)
    assert (len(nodes_of(world, pods)), added(rounds)) == (5, 1)


def apps(*arch: str) -> list[Data]:
    """Two pods of each of two workloads that keep apart, on an architecture each."""
    made = []
    for name, wish in zip(("app1", "app2"), arch or ("", ""), strict=True):
        affinity: Data = {"affinity": {"nodeAffinity": required(f"{ARCH} In {wish}")}} if wish else {}
        made += wanted(2, hard(HOSTNAME, match={"app": name}), own={"app": name}, **affinity)
    return made


# The cases "balance multiple deployments with hostname topology spread" and "... & varying arch".
@pytest.mark.parametrize(("arch", "expected"), [((), 2), (("amd64", "arm64"), 4)])
def test_balance_multiple_deployments_with_hostname_topology_spread(arch: tuple[str, ...], expected: int) -> None:
    pools = [pool(f"{ARCH}={each}", name=each) for each in arch] or [pool()]
    pods = apps(*arch)
    world, rounds = provision(pools, pods)
    assert (len(nodes_of(world, pods)), added(rounds)) == (4, expected)


BOTH = (spread(ZONE), spread(HOSTNAME, 3))
BY_TYPE = (spread(CAPACITY_TYPE), spread(HOSTNAME, 3))

ROUNDS: dict[str, tuple[list[Any], tuple[Data, ...], str, list[tuple[int, list[int]]]]] = {
    "should spread pods while respecting both constraints (hostname and zonal)": (
        [pool()],
        BOTH,
        ZONE,
        [(2, [1, 1]), (3, [2, 2, 1]), (5, [4, 3, 3]), (11, [7, 7, 7])],
    ),
    "should spread pods while respecting both constraints (capacity type and hostname)": (
        TYPES,
        BY_TYPE,
        CAPACITY_TYPE,
        [(2, [1, 1]), (3, [3, 2]), (5, [5, 5]), (11, [11, 10])],
    ),
}


@pytest.mark.parametrize("case", ROUNDS)
def test_both_constraints_hold_in_every_round(case: str) -> None:
    pools, constraints, key, rounds = ROUNDS[case]
    world: World | None = None
    for more, expected in rounds:
        world, _ = provision(pools, wanted(more, *constraints), before=world)
        assert counts(world, key) == expected
        assert max(counts(world, HOSTNAME)) <= 3


# The case "Combined Zonal and Capacity Type Topology: should spread pods while respecting both constraints".
def test_zones_and_capacity_types() -> None:
    world: World | None = None
    for more, most_of_a_type, most_of_a_zone in ((2, 1, 1), (3, 3, 2), (3, 5, 4), (11, 11, 7)):
        world, _ = provision(FAKE_OFFERINGS, wanted(more, spread(CAPACITY_TYPE), spread(ZONE)), before=world)
        assert max(counts(world, CAPACITY_TYPE)) <= most_of_a_type
        assert max(counts(world, ZONE)) <= most_of_a_zone


# The case "should spread pods while respecting all constraints".
def test_hosts_zones_and_capacity_types() -> None:
    world: World | None = None
    for more in range(1, 15):
        pods = wanted(more, spread(CAPACITY_TYPE), spread(ZONE, 2), spread(HOSTNAME, 3))
        world, _ = provision(TYPES, pods, before=world)
        assert len(nodes_of(world, pods)) == more
        for key, domains, max_skew in ((CAPACITY_TYPE, 2, 1), (ZONE, 3, 2), (HOSTNAME, 0, 3)):
            found = counts(world, key)
            assert found[0] - (found[-1] if len(found) >= domains else 0) <= max_skew


def test_should_balance_pods_across_node_pool_requirements() -> None:
    """The pool of spot nodes may choose between four values of a key of its own."""
    key = "capacity.spread.4-1"
    pools = [pool(SPOT, f"{key}={value}", name=f"spot-{value}") for value in "2345"]
    pods = wanted(20, spread(key))
    world, _ = provision([*pools, pool(ON_DEMAND, f"{key}=1", name="on-demand")], pods)
    assert (len(nodes_of(world, pods)), counts(world, key), counts(world, CAPACITY_TYPE)) == (20, [4] * 5, [16, 4])


def test_a_zone_whose_pool_may_not_grow_still_counts() -> None:
    """The case "should spread pods while respecting both constraints" with a pool that cannot provision at all.

    Asked is what Karpenter means to place: kube-scheduler, which does not know of the third zone, then places more.
    """
    pools = [pool(zones=(Z1, Z2)), pool(zones=(Z3,), name="none", limits={"cpu": "0"})]
    _, (first, *_) = provision(pools, wanted(10, spread(ZONE), prefer_spread(HOSTNAME)))
    assert (first.expected, {each.zone: len(each.nodes) for each in first.added}) == (2, {Z1: 1, Z2: 1})


# The case "should limit spread options by required node affinity".
def test_required_node_affinity_limits_the_zones() -> None:
    world: World | None = None
    pools, any_pool = [pool()], [pool(zones=ALL_ZONES)]
    for made_by, more, zones, expected in (
        (pools, 6, f"{ZONE} In {Z1},{Z2}", [3, 3]),
        (any_pool, 1, f"{ZONE} In {Z2},{Z3}", [3, 3, 1]),
        (any_pool, 5, None, [4, 4, 4]),
    ):
        affinity: Data = {} if zones is None else {"affinity": {"nodeAffinity": required(zones)}}
        world, _ = provision(made_by, wanted(more, spread(ZONE), **affinity), before=world)
        assert counts(world, ZONE) == expected


# The case "should limit spread options by node affinity (capacity type)".
def test_required_node_affinity_limits_the_capacity_types() -> None:
    world: World | None = None
    for more, types, expected in (
        (3, f"{CAPACITY_TYPE} In spot", [3]),
        (1, f"{CAPACITY_TYPE} In on-demand,spot", [3, 1]),
        (5, None, [5, 4]),
    ):
        affinity: Data = {} if types is None else {"affinity": {"nodeAffinity": required(types)}}
        world, _ = provision(TYPES, wanted(more, spread(CAPACITY_TYPE), **affinity), before=world)
        assert counts(world, CAPACITY_TYPE) == expected
