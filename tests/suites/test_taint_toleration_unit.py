"""TaintToleration's own tables: which node a toleration opens, and how many taints cost how much.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/tainttoleration/taint_toleration_test.go (after 1.36),
TestTaintTolerationFilter (14 cases), TestTaintTolerationFilterWithFeatureGate (6) and TestTaintTolerationScore (8):
27 of 28 taken.

Not taken, 1 case: "Pod with Gt toleration cannot be scheduled on node with non-numeric taint value" wants a parse error
for a reason, which releases after 1.36 give; kube-scheduler 1.36.2 was recorded to say that the taint is untolerated
(fixtures/golden/second/tolerations.jsonl.gz). The gate is alpha and off in all of them.

Not applicable, 7 cases: TestIsSchedulableAfterNodeChange (6) and Test_isSchedulableAfterTargetPodTolerationChange (1)
are about which event makes kube-scheduler retry a pod.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import pod
from tests.suites.tables import NEVER, ask_alone, nodes, reasons, scores

Data = dict[str, Any]

UNTOLERATED = {"nodeA": (NEVER, "node(s) had untolerated taint(s)")}
GATE = "TaintTolerationComparisonOperators"
SLA = "node.kubernetes.io/sla"
LEVEL = "node.example.com/priority-level"


def taints(text: str) -> list[Data]:
    """``dedicated=user1:NoSchedule``, several with blanks between."""
    made = []
    for word in text.split():
        pair, _, effect = word.rpartition(":")
        key, _, value = pair.partition("=")
        made.append({"key": key, "value": value, "effect": effect})
    return made


def tolerations(text: str) -> list[Data]:
    """``dedicated Equal user1 NoSchedule; foo Exists - NoSchedule``: a dash stands for a field that is not set."""
    fields = ("key", "operator", "value", "effect")
    return [
        {field: word for field, word in zip(fields, each.split(), strict=True) if word != "-"}
        for each in text.split(";")
        if each
    ]


def ask(tolerated: str, gate: bool, **tainted: str) -> kubespread.ExplainReport:
    asked = nodes(*tainted)
    for node in asked:
        node["spec"]["taints"] = taints(tainted[node["metadata"]["name"]])
    return ask_alone(
        "TaintToleration",
        asked,
        pod("pod1", tolerations=tolerations(tolerated)),
        feature_gates=f"{GATE}=true" if gate else None,
    )


FILTER: dict[str, tuple[str, str, bool, bool]] = {
    "A pod having no tolerations can't be scheduled onto a node with nonempty taints": (
        "",
        "dedicated=user1:NoSchedule",
        False,
        False,
    ),
    "A pod which can be scheduled on a dedicated node assigned to user1 with effect NoSchedule": (
        "dedicated - user1 NoSchedule",
        "dedicated=user1:NoSchedule",
        False,
        True,
    ),
    "A pod which can't be scheduled on a dedicated node assigned to user2 with effect NoSchedule": (
        "dedicated Equal user2 NoSchedule",
        "dedicated=user1:NoSchedule",
        False,
        False,
    ),
    "A pod can be scheduled onto the node, with a toleration uses operator Exists": (
        "foo Exists - NoSchedule",
        "foo=bar:NoSchedule",
        False,
        True,
    ),
    "A pod has multiple tolerations, node has multiple taints, all the taints are tolerated": (
        "dedicated Equal user2 NoSchedule; foo Exists - NoSchedule",
        "dedicated=user2:NoSchedule foo=bar:NoSchedule",
        False,
        True,
    ),
    "keys and values match, but (non-empty) effect doesn't match, can't be scheduled onto the node": (
        "foo Equal bar PreferNoSchedule",
        "foo=bar:NoSchedule",
        False,
        False,
    ),
    "keys and values match, the effect of toleration is empty, and the effect of taint is NoSchedule": (
        "foo Equal bar -",
        "foo=bar:NoSchedule",
        False,
        True,
    ),
    "key and value don't match, but the effect of taint on node is PreferNoSchedule": (
        "dedicated Equal user2 NoSchedule",
        "dedicated=user1:PreferNoSchedule",
        False,
        True,
    ),
    "The pod has no toleration, but the effect of taint on node is PreferNoSchedule": (
        "",
        "dedicated=user1:PreferNoSchedule",
        False,
        True,
    ),
    "Pod with Gt toleration cannot be scheduled on node when taint value is lower than threshold": (
        f"{LEVEL} Gt 950 NoSchedule",
        f"{LEVEL}=800:NoSchedule",
        True,
        False,
    ),
    "Pod with Gt toleration can be scheduled on node when taint value is higher than threshold": (
        f"{SLA} Gt 750 NoSchedule",
        f"{SLA}=950:NoSchedule",
        True,
        True,
    ),
    "Pod with Lt toleration cannot be scheduled on node when taint value is higher than threshold": (
        f"{LEVEL} Lt 800 NoSchedule",
        f"{LEVEL}=950:NoSchedule",
        True,
        False,
    ),
    "Pod with Lt toleration can be scheduled on node when taint value is lower than threshold": (
        f"{SLA} Lt 950 NoSchedule",
        f"{SLA}=800:NoSchedule",
        True,
        True,
    ),
    # TestTaintTolerationFilterWithFeatureGate
    "Pod with Gt toleration can be scheduled when feature gate is enabled and taint value is higher": (
        f"{SLA} Gt 750 NoSchedule",
        f"{SLA}=950:NoSchedule",
        True,
        True,
    ),
    "Pod with Gt toleration cannot be scheduled when feature gate is disabled": (
        f"{SLA} Gt 750 NoSchedule",
        f"{SLA}=950:NoSchedule",
        False,
        False,
    ),
    "Pod with Lt toleration can be scheduled when feature gate is enabled and taint value is lower": (
        f"{SLA} Lt 950 NoSchedule",
        f"{SLA}=800:NoSchedule",
        True,
        True,
    ),
    "Pod with Lt toleration cannot be scheduled when feature gate is disabled": (
        f"{SLA} Lt 950 NoSchedule",
        f"{SLA}=800:NoSchedule",
        False,
        False,
    ),
    "Pod with mixed tolerations (Equal and Gt) when feature gate is disabled - only Equal is honored": (
        f"dedicated Equal user1 NoSchedule; {SLA} Gt 750 NoSchedule",
        "dedicated=user1:NoSchedule",
        False,
        True,
    ),
    "Pod with mixed tolerations, Gt toleration needed but filtered out when feature gate is disabled": (
        f"dedicated Equal user1 NoSchedule; {SLA} Gt 750 NoSchedule",
        f"dedicated=user1:NoSchedule {SLA}=950:NoSchedule",
        False,
        False,
    ),
}


@pytest.mark.parametrize("case", FILTER)
def test_a_toleration_opens_the_node_or_does_not(case: str) -> None:
    tolerated, tainted, gate, fits = FILTER[case]
    assert reasons(ask(tolerated, gate, nodeA=tainted)) == ({} if fits else UNTOLERATED)


TWO_KINDS = "cpu-type=arm64:PreferNoSchedule disk-type=ssd:PreferNoSchedule"
SCORE: dict[str, tuple[str, dict[str, str], bool, dict[str, int]]] = {
    "node with taints tolerated by the pod, gets a higher score than those node with intolerable taints": (
        "foo Equal bar PreferNoSchedule",
        {"nodeA": "foo=bar:PreferNoSchedule", "nodeB": "foo=blah:PreferNoSchedule"},
        False,
        {"nodeA": 100, "nodeB": 0},
    ),
    "the nodes that all of their taints are tolerated by the pod, get the same score": (
        "cpu-type Equal arm64 PreferNoSchedule; disk-type Equal ssd PreferNoSchedule",
        {"nodeA": "", "nodeB": "cpu-type=arm64:PreferNoSchedule", "nodeC": TWO_KINDS},
        False,
        {"nodeA": 100, "nodeB": 100, "nodeC": 100},
    ),
    "the more intolerable taints a node has, the lower score it gets": (
        "foo Equal bar PreferNoSchedule",
        {"nodeA": "", "nodeB": "cpu-type=arm64:PreferNoSchedule", "nodeC": TWO_KINDS},
        False,
        {"nodeA": 100, "nodeB": 50, "nodeC": 0},
    ),
    "only taints and tolerations that have effect PreferNoSchedule are checked": (
        "cpu-type Equal arm64 NoSchedule; disk-type Equal ssd NoSchedule",
        {"nodeA": "", "nodeB": "cpu-type=arm64:NoSchedule", "nodeC": TWO_KINDS},
        False,
        {"nodeA": 100, "nodeB": 100, "nodeC": 0},
    ),
    "Default behaviour No taints and tolerations, lands on node with no taints": (
        "",
        {"nodeA": "", "nodeB": "cpu-type=arm64:PreferNoSchedule"},
        False,
        {"nodeA": 100, "nodeB": 0},
    ),
    "Numeric Gt operator: pod with Gt toleration prefers nodes with matching SLA taint": (
        f"{SLA} Gt 950 PreferNoSchedule",
        {"nodeA": f"{SLA}=800:PreferNoSchedule", "nodeB": f"{SLA}=999:PreferNoSchedule"},
        True,
        {"nodeA": 0, "nodeB": 100},
    ),
    "Numeric Lt operator: pod with Lt toleration prefers nodes with matching SLA taint": (
        f"{SLA} Lt 800 PreferNoSchedule",
        {"nodeA": f"{SLA}=950:PreferNoSchedule", "nodeB": f"{SLA}=700:PreferNoSchedule"},
        True,
        {"nodeA": 0, "nodeB": 100},
    ),
    "Score ignores parse errors from numeric PreferNoSchedule taint value": (
        f"{SLA} Gt 950 PreferNoSchedule",
        {"nodeA": "", "nodeB": f"{SLA}=high:PreferNoSchedule"},
        True,
        {"nodeA": 100, "nodeB": 0},
    ),
}


@pytest.mark.parametrize("case", SCORE)
def test_taints_to_avoid_cost_points(case: str) -> None:
    tolerated, tainted, gate, expected = SCORE[case]
    assert scores(ask(tolerated, gate, **tainted), "TaintToleration") == expected
