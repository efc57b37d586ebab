"""NodeAffinity's own filter table: node selectors, required terms, and what a profile adds to them.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/nodeaffinity/node_affinity_test.go (1.32),
TestNodeAffinity, 31 cases, all taken. The table gives PreFilter's answer and Filter's apart. Here they are one: a node
that PreFilter's result leaves out is not filtered in kube-scheduler either, and fails with the framework's reason; a
pod that PreFilter rejects fails everywhere with that reason. Cases that name one node have the other beside it where
the PreFilter result names it, so that the result is seen.

Not applicable, 10 cases: Test_isSchedulableAfterNodeChange is about which event makes kube-scheduler retry a pod.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import pod
from tests.suites.node_terms import required
from tests.suites.tables import NEVER, ask_alone, labels, nodes, reasons

Data = dict[str, Any]

POD = (NEVER, "node(s) didn't match Pod's node affinity/selector")
ENFORCED = (NEVER, "node(s) didn't match scheduler-enforced node affinity")
LEFT_OUT = (NEVER, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
CONFLICT = (NEVER, "pod affinity terms conflict")
FITS_NODE_2 = required("metadata.name In node2")

Case = tuple[list[str], Data, dict[str, tuple[str, str]]]


def selecting(*words: str) -> Data:
    return {"nodeSelector": labels(*words)}


def terms(*texts: str) -> Data:
    return {"affinity": {"nodeAffinity": required(*texts)}}


TABLE: dict[str, Case] = {
    "missing labels": (["n"], selecting("foo=bar"), {"n": POD}),
    "same labels": (["n foo=bar"], selecting("foo=bar"), {}),
    "node labels are superset": (["n foo=bar baz=blah"], selecting("foo=bar"), {}),
    "node labels are subset": (["n foo=bar"], selecting("foo=bar", "baz=blah"), {"n": POD}),
    "Pod with matchExpressions using In operator that matches the existing node": (
        ["n foo=bar"],
        terms("foo In bar,value2"),
        {},
    ),
    "Pod with matchExpressions using Gt operator that matches the existing node": (
        ["n kernel-version=0206"],
        terms("kernel-version Gt 0204"),
        {},
    ),
    "Pod with matchExpressions using NotIn operator that matches the existing node": (
        ["n mem-type=DDR3"],
        terms("mem-type NotIn DDR,DDR2"),
        {},
    ),
    "Pod with matchExpressions using Exists operator that matches the existing node": (
        ["n GPU=NVIDIA-GRID-K1"],
        terms("GPU Exists"),
        {},
    ),
    "Pod with affinity that don't match node's labels won't schedule onto the node": (
        ["n foo=bar"],
        terms("foo In value1,value2"),
        {"n": POD},
    ),
    "Pod with empty MatchExpressions is not a valid value will match no objects": (
        ["n foo=bar"],
        terms(""),
        {"n": POD},
    ),
    "Pod with no Affinity will schedule onto a node": (["n foo=bar"], {}, {}),
    "Pod with Affinity but nil NodeSelector will schedule onto a node": (
        ["n foo=bar"],
        {"affinity": {"nodeAffinity": {}}},
        {},
    ),
    "Pod with multiple matchExpressions ANDed that matches the existing node": (
        ["n GPU=NVIDIA-GRID-K1"],
        terms("GPU Exists & GPU NotIn AMD,INTER"),
        {},
    ),
    "Pod with multiple matchExpressions ANDed that doesn't match the existing node": (
        ["n GPU=NVIDIA-GRID-K1"],
        terms("GPU Exists & GPU In AMD,INTER"),
        {"n": POD},
    ),
    "Pod with multiple NodeSelectorTerms ORed in affinity, matches the node's labels": (
        ["n foo=bar"],
        terms("foo In bar,value2", "diffkey In wrong,value2"),
        {},
    ),
    "Pod with an Affinity and a PodSpec.NodeSelector, both are satisfied": (
        ["n foo=bar"],
        {**selecting("foo=bar"), **terms("foo Exists")},
        {},
    ),
    "Pod with an Affinity matches node's labels but the PodSpec.NodeSelector is not satisfied": (
        ["n foo=barrrrrr"],
        {**selecting("foo=bar"), **terms("foo Exists")},
        {"n": POD},
    ),
    "Pod with an invalid value in Affinity term won't be scheduled onto the node": (
        ["n foo=bar"],
        terms("foo NotIn invalid value: ___@#$%^"),
        {"n": POD},
    ),
    "Pod with matchFields using In operator that matches the existing node": (
        ["node1"],
        terms("metadata.name In node1"),
        {},
    ),
    "Pod with matchFields using In operator that does not match the existing node": (
        ["node1", "node2"],
        terms("metadata.name In node1"),
        {"node2": LEFT_OUT},
    ),
    "Pod with two terms: matchFields does not match, but matchExpressions matches": (
        ["node2 foo=bar"],
        terms("metadata.name In node1 & metadata.name In node2", "foo In bar"),
        {},
    ),
    "Pod with one term: matchFields does not match, but matchExpressions matches": (
        ["node1 foo=bar", "node2 foo=bar"],
        terms("metadata.name In node1 & foo In bar"),
        {"node2": LEFT_OUT},
    ),
    "Pod with one term: both matchFields and matchExpressions match": (
        ["node1 foo=bar", "node2 foo=bar"],
        terms("metadata.name In node1 & foo In bar"),
        {"node2": LEFT_OUT},
    ),
    "Pod with two terms: both matchFields and matchExpressions do not match": (
        ["node2 foo=bar"],
        terms("metadata.name In node1", "foo In not-match-to-bar"),
        {"node2": POD},
    ),
    "Pod with two terms of node.Name affinity": (
        ["node1", "node2", "node3"],
        terms("metadata.name In node1", "metadata.name In node2"),
        {"node3": LEFT_OUT},
    ),
    "Pod with two conflicting mach field requirements": (
        ["node2 foo=bar"],
        terms("metadata.name In node1 & metadata.name In node2"),
        {"node2": CONFLICT},
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_pods_own_affinity(case: str) -> None:
    lines, spec, expected = TABLE[case]
    assert reasons(ask_alone("NodeAffinity", nodes(*lines), pod(**spec))) == expected


ADDED: dict[str, tuple[Data, Data, dict[str, tuple[str, str]]]] = {
    "Matches added affinity and Pod's node affinity": (FITS_NODE_2, terms("zone In foo"), {}),
    "Matches added affinity but not Pod's node affinity": (FITS_NODE_2, terms("zone In bar"), {"node2": POD}),
    "Doesn't match added affinity": (required("zone In bar"), {}, {"node2": ENFORCED}),
}


@pytest.mark.parametrize("case", ADDED)
def test_the_profile_adds_to_it(case: str) -> None:
    added, spec, expected = ADDED[case]
    report = ask_alone("NodeAffinity", nodes("node2 zone=foo"), pod(**spec), {"addedAffinity": added})
    assert reasons(report) == expected


FILTER_ALONE: dict[str, tuple[str, Data]] = {
    "Matches node selector correctly even if PreFilter is not called": ("n foo=bar baz=blah", selecting("foo=bar")),
    "Matches node affinity correctly even if PreFilter is not called": (
        "n GPU=NVIDIA-GRID-K1",
        terms("GPU Exists & GPU NotIn AMD,INTER"),
    ),
}


@pytest.mark.parametrize("case", FILTER_ALONE)
def test_a_profile_without_its_prefilter(case: str) -> None:
    line, spec = FILTER_ALONE[case]
    report = ask_alone("NodeAffinity", nodes(line, "other"), pod(**spec), points=("filter",))
    assert reasons(report) == {"other": POD}
