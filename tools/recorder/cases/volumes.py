"""Claims, volumes, classes, drivers, what nodes can attach, and pods that use them."""

from __future__ import annotations

import json

from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from tools.recorder.cases.cluster import LONG_AGO, allocatable, bound, candidate, name_of, nodes
from tools.recorder.cases.draw import Data, Draw

_STORAGE = "storage.k8s.io/v1"
_DRIVERS = ("ebs.csi.aws.com", "pd.csi.storage.gke.io", "x.example.com", "disk.csi.azure.com")
_PROVISIONERS = {
    "wait": "ebs.csi.aws.com",
    "now": "ebs.csi.aws.com",
    "local": "kubernetes.io/no-provisioner",
    "cap": "x.example.com",
    "intree": "kubernetes.io/aws-ebs",
    "pd": "pd.csi.storage.gke.io",
}
_DELETED = {"deletionTimestamp": LONG_AGO, "finalizers": ["kubernetes.io/protection"]}
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def storage(draw: Draw, *, hindered: float = 1.0) -> Data:
    """A cluster with volumes, and a candidate that has some. ``hindered`` is how much of what keeps volumes from nodes
    is there.
    """
    among = nodes(draw, 2, 8, tainted=0.03, labelled=draw.one(0.9, 1.0))
    for node in among:
        allocatable(node)["pods"] = "110"
        node["metadata"]["labels"] |= draw.fields({BETA_ZONE: (0.15, ["z0", "z9"]), BETA_REGION: (0.1, "r0")})
    objects = [
        *_drivers(draw),
        *_classes(draw, hindered),
        *(_csi_node(draw, node, hindered) for node in among if draw.chance(0.75)),
        *(_capacity(draw, i, among) for i in range(draw.one(0, 0, 1, 3))),
    ]
    claims = []
    for i in range(draw.number(1, 7)):
        objects += _claim(draw, i, among, hindered)
        claims.append(f"c{i}")
    pods = []
    for i in range(draw.number(0, 3 * len(among))):
        pod = bound(draw, i, among)
        if draw.chance(0.7):
            pod["metadata"]["namespace"] = "default"
            pod["spec"]["volumes"] = _volumes(draw, claims, 0)
        pods.append(pod)
    asked = candidate(draw, volumes=_volumes(draw, claims, 1))
    asked["metadata"]["namespace"] = "default"
    if draw.chance(0.04):
        asked["spec"]["volumes"].append({"name": "missing", "persistentVolumeClaim": {"claimName": "nope"}})
    return {"nodes": among, "pods": pods, "objects": [*objects, *_ephemeral_claims(draw, pods)], "pod": asked}


def _drivers(draw: Draw) -> list[Data]:
    return [
        {
            "apiVersion": _STORAGE,
            "kind": "CSIDriver",
            "metadata": {"name": name},
            "spec": {"storageCapacity": draw.chance(0.4), "attachRequired": draw.chance(0.8)},
        }
        for name in _DRIVERS
        if draw.chance(0.6)
    ]


def _classes(draw: Draw, hindered: float) -> list[Data]:
    def topology() -> Data:
        return {
            "key": draw.one(ZONE, ZONE, "rack", BETA_ZONE),
            "values": draw.some(["z0", "z1", "z2", "k0", "k1"], 1, 3),
        }

    def allowed() -> Data:
        return {"matchLabelExpressions": draw.many(1, 2, topology)}

    found = []
    for name, provisioner in _PROVISIONERS.items():
        made: Data = {
            "apiVersion": _STORAGE,
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": provisioner,
        }
        if name != "now":
            made["volumeBindingMode"] = "WaitForFirstConsumer"
        if name in ("wait", "cap", "pd", "intree"):
            made |= draw.fields({"allowedTopologies": (0.35 * hindered, lambda: draw.many(1, 2, allowed))})
        if draw.chance(0.93):
            found.append(made)
    return found


