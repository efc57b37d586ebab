"""ResourceQuotas: the API server's words, how many pods they allow, and what explain and simulate make of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.admission.quota import Allowance, allowance, charge_quotas
from kubespread.kube.api.core import Pod, ResourceQuota
from tests.builders import Data, hosts, owned_by, pod


def quota(hard: Data, used: Data | None = None, *, name: str = "q", **spec: Any) -> Data:
    made: Data = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": "default"}}
    made["spec"] = {"hard": hard, **spec}
    return made if used is None else {**made, "status": {"hard": hard, "used": used}}


def asking(requests: Data | None = None, limits: Data | None = None, **spec: Any) -> Data:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return pod(containers=[{"name": "c", "image": "x", "resources": resources}], **spec)


def in_class(operator: str, *values: str) -> Data:
    return {"matchExpressions": [{"scopeName": "PriorityClass", "operator": operator, "values": list(values)}]}


FAR: Data = {"podAffinityTerm": {"topologyKey": "zone", "namespaces": ["other"], "labelSelector": {}}, "weight": 1}

ALLOWED: dict[str, tuple[Data, list[Data], Allowance]] = {
    "no quota": (pod(), [], Allowance(None)),
    "one of another namespace": (pod(namespace="other"), [quota({"pods": "1"}, {"pods": "1"})], Allowance(None)),
    "nothing of pods": (pod(), [quota({"services": "1"}, {"services": "1"})], Allowance(None)),
    "pods": (
        pod(),
        [quota({"pods": "4"}, {"pods": "1"})],
        Allowance(3, "exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4"),
    ),
    "objects": (
        pod(),
        [quota({"count/pods": "4"}, {"count/pods": "5"})],
        Allowance(0, "exceeded quota: q, requested: count/pods=1, used: count/pods=5, limited: count/pods=4"),
    ),
    "several resources at once": (
        asking({"cpu": "500m", "memory": "1Gi"}, {"cpu": "1"}),
        [
            quota(
                {"requests.cpu": "1", "limits.cpu": "2", "memory": "9Gi"},
                {"requests.cpu": "0", "limits.cpu": "0", "memory": "0"},
            )
        ],
        Allowance(
            2,
            "exceeded quota: q, requested: limits.cpu=1,requests.cpu=500m, used: limits.cpu=2,requests.cpu=1, limited: limits.cpu=2,requests.cpu=1",
        ),
    ),
    "the first of two that says no": (
        asking({"cpu": "1"}),
        [quota({"pods": "5"}, {"pods": "0"}, name="a"), quota({"cpu": "2"}, {"cpu": "0"}, name="b")],
        Allowance(2, "exceeded quota: b, requested: cpu=1, used: cpu=2, limited: cpu=2"),
    ),
    "overhead counts": (
        asking({"cpu": "1"}, overhead={"cpu": "500m"}),
        [quota({"cpu": "2"}, {"cpu": "0"})],
        Allowance(1, "exceeded quota: q, requested: cpu=1500m, used: cpu=1500m, limited: cpu=2"),
    ),
    "devices": (
        asking(limits={"example.com/gpu": "2"}),
        [quota({"requests.example.com/gpu": "3"}, {"requests.example.com/gpu": "0"})],
        Allowance(
            1,
            "exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=2, limited: requests.example.com/gpu=3",
        ),
    ),
    "what must be named": (
        pod(
            containers=[{"name": "b", "image": "x"}, {"name": "a", "image": "x", "resources": {"limits": {"cpu": "1"}}}]
        ),
        [quota({"limits.cpu": "1", "requests.memory": "1"}, {"limits.cpu": "0", "requests.memory": "0"})],
        Allowance(0, "failed quota: q: must specify limits.cpu for: b; requests.memory for: a,b"),
    ),
    "what pod-level resources name for all": (
        pod(resources={"limits": {"cpu": "1"}}),
        [quota({"limits.cpu": "2"}, {"limits.cpu": "0"})],
        Allowance(2, "exceeded quota: q, requested: limits.cpu=1, used: limits.cpu=2, limited: limits.cpu=2"),
    ),
    "what is not used up by a request of 0": (
        asking({"cpu": "0"}),
        [quota({"cpu": "1"}, {"cpu": "1"})],
        Allowance(None),
    ),
    "a status that is not there yet": (
        pod(),
        [quota({"pods": "4"}, {})],
        Allowance(0, "status unknown for quota: q, resources: pods"),
    ),
}

FULL = Allowance(0, "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0")
IN_SCOPE: dict[str, tuple[Data, Data]] = {
    "a pod with a deadline": (pod(activeDeadlineSeconds=5), {"scopes": ["Terminating"]}),
    "a pod without": (pod(), {"scopes": ["NotTerminating"]}),
    "best effort": (pod(), {"scopes": ["BestEffort"]}),
    "a request": (asking({"cpu": "1"}), {"scopes": ["NotBestEffort"]}),
    "a class": (pod(priorityClassName="high"), {"scopes": ["PriorityClass"]}),
    "one of the classes": (pod(priorityClassName="high"), {"scopeSelector": in_class("In", "high", "low")}),
    "none of the classes": (pod(), {"scopeSelector": in_class("NotIn", "high")}),
    "no class": (pod(), {"scopeSelector": in_class("DoesNotExist")}),
    "another namespace": (
        pod(affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [FAR]}}),
        {"scopes": ["CrossNamespacePodAffinity"]},
    ),
    "both scopes": (asking({"cpu": "1"}), {"scopes": ["NotBestEffort", "NotTerminating"]}),
}
OUT_OF_SCOPE: dict[str, tuple[Data, Data]] = {
    "a pod without a deadline": (pod(), {"scopes": ["Terminating"]}),
    "a request": (asking({"cpu": "1"}), {"scopes": ["BestEffort"]}),
    "no class": (pod(), {"scopes": ["PriorityClass"]}),
    "another class": (pod(priorityClassName="mid"), {"scopeSelector": in_class("In", "high", "low")}),
    "its own namespace only": (pod(), {"scopes": ["CrossNamespacePodAffinity"]}),
    "one of two scopes": (pod(), {"scopes": ["NotBestEffort", "NotTerminating"]}),
    "an operator nobody knows": (pod(), {"scopeSelector": in_class("Like", "high")}),
}


def typed(data: Data) -> Pod:
    made = msgspec.convert(data, Pod)
    default_pod(made)
    return made


@pytest.mark.parametrize("case", ALLOWED)
def test_how_many_pods_quotas_allow(case: str) -> None:
    candidate, quotas, expected = ALLOWED[case]
    assert allowance(typed(candidate), msgspec.convert(quotas, list[ResourceQuota])) == expected


@pytest.mark.parametrize("case", IN_SCOPE)
def test_a_scope_that_holds(case: str) -> None:
    candidate, spec = IN_SCOPE[case]
    assert (
        allowance(typed(candidate), [msgspec.convert(quota({"pods": "0"}, {"pods": "0"}, **spec), ResourceQuota)])
        == FULL
    )


@pytest.mark.parametrize("case", OUT_OF_SCOPE)
def test_a_scope_that_does_not_hold(case: str) -> None:
    candidate, spec = OUT_OF_SCOPE[case]
    assert allowance(
        typed(candidate), [msgspec.convert(quota({"pods": "0"}, {"pods": "0"}, **spec), ResourceQuota)]
    ) == Allowance(None)


def test_what_is_charged_counts_as_used() -> None:
    (given,) = msgspec.convert(
        [quota({"pods": "4", "services": "1"}, {"pods": "1", "services": "1"})], list[ResourceQuota]
    )
    (more,) = charge_quotas([given], typed(pod()), 2)
    assert (more.status.used, given.status.used["pods"]) == ({"pods": "3", "services": "1"}, "1")


CLUSTER = hosts("a", "b")


def deployment(replicas: int = 10) -> Data:
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": pod(requests={"cpu": "100m"})["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"foo": "bar"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def replica_set() -> Data:
    metadata = {"name": "web-1", "namespace": "default", "ownerReferences": owned_by("Deployment", "web")}
    spec = {"selector": {"matchLabels": {"foo": "bar"}}}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}


def replica(name: str, on: str | None) -> Data:
    made = pod(name, on, requests={"cpu": "100m"})
    made["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-1")
    return made


def simulated(
    *objects: Data, manifest: Data | None = None, scheduler: kubespread.Scheduler | None = None, **options: Any
) -> tuple[int, int, str | None, list[str]]:
    report = kubespread.simulate(
        kubespread.Snapshot.from_objects([*CLUSTER, *objects]),
        manifest or deployment(),
        scheduler=scheduler or kubespread.Scheduler(),
        **options,
    )
    return (
        report.present,
        report.placed,
        report.stopped and report.stopped.partition("forbidden: ")[2],
        [n for n in report.notes if "further" in n],
    )


def test_explain_says_no_to_a_pod_that_exceeds_a_quota() -> None:
    full = quota({"pods": "1"}, {"pods": "1"})
    report = kubespread.explain(kubespread.Snapshot.from_objects([*CLUSTER, full]), pod())
    assert (report.verdict, report.answer[-1]) == (
        "no",
        'pods "web" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )


def test_only_as_many_replicas_are_created_as_the_quota_allows() -> None:
    message = "exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=400m, limited: requests.cpu=450m"
    assert simulated(quota({"requests.cpu": "450m"}, {"requests.cpu": "0"})) == (
        0,
        4,
        message,
        [f"4 of 10 further pods are created: {message}"],
    )


def test_replicas_that_run_are_charged_already() -> None:
    running = [replica("a", "n0"), replica("b", "n1")]
    assert simulated(quota({"pods": "4"}, {"pods": "2"}), replica_set(), *running)[:2] == (2, 2)


def test_replicas_that_wait_are_charged_already_too() -> None:
    assert simulated(quota({"pods": "2"}, {"pods": "2"}), replica_set(), replica("a", None), replica("b", None))[
        :2
    ] == (0, 2)


def test_from_scratch_gives_back_what_runs() -> None:
    running = [replica("a", "n0"), replica("b", "n1")]
    assert simulated(quota({"pods": "4"}, {"pods": "2"}), replica_set(), *running, from_scratch=True)[:2] == (0, 4)


def test_a_quota_that_was_never_in_a_cluster_counts_what_is_there() -> None:
    assert simulated(quota({"pods": "4"}), pod("other", "n0"))[:2] == (0, 3)


def test_as_many_as_fit_are_as_many_as_are_created() -> None:
    assert simulated(quota({"pods": "4"}, {"pods": "0"}), replicas="max")[:2] == (0, 4)


def test_workloads_share_a_quota() -> None:
    second = {**deployment(3), "metadata": {"name": "api"}}
    cluster = kubespread.Snapshot.from_objects([*CLUSTER, quota({"pods": "5"}, {"pods": "0"})])
    reports = kubespread.simulate(cluster, [deployment(4), second])
    assert [report.placed for report in reports] == [4, 1]


def test_a_quota_beside_its_workload() -> None:
    manifest = {"apiVersion": "v1", "kind": "List", "items": [quota({"pods": "2"}), deployment()]}
    assert simulated(manifest=manifest)[:2] == (0, 2)


def test_without_admission_there_is_no_quota() -> None:
    assert simulated(quota({"pods": "4"}, {"pods": "0"}), scheduler=kubespread.Scheduler(admission=False))[:2] == (
        0,
        10,
    )
