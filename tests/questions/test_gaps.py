"""A kind that the snapshot lacks is a gap for the questions that need it, and for no others."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread.snapshot.snapshot import SnapshotBuilder
from tests.builders import Data, hard, node, owned_by, owner, pod
from tests.storage import csi_node

RUNNING = pod("running", "n", labels={"app": "other"})
NO_PODS = "no Pod objects: every node counts as empty"
NO_SERVICES = "no Service objects: default constraints cannot be derived from Services"
NO_NAMESPACES = "no Namespace objects: the pod's namespaceSelectors see no labels"
NO_ATTACHABLE = "no CSINode objects: how many volumes a node can attach is not evaluated"
NO_VOLUMES = "no PersistentVolume objects: the pod's claims are judged as if there were no volumes"
NO_CLASSES = "no StorageClass objects: whether and where the pod's claims can be bound is not known"
NO_DRIVERS = "no CSIDriver objects: storage capacity is not evaluated"
SERVICE = owner("Service", "web", {"app": "web"}, api_version="v1")
CONSTRAINED = pod(constraints=[hard()])
CLAIMING = pod(constraints=[hard()], volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
OWNED = {**pod(), "metadata": {**pod()["metadata"], "ownerReferences": owned_by("ReplicaSet", "rs")}}


def ask(candidate: Data, *objects: Data, **options: Any) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([node("n"), *objects]), candidate, **options)


def named(kind: str, name: str, api_version: str, **more: Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def claim(**spec: Any) -> Data:
    return {
        **named("PersistentVolumeClaim", "c", "v1"),
        "metadata": {"name": "c", "namespace": "default"},
        "spec": spec,
    }


def storage_class(**more: Any) -> Data:
    return named("StorageClass", "fast", "storage.k8s.io/v1", provisioner="csi.example.com", **more)


def repelling(**selector: Any) -> Data:
    """A term that keeps pods foo=bar of the namespaces selected away."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"foo": "bar"}}, "namespaceSelector": selector}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


EPHEMERAL = {
    "name": "v",
    "ephemeral": {
        "volumeClaimTemplate": {
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        }
    },
}
DEV = {"matchLabels": {"env": "dev"}}
VOLUME = named("PersistentVolume", "pv", "v1", spec={"csi": {"driver": "csi.example.com", "volumeHandle": "h"}})
DELAYED = storage_class(volumeBindingMode="WaitForFirstConsumer")
CSI_NODE = csi_node("n", "csi.example.com", 1)
CSI_DRIVER = named("CSIDriver", "csi.example.com", "storage.k8s.io/v1", spec={"storageCapacity": True})

NOTHING_TO_ADMIT_WITH = (
    "no LimitRange, PriorityClass, ResourceQuota objects: pods are created as if there were none",
    "no LimitRange, ResourceQuota objects: pods are created as if there were none",
    "no LimitRange, PriorityClass objects: pods are created as if there were none",
    "no PriorityClass, ResourceQuota objects: pods are created as if there were none",
)
"""Of every pod that is created."""

GAPS: dict[str, tuple[Data, list[Data], list[str]]] = {
    "nodes alone": (CONSTRAINED, [], [NO_PODS]),
    "nodes alone, for a pod that is spread by default": (pod(), [], [NO_PODS, NO_SERVICES]),
    "pods that wait are pods": (CONSTRAINED, [pod("waiting")], []),
    "no Services": (pod(), [RUNNING], [NO_SERVICES]),
    "a Service": (pod(), [RUNNING, SERVICE], []),
    "constraints of its own need no Services": (CONSTRAINED, [RUNNING], []),
    "a controller that is missing": (
        OWNED,
        [RUNNING, SERVICE],
        [
            "ReplicaSet default/rs, the pod's controller, is missing: default constraints cannot be derived from its selector"
        ],
    ),
    "claims without claim objects": (
        CLAIMING,
        [RUNNING],
        ["no PersistentVolumeClaim objects: zones, binding and limits of the pod's claims are not evaluated"],
    ),
    "a bound claim without volumes": (CLAIMING, [RUNNING, claim(volumeName="pv")], [NO_VOLUMES]),
    "a bound claim with its volume": (CLAIMING, [RUNNING, claim(volumeName="pv"), VOLUME], [NO_ATTACHABLE]),
    "how much a node attaches is known, what is attached is not": (
        CLAIMING,
        [RUNNING, claim(volumeName="pv"), VOLUME, CSI_NODE],
        ["no VolumeAttachment objects: only volumes of pods count towards the limits of nodes"],
    ),
    "what is attached does not matter where no limit can be reached": (
        CLAIMING,
        [RUNNING, claim(volumeName="pv"), VOLUME, csi_node("n", "csi.example.com", 2)],
        [],
    ),
    "claims that would be made for a replica, without classes": (
        {
            **pod(constraints=[hard()], volumes=[EPHEMERAL]),
            "metadata": {**pod()["metadata"], "ownerReferences": owned_by("Job", "j", api_version="batch/v1")},
        },
        [RUNNING, claim(volumeName="pv"), VOLUME],
        [NO_CLASSES],
    ),
    "an unbound claim without classes": (CLAIMING, [RUNNING, claim(storageClassName="fast"), VOLUME], [NO_CLASSES]),
    "a claim that is provisioned where the pod goes": (
        CLAIMING,
        [RUNNING, claim(storageClassName="fast"), VOLUME, DELAYED],
        [NO_ATTACHABLE, NO_DRIVERS],
    ),
    "a driver that tells its capacity, which is not there": (
        CLAIMING,
        [RUNNING, claim(storageClassName="fast"), VOLUME, DELAYED, CSI_DRIVER],
        [NO_ATTACHABLE, "no CSIStorageCapacity objects: every node counts as without storage capacity"],
    ),
    "a namespaceSelector without namespaces": (
        pod(constraints=[hard()], affinity=repelling(**DEV)),
        [RUNNING],
        [NO_NAMESPACES],
    ),
    "a namespaceSelector of all namespaces": (pod(constraints=[hard()], affinity=repelling()), [RUNNING], []),
    "a running pod's namespaceSelector": (
        CONSTRAINED,
        [pod("other", "n", namespace="other", affinity=repelling(**DEV))],
        ["no Namespace objects: the namespaceSelectors of other pods' affinity see no labels"],
    ),
    "a running pod's namespaceSelector for other pods than this one": (
        pod(labels={"app": "web"}, constraints=[hard()]),
        [pod("other", "n", namespace="other", affinity=repelling(**DEV))],
        [],
    ),
    "a priority class": (
        pod(constraints=[hard()], priorityClassName="high"),
        [RUNNING],
        ["no PriorityClass objects: the priority of class high is not known, and counts as 0"],
    ),
    "a built-in priority class": (
        pod(constraints=[hard()], namespace="kube-system", priorityClassName="system-node-critical"),
        [RUNNING],
        [],
    ),
    "a runtime class": (
        pod(constraints=[hard()], runtimeClassName="gvisor"),
        [RUNNING],
        ["no RuntimeClass objects: overhead, node selector and tolerations of class gvisor are not added"],
    ),
}


