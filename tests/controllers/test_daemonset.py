"""Where a DaemonSet's pods belong, and where they may stay."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

import kubespread
from kubespread.controllers.daemonset import should_continue, should_run, with_added_tolerations
from kubespread.kube.api.core import Node, Pod
from tests.builders import Data, hosts, node, pod, taint
from tests.world.clusters import daemon_set


class Case(NamedTuple):
    spec: Data
    """Of the template."""
    node: Data
    runs: bool
    continues: bool


def pressed(key: str, effect: str = "NoSchedule") -> Data:
    return node("n0", taints=[taint(f"node.kubernetes.io/{key}", effect)])


def affinity(**term: Any) -> Data:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


IN_A = {"key": "zone", "operator": "In", "values": ["a"]}
ON_N0 = {"key": "metadata.name", "operator": "In", "values": ["n0"]}
DEDICATED = {"key": "dedicated", "operator": "Equal", "value": "infra", "effect": "NoSchedule"}
MORE_THAN_4 = {"key": "dedicated", "operator": "Gt", "value": "4"}
CASES = {
    "every node gets one": Case({}, node("n0"), True, True),
    "a cordoned node gets one": Case(
        {},
        {**pressed("unschedulable"), "spec": {**pressed("unschedulable")["spec"], "unschedulable": True}},
        True,
        True,
    ),
    "a node that is not ready gets one": Case({}, pressed("not-ready", "NoExecute"), True, True),
    "a node that is not reachable gets one": Case({}, pressed("unreachable", "NoExecute"), True, True),
    "a node under pressure gets one": Case({}, pressed("memory-pressure"), True, True),
    "what is tolerated without an effect does not depend on the effect": Case(
        {}, pressed("not-ready", "NoSchedule"), False, True
    ),
    "a node without network gets none": Case({}, pressed("network-unavailable"), False, True),
    "a node without network gets one that uses the host's": Case(
        {"hostNetwork": True}, pressed("network-unavailable"), True, True
    ),
    "a taint NoSchedule keeps new ones away and lets others stay": Case(
        {}, node("n0", taints=[taint("dedicated")]), False, True
    ),
    "a taint NoExecute drives it away": Case({}, node("n0", taints=[taint("dedicated", "NoExecute")]), False, False),
    "a taint PreferNoSchedule means nothing": Case(
        {}, node("n0", taints=[taint("dedicated", "PreferNoSchedule")]), True, True
    ),
    "a taint that the template tolerates means nothing": Case(
        {"tolerations": [DEDICATED]}, node("n0", taints=[taint("dedicated", value="infra")]), True, True
    ),
    "the operator Gt means nothing without its gate": Case(
        {"tolerations": [MORE_THAN_4]}, node("n0", taints=[taint("dedicated", value="5")]), False, True
    ),
    "a node selector is asked": Case({"nodeSelector": {"zone": "a"}}, node("n0", zone="a"), True, True),
    "a node whose label has changed loses its pod": Case({"nodeSelector": {"zone": "a"}}, node("n0"), False, False),
    "required node affinity is asked": Case(affinity(matchExpressions=[IN_A]), node("n0", zone="b"), False, False),
    "a term matches by labels and name": Case(
        affinity(matchExpressions=[IN_A], matchFields=[ON_N0]), node("n0", zone="a"), True, True
    ),
    "another name does not match": Case(affinity(matchFields=[ON_N0]), node("n1"), False, False),
    "an empty term matches nothing": Case(affinity(), node("n0"), False, False),
    "a malformed term matches nothing": Case(
        affinity(matchExpressions=[{"key": "zone", "operator": "Near", "values": ["a"]}]),
        node("n0", zone="a"),
        False,
        False,
    ),
    "preferred node affinity is not asked": Case(
        {
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "preference": {"matchExpressions": [IN_A]}}
                    ]
                }
            }
        },
        node("n0"),
        True,
        True,
    ),
    "a template's node name is the only node": Case({"nodeName": "n0"}, node("n1"), False, False),
    "what the pod requests is not asked": Case({}, node("n0", cpu="0"), True, True),
}


@pytest.mark.parametrize("name", CASES)
def test_where_a_daemon_runs(name: str) -> None:
    case = CASES[name]
    daemon = msgspec.convert(pod("ds", requests={"cpu": "1"}, **case.spec), Pod)
    daemon.spec = with_added_tolerations(daemon.spec)
    on = msgspec.convert(case.node, Node)
    assert (should_run(daemon, on), should_continue(daemon, on)) == (case.runs, case.continues)


def test_the_operator_gt_counts_with_its_gate() -> None:
    daemon = msgspec.convert(pod("ds", tolerations=[MORE_THAN_4]), Pod)
    on = msgspec.convert(node("n0", taints=[taint("dedicated", value="5")]), Node)
    assert should_run(daemon, on, compares=True)


@pytest.mark.parametrize(("gates", "gone"), [(None, 1), ("TaintTolerationComparisonOperators=true", 0)])
def test_daemon_pods_leave_a_node_whose_taint_they_tolerate_by_number_without_the_gate(
    gates: str | None, gone: int
) -> None:
    objects = [*hosts("a", "b"), *daemon_set("log", ("n0", "n1"), tolerations=[MORE_THAN_4])]
    edited = kubespread.Snapshot.from_objects(objects).edited("taint n0=dedicated=5:NoExecute")
    report = kubespread.plan(edited, scheduler=kubespread.Scheduler(kube_version="1.36", feature_gates=gates))
    assert [step.gone for step in report.steps] == [gone]
