"""Nodes that fail: taints, timers, zones, and who replaces what was lost."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubespread.controllers.outage import (
    Replacement,
    Zone,
    ZoneState,
    evicted_after,
    failed_node,
    nodes_per_second,
    replacement,
    stops_evictions,
    unready_pod,
    without_eviction_taints,
    zones,
)
from kubespread.kube.admission.plugins import add_default_tolerations
from kubespread.kube.api.core import Node, NodeCondition, NodeSpec, NodeStatus, Pod, Taint, Toleration
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.kube.api.workloads import DaemonSet, Job
from tests.controllers.cluster import NOW, controlled_by, pod

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
SILENT = [Taint(key=UNREACHABLE, effect="NoSchedule"), Taint(key=UNREACHABLE, effect="NoExecute")]
DEDICATED = Taint(key="dedicated", value="gpu", effect="NoExecute")


def node(*taints: Taint, zone: str | None = None, ready: str | None = "True", **labels: str) -> Node:
    own = labels | ({} if zone is None else {"topology.kubernetes.io/zone": zone})
    conditions = [] if ready is None else [NodeCondition(type="Ready", status=ready)]
    return Node(
        metadata=ObjectMeta(name="n", labels=own),
        spec=NodeSpec(taints=list(taints)),
        status=NodeStatus(conditions=conditions),
    )


def taint(key: str, effect: str = "NoSchedule") -> Taint:
    return Taint(key=key, effect=effect)


FAILURES: dict[str, tuple[Node, list[Taint]]] = {
    "a healthy node": (node(), SILENT),
    "its own taints stay, in front": (node(DEDICATED), [DEDICATED, *SILENT]),
    "unreachable takes the place of not-ready": (
        node(taint(NOT_READY), taint(NOT_READY, "NoExecute"), DEDICATED),
        [DEDICATED, *SILENT],
    ),
    "pressure is no longer known": (node(taint("node.kubernetes.io/memory-pressure")), SILENT),
    "a cordon and the network are nothing the kubelet reports": (
        node(taint("node.kubernetes.io/unschedulable"), taint("node.kubernetes.io/network-unavailable")),
        [taint("node.kubernetes.io/unschedulable"), taint("node.kubernetes.io/network-unavailable"), *SILENT],
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_the_taints_of_a_node_whose_kubelet_is_silent(case: str) -> None:
    failing, expected = FAILURES[case]
    before = msgspec.to_builtins(failing)
    assert failed_node(failing).spec.taints == expected
    once = failed_node(failing)
    assert (once.spec.taints, failed_node(once)) == (expected, once)
    assert without_eviction_taints(once).spec.taints == [each for each in expected if each != SILENT[1]]
    assert msgspec.to_builtins(failing) == before


def test_all_that_the_kubelet_reports_becomes_unknown() -> None:
    failing = node()
    failing.status.conditions += [
        NodeCondition(type="MemoryPressure", status="True"),
        NodeCondition(type="NetworkUnavailable", status="False"),
    ]
    assert {each.type: each.status for each in failed_node(failing).status.conditions} == {
        "NetworkUnavailable": "False",
        "Ready": "Unknown",
        "MemoryPressure": "Unknown",
        "DiskPressure": "Unknown",
        "PIDPressure": "Unknown",
    }


def test_pods_of_a_failed_node_are_no_longer_ready() -> None:
    ready, waiting = pod(), pod(ready=False)
    condition = unready_pod(ready, NOW).status.conditions[0]
    assert (condition.status, condition.last_transition_time) == ("False", "2026-03-01T12:00:00Z")
    assert (unready_pod(waiting, NOW), ready.status.conditions[0].status) == (waiting, "True")


def tolerating(seconds: int | None = None, **more: str) -> Toleration:
    return Toleration(**{"operator": "Exists", **more}, toleration_seconds=seconds)


def defaulted() -> list[Toleration]:
    own = Pod()
    add_default_tolerations(own)
    return own.spec.tolerations


TIMERS: dict[str, tuple[list[Toleration], list[Taint], float | None]] = {
    "a pod as admission leaves it": (defaulted(), SILENT, 300),
    "no toleration": ([], SILENT, 0),
    "a pod of a DaemonSet": ([tolerating(key=UNREACHABLE, effect="NoExecute")], SILENT, None),
    "tolerates everything": ([tolerating()], [DEDICATED, *SILENT], None),
    "one taint is not tolerated": (defaulted(), [*SILENT, DEDICATED], 0),
    "other effects do not evict": ([], [SILENT[0]], None),
    "no taints": ([], [], None),
    "the first that fits counts, though a later one is shorter": (
        [tolerating(60, key=UNREACHABLE), tolerating(5)],
        SILENT,
        60,
    ),
    "the shortest of those that count": (
        [tolerating(60, key=UNREACHABLE), tolerating(5, key="dedicated")],
        [*SILENT, DEDICATED],
        5,
    ),
    "those without a limit do not count": ([tolerating(60, key=UNREACHABLE), tolerating()], [*SILENT, DEDICATED], 60),
    "no seconds at all": ([tolerating(0)], SILENT, 0),
    "less than none": ([tolerating(-7)], SILENT, 0),
    "the largest number is forever": ([tolerating(2**63 - 1)], SILENT, None),
    "a number whose nanoseconds do not fit turns negative: forever": ([tolerating(9_223_372_037)], SILENT, None),
    "another value": ([tolerating(9, key="dedicated", operator="Equal", value="cpu")], [DEDICATED], 0),
}


@pytest.mark.parametrize("case", TIMERS)
def test_when_a_pod_is_evicted(case: str) -> None:
    tolerations, taints, expected = TIMERS[case]
    assert evicted_after(tolerations, taints) == expected


def failed(count: int, of: int, zone: str = "a") -> list[Node]:
    return [node(zone=zone, ready="Unknown" if position < count else "True") for position in range(of)]


N, P, F = ZoneState.NORMAL, ZoneState.PARTIAL_DISRUPTION, ZoneState.FULL_DISRUPTION
ZONES: dict[str, tuple[list[Node], dict[tuple[str, str], tuple[ZoneState, float]]]] = {
    "all well": (failed(0, 3), {("", "a"): (N, 0.1)}),
    "two of three are not enough for a partial disruption": (failed(2, 3), {("", "a"): (N, 0.1)}),
    "three of five are": (failed(3, 5), {("", "a"): (P, 0)}),
    "eleven of twenty are exactly the threshold": (failed(11, 20), {("", "a"): (P, 0)}),
    "six of eleven are just below it": (failed(6, 11), {("", "a"): (N, 0.1)}),
    "fifty nodes are not a large zone": (failed(30, 50), {("", "a"): (P, 0)}),
    "a large zone goes on slowly": (failed(30, 51), {("", "a"): (P, 0.01)}),
    "a dead zone beside a living one is emptied": (
        [*failed(2, 2, "a"), *failed(0, 1, "b")],
        {("", "a"): (F, 0.1), ("", "b"): (N, 0.1)},
    ),
    "all zones dead: nothing is evicted": (
        [*failed(2, 2, "a"), *failed(1, 1, "b")],
        {("", "a"): (F, 0), ("", "b"): (F, 0)},
    ),
    "Ready False is not ready either": (
        [node(ready="False"), node(zone="a")],
        {("", ""): (F, 0.1), ("", "a"): (N, 0.1)},
    ),
    "a node without conditions counts as ready": ([node(ready=None)], {("", ""): (N, 0.1)}),
    "excluded nodes do not count": (
        [*failed(1, 1), node(zone="a", **{"node.kubernetes.io/exclude-disruption": ""})],
        {("", "a"): (F, 0)},
    ),
    "older zone labels come first, with the region": (
        [
            node(
                zone="a",
                **{"failure-domain.beta.kubernetes.io/zone": "old", "failure-domain.beta.kubernetes.io/region": "r"},
            )
        ],
        {("r", "old"): (N, 0.1)},
    ),
}


@pytest.mark.parametrize("case", ZONES)
def test_zones(case: str) -> None:
    nodes, expected = ZONES[case]
    found = zones(nodes)
    stopped = stops_evictions(found)
    assert {key: (zone.state, nodes_per_second(zone, stopped=stopped)) for key, zone in found.items()} == expected


def test_an_empty_zone_is_normal() -> None:
    assert Zone(0, 0).state is ZoneState.NORMAL


def job(**spec: Any) -> Job:
    return msgspec.convert({"spec": spec}, Job)


def daemon_set(**strategy: Any) -> DaemonSet:
    return msgspec.convert({"spec": {"updateStrategy": strategy}}, DaemonSet)


A_JOB = controlled_by("Job", "j", "batch/v1")
REPLACEMENTS: dict[str, tuple[OwnerReference | None, Job | DaemonSet | None, Replacement]] = {
    "a ReplicaSet's": (controlled_by("ReplicaSet"), None, Replacement.AT_ONCE),
    "a ReplicationController's": (controlled_by("ReplicationController", "rc", "v1"), None, Replacement.AT_ONCE),
    "a StatefulSet's": (controlled_by("StatefulSet"), None, Replacement.WHEN_GONE),
    "a DaemonSet's": (controlled_by("DaemonSet"), None, Replacement.WHEN_GONE),
    "a DaemonSet's that has no surge": (
        controlled_by("DaemonSet"),
        daemon_set(rollingUpdate={"maxSurge": "0%"}),
        Replacement.WHEN_GONE,
    ),
    "a DaemonSet's that has a surge": (
        controlled_by("DaemonSet"),
        daemon_set(rollingUpdate={"maxSurge": "1%", "maxUnavailable": 0}),
        Replacement.AT_ONCE,
    ),
    "a DaemonSet's with a surge that OnDelete does not read": (
        controlled_by("DaemonSet"),
        daemon_set(type="OnDelete", rollingUpdate={"maxSurge": 1}),
        Replacement.WHEN_GONE,
    ),
    "a Job's": (A_JOB, job(), Replacement.AT_ONCE),
    "a Job's that is not known": (A_JOB, None, Replacement.AT_ONCE),
    "a Job's that waits for failure": (A_JOB, job(podReplacementPolicy="Failed"), Replacement.WHEN_GONE),
    "a Job's with a failure policy": (A_JOB, job(podFailurePolicy={}), Replacement.WHEN_GONE),
    "a Job's with a failure policy waits, whatever its other policy is": (
        A_JOB,
        job(podFailurePolicy={}, podReplacementPolicy="TerminatingOrFailed"),
        Replacement.WHEN_GONE,
    ),
    "a bare pod": (None, None, Replacement.NEVER),
    "a static pod": (controlled_by("Node", "n1", "v1"), None, Replacement.NEVER),
    "anything else's": (controlled_by("Rollout", "r", "argoproj.io/v1alpha1"), None, Replacement.UNKNOWN),
}


@pytest.mark.parametrize("case", REPLACEMENTS)
def test_when_a_lost_pod_is_replaced(case: str) -> None:
    owner, workload, expected = REPLACEMENTS[case]
    assert replacement(owner, workload) is expected