@pytest.mark.parametrize("case", GAPS)
def test_gaps(case: str) -> None:
    candidate, objects, expected = GAPS[case]
    found = ask(candidate, *objects).gaps
    assert sorted(gap for gap in found if gap not in NOTHING_TO_ADMIT_WITH) == sorted(expected)


def test_what_admission_reads_is_a_gap_of_pods_that_are_created() -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n"), pod("stored", constraints=[hard()])])
    assert kubespread.explain(snapshot, CONSTRAINED).gaps == NOTHING_TO_ADMIT_WITH[:1]
    assert kubespread.explain(snapshot, CONSTRAINED, kubespread.Scheduler(admission=False)).gaps == ()
    assert kubespread.explain(snapshot, "pod/stored").gaps == ()


def test_a_kind_that_was_listed_and_is_empty_is_no_gap() -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n"), RUNNING])
    listed = snapshot.objects.listed | {"LimitRange", "PriorityClass", "ResourceQuota"}
    listing = replace(snapshot, objects=replace(snapshot.objects, listed=listed))
    assert kubespread.explain(listing, CONSTRAINED).gaps == ()


def test_budgets_are_a_gap_where_preemption_looks_at_them() -> None:
    gap = "no PodDisruptionBudget objects: evictions and preemption are predicted as if there were no budgets"
    small, high = node("n", zone="a", cpu="1"), pod("high", constraints=[hard()], requests={"cpu": "1"}, priority=1)
    running = pod("running", "n", requests={"cpu": "1"}, priority=0)
    asked = [
        kubespread.explain(kubespread.Snapshot.from_objects([small, high, there]), "pod/high").gaps
        for there in (running, RUNNING)
    ]
    assert asked == [(gap,), ()]


def test_pods_that_are_taken_out_were_listed() -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n"), pod(on="n", constraints=[hard()])])
    assert kubespread.explain(snapshot, "pod/web").gaps == ()


REFUSED = {
    "a kind no question of this pod's is about": ("PersistentVolume", CONSTRAINED, ()),
    "a kind it needs, with what becomes of it": (
        "Service",
        pod(),
        ("services could not be read: default constraints cannot be derived from Services",),
    ),
    "LimitRanges, which any pod may need": (
        "LimitRange",
        CONSTRAINED,
        ("services could not be read: default requests and limits are not added",),
    ),
    "quotas, which any pod may need": (
        "ResourceQuota",
        CONSTRAINED,
        ("services could not be read: quotas are taken not to be exhausted",),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_kind_that_was_refused_is_a_gap_where_it_is_needed(case: str) -> None:
    kind, candidate, expected = REFUSED[case]
    builder = SnapshotBuilder()
    for found in (node("n"), RUNNING):
        builder.add_plain(found)
    builder.note_gap("services could not be read", kind)
    snapshot = builder.build()
    gaps = kubespread.explain(snapshot, candidate).gaps
    assert snapshot.origin.gaps == ("services could not be read",)
    assert tuple(gap for gap in gaps if gap not in NOTHING_TO_ADMIT_WITH) == expected


def test_a_deployments_own_replica_set_is_no_gap() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    report = ask(deployment, RUNNING)
    assert report.gaps == (NOTHING_TO_ADMIT_WITH[0], NO_SERVICES)
    assert [constraint.source for constraint in report.constraints] == ["system", "system"]
    assert report.constraints[0].selector.startswith("app=web,pod-template-hash=")
