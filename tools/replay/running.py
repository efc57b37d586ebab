"""What a real control plane made of a scenario, beside ours: where the pods of each workload are, and how many wait."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

import kubespread
from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import ENDED_PHASES, ZONE
from kubespread.questions.plan.playing import Steps
from kubespread.questions.scene import Scene
from kubespread.questions.worlds import as_snapshot
from kubespread.scenario.reading import read_scenario
from tools.replay.cases import Data, Difference, Recorded

_NOWHERE = "-"
_SLOWLY = "x-1s"


def stops_at_once(file: str) -> bool:
    """Whether the pods of a recording, by its file's name, were gone before their successors had a node."""
    return not file.startswith(_SLOWLY)


def differences(
    recorded: Recorded, kube_version: str | None = None, deal: int = 0, *, stops_at_once: bool = True
) -> Iterator[Difference]:
    """Placed and pending pods a workload have to be equal. So have the zones, but where chance decides among equals:
    those differences are named ``zones``.

    Deal 0 takes equal pods and nodes by name, any other by its own chance.
    """
    ours = workloads(_after(recorded.case, kubespread.Scheduler(kube_version=kube_version), deal, stops_at_once))
    for workload, expected in recorded.expect.items():
        zones = Counter(expected["zones"])
        own_zones, own_pending = ours.get(workload, (Counter[str](), 0))
        counts, own_counts = (zones.total(), expected["pending"]), (own_zones.total(), own_pending)
        if counts != own_counts:
            yield Difference(recorded.name, f"{workload}: placed and pending", counts, own_counts)
        elif zones != own_zones:
            yield Difference(recorded.name, f"{workload}: zones", dict(zones), dict(own_zones))


def _after(case: Data, scheduler: kubespread.Scheduler, deal: int, stops_at_once: bool) -> kubespread.Snapshot:
    """The cluster once every step is done."""
    snapshot = kubespread.Snapshot.from_objects(case["cluster"]["items"])
    with tempfile.TemporaryDirectory() as folder:
        for name, manifest in case["manifests"].items():
            (Path(folder) / name).write_bytes(msgspec.json.encode(manifest))
        scenario = Path(folder) / "scenario.json"
        scenario.write_bytes(msgspec.json.encode(case["scenario"]))
        question = Steps(read_scenario(scenario), runs=1, seed=deal or None)
        scene = Scene(snapshot, scheduler, question)
        scene.world.settings = replace(scene.world.settings, stops_at_once=stops_at_once)
        question.answer(scene)
        return as_snapshot(scene.world, scene.edited_snapshot)


def workloads(after: kubespread.Snapshot) -> Mapping[str, tuple[Counter[str], int]]:
    """Running pods per zone, and pods without a node, by the name of the workload; those of DaemonSets do not count."""
    zones = {node.metadata.name: node.metadata.labels.get(ZONE, _NOWHERE) for node in after.nodes}
    running: dict[str, Counter[str]] = {}
    pending = Counter[str]()
    for pod in after.pods:
        workload = _workload(pod)
        if workload is None:
            continue
        running.setdefault(workload, Counter())
        if pod.spec.node_name:
            running[workload][zones.get(pod.spec.node_name, _NOWHERE)] += 1
        else:
            pending[workload] += 1
    return {workload: (counts, pending[workload]) for workload, counts in running.items()}


def _workload(pod: Pod) -> str | None:
    """None for a pod that does not count."""
    if pod.metadata.deletion_timestamp or pod.status.phase in ENDED_PHASES:
        return None
    owner = next(iter(pod.metadata.owner_references), None)
    if owner is None:
        return pod.metadata.name
    if owner.kind == "DaemonSet":
        return None
    return owner.name.rsplit("-", 1)[0] if owner.kind == "ReplicaSet" else owner.name
