"""Replicas that bind claims where they are placed: what follows equals a cluster built anew with the claims bound by hand."""

from __future__ import annotations

from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.applied import with_companions
from kubespread.candidate.replicas import replicas_called
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.workloads import StatefulSet
from kubespread.scheduler.cluster.cluster import Cluster, in_use
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.placing import Choice
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.world.store.claims import creation
from kubespread.world.store.waiting import Applicant, LivingCluster
from tests.builders import Data, hard, hosts, pod
from tests.candidate.objects import from_object
from tests.property.test_placing import everything
from tests.storage import capacity, claim, csi_driver, csi_node, on_host, storage_class, volume

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
PLUGINS = framework(default_profile())
CLASSES = {"local": "kubernetes.io/no-provisioner", "made": "d.csi", "free": "x.csi"}
SIZES = st.integers(1, 4)


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Nodes in zones, volumes of every class that reach a host or a zone, limits and reports of free storage."""
    nodes = hosts(*draw(st.lists(st.sampled_from("ab"), min_size=2, max_size=4)))
    names = [each["metadata"]["name"] for each in nodes]
    reach = st.sampled_from([None, on_host("a", ZONE), on_host("b", ZONE), *map(on_host, names)])
    volumes = [
        volume(f"v{at}", draw(st.sampled_from(sorted(CLASSES))), f"{draw(SIZES)}Gi", only=draw(reach))
        for at in range(draw(st.integers(0, 6)))
    ]
    keys = st.sampled_from([(), (ZONE,), (HOST,), (ZONE, HOST)])
    csi_nodes = [csi_node(name, "d.csi", draw(st.sampled_from([None, 0, 1, 2, 3])), *draw(keys)) for name in names]
    reports = [capacity("made", f"{draw(SIZES)}Gi", host=name) for name in names if draw(st.booleans())]
    reports += [capacity("made", f"{draw(SIZES)}Gi", most=f"{draw(SIZES)}Gi", host=names[0])] if not reports else []
    drivers = [csi_driver("d.csi")] if draw(st.booleans()) else []
    user = pod("user", names[0], volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "shared"}}])
    shared = claim("shared", storage_class=draw(st.sampled_from(sorted(CLASSES))), size="1Gi")
    classes = [storage_class(name, provisioner) for name, provisioner in CLASSES.items()]
    return [*nodes, *volumes, *csi_nodes, *reports, *drivers, *classes, shared, user]


@st.composite
def stateful_sets(draw: st.DrawFn) -> Data:
    templates = []
    for at in range(draw(st.integers(0, 2))):
        made = claim(f"data{at}", storage_class=draw(st.sampled_from(sorted(CLASSES))), size=f"{draw(SIZES)}Gi")
        templates.append({"metadata": {"name": f"data{at}"}, "spec": made["spec"]})
    volumes: list[Data] = []
    if draw(st.booleans()) or not templates:
        own = claim("", storage_class=draw(st.sampled_from(sorted(CLASSES))), size=f"{draw(SIZES)}Gi")["spec"]
        volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": own}}})
    if draw(st.booleans()):
        volumes.append({"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}})
    constraints = draw(st.sampled_from([[], [hard(ZONE)]]))
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": {"foo": "bar"}},
        "template": {
            "metadata": {"labels": {"foo": "bar"}},
            "spec": pod(volumes=volumes, constraints=constraints)["spec"],
        },
        "volumeClaimTemplates": templates,
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


class ByHand:
    """The cluster as plain objects, in which claims are created and bound one after another."""

    def __init__(self, objects: list[Data]) -> None:
        self.objects = objects

    def of_kind(self, kind: str) -> list[Data]:
        return [each for each in self.objects if each["kind"] == kind]

    def create(self, pod: Any, templates: list[Data]) -> list[Data]:
        """The claims of a replica in the order of its volumes."""
        name, used = pod.metadata.name, []
        for each in pod.spec.volumes:
            if each.ephemeral is not None:
                found = next(own for own in templates if own["metadata"]["name"] == each.name)
                made = {**claim(f"{name}-{each.name}"), "spec": dict(found["spec"])}
                made["metadata"]["ownerReferences"] = [
                    {"apiVersion": "v1", "kind": "Pod", "name": name, "controller": True}
                ]
            elif each.persistent_volume_claim.claim_name == "shared":
                used.append(
                    next(own for own in self.of_kind("PersistentVolumeClaim") if own["metadata"]["name"] == "shared")
                )
                continue
            else:
                found = next(own for own in templates if own["metadata"]["name"] == each.name)
                made = {**claim(f"{each.name}-{name}"), "spec": dict(found["spec"])}
            self.objects.append(made)
            used.append(made)
        return used

    def place(self, pod: Data, node: Data, claims: list[Data]) -> None:
        waiting = [each for each in claims if "volumeName" not in each["spec"]]
        waiting.sort(key=_requested)
        unserved = [each for each in waiting if not self._take(each, node)]
        for each in unserved:
            self._make(each, node)
        self.objects.append(pod)

    def _take(self, claim: Data, node: Data) -> bool:
        fitting = [
            each
            for each in self.of_kind("PersistentVolume")
            if each["spec"]["storageClassName"] == claim["spec"]["storageClassName"]
            and "claimRef" not in each["spec"]
            and _size(each["spec"]["capacity"]["storage"]) >= _requested(claim)
            and _reaches(each, node)
        ]
        if not fitting:
            return False
        chosen = min(fitting, key=lambda each: (_size(each["spec"]["capacity"]["storage"]), each["metadata"]["name"]))
        self._bind(claim, chosen)
        return True

    def _make(self, claim: Data, node: Data) -> None:
        name, driver = f"pvc-default-{claim['metadata']['name']}", CLASSES[claim["spec"]["storageClassName"]]
        made = volume(name, claim["spec"]["storageClassName"], claim["spec"]["resources"]["requests"]["storage"])
        made["spec"]["csi"] = {"driver": driver, "volumeHandle": name}
        labels = node["metadata"]["labels"]
        (csi_node,) = (each for each in self.of_kind("CSINode") if each["metadata"]["name"] == node["metadata"]["name"])
        (registered,) = csi_node["spec"]["drivers"]
        here = [
            {"key": key, "operator": "In", "values": [labels[key]]}
            for key in registered["topologyKeys"]
            if registered["name"] == driver
        ]
        if here:
            made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": here}]}}
        self.objects.append(made)
        self._bind(claim, made)
        for report in self.of_kind("CSIStorageCapacity") if driver == "d.csi" and self.of_kind("CSIDriver") else ():
            if report["nodeTopology"]["matchLabels"][HOST] == labels[HOST]:
                left = max(0, _size(report["capacity"]) - _requested(claim))
                report["capacity"] = f"{left}Gi"
                if "maximumVolumeSize" in report:
                    report["maximumVolumeSize"] = f"{min(left, _size(report['maximumVolumeSize']))}Gi"

    def _bind(self, claim: Data, volume: Data) -> None:
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        claim["status"] = {"phase": "Bound"}
        volume["spec"]["claimRef"] = {"namespace": "default", "name": claim["metadata"]["name"]}
        volume["status"] = {"phase": "Bound"}

    def anew(self) -> Cluster:
        snapshot = kubespread.Snapshot.from_objects(self.objects)
        return Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)


def _size(text: str) -> int:
    return int(text.removesuffix("Gi"))


def _requested(claim: Data) -> int:
    return _size(claim["spec"]["resources"]["requests"]["storage"])


def _reaches(volume: Data, node: Data) -> bool:
    affinity = volume["spec"].get("nodeAffinity")
    if affinity is None:
        return True
    (term,) = affinity["required"]["nodeSelectorTerms"]
    return all(node["metadata"]["labels"].get(each["key"]) in each["values"] for each in term["matchExpressions"])


def attached(cluster: Cluster) -> Any:
    there = {node: in_use(users) for node, users in cluster.attachments.users.items()}
    counts = {driver: column.tolist() for driver, column in cluster.attachments.counts.items() if column.any()}
    return {node: used for node, used in there.items() if used}, counts


@given(clusters(), stateful_sets(), st.data())
@settings(max_examples=60, deadline=None)
def test_placing_equals_binding_by_hand(objects: list[Data], manifest: Data, data: st.DataObject) -> None:
    snapshot = kubespread.Snapshot.from_objects(objects)
    candidate = from_object(manifest, Surroundings(snapshot))
    known = with_companions(snapshot.objects, candidate.companions)
    living, by_hand = LivingCluster(Cluster.build(snapshot.nodes, snapshot.pods, known)), ByHand([*objects, manifest])
    spec = manifest["spec"]
    own = [
        {"metadata": {"name": each["name"]}, "spec": each["ephemeral"]["volumeClaimTemplate"]["spec"]}
        for each in spec["template"]["spec"]["volumes"]
        if "ephemeral" in each
    ]
    assert isinstance(candidate.object, StatefulSet)
    replicas = replicas_called(
        lambda: (f"db-{ordinal}" for ordinal in range(4)), candidate.pod, candidate.object, known
    )
    nodes = by_hand.of_kind("Node")
    for replica in islice(replicas(), 4):
        living.change_storage(creation(replica.claims, living.cluster.storage))
        claims = by_hand.create(replica.pod, [*spec["volumeClaimTemplates"], *own])
        applicant = Applicant(living, replica.pod, PLUGINS)
        placing, anew = applicant.placing(), by_hand.anew()
        expected = evaluate(PLUGINS, anew, replica.pod)
        assert everything(placing.evaluation()) == everything(expected)
        assert attached(living.cluster) == attached(anew)
        best = placing.choose()
        assert (None if best is None else (best.node, best.total)) == (
            (expected.ranking[0], int(expected.total[expected.ranking[0]])) if expected.feasible.any() else None
        )
        if best is None:
            break
        # Not only the best node: claims must be right wherever a replica lands.
        node = data.draw(st.sampled_from(expected.ranking.tolist()))
        applicant.take(Choice(node, int(expected.total[node]), 1))
        name = nodes[node]["metadata"]["name"]
        template = pod(replica.pod.metadata.name, name, labels=replica.pod.metadata.labels)
        template["spec"] |= {"volumes": [_plain(each) for each in replica.pod.spec.volumes]}
        by_hand.place(template, nodes[node], claims)
        assert attached(living.cluster) == attached(by_hand.anew())


def _plain(volume: Any) -> Data:
    if volume.ephemeral is not None:
        return {"name": volume.name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    return {"name": volume.name, "persistentVolumeClaim": {"claimName": volume.persistent_volume_claim.claim_name}}
