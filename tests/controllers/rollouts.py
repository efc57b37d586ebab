"""Deployments and their ReplicaSets on one line, and rollouts of them pass by pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.controllers.deployment import DeploymentPass, Write, reconcile, replicas_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicasStatus
from tests.builders import NOW, Data, ago, owned_by

ANNOTATION = "deployment.kubernetes.io/"
Sizes = dict[str, int]


def template(image: str, **labels: str) -> Data:
    return {"metadata": {"labels": {"app": "web", **labels}}, "spec": {"containers": [{"name": "c", "image": image}]}}


def deployment(
    replicas: int | None, image: str = "v2", *, surge: Any = None, unavailable: Any = None, **spec: Any
) -> Deployment:
    """The Deployment web; its strategy is RollingUpdate unless ``strategy`` is given."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    given = {key: value for key, value in rolling.items() if value is not None}
    full = {
        "selector": {"matchLabels": {"app": "web"}},
        "template": template(image),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": given},
        **({} if replicas is None else {"replicas": replicas}),
        **spec,
    }
    return msgspec.convert({"metadata": {"name": "web", "namespace": "default"}, "spec": full}, Deployment)


def replica_set(
    image: str,
    replicas: int,
    *,
    available: int | None = None,
    age: float = 1000,
    name: str | None = None,
    **annotations: str | int,
) -> ReplicaSet:
    """web-IMAGE with that many pods, all available unless told otherwise; ``annotations``: desired, max, revision."""
    names = {"desired": "desired-replicas", "max": "max-replicas", "revision": "revision"}
    data = {
        "metadata": {
            "name": name or f"web-{image}",
            "namespace": "default",
            "creationTimestamp": ago(age),
            "annotations": {ANNOTATION + names[key]: str(value) for key, value in annotations.items()},
            "ownerReferences": owned_by("Deployment", "web"),
        },
        "spec": {"replicas": replicas, "template": template(image, **{"pod-template-hash": image})},
        "status": {"replicas": replicas, "availableReplicas": replicas if available is None else available},
    }
    return msgspec.convert(data, ReplicaSet)


def one_pass(rolled: Deployment, *replica_sets: ReplicaSet, pods: Sequence[Pod] = ()) -> DeploymentPass:
    return reconcile(rolled, replica_sets, pods, new_hash="new", now=NOW)


def writes(rolled: Deployment, *replica_sets: ReplicaSet, pods: Sequence[Pod] = ()) -> list[Write]:
    return list(one_pass(rolled, *replica_sets, pods=pods).writes)


def sizes(found: DeploymentPass) -> Sizes:
    return {each.metadata.name: replicas_of(each) for each in found.replica_sets}


def all_available(replica_set: ReplicaSet) -> int:
    return replicas_of(replica_set)


def passes(
    rolled: Deployment, replica_sets: Sequence[ReplicaSet], available: Callable[[ReplicaSet], int] = all_available
) -> Iterator[tuple[Sequence[ReplicaSet], DeploymentPass]]:
    """What each pass finds and what it leaves, until one leaves all as it was."""
    now = NOW
    while True:
        found = reconcile(rolled, replica_sets, new_hash="new", now=now)
        yield replica_sets, found
        settled = tuple(_with_status(each, available(each)) for each in found.replica_sets)
        if (found.deployment, settled) == (rolled, tuple(replica_sets)):
            return
        rolled, replica_sets, now = found.deployment, settled, now + timedelta(seconds=1)


def _with_status(replica_set: ReplicaSet, available: int) -> ReplicaSet:
    replicas = replicas_of(replica_set)
    available = min(available, replicas)
    status = ReplicasStatus(replicas=replicas, ready_replicas=available, available_replicas=available)
    return replace(replica_set, status=status)
