"""What free storage is worth, and drivers that a node must have: on since 1.37."""

from __future__ import annotations

from typing import Any

import kubespread
from tests.builders import node, pod
from tests.scheduler.asking import reasons, scores
from tests.scheduler.test_volumes import claim, csi_node, storage_class, uses, volume

Data = dict[str, Any]


def driver(name: str = "d.csi", **spec: Any) -> Data:
    meta = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}}
    return {**meta, "spec": {"storageCapacity": True, **spec}}


NODES = [node(name, host=name) for name in ("n1", "n2", "n3")]
CLASSES = [driver(), storage_class("s"), storage_class("t")]


def ask(
    objects: list[Data], candidate: Data, version: str = "1.37", config: str | None = None
) -> kubespread.ExplainReport:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *CLASSES, *objects])
    return kubespread.explain(snapshot, candidate, kubespread.Scheduler(config, kube_version=version))


def test_a_pod_without_claims_is_scored_since_1_37() -> None:
    found = {version: scores(ask([], pod(), version), "VolumeBinding") for version in ("1.37", "1.36")}
    assert found == {"1.37": {"n1": 0, "n2": 0, "n3": 0}, "1.36": {}}


def missing(name: str) -> str:
    return f"{name} CSI driver is not installed on the node"


def strict(name: str = "d.csi", *, prevents: bool | None = True) -> Data:
    return driver(name, storageCapacity=False, preventPodSchedulingIfMissing=prevents)


CSI_VOLUME = volume(csi={"driver": "d.csi", "volumeHandle": "h"})


def test_of_several_missing_drivers_the_first_by_name_is_told() -> None:
    objects = [
        strict("b"),
        strict("a"),
        claim("c", "pv1"),
        volume("pv1", csi={"driver": "b", "volumeHandle": "h"}),
        claim("e", "pv2"),
        volume("pv2", csi={"driver": "a", "volumeHandle": "h"}),
        csi_node("n1", b=5),
        csi_node("n2", a=5, b=5),
    ]
    report = ask(objects, uses("c", "e"))
    assert reasons(report) == {"n1": missing("a"), "n3": missing("a")}
    assert report.not_modelled == (
        "NodeVolumeLimits: of several CSI drivers that a node lacks kube-scheduler names one at random, here the first by name",
    )


def test_without_any_csi_node_it_is_said_that_every_node_counts_as_without_the_driver() -> None:
    report = ask([strict(), claim("c", "pv1"), CSI_VOLUME], uses("c"))
    assert reasons(report) == dict.fromkeys(("n1", "n2", "n3"), missing("d.csi"))
    assert "no CSINode objects: every node counts as without the CSI driver d.csi" in report.gaps
    assert report.message == f"0/3 nodes are available: 3 {missing('d.csi')}."
