"""What rules about other objects, groups and rollouts leave alone, though it looks like what they find."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import kubespread
from tests.builders import Data, hard, hosts, pod, soft
from tests.lint.test_engine import ZONE, web

NODES = hosts("a", "a", "b", "b", "c", "c")
EVEN = hard(ZONE, matchLabelKeys=["pod-template-hash"])
OTHER: Data = {"foo": "bar", "tier": "other"}


def found(*workloads: Data, beside: tuple[Data, ...] = ()) -> list[str]:
    """The codes of the findings of ``workloads``, checked together on three zones."""
    cluster = kubespread.Snapshot.from_objects([*NODES, *beside])
    return [finding.code for finding in kubespread.check(cluster, list(workloads)).findings]


def with_labels(workload: Data, labels: Data) -> Data:
    changed = deepcopy(workload)
    changed["spec"]["template"]["metadata"]["labels"] = labels
    return changed


def with_spec(workload: Data, **fields: Any) -> Data:
    changed = deepcopy(workload)
    changed["spec"]["template"]["spec"] |= fields
    return changed


def rolling(workload: Data, **strategy: Any) -> Data:
    changed = deepcopy(workload)
    changed["spec"]["strategy"] = strategy
    return changed


def database(*constraints: Data) -> Data:
    """Another Deployment, of pods app=db."""
    workload = with_labels(web(*constraints, name="db"), {"app": "db"})
    workload["spec"]["selector"] = {"matchLabels": {"app": "db"}}
    return workload


def daemon_set(*constraints: Data) -> Data:
    spec = web(*constraints)["spec"]
    return web() | {"kind": "DaemonSet", "spec": {"selector": spec["selector"], "template": spec["template"]}}


def budget(name: str = "web", **spec: Any) -> Data:
    meta = {"name": name, "namespace": "shop"}
    selector = {"matchLabels": {"foo": "bar"}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": selector, **spec},
    }


def anti_affinity(**term: Any) -> Data:
    required = [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"foo": "bar"}}, **term}]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


CASES: dict[str, tuple[list[Data], tuple[Data, ...]]] = {
    "a rollout that deletes all old pods first": ([web(hard(ZONE), replicas=6)], ()),
    "a rollout of pods that are told apart by a label of their own": (
        [rolling(with_labels(web(hard(ZONE, matchLabelKeys=["version"]), replicas=6), {"foo": "bar", "version": "2"}))],
        (),
    ),
    "workloads of another namespace that carry the same labels": (
        [web(EVEN), web(EVEN, name="api") | {"metadata": {"name": "api", "namespace": "other"}}],
        (),
    ),
    "pods by themselves that carry the same labels": (
        [web(EVEN), pod("one", namespace="shop"), pod("two", namespace="shop")],
        (),
    ),
    "two revisions that each count their own pods": ([web(EVEN), with_labels(web(EVEN, name="api"), OTHER)], ()),
    "an anti-affinity over another key": ([with_spec(web(EVEN), affinity=anti_affinity(topologyKey="rack"))], ()),
    "an anti-affinity against the pods of another namespace": (
        [with_spec(web(EVEN), affinity=anti_affinity(namespaces=["other"]))],
        (),
    ),
    "a budget that allows no eviction of pods without a controller": (
        [pod("one", namespace="shop"), budget(maxUnavailable=0)],
        (),
    ),
    "a budget that counts the pods of two workloads": (
        [web(EVEN, replicas=2), with_labels(web(EVEN, replicas=2, name="api"), OTHER), budget(minAvailable=3)],
        (),
    ),
    "a selector that counts another workload beside one that counts its own": (
        [web(EVEN, soft(ZONE, match={"app": "db"})), database()],
        (),
    ),
    "a selector that counts pods which run in the cluster": (
        [web(hard(ZONE, match={"app": "db"}))],
        (pod("db-0", "n0", labels={"app": "db"}, namespace="shop"),),
    ),
    "a selector that misses the pods of a DaemonSet": ([daemon_set(hard(ZONE, match={"app": "db"}))], ()),
    "workloads that are even though one selector counts them all": (
        [web(hard(ZONE)), with_labels(web(hard(ZONE), name="api"), OTHER)],
        (),
    ),
    "a single replica beside others that its selector counts": (
        [web(hard(ZONE), replicas=1), with_labels(web(hard(ZONE), replicas=1, name="api"), OTHER)],
        (),
    ),
    "a budget of another namespace": (
        [web(hard(ZONE), replicas=6), budget(maxUnavailable=1) | {"metadata": {"name": "web", "namespace": "other"}}],
        (),
    ),
    "a drain that finds room in the same zone": ([web(hard(ZONE), replicas=6), budget(maxUnavailable=1)], ()),
}


@pytest.mark.parametrize("case", CASES)
def test_no_finding(case: str) -> None:
    workloads, beside = CASES[case]
    assert found(*workloads, beside=beside) == []


def test_a_constraint_copied_from_the_workload_that_it_counts_is_found() -> None:
    of_db = hard(ZONE, match={"app": "db"}, matchLabelKeys=["pod-template-hash"])
    assert found(web(of_db), database(of_db)) == ["KS101"]
