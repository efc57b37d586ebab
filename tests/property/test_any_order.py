"""The order in which a file has its objects decides nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from tests.builders import Data
from tests.property.workloads_on_nodes import clusters, snapshot_of


def answers(snapshot: Snapshot) -> list[Any]:
    """Without the order of rows, which is that of nodes."""
    reports = (
        kubespread.removable(snapshot),
        kubespread.survive(snapshot, pairs=False),
        kubespread.plan(snapshot.edited("drain n0", "delete-node n0")),
    )
    return [_unordered(report.to_dict()) for report in reports]


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(each) for key, each in value.items()}
    return sorted((_unordered(each) for each in value), key=json.dumps) if isinstance(value, list) else value


@settings(max_examples=5, deadline=None)
@given(objects=clusters(), random=st.randoms(use_true_random=False))
def test_shuffled_objects_have_the_same_answers(objects: list[Data], random: Any) -> None:
    shuffled = [*objects]
    random.shuffle(shuffled)
    assert answers(snapshot_of(shuffled)) == answers(snapshot_of(objects))