def _csi_node(draw: Draw, node: Data, hindered: float) -> Data:
    counts = [0, 1, 1, 2, 3, 39] if draw.chance(hindered) else [5, 10, 39]
    drivers = [
        {"name": name, "nodeID": "x"}
        | draw.fields({"allocatable": (0.8, [{"count": count} for count in counts]), "topologyKeys": (0.4, [[ZONE]])})
        for name in draw.some(_DRIVERS, 1, 4)
    ]
    migrated = "kubernetes.io/aws-ebs,kubernetes.io/gce-pd,kubernetes.io/azure-disk"
    metadata = {"name": name_of(node)} | draw.fields({"annotations": (0.4, {_MIGRATED: migrated})})
    return {"apiVersion": _STORAGE, "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}


def _capacity(draw: Draw, i: int, among: list[Data]) -> Data:
    topologies = [
        {"matchLabels": {ZONE: "z0"}},
        {},
        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z0", "z1"]}]},
        {"matchLabels": {HOSTNAME: name_of(draw.one(*among))}},
    ]
    metadata = {"name": f"cap{i}", "namespace": draw.one("default", "kube-system")}
    found = {
        "apiVersion": _STORAGE,
        "kind": "CSIStorageCapacity",
        "metadata": metadata,
        "storageClassName": draw.one("cap", "cap", "wait", "pd"),
    }
    return found | draw.fields(
        {
            "nodeTopology": (0.92, topologies),
            "capacity": (0.8, ["1Gi", "5Gi", "100Gi", "4999999999"]),
            "maximumVolumeSize": (0.3, ["1Gi", "10Gi"]),
        }
    )


def _claim(draw: Draw, i: int, among: list[Data], hindered: float) -> list[Data]:
    """A claim, and the volumes that it has or could have."""
    is_bound = draw.chance(0.5)
    modes = (
        draw.some(["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"], 1, 2)
        if draw.chance(0.8)
        else ["ReadWriteOncePod"]
    )
    spec: Data = {"accessModes": modes, "resources": {"requests": {"storage": draw.one("5Gi", "5Gi", "20Gi", "1")}}}
    spec |= draw.fields(
        {
            "storageClassName": (0.96, ["wait", "now", "local", "local", "cap", "intree", "pd", "ghost", ""]),
            "volumeMode": (0.5, ["Filesystem", "Block"]),
            "selector": (
                0.15,
                [
                    {"matchLabels": {"vol": "a"}},
                    {"matchExpressions": [{"key": "vol", "operator": "In", "values": ["a", "b"]}]},
                    {},
                ],
            ),
            "volumeAttributesClassName": (0.5, ["gold", "silver", ""]),
        }
    )
    metadata: Data = {"name": f"c{i}", "namespace": "default", "uid": f"cu{i}"}
    if draw.chance(0.05):
        metadata |= _DELETED
    annotations = {}
    if is_bound and draw.chance(0.93):
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    elif not is_bound and draw.chance(0.1):
        annotations["volume.kubernetes.io/selected-node"] = draw.one(*(name_of(node) for node in among), "ghost")
    if annotations:
        metadata["annotations"] = annotations
    phase = "Lost" if draw.chance(0.03) else "Bound" if is_bound else "Pending"
    if is_bound:
        spec["volumeName"] = f"v{i}-0" if draw.chance(0.95) else "ghost"
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }
    count = 1 if is_bound else sum(draw.chance(0.6) for _ in range(draw.one(1, 1, 2, 3)))
    return [claim, *(_volume(draw, f"v{i}-{j}", claim, among, hindered) for j in range(count))]


def _volume(draw: Draw, name: str, claim: Data, among: list[Data], hindered: float) -> Data:
    handle = draw.one(name, name, "same")
    source = draw.one(
        *({"csi": {"driver": draw.one(*_DRIVERS), "volumeHandle": handle}} for _ in range(2)),
        {"awsElasticBlockStore": {"volumeID": f"vol-{name}"}},
        {"gcePersistentDisk": {"pdName": f"pd-{name}"}},
        {"local": {"path": "/x"}},
        {"hostPath": {"path": "/x"}},
        {"nfs": {"server": "s", "path": "/"}},
        {"azureDisk": {"diskName": name, "diskURI": f"/subscriptions/x/{name}", "kind": "Managed"}},
    )
    modes = draw.one(claim["spec"]["accessModes"], ["ReadWriteOnce", "ReadWriteMany"])
    spec = {"capacity": {"storage": draw.one("10Gi", "5Gi", "1Gi", "50Gi")}, "accessModes": modes, **source}
    spec |= {field: claim["spec"][field] for field in ("storageClassName", "volumeMode") if field in claim["spec"]}
    spec |= draw.fields({"volumeAttributesClassName": (0.3, ["gold", "silver"])})
    if "local" in source or draw.chance(0.5 * hindered):
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": draw.many(1, 2, lambda: _place(draw, among))}}
    metadata: Data = {"name": name, "labels": {"vol": draw.one("a", "b", "c")}}
    if draw.chance(0.4 * hindered):
        zones = ("z0", "z1", "z0__z2", "r0", "z0__", "__")
        metadata["labels"][draw.one(ZONE, BETA_ZONE, REGION, BETA_REGION)] = draw.one(*zones)
    if draw.chance(0.05):
        metadata |= _DELETED
    phase = draw.one("Available", "Available", "Available", "Released", "Failed", "")
    owner = {
        "namespace": "default",
        "name": name_of(claim),
        "uid": claim["metadata"]["uid"],
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
    }
    if "volumeName" in claim["spec"]:
        spec["claimRef"], phase = owner, "Bound"
    elif draw.chance(0.2):
        spec["claimRef"] = {"namespace": "default", "name": draw.one(owner["name"], "other")}
        spec["claimRef"] |= draw.fields({"uid": (0.5, [owner["uid"], "zz"])})
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def _place(draw: Draw, among: list[Data]) -> Data:
    def expression() -> Data:
        values = draw.some(["z0", "z1", "z2", *(name_of(node) for node in among)], 1, 4)
        key = draw.one(ZONE, ZONE, HOSTNAME, "absent", BETA_ZONE)
        return {"key": key, "operator": draw.one("In", "In", "In", "NotIn"), "values": values}

    return {"matchExpressions": draw.many(1, 2, expression)}


