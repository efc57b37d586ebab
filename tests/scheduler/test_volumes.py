"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.scheduler.plugin import Plugin
from kubespread.scheduler.plugins.volumes.binding import VolumeBinding
from kubespread.scheduler.plugins.volumes.filters import NodeVolumeLimits, VolumeRestrictions, VolumeZone
from tests.builders import node, pod
from tests.kube.decoding import decode_pod
from tests.scheduler.asking import ask, reasons

Data = dict[str, Any]

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
GA_ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
STORAGE = "storage.k8s.io/v1"


def claim(
    name: str = "c", volume: str = "", *, bound: bool = True, storage_class: str | None = None, **more: Any
) -> Data:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if volume and bound else {}
    annotations |= more.pop("annotations", {})
    spec: Data = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, **more}
    if volume:
        spec["volumeName"] = volume
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    meta = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def volume(
    name: str = "pv1",
    *,
    only: Data | None = None,
    labels: Data | None = None,
    size: str = "10Gi",
    phase: str = "Available",
    **spec: Any,
) -> Data:
    full: Data = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], **spec}
    if only is not None:
        full["nodeAffinity"] = {"required": {"nodeSelectorTerms": [only]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": full,
        "status": {"phase": phase},
    }


def storage_class(
    name: str = "wait", provisioner: str = "d.csi", mode: str = "WaitForFirstConsumer", **more: Any
) -> Data:
    return {
        "apiVersion": STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **more,
    }


def csi_node(name: str, annotations: Data | None = None, **limits: int) -> Data:
    drivers = [{"name": driver.replace("_", "."), "allocatable": {"count": count}} for driver, count in limits.items()]
    return {
        "apiVersion": STORAGE,
        "kind": "CSINode",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"drivers": drivers},
    }


def uses(*claims: str, name: str = "web", on: str | None = None) -> Data:
    volumes = [{"name": f"v{at}", "persistentVolumeClaim": {"claimName": given}} for at, given in enumerate(claims)]
    return pod(name, on, volumes=volumes)


HOSTS = [node("n1", host="n1", zone="a"), node("n2", host="n2", zone="b")]
CSI = {"driver": "d.csi", "volumeHandle": "h1"}


def test_volumes_cannot_be_counted_beside_a_pod_that_uses_anothers_claim() -> None:
    """On a node with limits; elsewhere nothing is counted."""
    stranger = pod("other", "n1", volumes=[{"name": "v", "ephemeral": {}}])
    objects = [claim(volume="pv1"), volume(csi=CSI), claim("other-v"), stranger]
    error = (
        'running "NodeVolumeLimits" filter plugin: PVC default/other-v was not created for pod default/other '
        "(pod is not owner)"
    )
    assert ask([*HOSTS, *objects, csi_node("n1", d_csi=5)], uses("c")).message == error
    assert ask([*HOSTS, *objects, csi_node("n2", d_csi=5)], uses("c")).message is None
    report = kubespread.simulate(
        kubespread.Snapshot.from_objects([*HOSTS, *objects, csi_node("n1", d_csi=5)]), uses("c")
    )
    assert (report.placed, report.stopped) == (0, error)


def test_a_migrated_volume_needs_its_drivers_zone_label() -> None:
    only = {"matchExpressions": [{"key": GA_ZONE, "operator": "In", "values": ["a"]}]}
    ebs = volume(only=only, awsElasticBlockStore={"volumeID": "x"})
    migrated = csi_node("n1", {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"})
    plain = {**node("n1"), "metadata": {"name": "n1", "labels": {GA_ZONE: "a"}}}
    labeled = {**node("n1"), "metadata": {"name": "n1", "labels": {GA_ZONE: "a", "topology.ebs.csi.aws.com/zone": "a"}}}
    assert reasons(ask([plain, claim(volume="pv1"), ebs], uses("c"))) == {}
    assert reasons(ask([plain, migrated, claim(volume="pv1"), ebs], uses("c"))) == {"n1": NODE_CONFLICT}
    assert reasons(ask([labeled, migrated, claim(volume="pv1"), ebs], uses("c"))) == {}


def test_a_stateful_sets_claim_is_judged_as_it_will_be_made() -> None:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    wanted = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    spec = {"selector": {"matchLabels": {"app": "db"}}, "template": template, "volumeClaimTemplates": [wanted]}
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}
    default = storage_class(allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}])
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert reasons(ask([*HOSTS, default], stateful)) == {"n2": BIND_CONFLICT}


@pytest.mark.parametrize("plugin", [VolumeBinding, NodeVolumeLimits, VolumeRestrictions, VolumeZone])
def test_pods_whose_volumes_scheduling_does_not_read_share_their_answers(plugin: type[Plugin]) -> None:
    local = decode_pod(pod(volumes=[{"name": "v", "emptyDir": {}}]))
    claimed = decode_pod(pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]))
    assert (plugin().signature(local), plugin().signature(claimed)) == ((), None)
