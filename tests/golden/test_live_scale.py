"""A world scaled down beside what a running control plane did with the same pods."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from kubespread import Snapshot
from kubespread.kube.owners import WorkloadName
from kubespread.library.deciding import Scheduler
from kubespread.library.worlds import world_of
from kubespread.planner.world.editing import scale
from kubespread.planner.world.objects import objects_now
from tests.builders import Data, node

FILE = Path(__file__).parents[2] / "fixtures" / "golden" / "live" / "scale.jsonl.gz"
LINES = gzip.decompress(FILE.read_bytes()).splitlines()
CASES: dict[str, Data] = {case["name"]: case for case in map(json.loads, LINES)}


@pytest.mark.parametrize("name", CASES)
def test_a_world_is_scaled_down_as_the_cluster_was(name: str) -> None:
    """Sizes are equal; of the pods those that are beyond doubt go. Where two ReplicaSets shrink the ranks of one depend
    on whether the other's deletions were seen, and pods of one age go in any order.
    """
    case = CASES[name]
    snapshot = Snapshot.from_objects(
        [
            *(node(each, zone=zone) for each, zone in case["zones"].items()),
            *({"apiVersion": "apps/v1", "kind": "ReplicaSet", **each} for each in case["replicaSets"]),
            *({"apiVersion": "v1", "kind": "Pod", **each} for each in case["pods"]),
            *([{"apiVersion": "apps/v1", **case["workload"]}] if case["kind"] == "Deployment" else []),
        ]
    )
    origin = msgspec.structs.replace(snapshot.origin, time=case["time"].split(".")[0] + "Z")
    meta = case["workload"]["metadata"]
    world = world_of(replace(snapshot, origin=origin), Scheduler())
    scale(world, WorkloadName(case["kind"], meta["namespace"], meta["name"]), case["to"])
    sizes = {each.metadata.name: each.spec.replicas for each in objects_now(world).replica_sets}
    assert {key: sizes[key] for key in case["replicaSetsAfter"]} == case["replicaSetsAfter"]
    gone = {each.pod.metadata.name for each in world.happenings.gone}
    for checked in case["check"]:
        if len(case["check"]) == 1 or not checked["tiedUpToBuckets"]:
            sure, tied = set(checked["sureUpToBuckets"]), set(checked["tiedUpToBuckets"])
            assert sure <= gone <= sure | tied
    assert len(gone) == len(case["deleted"])
