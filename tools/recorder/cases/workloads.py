"""Workloads, their pods, and who owns whom."""

from __future__ import annotations

from uuid import UUID

from tools.recorder.cases.draw import Data, Draw
from tools.replay.cases import ago

API_VERSIONS = {
    "Job": "batch/v1",
    "Node": "v1",
    "ReplicationController": "v1",
    "Rollout": "argoproj.io/v1alpha1",
    "Gadget": "example.com/v1",
    "Widget": "example.com/v1",
}
"""Of kinds that are not of apps/v1."""


def uid(draw: Draw) -> str:
    return str(UUID(int=draw.number(0, 2**128 - 1)))


def owned_by(kind: str, name: str, uid: str) -> Data:
    """The reference of what a controller owns."""
    version = API_VERSIONS.get(kind, "apps/v1")
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def owner_of(workload: Data) -> Data:
    return owned_by(workload["kind"], workload["metadata"]["name"], workload["metadata"]["uid"])


def workload(draw: Draw, kind: str, name: str, spec: Data, namespace: str = "default", **metadata: object) -> Data:
    named = {"name": name, "namespace": namespace, "uid": uid(draw), **metadata}
    return {"apiVersion": API_VERSIONS.get(kind, "apps/v1"), "kind": kind, "metadata": named, "spec": spec}


def template(labels: Data, image: str = "i", **spec: object) -> Data:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def selecting(labels: Data, image: str = "i", **template_spec: object) -> Data:
    """The part of a workload's spec that says which pods are its own."""
    return {"selector": {"matchLabels": labels}, "template": template(labels, image, **template_spec)}


def pod(draw: Draw, name: str, labels: Data, owner: Data | None, namespace: str = "default") -> Data:
    """One that runs; the node and whether it is ready are the family's."""
    metadata: Data = {"name": name, "namespace": namespace, "uid": uid(draw), "labels": dict(labels)}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def ready(status: str = "True", since: float | None = None) -> Data:
    """The condition; ``since`` is in seconds ago."""
    return {"type": "Ready", "status": status, **({} if since is None else {"lastTransitionTime": ago(since)})}


def ran(restarts: int, *, name: str = "c", is_ready: bool = True) -> Data:
    """The status of a container."""
    return {"name": name, "restartCount": restarts, "image": "", "imageID": "", "ready": is_ready}


def finished(exit_code: int, seconds: float) -> Data:
    state = {"terminated": {"exitCode": exit_code, "finishedAt": ago(seconds)}}
    return {**ran(0, is_ready=False), "state": state}


def terminating(pod: Data) -> None:
    """It has 20 seconds left."""
    pod["metadata"]["deletionTimestamp"] = ago(-20)
