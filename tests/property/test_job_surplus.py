"""What a Job deletes, beside its controller's own steps over pods listed in any order."""

from __future__ import annotations

import random
from typing import NamedTuple

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubespread.controllers.job import surplus
from kubespread.kube.api.core import Pod
from tests.builders import replica


class Facts(NamedTuple):
    """Smaller goes first, as the builder's arguments say it."""

    assigned: bool
    ready: int
    completion_index: int | None


def pod_of(name: str, facts: Facts) -> Pod:
    made = replica(name, "n0" if facts.assigned else None, ready=100 * facts.ready or None)
    if facts.completion_index is not None:
        made["metadata"]["annotations"] = {"batch.kubernetes.io/job-completion-index": str(facts.completion_index)}
    return msgspec.convert(made, Pod)


def controllers_choice(listed: list[str], pods: dict[str, Facts], at_least: int, completions: int | None) -> set[str]:
    """By stable sorts, which is what Go's are for up to twelve pods."""

    def in_order(names: list[str]) -> list[str]:
        return sorted(names, key=lambda name: (pods[name].assigned, pods[name].ready))

    gone, left = [], listed
    if completions is not None:
        left = []
        by_index: dict[int, list[str]] = {}
        for name in listed:
            index = pods[name].completion_index
            by_index.setdefault(-1 if index is None or index >= completions else index, []).append(name)
        gone += by_index.pop(-1, [])
        for index in sorted(by_index):
            *duplicates, last = in_order(by_index[index])
            gone += duplicates
            left.append(last)
    if len(gone) < at_least:
        gone += in_order(left)[: at_least - len(gone)]
    return set(gone)


@given(
    facts=st.lists(
        st.builds(Facts, st.booleans(), st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))), max_size=5
    ),
    share=st.integers(0, 5),
    completions=st.one_of(st.none(), st.integers(1, 4)),
    seed=st.integers(0, 2**32),
)
def test_every_listing_order_deletes_what_always_goes_and_no_more_than_may(
    facts: list[Facts], share: int, completions: int | None, seed: int
) -> None:
    pods = {f"w{number}": each for number, each in enumerate(facts)}
    at_least = min(share, len(pods))
    ours = surplus([pod_of(name, each) for name, each in pods.items()], at_least, completions)
    listed, shuffle = list(pods), random.Random(seed).shuffle
    seen = []
    for _ in range(150):
        shuffle(listed)
        seen.append(controllers_choice(list(listed), pods, at_least, completions))
    chosen, always, sometimes = (
        {pod.metadata.name for pod in group} for group in (ours.chosen, ours.always, ours.sometimes)
    )
    assert always == set.intersection(*seen)
    assert always | sometimes == set.union(*seen)
    assert not always & sometimes
    assert chosen in seen
