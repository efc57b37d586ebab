"""Whatever the pods, the groups are those that comparing each pair makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubespread.controllers.replicaset import deletion_order, pods_to_delete
from kubespread.kube.api.core import Pod
from tests.builders import NOW, replica

AGES = st.sampled_from([None, -5, 0, 100, 110, 120, 130, 300, 310])
PODS = st.lists(
    st.fixed_dictionaries(
        {
            "on": st.sampled_from([None, "a", "b"]),
            "ready": AGES,
            "created": AGES,
            "restarts": st.integers(0, 2),
            "phase": st.sampled_from(["Pending", "Unknown", "Running"]),
            "cost": st.sampled_from([None, "1", "-1"]),
            "uid": st.sampled_from(["", "a", "b", "c", "d"]),
        }
    ),
    max_size=8,
)
READY_ALIKE = st.lists(
    st.fixed_dictionaries(
        {
            "ready": st.sampled_from([100, 110, 120]),
            "created": st.sampled_from([200, 210, 220, 300]),
            "restarts": st.integers(0, 1),
            "uid": st.sampled_from("abcdef"),
        }
    ),
    max_size=8,
)


FIRST_RULES: tuple[Callable[[dict[str, Any]], int], ...] = (
    lambda pod: pod.get("on", "n0") is not None,
    lambda pod: ["Pending", "Unknown", "Running"].index(pod.get("phase", "Running")),
    lambda pod: pod["ready"] is not None,
    lambda pod: int(pod.get("cost") or 0),
)


def goes_before(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Kubernetes' comparison, one pair and one rule after the other."""
    for key in FIRST_RULES:
        if key(one) != key(other):
            return key(one) < key(other)
    if one["ready"] is not None and one["ready"] != other["ready"]:
        return is_younger(one["ready"], other["ready"], one["uid"] < other["uid"])
    if one["restarts"] != other["restarts"]:
        return bool(one["restarts"] > other["restarts"])
    if one["created"] != other["created"]:
        return is_younger(one["created"], other["created"], one["uid"] < other["uid"])
    return False


def is_younger(age: float | None, other: float | None, smaller_uid: bool) -> bool:
    if age is None or other is None:
        return age is None
    one, two = (int(math.log2(each * 1e9)) if each > 0 else -1 for each in (age, other))
    return smaller_uid if one == two else one < two


def groups_of(pods: Sequence[dict[str, Any]]) -> list[set[int]]:
    """The components of "may go before", each pod reaching all of its own."""
    everyone = range(len(pods))
    reached = {one: {other for other in everyone if not goes_before(pods[other], pods[one])} for one in everyone}
    for between in everyone:
        for one in everyone:
            if between in reached[one]:
                reached[one] |= reached[between]
    components = {frozenset(other for other in reached[one] if one in reached[other]) for one in everyone}
    return sorted(map(set, components), key=lambda group: -len(reached[min(group)]))


def typed(pods: Sequence[dict[str, Any]]) -> list[Pod]:
    return [msgspec.convert(replica(f"{index:02}", **pod), Pod) for index, pod in enumerate(pods)]


@given(PODS | READY_ALIKE)
def test_groups_are_what_comparing_each_pair_makes(pods: list[dict[str, Any]]) -> None:
    found = deletion_order(typed(pods), {}, NOW)
    assert [{int(pod.metadata.name) for pod in group} for group in found] == groups_of(pods)


@given(PODS | READY_ALIKE, st.data())
def test_neither_groups_nor_victims_depend_on_how_pods_are_listed(
    pods: list[dict[str, Any]], data: st.DataObject
) -> None:
    listed = typed(pods)
    shuffled = data.draw(st.permutations(listed))
    count = data.draw(st.integers(0, max(len(pods) - 1, 0)))
    assert deletion_order(shuffled, {}, NOW) == deletion_order(listed, {}, NOW)
    assert pods_to_delete(shuffled, count, shuffled, NOW) == pods_to_delete(listed, count, listed, NOW)