def _volumes(draw: Draw, claims: list[str], low: int) -> list[Data]:
    inline: tuple[Data, ...] = (
        {"gcePersistentDisk": {"pdName": draw.one("d1", "d2"), "readOnly": draw.chance(0.4)}},
        {"awsElasticBlockStore": {"volumeID": draw.one("e1", "e2"), "readOnly": draw.chance(0.4)}},
        {
            "iscsi": {
                "targetPortal": "1.2.3.4",
                "iqn": f"iqn.2001-04.com.example:{draw.one('a', 'b')}",
                "lun": 0,
                "readOnly": draw.chance(0.5),
            }
        },
        {
            "rbd": {
                "monitors": draw.some(["m1", "m2", "m3"], 1, 2),
                "image": draw.one("i1", "i2"),
                "pool": draw.one("rbd", "p2"),
                "readOnly": draw.chance(0.5),
            }
        },
        {"emptyDir": {}},
        {"csi": {"driver": draw.one(*_DRIVERS)}},
        {"azureDisk": {"diskName": "a1", "diskURI": "/subscriptions/u", "kind": "Managed"}},
    )
    found = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}}
        for i, claim in enumerate(draw.some(claims, low, 3))
    ]
    if draw.chance(0.25):
        found.append({"name": "inline", **draw.one(*inline)})
    if draw.chance(0.1):
        wanted = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": draw.one("wait", "cap", "local"),
            "resources": {"requests": {"storage": "1Gi"}},
        }
        found.append({"name": "eph", "ephemeral": {"volumeClaimTemplate": {"spec": wanted}}})
    return found


def _ephemeral_claims(draw: Draw, pods: list[Data]) -> list[Data]:
    """Most of those that the controller has made for pods that run."""
    found = []
    for pod in pods:
        for volume in pod["spec"].get("volumes", ()):
            if "ephemeral" not in volume or draw.chance(0.2):
                continue
            name = f"{name_of(pod)}-eph"
            metadata: Data = {"name": name, "namespace": "default", "uid": name}
            if draw.chance(0.98):
                owner = {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": name_of(pod),
                    "uid": pod["metadata"]["uid"],
                    "controller": True,
                }
                metadata["ownerReferences"] = [owner]
            spec = volume["ephemeral"]["volumeClaimTemplate"]["spec"]
            found.append(
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": metadata,
                    "spec": spec,
                    "status": {"phase": "Pending"},
                }
            )
    return found


def attach(draw: Draw, case: Data) -> None:
    """Volumes that are attached to nodes already, and nodes that can attach few."""
    volumes = [each for each in case["objects"] if each["kind"] == "PersistentVolume"]
    for i in range(draw.number(1, 8) if volumes else 0):
        volume = draw.one(*volumes)
        driver = volume["spec"].get("csi", {}).get("driver") or draw.one(*_DRIVERS)
        source: Data = {"persistentVolumeName": name_of(volume) if draw.chance(0.93) else "ghost"}
        if draw.chance(0.1):
            csi = {"driver": driver, "volumeHandle": draw.one("same", "inl")}
            source = {
                "inlineVolumeSpec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "csi": csi}
            }
        metadata: Data = {"name": f"va{i}"} | (_DELETED if draw.chance(0.15) else {})
        spec = {
            "attacher": driver if draw.chance(0.9) else "x.example.com",
            "nodeName": name_of(draw.one(*case["nodes"])),
            "source": source,
        }
        case["objects"].append(
            {
                "apiVersion": _STORAGE,
                "kind": "VolumeAttachment",
                "metadata": metadata,
                "spec": spec,
                "status": {"attached": draw.chance(0.8)},
            }
        )
    limit(draw, case)


