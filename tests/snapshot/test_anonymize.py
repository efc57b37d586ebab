"""Under pseudonyms nothing of what people called things is left, and everything still fits together."""

from __future__ import annotations

import json
from pathlib import Path

import kubespread
from kubespread.kube.api.cluster_objects import PersistentVolume, PersistentVolumeClaim
from kubespread.kube.api.core import Namespace
from kubespread.kube.api.workloads import StatefulSet
from kubespread.snapshot.anonymize import anonymize
from kubespread.snapshot.save import save
from tests.builders import (
    DRIVER,
    Data,
    device,
    device_class,
    device_request,
    hosts,
    node,
    owned_by,
    owner,
    pod,
    resource_claim,
    resource_claim_template,
    resource_slice,
    taint,
    using,
)
from tests.cli.support import run

LABELS = {"app": "acme-shop", "tier": "3"}


def affinity() -> Data:
    term = {
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["acme-shop"]}]},
        "topologyKey": "zone",
        "namespaces": ["acme"],
    }
    required = {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["acme-1"]}]}]
    }
    return {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
    }


def acme() -> list[Data]:
    """A cluster in which everything that can have a name is called after its owner."""
    nodes = hosts("acme-east", "acme-west")
    for position, each in enumerate(nodes):
        each["metadata"] |= {"name": f"acme-{position}", "annotations": {"acme": "acme"}}
        each["metadata"]["labels"]["kubernetes.io/hostname"] = f"acme-{position}"
        each["spec"]["taints"] = [taint("dedicated", value="acme")]
        each["status"]["images"] = [{"names": ["registry.acme.example/shop:v1"], "sizeBytes": 30_000_000}]
    running = pod(
        "acme-shop-0",
        "acme-0",
        labels=LABELS,
        namespace="acme",
        tolerations=[{"key": "dedicated", "value": "acme"}],
        affinity=affinity(),
        volumes=[
            {"name": "acme-data", "persistentVolumeClaim": {"claimName": "acme-data-acme-shop-0"}},
            {"name": "acme-tmp", "ephemeral": {}},
        ],
        nodeSelector={"topology.kubernetes.io/zone": "acme-east"},
        priorityClassName="acme-high",
        schedulingGates=[{"name": "acme.example/gate"}],
    )
    running["metadata"]["ownerReferences"] = [{**owned_by("StatefulSet", "acme-shop")[0], "uid": "acme-uid-2"}]
    running["metadata"] |= {"uid": "acme-uid-1", "resourceVersion": "77001"}
    running["spec"]["containers"] = [
        {"name": "acme", "image": "registry.acme.example/shop:v1", "ports": [{"name": "acme", "hostPort": 80}]}
    ]
    stateful = owner("StatefulSet", "acme-shop", {"matchLabels": LABELS}, namespace="acme")
    stateful["metadata"] |= {"uid": "acme-uid-2", "resourceVersion": "77002"}
    stateful["spec"]["template"] = {"metadata": {"labels": LABELS}, "spec": running["spec"]}
    stateful["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"name": "acme-data"}, "spec": {"storageClassName": "acme-fast"}}
    ]
    namespace = {
        "metadata": {"name": "acme", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "zone=acme-east"}}
    }
    claim = {"metadata": {"name": "acme-data-acme-shop-0", "namespace": "acme"}, "spec": {"volumeName": "acme-pv"}}
    volume = {"metadata": {"name": "acme-pv", "labels": {"topology.kubernetes.io/zone": "acme-east__acme-west"}}}
    driver = {"metadata": {"name": "ebs.csi.aws.com", "labels": {"team": "acme"}}}
    return [
        *nodes,
        running,
        stateful,
        owner("Service", "acme-shop", LABELS, api_version="v1", namespace="acme"),
        {"apiVersion": "v1", "kind": "Namespace", **namespace},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            **volume,
            "spec": {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "acme-7"}},
        },
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", **driver},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "acme-high"}, "value": 7},
    ]


def written(folder: Path) -> Path:
    path = folder / "acme.json"
    path.write_text(json.dumps(acme()))
    return path


def test_no_name_is_left(tmp_path: Path) -> None:
    cluster = written(tmp_path)
    assert "acme" in run("snapshot", "-S", cluster).out
    hidden = run("snapshot", "-S", cluster, "--anonymize")
    assert (hidden.code, "acme" in hidden.out, "7700" in hidden.out, hidden.err) == (0, False, False, "")


