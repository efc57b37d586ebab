"""Storage objects on one line, as plain objects."""

from __future__ import annotations

from typing import Any

from tests.builders import Data

STORAGE = "storage.k8s.io/v1"


def claim(name: str, volume: str = "", storage_class: str = "", size: str = "5Gi", **spec: Any) -> Data:
    """A claim in namespace default, bound where it names its volume."""
    full: Data = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    if volume:
        full["volumeName"] = volume
    if storage_class:
        full["storageClassName"] = storage_class
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": full}


def volume(
    name: str, storage_class: str, size: str = "10Gi", *, only: Data | None = None, phase: str = "Available"
) -> Data:
    """A volume of the driver d.csi; ``only`` is the one term of its node affinity."""
    spec: Data = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "csi": {"driver": "d.csi", "volumeHandle": name},
    }
    if only is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [only]}}
    status = {"phase": phase}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec, "status": status}


def on_host(name: str, key: str = "kubernetes.io/hostname") -> Data:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": [name]}]}


def storage_class(name: str, provisioner: str, mode: str = "WaitForFirstConsumer", **more: Any) -> Data:
    metadata = {"name": name}
    head = {"apiVersion": STORAGE, "kind": "StorageClass", "metadata": metadata}
    return {**head, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def csi_node(name: str, driver: str, count: int | None, *topology_keys: str) -> Data:
    """A node on which one driver runs and attaches ``count`` volumes at most."""
    own: Data = {"name": driver, "nodeID": name, "topologyKeys": list(topology_keys)}
    if count is not None:
        own["allocatable"] = {"count": count}
    return {"apiVersion": STORAGE, "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [own]}}


def csi_driver(name: str) -> Data:
    """A driver that reports how much storage is free."""
    spec = {"storageCapacity": True}
    return {"apiVersion": STORAGE, "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec}


def capacity(storage_class: str, size: str | None, *, host: str, most: str | None = None) -> Data:
    """What a driver reports of free storage on one host, and of the largest volume it makes there."""
    own: Data = {"storageClassName": storage_class, "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": host}}}
    own |= {} if size is None else {"capacity": size}
    own |= {} if most is None else {"maximumVolumeSize": most}
    metadata = {"name": f"{storage_class}-{host}", "namespace": "kube-system"}
    return {"apiVersion": STORAGE, "kind": "CSIStorageCapacity", "metadata": metadata, **own}
