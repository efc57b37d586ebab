"""What keeps pods from being evicted by the descheduler, where the recorded answers do not ask."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.questions.rebalance.descheduler import (
    ClusterView,
    EvictorArgs,
    PodProtections,
    PriorityThreshold,
    protections,
)
from kubespread.scheduler.cluster.cluster import Cluster
from tests.builders import Data, node, owned_by, pod

BUDGET: Data = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}


def with_protection(name: str) -> EvictorArgs:
    return EvictorArgs(pod_protections=PodProtections(extra_enabled=[name]))


THRESHOLD = EvictorArgs(priority_threshold=PriorityThreshold(value=1000))
CLAIM: Data = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "fast"}}]}
REASONS: dict[str, tuple[EvictorArgs, Data, Data, list[str]]] = {
    "a priority at the threshold": (THRESHOLD, {"priority": 1000}, {}, ["SystemCriticalPods"]),
    "a priority below it": (THRESHOLD, {"priority": 999}, {}, []),
    "a critical priority": (EvictorArgs(), {"priority": 2 * 10**9}, {}, ["SystemCriticalPods"]),
    "any claim": (with_protection("PodsWithPVC"), CLAIM, {}, ["PodsWithPVC"]),
    "a claim that is not protected": (EvictorArgs(), CLAIM, {}, []),
    "no budget": (with_protection("PodsWithoutPDB"), {}, {"labels": {"app": "api"}}, ["PodsWithoutPDB"]),
    "a budget": (with_protection("PodsWithoutPDB"), {}, {"labels": {"app": "web"}}, []),
    "resource claims": (
        with_protection("PodsWithResourceClaims"),
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        {},
        ["PodsWithResourceClaims"],
    ),
    "fewer pods of the owner than minReplicas": (EvictorArgs(min_replicas=2), {}, {}, ["minReplicas"]),
    "a hostPath": (
        EvictorArgs(),
        {"volumes": [{"name": "v", "hostPath": {"path": "/var/log"}}]},
        {},
        ["PodsWithLocalStorage"],
    ),
    "a static pod": (EvictorArgs(), {}, {"annotations": {"kubernetes.io/config.source": "file"}}, ["static pod"]),
}


@pytest.mark.parametrize("case", REASONS)
def test_reason(case: str) -> None:
    args, spec, more, expected = REASONS[case]
    made = pod("a", "n0", labels=more.get("labels"), **spec)
    made["metadata"] |= {"ownerReferences": owned_by("ReplicaSet", "r"), "annotations": more.get("annotations", {})}
    made["status"] = {"phase": "Running"}
    snapshot = kubespread.Snapshot.from_objects([node("n0"), BUDGET, made])
    view = ClusterView(Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects), snapshot.pods)
    assert [name for name, rule in protections(view, args).items() if rule(view.pods[0])] == expected
