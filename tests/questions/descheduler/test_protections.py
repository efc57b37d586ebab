"""What keeps pods from being evicted by the descheduler, where the recorded answers do not ask."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.errors import UsageError
from kubespread.questions.rebalance.descheduler.plugin import Protections, View
from kubespread.questions.rebalance.descheduler.policy import (
    DEFAULT_PROTECTIONS,
    RESOURCE_CLAIMS,
    WITH_PVC,
    WITHOUT_PDB,
    EvictorArgs,
)
from kubespread.scheduler.cluster.nodes import Nodes
from tests.builders import NOW, Data, ago, node, owned_by, pod

OBJECTS: list[Data] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "fast", "namespace": "default"},
        "spec": {"storageClassName": "ssd", "accessModes": ["ReadWriteOnce"]},
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "unclassed", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    },
]


def with_protection(name: str, **more: object) -> EvictorArgs:
    return EvictorArgs(protections=frozenset((*DEFAULT_PROTECTIONS, name)), **more)  # type: ignore[arg-type]  # a table


def claim(name: str) -> Data:
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


YOUNG, OLD = {"startTime": ago(60)}, {"startTime": ago(7200)}
HOUR = 3600 * 10**9
REASONS: dict[str, tuple[EvictorArgs, Data, Data, str | None]] = {
    "a priority at the value of the named class": (
        EvictorArgs(priority_class="high"),
        {"priority": 1000},
        {},
        "SystemCriticalPods",
    ),
    "a priority below it": (EvictorArgs(priority_class="high"), {"priority": 999}, {}, None),
    "a critical priority": (EvictorArgs(), {"priority": 2 * 10**9}, {}, "SystemCriticalPods"),
    "a claim of a protected class": (
        with_protection(WITH_PVC, protected_storage_classes=frozenset({"ssd"})),
        claim("fast"),
        {},
        WITH_PVC,
    ),
    "a claim of another class": (
        with_protection(WITH_PVC, protected_storage_classes=frozenset({"hdd"})),
        claim("fast"),
        {},
        None,
    ),
    "a claim without a class": (
        with_protection(WITH_PVC, protected_storage_classes=frozenset({"hdd"})),
        claim("unclassed"),
        {},
        WITH_PVC,
    ),
    "any claim": (with_protection(WITH_PVC), claim("gone"), {}, WITH_PVC),
    "no budget": (with_protection(WITHOUT_PDB), {}, {"labels": {"app": "api"}}, WITHOUT_PDB),
    "a budget": (with_protection(WITHOUT_PDB), {}, {"labels": {"app": "web"}}, None),
    "resource claims": (
        with_protection(RESOURCE_CLAIMS),
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        {},
        RESOURCE_CLAIMS,
    ),
    "a young pod": (EvictorArgs(min_pod_age=HOUR), {}, {"status": YOUNG}, "minPodAge"),
    "an old pod": (EvictorArgs(min_pod_age=HOUR), {}, {"status": OLD}, None),
    "a pod that does not say when it started": (EvictorArgs(min_pod_age=HOUR), {}, {}, "minPodAge"),
    "a hostPath": (
        EvictorArgs(),
        {"volumes": [{"name": "v", "hostPath": {"path": "/var/log"}}]},
        {},
        "PodsWithLocalStorage",
    ),
    "an annotation that asks for eviction beats everything": (
        EvictorArgs(),
        {"priority": 2 * 10**9},
        {"annotations": {"descheduler.alpha.kubernetes.io/evict": ""}},
        None,
    ),
    "a static pod": (EvictorArgs(), {}, {"annotations": {"kubernetes.io/config.source": "file"}}, "static pod"),
}


@pytest.mark.parametrize("case", REASONS)
def test_reason(case: str) -> None:
    args, spec, more, expected = REASONS[case]
    made = pod("a", "n0", labels=more.get("labels"), **spec)
    made["metadata"] |= {"ownerReferences": owned_by("ReplicaSet", "r"), "annotations": more.get("annotations", {})}
    made["status"] = {"phase": "Running", **more.get("status", {})}
    view = view_of(made)
    assert Protections(view, args).reason(view.pods[0]) == expected


def test_a_priority_class_that_is_not_there() -> None:
    with pytest.raises(UsageError, match='priorityThreshold: priorityclass "higher" not found'):
        Protections(view_of(pod("a", "n0")), EvictorArgs(priority_class="higher"))


def view_of(*pods: Data) -> View:
    snapshot = kubespread.Snapshot.from_objects([node("n0"), *OBJECTS, *pods])
    return View(Nodes(snapshot.nodes), snapshot.pods, snapshot.objects, NOW)