def test_a_claim_that_outlived_its_pod_is_still_found_by_the_next_one() -> None:
    metadata = {"name": "acme-data-acme-shop-7", "namespace": "acme"}
    left = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {}}
    hidden, _ = anonymize(kubespread.Snapshot.from_objects([*acme(), left]))
    (stateful,) = hidden.objects.get(StatefulSet)
    template = stateful.spec.volume_claim_templates[0].metadata.name
    names = [each.metadata.name for each in hidden.objects.get(PersistentVolumeClaim)]
    assert names == [f"{template}-{stateful.metadata.name}-{ordinal}" for ordinal in (0, 7)]


def test_what_belongs_together_stays_together() -> None:
    hidden, names = anonymize(kubespread.Snapshot.from_objects(acme()))
    (running,), (stateful,), (claim,), (volume,) = (
        hidden.pods,
        hidden.objects.get(StatefulSet),
        hidden.objects.get(PersistentVolumeClaim),
        hidden.objects.get(PersistentVolume),
    )
    node = hidden.nodes[0]
    template = stateful.spec.volume_claim_templates[0].metadata.name
    assert (running.spec.node_name, names[running.spec.node_name]) == (node.metadata.name, "acme-0")
    assert running.metadata.name == f"{stateful.metadata.name}-0"
    assert names[running.metadata.uid] == "acme-uid-1"
    assert running.metadata.owner_references[0].uid == stateful.metadata.uid
    assert claim.metadata.name == f"{template}-{running.metadata.name}"
    mounted = running.spec.volumes[0].persistent_volume_claim
    assert (mounted is not None and mounted.claim_name, claim.spec.volume_name) == (
        claim.metadata.name,
        volume.metadata.name,
    )
    assert running.spec.containers[0].image in node.status.images[0].names
    zones = [found.metadata.labels["topology.kubernetes.io/zone"] for found in hidden.nodes]
    assert volume.metadata.labels["topology.kubernetes.io/zone"] == "__".join(zones)
    annotation = hidden.objects.get(Namespace)[0].metadata.annotations["scheduler.alpha.kubernetes.io/node-selector"]
    assert annotation == f"zone={zones[0]}"
    assert (running.metadata.labels["tier"], running.spec.tolerations[0].value) == ("3", node.spec.taints[0].value)


def test_pseudonyms_sort_like_names_and_stay_the_same() -> None:
    snapshot = kubespread.Snapshot.from_objects(acme())
    hidden, names = anonymize(snapshot)
    plain = [pseudonym for pseudonym in sorted(names) if "-0" not in pseudonym[5:]]
    assert [names[pseudonym] for pseudonym in plain] == sorted(names[pseudonym] for pseudonym in plain)
    assert anonymize(snapshot) == (hidden, names)


def test_devices_keep_what_selectors_ask_about_and_lose_everything_else(tmp_path: Path) -> None:
    devices = [
        device(
            "acme-a", model="h100", serial="acme-1", taints=[{"key": "broken", "value": "acme", "effect": "NoSchedule"}]
        ),
        device("acme-b", model="a100", serial="acme-2"),
    ]
    asked = device_request("acme", "gpu", 'device.attributes["gpu.example.com"].model == "h100"')
    tolerant = {**asked, "exactly": {**asked["exactly"], "tolerations": [{"key": "broken", "value": "acme"}]}}
    same = [{"requests": ["acme"], "matchAttribute": "gpu.example.com/serial"}]
    holding = resource_claim("acme-other", device_request("acme"))
    results = [{"request": "acme", "driver": DRIVER, "pool": "acme-1", "device": "acme-a"}]
    holding["status"] = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": "acme-pod", "uid": "acme-uid"}],
    }
    objects = [
        *(node(f"acme-{at}") for at in (1, 2)),
        device_class("gpu"),
        holding,
        resource_claim_template("acme-t", tolerant, constraints=same),
        *(resource_slice(f"acme-{at}", devices, f"acme-{at}") for at in (1, 2)),
        {**using("acme-pod", templates=("acme-t",)), "status": {"phase": "Pending"}},
    ]
    snapshot = kubespread.Snapshot.from_objects(objects)
    hidden, key = anonymize(snapshot)
    save(hidden, str(tmp_path / "hidden.json"))
    shown = json.loads((tmp_path / "hidden.json").read_text())
    kept = {"acme"}  # The request: constraints and results are about it by name.
    assert {word for word in words(shown) if "acme" in word} == kept
    pseudonyms = {text: pseudonym for pseudonym, text in key.items()}
    before = kubespread.explain(snapshot, "pod/acme-pod")
    after = kubespread.explain(hidden, f"pod/{pseudonyms['acme-pod']}")
    assert [pseudonyms[name] for name in before.feasible] == list(after.feasible) == [pseudonyms["acme-2"]]


def words(value: object) -> set[str]:
    """Every string of a JSON value, keys aside."""
    if isinstance(value, str):
        return {value}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {word for part in parts for word in words(part)}
