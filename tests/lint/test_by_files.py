"""What budgets, quotas, claims and autoscalers of the checked files say by themselves, whatever the cluster is."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import Data
from tests.lint.test_engine import web
from tests.lint.test_pending_replicas import autoscaler, quota, with_pod

IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
NOT_DRAINED = "no node with one of its 3 replicas can be drained"
ROLLING = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def rolled(replicas: int, strategy: Data | None = None, **pod: Any) -> Data:
    """A Deployment that is updated rolling; by default one pod more, and none fewer."""
    manifest = with_pod(web(replicas=replicas), **pod)
    manifest["spec"]["strategy"] = ROLLING if strategy is None else strategy
    return manifest


def protected(name: str = "web", **spec: Any) -> Data:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"foo": "bar"}}, **spec},
    }


def claim(mode: str) -> Data:
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "d", "namespace": "shop"},
        "spec": spec,
    }


SHARING: dict[str, Any] = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}
FOUND: dict[str, tuple[list[Data], dict[str, str]]] = {
    "nothing beside the workload": ([rolled(3)], {}),
    "a budget that allows no eviction": (
        [web(replicas=3), protected(maxUnavailable=0)],
        {"KS302": f"{NOT_DRAINED}: PodDisruptionBudget web (maxUnavailable: 0) allows no eviction"},
    ),
    "a budget for as many as there are": (
        [web(replicas=3), protected(minAvailable=3)],
        {"KS302": f"{NOT_DRAINED}: PodDisruptionBudget web (minAvailable: 3) allows no eviction"},
    ),
    "a budget that another workload helps to keep": (
        [web(replicas=3), web(replicas=1, name="api"), protected(minAvailable=3)],
        {},
    ),
    "a budget that lets one go": ([web(replicas=3), protected(maxUnavailable=1)], {}),
    "two budgets": (
        [web(replicas=3), protected(maxUnavailable=1), protected("b", minAvailable=1)],
        {
            "KS302": f"{NOT_DRAINED}: PodDisruptionBudgets b, web all select its pods, and the API server evicts no pod "
            "that has more than one"
        },
    ),
    "a quota for the replicas, and a rollout that adds one": (
        [rolled(3), quota(pods="3")],
        {
            "KS406": "no rollout completes: with maxSurge 1 and maxUnavailable 0 a restart stops at 0 of 3 new pods: "
            "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
        },
    ),
    "a quota for one more": ([rolled(3), quota(pods="4")], {}),
    "a quota for the replicas, and a rollout that takes one away first": (
        [rolled(3, {"rollingUpdate": {"maxUnavailable": 1}}), quota(pods="3")],
        {},
    ),
    "a quota for fewer than an autoscaler may ask for": (
        [web(replicas=2), autoscaler(1, 9), quota(pods="5")],
        {
            "KS304": "HorizontalPodAutoscaler web may ask for 9 replicas: 5 can run: "
            "exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5"
        },
    ),
    "replicas that share a claim of one pod": (
        [with_pod(web(replicas=2), **SHARING), claim("ReadWriteOncePod")],
        {"KS209": f"1 of 2 replicas finds no node: {IN_USE}"},
    ),
    "replicas that share a claim of many": ([rolled(2, **SHARING), claim("ReadWriteMany")], {}),
    "a claim that the files do not bring": ([rolled(2, **SHARING)], {}),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_the_files_say_alone(case: str) -> None:
    objects, expected = FOUND[case]
    report = kubespread.check(None, {"apiVersion": "v1", "kind": "List", "items": objects})
    assert {finding.code: finding.text for finding in report.findings} == expected
    assert not any(finding.proven for finding in report.findings)
