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
NO_SPACE = "node(s) did not have enough free storage"
NO_ZONE = "node(s) had no available volume zone"
NO_DISK = "node(s) had no available disk"
EXCEEDED = "node(s) exceed max volume count"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
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


def on_host(name: str) -> Data:
    return {"matchExpressions": [{"key": "host", "operator": "In", "values": [name]}]}


def uses(*claims: str, name: str = "web", on: str | None = None) -> Data:
    volumes = [{"name": f"v{at}", "persistentVolumeClaim": {"claimName": given}} for at, given in enumerate(claims)]
    return pod(name, on, volumes=volumes)


HOSTS = [node("n1", host="n1", zone="a"), node("n2", host="n2", zone="b")]
WAIT = storage_class()
CSI = {"driver": "d.csi", "volumeHandle": "h1"}
CASES: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "a claim that is missing": (
        [claim("other")],
        uses("c"),
        dict.fromkeys(("n1", "n2"), 'persistentvolumeclaim "c" not found'),
    ),
    "a volume that is missing": (
        [claim(volume="pv1")],
        uses("c"),
        dict.fromkeys(("n1", "n2"), 'persistentvolume "pv1" not found'),
    ),
    "no claims in the snapshot: nothing is said": ([], uses("c"), {}),
    "bound to a volume of one host": (
        [claim(volume="pv1"), volume(only=on_host("n2"))],
        uses("c"),
        {"n1": NODE_CONFLICT},
    ),
    "matchFields of a volume are ignored": (
        [
            claim(volume="pv1"),
            volume(only={"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}),
        ],
        uses("c"),
        {},
    ),
    "not bound yet, and not waiting": (
        [claim(volume="pv1", bound=False, storage_class="wait"), WAIT, volume()],
        uses("c"),
        dict.fromkeys(("n1", "n2"), UNBOUND),
    ),
    "an immediate class": (
        [claim(storage_class="now"), storage_class("now", mode="Immediate")],
        uses("c"),
        dict.fromkeys(("n1", "n2"), UNBOUND),
    ),
    "a waiting claim is provisioned anywhere": ([claim(storage_class="wait"), WAIT], uses("c"), {}),
    "unless the class has no provisioner": (
        [claim(storage_class="local"), storage_class("local", "kubernetes.io/no-provisioner")],
        uses("c"),
        {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT},
    ),
    "a local volume serves its host": (
        [
            claim(storage_class="local"),
            storage_class("local", "kubernetes.io/no-provisioner"),
            volume(only=on_host("n2"), storageClassName="local"),
        ],
        uses("c"),
        {"n1": BIND_CONFLICT},
    ),
    "one volume cannot serve two claims": (
        [
            claim("c", storage_class="local"),
            claim("d", storage_class="local"),
            storage_class("local", "kubernetes.io/no-provisioner"),
            volume("pv1", only=on_host("n2"), storageClassName="local"),
            volume("pv2", only=on_host("n1"), storageClassName="local"),
            volume("pv3", only=on_host("n1"), storageClassName="local"),
        ],
        uses("c", "d"),
        {"n2": BIND_CONFLICT},
    ),
    "too small a volume": (
        [
            claim(storage_class="local"),
            storage_class("local", "kubernetes.io/no-provisioner"),
            volume(storageClassName="local", size="9Gi"),
        ],
        uses("c"),
        {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT},
    ),
    "a volume reserved for the claim wins whatever its phase": (
        [
            claim(storage_class="local"),
            storage_class("local", "kubernetes.io/no-provisioner"),
            volume(
                "pv1",
                only=on_host("n1"),
                storageClassName="local",
                phase="Pending",
                claimRef={"namespace": "default", "name": "c"},
            ),
            volume("pv2", only=on_host("n2"), storageClassName="local"),
        ],
        uses("c"),
        {"n2": BIND_CONFLICT},
    ),
    "a selected node": (
        [claim(storage_class="wait", annotations={"volume.kubernetes.io/selected-node": "n2"}), WAIT],
        uses("c"),
        {"n1": BIND_CONFLICT},
    ),
    "allowed topologies": (
        [
            claim(storage_class="wait"),
            storage_class(allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]),
        ],
        uses("c"),
        {"n2": BIND_CONFLICT},
    ),
    "an empty topology term matches nothing": (
        [claim(storage_class="wait"), storage_class(allowedTopologies=[{}])],
        uses("c"),
        {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT},
    ),
    "reported capacity": (
        [
            claim(storage_class="wait"),
            WAIT,
            {
                "apiVersion": STORAGE,
                "kind": "CSIDriver",
                "metadata": {"name": "d.csi"},
                "spec": {"storageCapacity": True},
            },
            {
                "apiVersion": STORAGE,
                "kind": "CSIStorageCapacity",
                "metadata": {"name": "x", "namespace": "kube-system"},
                "storageClassName": "wait",
                "nodeTopology": {"matchLabels": {"zone": "a"}},
                "capacity": "20Gi",
            },
        ],
        uses("c"),
        {"n2": NO_SPACE},
    ),
    "two problems on one node": (
        [
            claim("d", volume="pv1"),
            volume(only=on_host("n2")),
            claim("c", storage_class="wait"),
            storage_class(allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["z"]}]}]),
        ],
        uses("d", "c"),
        {"n1": f"{NODE_CONFLICT}, {BIND_CONFLICT}", "n2": BIND_CONFLICT},
    ),
    "a claim for one pod only, in use anywhere": (
        [claim(volume="pv1", accessModes=["ReadWriteOncePod"]), volume(), uses("c", name="other", on="n1")],
        uses("c"),
        {"n1": IN_USE, "n2": IN_USE},
    ),
    "a driver's limit": (
        [
            claim(volume="pv1"),
            claim("d", volume="pv2"),
            volume(csi=CSI),
            volume("pv2", csi={**CSI, "volumeHandle": "h2"}),
            csi_node("n1", d_csi=1),
            uses("d", name="other", on="n1"),
        ],
        uses("c"),
        {"n1": EXCEEDED},
    ),
    "a volume attached already costs nothing": (
        [claim(volume="pv1"), volume(csi=CSI), csi_node("n1", d_csi=1), uses("c", name="other", on="n1")],
        uses("c"),
        {},
    ),
    "an attachment no pod explains counts": (
        [
            claim(volume="pv1"),
            volume(csi=CSI),
            csi_node("n1", d_csi=1),
            {
                "apiVersion": STORAGE,
                "kind": "VolumeAttachment",
                "metadata": {"name": "a"},
                "spec": {"attacher": "d.csi", "nodeName": "n1", "source": {"persistentVolumeName": "pv1"}},
            },
        ],
        uses("c"),
        {"n1": EXCEEDED},
    ),
    "a limit of 0": ([claim(storage_class="wait"), WAIT, csi_node("n1", d_csi=0)], uses("c"), {"n1": EXCEEDED}),
}


