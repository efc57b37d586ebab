"""Nodes, pods and constraints on one line, as plain objects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

Data = dict[str, Any]


def node(
    name: str,
    *,
    zone: str | None = None,
    cpu: str = "8",
    taints: list[Data] | None = None,
    unschedulable: bool = False,
    **labels: str,
) -> Data:
    """A node named and labeled; ``zone`` is the label ``zone``, underscores in label keys stand for dashes."""
    own = {key.replace("_", "-"): value for key, value in labels.items()}
    if zone is not None:
        own["zone"] = zone
    spec: Data = {"taints": taints or []}
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    }


def hosts(*zones: str | None) -> list[Data]:
    """n0, n1, ... each with its hostname label, in the zones given (None: no zone label), under the well-known keys."""
    made = []
    for position, zone in enumerate(zones):
        labels = {"kubernetes.io/hostname": f"n{position}"}
        if zone is not None:
            labels["topology.kubernetes.io/zone"] = zone
        made.append({**node(f"n{position}"), "metadata": {"name": f"n{position}", "labels": labels}})
    return made


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Data:
    return {"key": key, "value": value, "effect": effect}


def pod(
    name: str = "web",
    on: str | None = None,
    *,
    labels: Data | None = None,
    namespace: str = "default",
    constraints: list[Data] | None = None,
    requests: Data | None = None,
    **spec: Any,
) -> Data:
    """A pod labeled foo=bar unless told otherwise; ``on`` is its node."""
    container: Data = {"name": "main", "image": "example.com/main:1"}
    if requests:
        container["resources"] = {"requests": requests}
    full: Data = {"containers": [container], **spec}
    if on is not None:
        full["nodeName"] = on
    if constraints is not None:
        full["topologySpreadConstraints"] = constraints
    own = {"foo": "bar"} if labels is None else labels
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": own},
        "spec": full,
    }


def pods_on(counts: dict[str, int], *, labels: Data | None = None) -> list[Data]:
    """``{"n0": 2}``: two pods foo=bar on n0."""
    return [pod(f"{on}-{copy}", on, labels=labels) for on, count in counts.items() for copy in range(count)]


def hard(key: str = "zone", max_skew: int = 1, *, match: Data | None = None, **more: Any) -> Data:
    """A DoNotSchedule constraint over foo=bar; ``more`` sets any other field."""
    return _constraint(key, max_skew, "DoNotSchedule", match, more)


def soft(key: str = "zone", max_skew: int = 1, *, match: Data | None = None, **more: Any) -> Data:
    return _constraint(key, max_skew, "ScheduleAnyway", match, more)


def _constraint(key: str, max_skew: int, action: str, match: Data | None, more: Data) -> Data:
    selector = {"labelSelector": {"matchLabels": {"foo": "bar"} if match is None else match}}
    return {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": action, **selector, **more}


def owned_by(kind: str, name: str, *, api_version: str = "apps/v1", controller: bool = True) -> list[Data]:
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": controller}]


def owner(kind: str, name: str, selector: Any, *, api_version: str = "apps/v1", namespace: str = "default") -> Data:
    """A Service, ReplicaSet, StatefulSet or ReplicationController with its selector."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector},
    }


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""The moment that ages are counted from."""


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def replica(
    name: str,
    on: str | None = "n0",
    *,
    ready: float | None = 1000,
    created: float | None = 2000,
    restarts: int = 0,
    phase: str = "Running",
    cost: str | None = None,
    **metadata: Any,
) -> Data:
    """A pod foo=bar of a running workload; ``ready`` (None: it is not) and ``created`` are ages in seconds."""
    made = pod(name, on)
    made["metadata"] |= {"uid": name, **metadata}
    if created is not None:
        made["metadata"]["creationTimestamp"] = ago(created)
    if cost is not None:
        made["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    condition = {"type": "Ready", "status": "False" if ready is None else "True"}
    if ready is not None:
        condition["lastTransitionTime"] = ago(ready)
    made["status"] = {"phase": phase, "conditions": [condition]}
    if restarts:
        made["status"]["containerStatuses"] = [{"name": "main", "restartCount": restarts}]
    return made
