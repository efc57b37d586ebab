"""Which limit is reached first, a quota of the namespace or the nodes, and what the other would have allowed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Scheduler, Snapshot
from tests.builders import Data, hosts, node, pod
from tests.world.clusters import deployment


def quota(**hard: str) -> Data:
    """Of namespace default; underscores in names stand for dots."""
    amounts = {name.replace("_", "."): amount for name, amount in hard.items()}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": amounts},
    }


def new(cpu: str = "3", replicas: int = 1) -> Data:
    (made,) = (each for each in deployment("new", (), cpu=cpu, replicas=replicas) if each["kind"] == "Deployment")
    return made


# objects besides two nodes of 8 CPUs -> (binding, nodes, quota), what simulate says
CASES: Mapping[str, tuple[list[Data], tuple[str, int, int | None], str | None]] = {
    "without a quota the nodes bind": ([], ("nodes", 4, None), None),
    "a quota that does not count what is asked for does not bind": ([quota(configmaps="1")], ("nodes", 4, None), None),
    "the nodes bind first": (
        [quota(requests_cpu="100")],
        ("nodes", 4, 33),
        "the nodes bind first: they have room for 4 more, quotas allow 33",
    ),
    "a quota binds first": (
        [quota(requests_cpu="10", pods="7")],
        ("quota", 4, 3),
        "quotas bind first: they allow 3 more, the nodes have room for 4",
    ),
    "both at once": ([quota(pods="4")], ("both", 4, 4), "quotas and nodes bind at once: both allow 4 more"),
    "what runs already counts": (
        [quota(pods="4"), *deployment("old", ("n0",), cpu="3")],
        ("both", 3, 3),
        "quotas and nodes bind at once: both allow 3 more",
    ),
    "nothing is allowed": (
        [quota(pods="0")],
        ("quota", 4, 0),
        "quotas bind first: they allow 0 more, the nodes have room for 4",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_limit_that_binds_is_named(case: str) -> None:
    more, expected, simulated = CASES[case]
    cluster = Snapshot.from_objects([*hosts("a", "b"), *more])
    fitting = kubespread.simulate(cluster, new(), replicas="max")
    assert fitting.limits is not None
    assert (fitting.limits.binding, fitting.limits.nodes, fitting.limits.quota) == expected
    assert fitting.placed == min(number for number in expected[1:] if isinstance(number, int))
    assert [said for said in fitting.answer if "bind" in said] == ([] if simulated is None else [simulated])


def test_without_admission_no_quota_binds() -> None:
    cluster, scheduler = Snapshot.from_objects([*hosts("a"), quota(pods="1")]), Scheduler(admission=False)
    fitting = kubespread.simulate(cluster, new(), scheduler=scheduler, replicas="max")
    assert fitting.limits is not None
    assert (fitting.placed, fitting.limits.quota) == (2, None)


WHOLE: Mapping[str, tuple[list[Data], list[str]]] = {
    "the nodes end it": (
        [],
        ["4 of 9 placed", "0/2 nodes are available: 2 Insufficient cpu.", "5 pending: both nodes have too little cpu"],
    ),
    "a quota ends it": (
        [quota(pods="3")],
        [
            "3 of 9 placed, 6 not created",
            'pods "NAME" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3',
        ],
    ),
    "the nodes end it, and a quota the rest": (
        [quota(pods="6")],
        [
            "4 of 9 placed, 3 not created",
            "0/2 nodes are available: 2 Insufficient cpu.",
            "2 pending: both nodes have too little cpu",
        ],
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_of_a_whole_deployment_it_is_said_how_many_fit_and_what_binds_the_next(case: str) -> None:
    more, expected = WHOLE[case]
    report = kubespread.simulate(Snapshot.from_objects([*hosts("a", "b"), *more]), new(replicas=9))
    name = next((said.split('"')[1] for said in report.answer if '"' in said), "NAME")
    assert [said.replace(name, "NAME") for said in report.answer] == expected


@settings(max_examples=20, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=3),
    taken=st.integers(0, 3),
    cpu=st.integers(1, 3),
    hard=st.integers(0, 20),
    most=st.none() | st.integers(0, 9),
)
def test_both_limits_agree_with_one_more_at_a_time(
    sizes: list[int], taken: int, cpu: int, hard: int, most: int | None
) -> None:
    nodes = [node(f"n{place}", cpu=str(size)) for place, size in enumerate(sizes)]
    used = [pod(f"used-{place}", None, requests={"cpu": "1"}) for place in range(taken)]
    limit = quota(requests_cpu=str(hard), **({} if most is None else {"pods": str(most)}))
    cluster = Snapshot.from_objects([*nodes, *used, limit])
    report = kubespread.simulate(cluster, new(str(cpu)), replicas="max")
    assert report.limits is not None
    free = Scheduler(admission=False)
    alone = next(
        tried - 1
        for tried in count(1)
        if kubespread.simulate(cluster, new(str(cpu)), tried, free, preemption=False).placed < tried
    )
    allowed = min(max(0, hard - taken) // cpu, 99 if most is None else max(0, most - taken))
    assert (report.limits.nodes, report.limits.quota, report.placed) == (alone, allowed, min(alone, allowed))
