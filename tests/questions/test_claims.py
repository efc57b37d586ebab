"""Claims of replicas: each binds its own where it goes, and the next one sees what is left."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import Data, hard, hosts, pod
from tests.storage import capacity, claim, csi_driver, csi_node, on_host, storage_class, volume
from tests.world.clusters import play, stateful_set, world

ZONE = "topology.kubernetes.io/zone"
NODES = hosts("a", "a", "b")
OTHER = claim("other")
DYNAMIC = storage_class("dynamic", "d.csi")
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
NO_VOLUME = "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind."
FULL = "0/3 nodes are available: 3 node(s) exceed max volume count."
NO_SPACE = "0/3 nodes are available: 3 node(s) did not have enough free storage."


def template(storage_class: str, size: str = "5Gi") -> Data:
    requests = {"requests": {"storage": size}}
    return {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": requests}}


def ephemeral(storage_class: str) -> Data:
    return {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template(storage_class)}}]}


def naming(claim: str) -> Data:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}


def workload(kind: str, replicas: int | None = None, templates: tuple[Data, ...] = (), **spec: Any) -> Data:
    own: Data = {
        "selector": {"matchLabels": {"foo": "bar"}},
        "template": {"metadata": {"labels": {"foo": "bar"}}, "spec": pod(**spec)["spec"]},
    }
    if replicas is not None:
        own["replicas"] = replicas
    if templates:
        own["volumeClaimTemplates"] = [{"metadata": {"name": f"data{at}"}, **each} for at, each in enumerate(templates)]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db", "namespace": "default"}, "spec": own}


def limited(*counts: int) -> list[Data]:
    return [csi_node(f"n{at}", "d.csi", count, ZONE) for at, count in enumerate(counts)]


CASES: dict[str, tuple[list[Data], Data, list[str], str | None]] = {
    "a StatefulSet on local volumes: each replica takes the smallest that is left on its node": (
        [LOCAL, OTHER, *(volume(f"v{at}", "local", only=on_host(host)) for at, host in enumerate(["n1", "n1", "n2"]))],
        workload("StatefulSet", 4, (template("local"),)),
        ["n2", "n1", "n1"],
        NO_VOLUME,
    ),
    "a StatefulSet with two claims a pod needs two volumes of one node": (
        [LOCAL, OTHER, *(volume(f"v{at}", "local", only=on_host(host)) for at, host in enumerate(["n0", "n1", "n1"]))],
        workload("StatefulSet", 2, (template("local"), template("local"))),
        ["n1"],
        NO_VOLUME,
    ),
    "volumes that reach every node leave the choice to the rest": (
        [LOCAL, OTHER, *(volume(f"v{at}", "local") for at in range(4))],
        workload("StatefulSet", 4, (template("local"),)),
        ["n0", "n2", "n1", "n2"],
        None,
    ),
    "a volume that is too small for a claim is left": (
        [LOCAL, OTHER, volume("small", "local", size="1Gi"), volume("large", "local", only=on_host("n2"))],
        workload("StatefulSet", 2, (template("local"),)),
        ["n2"],
        NO_VOLUME,
    ),
    "volumes that are made count against what a node can attach": (
        [DYNAMIC, OTHER, *limited(1, 0, 2)],
        workload("StatefulSet", 4, (template("dynamic"),)),
        ["n0", "n2", "n2"],
        FULL,
    ),
    "volumes that are made use up free storage": (
        [DYNAMIC, OTHER, csi_driver("d.csi"), capacity("dynamic", "12Gi", host="n1")],
        workload("StatefulSet", 3, (template("dynamic"),)),
        ["n1", "n1"],
        NO_SPACE,
    ),
    "two claims of one pod use up free storage one after the other": (
        [DYNAMIC, OTHER, csi_driver("d.csi"), capacity("dynamic", "16Gi", host="n1")],
        workload("StatefulSet", 3, (template("dynamic"), template("dynamic"))),
        ["n1", "n1"],
        NO_SPACE,
    ),
    "what a driver makes at most shrinks with what is left": (
        [DYNAMIC, OTHER, csi_driver("d.csi"), capacity("dynamic", "8Gi", most="6Gi", host="n1")],
        workload("StatefulSet", 3, (template("dynamic"),)),
        ["n1"],
        NO_SPACE,
    ),
    "a claim that an earlier replica left behind is used again": (
        [
            DYNAMIC,
            claim("data0-db-1", "old", "dynamic"),
            volume("old", "dynamic", only=on_host("n2"), phase="Bound"),
            *limited(9, 9, 9),
        ],
        workload("StatefulSet", 3, (template("dynamic"),)),
        ["n0", "n2", "n1"],
        None,
    ),
    "a Deployment's ephemeral volumes are each replica's own": (
        [DYNAMIC, OTHER, *limited(1, 1, 0)],
        workload("Deployment", 3, **ephemeral("dynamic")),
        ["n0", "n1"],
        FULL,
    ),
    "a DaemonSet's ephemeral volumes are each pod's own": (
        [LOCAL, OTHER, volume("v0", "local", only=on_host("n0")), volume("v2", "local", only=on_host("n2"))],
        workload("DaemonSet", **ephemeral("local")),
        ["n0", "n2"],
        "no room on n1: node(s) didn't find available persistent volumes to bind",
    ),
    "a Deployment's one claim is bound by the first replica, and the others follow its zone": (
        [DYNAMIC, claim("shared", storage_class="dynamic"), *limited(9, 9, 9)],
        workload("Deployment", 4, **naming("shared")),
        ["n0", "n1", "n0", "n1"],
        None,
    ),
    "spreading and limits are both kept": (
        [DYNAMIC, OTHER, *limited(2, 2, 2)],
        workload("StatefulSet", 6, (template("dynamic"),), constraints=[hard(ZONE)]),
        ["n0", "n2", "n1", "n2", "n0"],
        "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
        "2 node(s) exceed max volume count.",
    ),
    "a pod by itself is asked about in the cluster as it stands: no claim is made for it": (
        [DYNAMIC, OTHER],
        pod("web", **ephemeral("dynamic")),
        [],
        '0/3 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "web-0-scratch".',
    ),
    "a pod by itself is asked about in the cluster as it stands: its claim is not bound": (
        [LOCAL, claim("shared", storage_class="local"), volume("v", "local", only=on_host("n1"))],
        pod("web", **naming("shared")),
        ["n1", "n1", "n1"],
        None,
    ),
}


@pytest.mark.parametrize(("objects", "candidate", "nodes", "stopped"), CASES.values(), ids=CASES)
def test_replicas_with_claims(objects: list[Data], candidate: Data, nodes: list[str], stopped: str | None) -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *objects])
    replicas = 3 if candidate["kind"] == "Pod" else None
    report = kubespread.simulate(snapshot, candidate, replicas)
    assert ([placement.node for placement in report.placements], report.stopped) == (nodes, stopped)


NOT_MODELLED: dict[str, tuple[list[Data], Data, tuple[str, ...]]] = {
    "claims that are bound say nothing": (
        [claim("shared", "v"), volume("v", "")],
        workload("Deployment", 2, **naming("shared")),
        (),
    ),
    "claims of its own, of a driver that reports no capacity, say nothing": (
        [DYNAMIC, OTHER, *limited(9, 9, 9)],
        workload("StatefulSet", 2, (template("dynamic"),)),
        (),
    ),
    "free storage is what the driver will report": (
        [DYNAMIC, OTHER, csi_driver("d.csi"), capacity("dynamic", "12Gi", host="n1")],
        workload("StatefulSet", 1, (template("dynamic"),)),
        ("free storage for StorageClass dynamic: taken to shrink by what each claim requests",),
    ),
    "a driver that is on no node does not say where its volumes are reached": (
        [DYNAMIC, claim("shared", storage_class="dynamic")],
        workload("Deployment", 2, **naming("shared")),
        ("where volumes of StorageClass dynamic are reached: from every node, as no CSINode names the driver",),
    ),
    "a pod by itself": (
        [DYNAMIC, claim("shared", storage_class="dynamic")],
        pod("web", **naming("shared")),
        ("claims of a pod by itself: none is bound by a placement",),
    ),
}


@pytest.mark.parametrize(("objects", "candidate", "said"), NOT_MODELLED.values(), ids=NOT_MODELLED)
def test_what_only_drivers_know_is_named(objects: list[Data], candidate: Data, said: tuple[str, ...]) -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *objects])
    assert kubespread.simulate(snapshot, candidate).not_modelled == said


def test_workloads_in_one_queue_take_volumes_from_each_other() -> None:
    volumes = [volume(f"v{at}", "local", only=on_host("n1")) for at in range(3)]
    snapshot = kubespread.Snapshot.from_objects([*NODES, LOCAL, OTHER, *volumes])
    first = workload("StatefulSet", 2, (template("local"),))
    second = {**first, "metadata": {"name": "cache", "namespace": "default"}}
    reports = kubespread.simulate(snapshot, [first, second])
    assert [report.placed for report in reports] == [2, 1]


def test_an_explained_replica_has_its_ephemeral_claims() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, LOCAL, OTHER, volume("v", "local", only=on_host("n1"))])
    assert kubespread.explain(snapshot, workload("Deployment", **ephemeral("local"))).feasible == ("n1",)


def test_a_stateful_set_without_pods_grows_and_its_claims_are_kept() -> None:
    grown = workload("StatefulSet", 0, (template("local"),))
    volumes = [volume(f"v{at}", "local", only=on_host(host)) for at, host in enumerate(["n1", "n2"])]
    living = world([*NODES, LOCAL, OTHER, *volumes, grown])
    assert play(living, "scale sts/db=3") == ["+ db-0 n2", "+ db-1 n1", f"? db-2 {NO_VOLUME}"]
    assert play(living, "scale sts/db=0", "scale sts/db=2")[-2:] == ["+ db-0 n2", "+ db-1 n1"]


def test_a_replica_that_is_made_anew_stays_where_its_volume_is() -> None:
    grown, *pods = stateful_set("db", ("n0",), spec=naming("data-db-0"))
    grown["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, **template("dynamic")}]
    here = [claim("data-db-0", "v", "dynamic"), volume("v", "dynamic", phase="Bound")]
    living = world([*NODES, DYNAMIC, *here, *limited(9, 9, 9), grown, *pods])
    assert play(living, "scale sts/db=2") == ["+ db-1 n2"]
    assert living.cluster.storage.claims["default", "data-db-1"].spec.volume_name == "pvc-default-data-db-1"
    assert play(living, "scale sts/db=1", "scale sts/db=2")[-1] == "+ db-1 n2"
    no_node = "1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity."
    played = play(living, "cordon n2", "scale sts/db=1", "scale sts/db=2")
    assert played[-1] == f"? db-1 0/3 nodes are available: {no_node}"
