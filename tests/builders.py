"""Nodes, pods and constraints on one line, as plain objects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from kubespread.reports.parts import QuestionReport

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


DRIVER = "gpu.example.com"


def dra_object(kind: str, name: str, namespace: str = "", **fields: Any) -> Data:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, **fields}


def device_class(name: str, *expressions: str, resource: str | None = None) -> Data:
    """A class that selects by CEL expressions, and provides an extended resource."""
    spec: Data = {"selectors": [{"cel": {"expression": expression}} for expression in expressions]}
    if resource is not None:
        spec["extendedResourceName"] = resource
    return dra_object("DeviceClass", name, spec=spec)


def device(name: str, *, taints: list[Data] | None = None, memory: str | None = None, **attributes: Any) -> Data:
    """A device with attributes; strings that begin with ``v`` and a digit are versions."""
    made: Data = {"name": name, "attributes": {key: _attribute(value) for key, value in attributes.items()}}
    if taints:
        made["taints"] = taints
    if memory is not None:
        made["capacity"] = {"memory": {"value": memory}}
    return made


def _attribute(value: Any) -> Data:
    if isinstance(value, str) and value[:1] == "v" and value[1:2].isdigit():
        return {"version": value[1:]}
    return {{bool: "bool", int: "int", str: "string"}[type(value)]: value}


def resource_slice(name: str, devices: list[Data] | int, on: str | Data | None = None, **spec: Any) -> Data:
    """A slice with these devices, or with so many, on a node, on the nodes of a selector, or on all.

    Its pool has its name, and no other slices.
    """
    listed = [device(f"dev-{number}") for number in range(devices)] if isinstance(devices, int) else devices
    where: Data = {"allNodes": True}
    if on is not None:
        where = {"nodeName": on} if isinstance(on, str) else {"nodeSelector": on}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return dra_object("ResourceSlice", name, spec={"driver": DRIVER, "pool": pool, "devices": listed, **where, **spec})


def device_request(name: str = "r", device_class: str = "gpu", *expressions: str, **exactly: Any) -> Data:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return {"name": name, "exactly": {"deviceClassName": device_class, "selectors": selectors, **exactly}}


def resource_claim(name: str, *requests: Data, namespace: str = "default", **devices: Any) -> Data:
    spec = {"devices": {"requests": list(requests), **devices}}
    return dra_object("ResourceClaim", name, namespace, spec=spec)


def resource_claim_template(name: str, *requests: Data, namespace: str = "default", **devices: Any) -> Data:
    spec = {"spec": {"devices": {"requests": list(requests), **devices}}}
    return dra_object("ResourceClaimTemplate", name, namespace, spec=spec)


def using(name: str = "web", *, claims: tuple[str, ...] = (), templates: tuple[str, ...] = (), **spec: Any) -> Data:
    """A pod with claims by their names and by those of the templates they are made from."""
    named = [{"name": claim, "resourceClaimName": claim} for claim in claims]
    made = [{"name": template, "resourceClaimTemplateName": template} for template in templates]
    return pod(name, resourceClaims=[*named, *made], **spec)


R = TypeVar("R", bound=QuestionReport)


def remade(report: R, **fields: Any) -> R:
    """The report as it would be with other values of ``fields``."""
    values = {name: getattr(report, name) for name in report.__struct_fields__}
    return type(report)(**values | fields).conclude(report.snapshot_findings)