def limit(draw: Draw, case: Data) -> None:
    for each in case["objects"]:
        if each["kind"] == "CSINode":
            for driver in each["spec"]["drivers"]:
                driver["allocatable"] = {"count": draw.one(1, 1, 2, 3)}


def measure(draw: Draw, case: Data) -> None:
    """Free storage on most nodes, for claims that are not bound yet."""
    for each in case["objects"]:
        if each["kind"] == "CSIStorageCapacity":
            each["storageClassName"] = draw.one("cap", "wait")
            each.setdefault("capacity", draw.one("10Gi", "50Gi", "7Gi"))
            each.pop("maximumVolumeSize", None)
        if each["kind"] == "PersistentVolumeClaim" and "volumeName" not in each["spec"]:
            each["spec"]["storageClassName"] = draw.one("cap", "wait", "local")
            each["metadata"].pop("annotations", None)
            each["metadata"].pop("deletionTimestamp", None)
    for i, node in enumerate(case["nodes"]):
        if draw.chance(0.8):
            place = {"matchLabels": {HOSTNAME: node["metadata"]["labels"].get(HOSTNAME, "x")}}
            case["objects"].append(
                {
                    "apiVersion": _STORAGE,
                    "kind": "CSIStorageCapacity",
                    "metadata": {"name": f"n{i}", "namespace": "kube-system"},
                    "storageClassName": "cap",
                    "nodeTopology": place,
                    "capacity": draw.one("6Gi", "20Gi", "45Gi", "100Gi"),
                }
            )


def migrated(draw: Draw, case: Data) -> Data:
    """The case with volumes of the old in-tree drivers, and zones as cloud providers write them."""
    zones = {
        "z0": "us-central1-a",
        "z1": "us-central1-b",
        "z2": "us-central1-c",
        "z3": "us-central1-d",
        "z4": "us-central1-f",
    }
    text = json.dumps(case)
    for short, long in {
        "z0__z2": "us-central1-a__us-central1-c",
        "z0__": "us-central1-a",
        "r0": "us-central1",
        **zones,
    }.items():
        text = text.replace(f'"{short}"', f'"{long}"')
    found: Data = json.loads(text)
    for node in found["nodes"]:
        marks = node["metadata"]["labels"]
        if zone := marks.get(ZONE):
            for cloud in ("gke.io", "ebs.csi.aws.com", "disk.csi.azure.com"):
                marks |= draw.fields({f"topology.{cloud}/zone": (0.75, [*[zone] * 19, "other"])})
    for each in found["objects"]:
        _use_in_tree(draw, each)
    return found


def _use_in_tree(draw: Draw, each: Data) -> None:
    sources = (
        {"gcePersistentDisk": {"pdName": draw.one("d1", "d2", "d3")}},
        {"awsElasticBlockStore": {"volumeID": draw.one("vol-1", "aws://us-central1-a/vol-2", "vol-3")}},
        {
            "azureDisk": {
                "diskName": "x",
                "diskURI": draw.one("/subscriptions/a", "/subscriptions/b"),
                "kind": "Managed",
            }
        },
        {"cinder": {"volumeID": "c1"}},
        {"vsphereVolume": {"volumePath": "[x] y"}},
        {"portworxVolume": {"volumeID": "p1"}},
        {"azureFile": {"secretName": "s", "shareName": "sh"}},
    )
    if each["kind"] == "PersistentVolume" and draw.chance(0.6):
        for kind in ("csi", "awsElasticBlockStore", "gcePersistentDisk", "local", "hostPath", "nfs", "azureDisk"):
            each["spec"].pop(kind, None)
        each["spec"] |= draw.one(*sources)
    if each["kind"] == "CSINode":
        plugins = ("kubernetes.io/aws-ebs,kubernetes.io/gce-pd,kubernetes.io/azure-disk", "kubernetes.io/gce-pd")
        each["metadata"] |= draw.fields({"annotations": (0.7, [{_MIGRATED: names} for names in plugins])})
        for driver in each["spec"]["drivers"]:
            driver["allocatable"] = {"count": draw.one(1, 1, 2, 3)}
    if each["kind"] == "StorageClass" and name_of(each) in ("intree", "wait") and draw.chance(0.6):
        each["provisioner"] = "kubernetes.io/" + draw.one("aws-ebs", "gce-pd", "azure-disk", "cinder", "vsphere-volume")
