"""NodeAffinity's own score table: what preferred terms weigh, and what a profile adds to them.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/nodeaffinity/node_affinity_test.go (1.32),
TestNodeAffinityPriority, 9 cases, all taken. Two of them have one node, which kube-scheduler takes without scoring it;
here they have a second one like it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import pod
from tests.suites.node_terms import preferred
from tests.suites.tables import ask_alone, nodes, scores

Data = dict[str, Any]

FOO = preferred(w2="foo In bar")
SEVERAL = preferred(w2="foo In bar", w4="key In value", w5="foo In bar & key In value & az In az1")
THREE = ("node1 foo=bar", "node2 key=value", "node3 az=az1")
ONE_HAS_ALL = ("node1 foo=bar", "node5 foo=bar key=value az=az1", "node2 key=value")
BROKEN = (
    '[0].matchExpressions[0].key: Invalid value: "invalid key": name part must consist of alphanumeric characters, '
    "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

TABLE: dict[str, tuple[tuple[str, ...], Data | None, Data | None, dict[str, int]]] = {
    "Skip is returned in PreScore when NodeAffinity is nil": (("node1 foo=bar", "node2 foo=bar"), None, None, {}),
    "no node matches preferred scheduling requirements so all nodes' priority is zero": (
        ("node1 abc=az11 def=az22", "node2 key=value", "node3 az=az1"),
        FOO,
        None,
        {"node1": 0, "node2": 0, "node3": 0},
    ),
    "only node1 matches the preferred scheduling requirements of pod": (
        THREE,
        FOO,
        None,
        {"node1": 100, "node2": 0, "node3": 0},
    ),
    "all nodes matches the preferred scheduling requirements of pod but with different priorities": (
        ONE_HAS_ALL,
        SEVERAL,
        None,
        {"node1": 18, "node5": 100, "node2": 36},
    ),
    "added affinity": (THREE[:2], None, FOO, {"node1": 100, "node2": 0}),
    "added affinity and pod has default affinity": (
        ("node1 foo=bar", "node2 key=value", "node3 foo=bar key=value az=az1"),
        FOO,
        preferred(w3="key In value"),
        {"node1": 40, "node2": 60, "node3": 100},
    ),
    # Its name says otherwise, but the table calls PreScore here as well.
    "calculate the priorities correctly even if PreScore is not called": (
        ONE_HAS_ALL,
        SEVERAL,
        None,
        {"node1": 18, "node5": 100, "node2": 36},
    ),
}


def preferring(affinity: Data | None) -> Data:
    spec: Data = {} if affinity is None else {"affinity": {"nodeAffinity": affinity}}
    return pod(**spec)


@pytest.mark.parametrize("case", TABLE)
def test_preferred_terms_weigh(case: str) -> None:
    lines, wished, added, expected = TABLE[case]
    args = None if added is None else {"addedAffinity": added}
    assert scores(ask_alone("NodeAffinity", nodes(*lines), preferring(wished), args), "NodeAffinity") == expected


# The case "all nodes are same priority as NodeAffinity is nil", where the table does not call PreScore.
def test_a_profile_without_its_prescore_gives_a_pod_without_affinity_nothing() -> None:
    report = ask_alone("NodeAffinity", nodes(*THREE), preferring(None), points=("score",))
    assert scores(report, "NodeAffinity") == {"node1": 0, "node2": 0, "node3": 0}


# The case "PreScore returns error when an incoming Pod has a broken affinity".
def test_a_broken_term_ends_in_an_error() -> None:
    wished = preferred(w2="key In bar")
    wished["preferredDuringSchedulingIgnoredDuringExecution"][0]["preference"]["matchExpressions"][0]["key"] = (
        "invalid key"
    )
    report = ask_alone("NodeAffinity", nodes("node1 foo=bar", "node2 foo=bar"), preferring(wished))
    assert report.message == f'running PreScore plugin "NodeAffinity": {BROKEN}'
