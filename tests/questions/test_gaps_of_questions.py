"""Every question names the kinds that the snapshot lacks and it reads, and no others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread import Side, Snapshot
from kubespread.kube.api.kinds import KIND_OF
from kubespread.snapshot.snapshot import LIST_COMMAND, Origin, SnapshotBuilder
from tests.builders import (
    DRIVER,
    Data,
    device_class,
    device_request,
    hard,
    node,
    owned_by,
    owner,
    pod,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.storage import capacity, claim, csi_driver, csi_node, storage_class, volume
from tests.world.clusters import budget, daemon_set, deployment, job, stateful_set

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
APART_OF_TEAM = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": HOST,
                "labelSelector": {"matchLabels": {"app": "noisy"}},
                "namespaceSelector": {"matchLabels": {"team": "a"}},
            }
        ]
    }
}
DATA = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
MORE = {"volumes": [{"name": "more", "persistentVolumeClaim": {"claimName": "more"}}]}
WEB = {"app": "web"}
CLASSES = {"priorityClassName": "high", "runtimeClassName": "gvisor"}


def named(kind: str, name: str, api_version: str = "v1", namespace: str = "", **fields: Any) -> Data:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def on_zones() -> list[Data]:
    return [
        {**node(name, cpu="4"), "metadata": {"name": name, "labels": {ZONE: zone, HOST: name}}}
        for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"))
    ]


def objects() -> list[Data]:
    """A cluster in which every kind matters to something."""
    high = {**named("PriorityClass", "high", "scheduling.k8s.io/v1"), "value": 1000}
    hungry = {
        **CLASSES,
        "priority": 1000,
        "affinity": APART_OF_TEAM,
        "topologySpreadConstraints": [hard(ZONE, match=WEB)],
    }
    return [
        *on_zones(),
        named("Namespace", "default"),
        owner("Service", "web", WEB, api_version="v1"),
        *deployment("web", ("a1", "a1", "a2"), cpu="1", spec=hungry),
        *stateful_set("db", ("a2",), spec={**DATA, "topologySpreadConstraints": [hard(ZONE, match={"app": "db"})]}),
        *stateful_set("cache", (None,), spec={**MORE, "containers": pod(requests={"cpu": "9"})["spec"]["containers"]}),
        *daemon_set("agent", ("a1", "a2", "b1", "b2"), cpu="100m"),
        *job("once", ("b2",)),
        budget("web", maxUnavailable=1),
        budget("db", maxUnavailable=1),
        budget("once", minAvailable=0),
        claim("data", "pv", "fast"),
        claim("more", storage_class="fast"),
        volume("pv", "fast", phase="Bound"),
        storage_class("fast", "d.csi"),
        csi_driver("d.csi"),
        *(csi_node(name, "d.csi", 1) for name in ("a1", "a2", "b1", "b2")),
        *(capacity("fast", "100Gi", host=name) for name in ("a1", "a2", "b1", "b2")),
        named(
            "VolumeAttachment", "none", "storage.k8s.io/v1", spec={"attacher": "other", "nodeName": "a1", "source": {}}
        ),
        high,
        named("RuntimeClass", "gvisor", "node.k8s.io/v1"),
        named("LimitRange", "few", namespace="other"),
        named("ResourceQuota", "few", namespace="other"),
        named("HorizontalPodAutoscaler", "few", "autoscaling/v2", "other"),
    ]


KINDS = frozenset(each["kind"] for each in objects()) - {"Node", "Pod"}
VOLUMES = frozenset(
    (
        "CSIDriver",
        "CSINode",
        "CSIStorageCapacity",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "VolumeAttachment",
    )
)
"""Where pods with claims are judged."""
CREATED = frozenset(("LimitRange", "PriorityClass", "ResourceQuota"))
"""Where pods are created of a template."""
AGAIN = frozenset(("LimitRange", "ResourceQuota"))
"""Where controllers make pods again."""
JUDGED = frozenset(("Namespace", "Service"))
"""Where the pods are judged that have affinity of their own, or are spread by default."""
EVICTED = frozenset(("Deployment", "PodDisruptionBudget"))
"""Where pods are evicted: the budgets, and how many pods they count on."""
NEW = next(
    each
    for each in deployment("new", replicas=2, cpu="2", spec={**CLASSES, "affinity": APART_OF_TEAM})
    if each["kind"] == "Deployment"
)
NEW_POD = CREATED | JUDGED | {"RuntimeClass"}
PLAYED = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": ["add-node a2", "drain a2"]}}

PROMISED = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Promises",
    "promises": [
        {
            "namespace": "default",
            "survives": "any zone",
            "spread": {"zone": 1},
            "fits": "hpaMax",
            "rollout": 1,
            "drain": "never blocked",
        }
    ],
}
Ask = Callable[[Snapshot], Any]
READS: dict[str, tuple[Ask, frozenset[str]]] = {
    "explain": (lambda cluster: kubespread.explain(cluster, NEW), NEW_POD),
    "explain, of a pod that waits": (lambda cluster: kubespread.explain(cluster, "pod/cache-0"), VOLUMES | {"Service"}),
    "simulate": (
        lambda cluster: kubespread.simulate(cluster, NEW, 5),
        NEW_POD | EVICTED | {"ReplicaSet", "StatefulSet"},
    ),
    "plan, by step": (
        lambda cluster: kubespread.plan(cluster, "evict web-c", manifests=[NEW]),
        NEW_POD | VOLUMES | {"PodDisruptionBudget"},
    ),
    "compare": (lambda cluster: kubespread.compare(Side(cluster, NEW), Side(cluster, NEW, set=["cpu=2"])), NEW_POD),
    "map": (lambda cluster: kubespread.topology_map(cluster, NEW), frozenset(("Service",))),
    "capacity": (lambda cluster: kubespread.capacity(cluster, "cpu=1"), frozenset()),
    "survive": (
        lambda cluster: kubespread.survive(cluster, [HOST]),
        JUDGED | VOLUMES | AGAIN | {"Job", "ReplicaSet", "StatefulSet"},
    ),
    "upgrade": (
        lambda cluster: kubespread.upgrade(cluster, "a1"),
        JUDGED | VOLUMES | EVICTED | CREATED | {"DaemonSet", "ReplicaSet"},
    ),
    "plan": (
        lambda cluster: kubespread.plan(cluster.edited("drain a2 --ignore-daemonsets --force")),
        JUDGED | VOLUMES | EVICTED | AGAIN | {"ReplicaSet", "StatefulSet"},
    ),
    "rebalance": (kubespread.rebalance, JUDGED | VOLUMES | EVICTED | AGAIN | {"ReplicaSet"}),
    "removable": (kubespread.removable, JUDGED | VOLUMES | EVICTED | AGAIN | {"Job", "ReplicaSet", "StatefulSet"}),
    "audit": (kubespread.audit, JUDGED | VOLUMES | AGAIN | {"ReplicaSet", "StatefulSet"}),
    "report": (
        kubespread.report,
        JUDGED
        | VOLUMES
        | EVICTED
        | AGAIN
        | CREATED
        | {"DaemonSet", "HorizontalPodAutoscaler", "Job", "ReplicaSet", "StatefulSet"},
    ),
    "verify": (
        lambda cluster: kubespread.verify(cluster, PROMISED),
        NEW_POD | VOLUMES | EVICTED | {"HorizontalPodAutoscaler", "Job", "ReplicaSet", "StatefulSet"},
    ),
    "check": (
        kubespread.check,
        NEW_POD | VOLUMES | {"DaemonSet", "HorizontalPodAutoscaler", "PodDisruptionBudget", "ReplicaSet"},
    ),
    "steps": (
        lambda cluster: kubespread.plan(cluster, PLAYED),
        JUDGED | VOLUMES | EVICTED | CREATED | {"DaemonSet", "ReplicaSet", "StatefulSet"},
    ),
    "explain, fixing": (
        lambda cluster: kubespread.explain(cluster, "pod/cache-0", fix=True),
        VOLUMES | CREATED | {"DaemonSet", "ReplicaSet", "Service"},
    ),
    "explain, fixing all replicas": (
        lambda cluster: kubespread.explain(cluster, NEW, replicas=5, fix=True),
        NEW_POD | EVICTED | {"ReplicaSet", "StatefulSet"},
    ),
    "pending": (
        kubespread.pending,
        VOLUMES | EVICTED | CREATED | {"DaemonSet", "ReplicaSet", "Service", "StatefulSet"},
    ),
}
"""Every question; searches read about all that the changes they try meet: no eviction makes room for cache-0."""


def on_devices() -> list[Data]:
    """The same cluster with a Deployment whose pods have devices by claims of their own: one runs, one waits."""
    claimed = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    made = deployment("train", ("b1", None), spec={"resourceClaims": claimed})
    asked = device_request("r", "gpu")
    claims = [resource_claim(f"{name}-gpu", asked) for name in ("train-a", "train-b")]
    for each, own in zip((each for each in made if each["kind"] == "Pod"), claims, strict=True):
        each["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": own["metadata"]["name"]}]
        (by,) = owned_by("Pod", each["metadata"]["name"], api_version="v1")
        own["metadata"]["ownerReferences"] = [{**by, "uid": each["metadata"]["uid"]}]
    on_b1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b1"]}]}
    device = {"request": "r", "driver": DRIVER, "pool": "s1", "device": "dev-0"}
    claims[0]["status"] = {
        "allocation": {"devices": {"results": [device]}, "nodeSelector": {"nodeSelectorTerms": [on_b1]}},
        "reservedFor": [{"resource": "pods", "name": "train-a", "uid": "train-a"}],
    }
    slices = [resource_slice(name, 1, on=on) for name, on in (("s1", "b1"), ("s2", "b2"))]
    return [*objects(), *made, *claims, *slices, device_class("gpu"), resource_claim_template("gpu", asked)]


MADE_ALREADY = frozenset(("DeviceClass", "ResourceClaim", "ResourceSlice"))
"""Where a pod is judged whose claims are there."""
DEVICES = MADE_ALREADY | {"ResourceClaimTemplate"}
"""Where its controller makes another one."""
READS_OF_DEVICES: dict[str, tuple[Ask, frozenset[str]]] = {
    "explain": (lambda cluster: kubespread.explain(cluster, "deploy/train"), DEVICES),
    "explain, of a pod that waits": (lambda cluster: kubespread.explain(cluster, "pod/train-b"), MADE_ALREADY),
    "simulate": (lambda cluster: kubespread.simulate(cluster, "deploy/train", 3), DEVICES),
    "plan, by step": (lambda cluster: kubespread.plan(cluster, "scale deploy/train=3"), DEVICES),
    "compare": (
        lambda cluster: kubespread.compare(Side(cluster, "deploy/train"), Side(cluster, "deploy/train", set=["cpu=2"])),
        DEVICES,
    ),
    "map": (lambda cluster: kubespread.topology_map(cluster, "deploy/train"), frozenset()),
    "capacity": (lambda cluster: kubespread.capacity(cluster, "cpu=1"), frozenset()),
    "survive": (kubespread.survive, DEVICES),
    "upgrade": (lambda cluster: kubespread.upgrade(cluster, "b1"), DEVICES),
    "plan": (lambda cluster: kubespread.plan(cluster.edited("cordon b1")), MADE_ALREADY),
    "rebalance": (lambda cluster: kubespread.rebalance(cluster, "deploy/web"), MADE_ALREADY),
    "removable": (lambda cluster: kubespread.removable(cluster, "b1"), DEVICES),
    "audit": (kubespread.audit, DEVICES),
    "report": (kubespread.report, DEVICES),
    "verify": (lambda cluster: kubespread.verify(cluster, PROMISED), DEVICES),
    "check": (kubespread.check, DEVICES),
    "steps": (lambda cluster: kubespread.plan(cluster, {**PLAYED, "spec": {"steps": [{"evict": "train-a"}]}}), DEVICES),
    "explain, fixing": (lambda cluster: kubespread.explain(cluster, "pod/train-b", fix=True), MADE_ALREADY),
    "explain, fixing all replicas": (
        lambda cluster: kubespread.explain(cluster, "deploy/train", replicas=2, fix=True),
        DEVICES,
    ),
    "pending": (kubespread.pending, MADE_ALREADY),
}


def gaps(ask: Ask, cluster: Snapshot) -> tuple[str, ...]:
    report = ask(cluster)
    sides = [report.before, report.after] if isinstance(report, kubespread.CompareReport) else [report]
    return tuple(gap for side in sides for gap in side.gaps)


def without(kinds: Collection[str]) -> Snapshot:
    builder = SnapshotBuilder()
    # Of a running cluster it is known what was asked for.
    builder.note_origin(Origin(listed=("Node", "Pod")))
    for each in objects():
        if each["kind"] not in kinds:
            builder.add_plain(each)
    return builder.build()


def batches() -> Iterator[tuple[str, ...]]:
    """Kinds that can be missing together, as none of them hides whether another one is needed."""
    alone = ("PriorityClass", "StatefulSet")
    rest = ("Namespace", "ResourceQuota", "ReplicaSet", "PodDisruptionBudget")
    others = sorted(KINDS - VOLUMES - {*alone, *rest})
    yield from zip_longest(sorted(VOLUMES), others, rest, fillvalue="")
    yield from ((kind,) for kind in alone)


DEAR = ("explain", "check", "pending", "plan", "report", "verify")
QUESTIONS = [pytest.param(name, marks=pytest.mark.slow) if name in DEAR else name for name in READS]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_names_each_kind_that_it_reads_and_the_snapshot_lacks(question: str) -> None:
    ask, read = READS[question]
    lacking = [(kinds, gaps(ask, without(kinds))) for kinds in batches()]
    named = {
        kind for kinds, said in lacking for kind in kinds if any(gap.startswith(f"no {kind} objects:") for gap in said)
    }
    assert named == read
    assert gaps(ask, Snapshot.from_objects(objects())) == ()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_about_pods_with_devices_names_each_kind_of_theirs_that_it_reads(question: str) -> None:
    ask, read = READS_OF_DEVICES[question]
    lacking = {
        kind: gaps(ask, Snapshot.from_objects(each for each in on_devices() if each["kind"] != kind))
        for kind in sorted(DEVICES)
    }
    assert {kind for kind, said in lacking.items() if any(gap.startswith(f"no {kind} ") for gap in said)} == read
    assert gaps(ask, Snapshot.from_objects(on_devices())) == ()


@pytest.mark.parametrize("question", READS)
def test_a_kind_that_was_listed_and_is_empty_is_no_gap(question: str) -> None:
    ask, _ = READS[question]
    snapshot = without(
        {
            *JUDGED,
            *EVICTED,
            "CSIStorageCapacity",
            "HorizontalPodAutoscaler",
            "LimitRange",
            "ResourceQuota",
            "VolumeAttachment",
        }
    )
    listed = replace(snapshot.objects, listed=KINDS)
    assert [gap for gap in gaps(ask, replace(snapshot, objects=listed)) if gap.startswith("no ")] == []


SHORT = {
    "svc": "Service",
    "ns": "Namespace",
    "pvc": "PersistentVolumeClaim",
    "pv": "PersistentVolume",
    "sc": "StorageClass",
    "pdb": "PodDisruptionBudget",
    "pc": "PriorityClass",
    "limits": "LimitRange",
    "quota": "ResourceQuota",
    "hpa": "HorizontalPodAutoscaler",
}
"""kubectl's short names of what cannot be asked about by name."""


def test_the_command_that_the_readme_shows_lists_what_questions_read() -> None:
    words = LIST_COMMAND.split()[2].split(",")
    listed = {row.kind for row in KIND_OF.values() if {row.short, row.plural} & {*words}} | {
        SHORT.get(word) for word in words
    }
    assert KINDS - listed == {"CSIStorageCapacity", "RuntimeClass"}
    assert LIST_COMMAND in (Path(__file__).parents[2] / "README.md").read_text()
