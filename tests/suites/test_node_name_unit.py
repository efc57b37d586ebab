"""NodeName's own table: a pod that names its node.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/nodename/node_name_test.go (1.31), TestNodeName,
3 cases, all taken.
"""

from __future__ import annotations

import pytest

import kubespread
from tests.builders import pod
from tests.suites.tables import NEVER, nodes, profile_of, reasons

TABLE: dict[str, tuple[str | None, dict[str, tuple[str, str]]]] = {
    "no host specified": (None, {}),
    "host matches": ("foo", {}),
    "host doesn't match": ("bar", {"foo": (NEVER, "node(s) didn't match the requested node name")}),
}


@pytest.mark.parametrize("case", TABLE)
def test_a_pod_that_names_its_node(case: str) -> None:
    """Asked as a manifest: a stored pod with a node name is one that runs there."""
    on, expected = TABLE[case]
    scheduler = kubespread.Scheduler(config=profile_of("NodeName"))
    report = kubespread.explain(kubespread.Snapshot.from_objects(nodes("foo")), pod("p", on), scheduler)
    assert reasons(report) == expected
