"""A world scaled down beside what a running control plane did with the same pods."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from kubespread import Snapshot
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import WorkloadName
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import objects_now, world_of
from kubespread.world.events.editing import scale
from kubespread.world.events.world import World
from tools.replay.cases import Data, Difference, Recorded


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """Sizes are equal; of the pods those that are beyond doubt go. Where two ReplicaSets shrink the ranks of one depend
    on whether the other's deletions were seen, and pods of one age go in any order.
    """
    case = recorded.case
    world = _scaled(case)
    sizes = {each.metadata.name: each.spec.replicas for each in objects_now(world).get(ReplicaSet)}
    ours = {key: sizes[key] for key in case["replicaSetsAfter"]}
    if ours != case["replicaSetsAfter"]:
        yield Difference(recorded.name, "sizes", case["replicaSetsAfter"], ours)
    gone = {each.pod.metadata.name for each in world.happenings.departures}
    if len(gone) != len(case["deleted"]):
        yield Difference(recorded.name, "how many pods go", len(case["deleted"]), len(gone))
    for checked in case["check"]:
        sure, tied = set(checked["sureUpToBuckets"]), set(checked["tiedUpToBuckets"])
        if (len(case["check"]) == 1 or not tied) and not sure <= gone <= sure | tied:
            yield Difference(recorded.name, "pods that go, beyond doubt", sorted(sure), sorted(gone))


def _scaled(case: Data) -> World:
    snapshot = Snapshot.from_objects(
        [
            *(
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": each, "labels": {"zone": zone}}}
                for each, zone in case["zones"].items()
            ),
            *({"apiVersion": "apps/v1", "kind": "ReplicaSet", **each} for each in case["replicaSets"]),
            *({"apiVersion": "v1", "kind": "Pod", **each} for each in case["pods"]),
            *([{"apiVersion": "apps/v1", **case["workload"]}] if case["kind"] == "Deployment" else []),
        ]
    )
    origin = msgspec.structs.replace(snapshot.origin, time=case["time"].split(".")[0] + "Z")
    meta = case["workload"]["metadata"]
    world = world_of(replace(snapshot, origin=origin), Scheduler())
    scale(world, WorkloadName(case["kind"], meta["namespace"], meta["name"]), case["to"])
    return world
