"""Whatever the numbers, a rollout keeps its limits, ends, and leaves what it was given as it was."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from kubespread.controllers.deployment import limits, replicas_of
from kubespread.kube.api.workloads import ReplicaSet
from tests.controllers.rollouts import deployment, one_pass, passes, replica_set, sizes

REPLICAS = st.integers(0, 30)
PERCENT = st.integers(0, 200).map("{}%".format)
LIMIT = st.integers(0, 12) | PERCENT
MANY_PASSES = 300


@given(REPLICAS, LIMIT, LIMIT)
def test_a_rollout_keeps_its_limits_and_ends_with_new_pods_only(
    replicas: int, surge: int | str, down: int | str
) -> None:
    rolled = deployment(replicas, surge=surge, unavailable=down)
    max_surge, max_unavailable = limits(rolled)
    for taken, (_, found) in enumerate(passes(rolled, [replica_set("v1", replicas)])):
        assert taken < MANY_PASSES
        # Pods that this pass asks for are not there yet, and those it takes away were.
        available = sum(min(replicas_of(each), each.status.available_replicas) for each in found.replica_sets)
        assert available >= replicas - max_unavailable
        assert sum(sizes(found).values()) <= replicas + max_surge
    assert sizes(found) == {"web-v1": 0, "web-new": replicas}


@given(REPLICAS, LIMIT, LIMIT, st.integers(0, 30))
def test_new_pods_that_never_become_available_leave_enough_old_ones(
    replicas: int, surge: int | str, down: int | str, healthy: int
) -> None:
    rolled = deployment(replicas, surge=surge, unavailable=down)

    def available(each: ReplicaSet) -> int:
        return healthy if each.metadata.name == "web-v1" else 0

    stuck = islice(
        passes(rolled, [replica_set("v1", replicas, available=min(healthy, replicas))], available), MANY_PASSES
    )
    *_, (_, found) = stuck
    assert sizes(found)["web-v1"] >= min(healthy, replicas - limits(rolled).max_unavailable)


@given(
    REPLICAS,
    st.lists(st.tuples(st.sampled_from(["v1", "v2", "v3"]), st.integers(0, 9), st.integers(0, 12)), max_size=4),
)
def test_what_a_pass_is_given_stays_as_it_was(replicas: int, given_sets: list[tuple[str, int, int]]) -> None:
    rolled = deployment(replicas, revisionHistoryLimit=0)
    replica_sets = [
        replica_set(image, size, name=f"web-{index}", desired=desired, revision=index)
        for index, (image, size, desired) in enumerate(given_sets)
    ]
    before = deepcopy((rolled, replica_sets))
    one_pass(rolled, *replica_sets)
    assert (rolled, replica_sets) == before