@pytest.mark.parametrize("case", CASES)
def test_volumes(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert reasons(ask([*HOSTS, *objects], candidate)) == expected


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


ZONED = [
    {**node("ga"), "metadata": {"name": "ga", "labels": {GA_ZONE: "a"}}},
    {**node("beta"), "metadata": {"name": "beta", "labels": {BETA_ZONE: "a"}}},
    {**node("other"), "metadata": {"name": "other", "labels": {GA_ZONE: "b"}}},
    node("bare"),
]
ZONES: dict[str, tuple[Data, set[str]]] = {
    "a beta label of the volume admits the general one of the node": ({BETA_ZONE: "a"}, {"other"}),
    "but not the other way round": ({GA_ZONE: "a"}, {"beta", "other"}),
    "several zones": ({GA_ZONE: "a__ b"}, {"beta"}),
    "an empty part voids the label": ({GA_ZONE: "a__"}, set()),
    "a region the nodes do not have": ({"topology.kubernetes.io/region": "r"}, {"ga", "beta", "other"}),
}


@pytest.mark.parametrize("case", ZONES)
def test_zones(case: str) -> None:
    labels, rejected = ZONES[case]
    report = ask([*ZONED, claim(volume="pv1"), volume(labels=labels)], uses("c"))
    assert reasons(report) == dict.fromkeys(rejected, NO_ZONE)


def disk(**kind: Data) -> Data:
    return pod(volumes=[{"name": "v", **kind}])


DISKS: dict[str, tuple[Data, Data, bool]] = {
    "an EBS volume": ({"awsElasticBlockStore": {"volumeID": "x"}}, {"awsElasticBlockStore": {"volumeID": "x"}}, False),
    "another EBS volume": (
        {"awsElasticBlockStore": {"volumeID": "y"}},
        {"awsElasticBlockStore": {"volumeID": "x"}},
        True,
    ),
    "a GCE disk both only read": (
        {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
        {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
        True,
    ),
    "a GCE disk one writes": (
        {"gcePersistentDisk": {"pdName": "x"}},
        {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
        False,
    ),
    "an iSCSI target by its name alone": (
        {"iscsi": {"iqn": "iqn.2001-04.com.example:i", "targetPortal": "1"}},
        {"iscsi": {"iqn": "iqn.2001-04.com.example:i", "targetPortal": "2"}},
        False,
    ),
    "an RBD image with a common monitor": (
        {"rbd": {"monitors": ["a", "b"], "image": "x"}},
        {"rbd": {"monitors": ["b"], "pool": "rbd", "image": "x"}},
        False,
    ),
}


@pytest.mark.parametrize("case", DISKS)
def test_disks(case: str) -> None:
    wanted, held, fits = DISKS[case]
    existing = disk(**held)
    existing = {
        **existing,
        "metadata": {**existing["metadata"], "name": "p"},
        "spec": {**existing["spec"], "nodeName": "n"},
    }
    assert reasons(ask([node("n"), existing], disk(**wanted))) == ({} if fits else {"n": NO_DISK})


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
