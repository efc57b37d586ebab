"""NodeUnschedulable's own table: cordoned nodes, and who goes there all the same.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable_test.go (1.31),
TestNodeUnschedulable, 3 cases, all taken.

Not applicable, 6 cases: TestIsSchedulableAfterNodeChange is about which event makes kube-scheduler retry a pod.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import pod
from tests.suites.tables import NEVER, ask_alone, nodes, reasons

Data = dict[str, Any]

TOLERATES = {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}

TABLE: dict[str, tuple[str, Data, dict[str, tuple[str, str]]]] = {
    "Does not schedule pod to unschedulable node": ("n failed", {}, {"n": (NEVER, "node(s) were unschedulable")}),
    "Schedule pod to normal node": ("n", {}, {}),
    "Schedule pod with toleration to unschedulable node": ("n failed", TOLERATES, {}),
}


@pytest.mark.parametrize("case", TABLE)
def test_cordoned_nodes(case: str) -> None:
    """The profile of any one plugin has NodeUnschedulable as well, and NodeName has nothing to say here."""
    line, spec, expected = TABLE[case]
    assert reasons(ask_alone("NodeName", nodes(line), pod(**spec))) == expected
