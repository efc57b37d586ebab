"""Rollouts on a running control plane: each of its scheduling cycles beside ours.

What the scheduler had seen of the deletions when it took up a pod is not recorded, only the order of the deletions. So
a cycle agrees when our answer is its own after some of them, and no later cycle may need that fewer were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import kubespread
from kubespread import Scheduler, Snapshot
from tools.replay.cases import Data, Difference, Recorded

_DELETING, _GONE = "deleting", "gone"


def differences(recorded: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """The first cycle whose feasible nodes, scores by plugin and totals are ours at no point; none where all are."""
    case = recorded.case
    scheduler = Scheduler(kube_version=kube_version)
    final = {each["metadata"]["name"]: each for each in case["final"]}
    deletions = sorted(
        (each for each in case["events"] if each["event"] in (_DELETING, _GONE)), key=lambda each: int(each["rv"])
    )
    pods = {each["metadata"]["name"]: each for each in case["initial"]["pods"]}
    seen = 0
    for cycle in case["schedulerCycles"]:
        name = cycle["pod"].partition("/")[2]
        theirs, candidate = _of_cycle(cycle), _without_node(final[name])
        for already in range(seen, len(deletions) + 1):
            ours = _ours(case["initial"], _left(pods, deletions[:already]), candidate, scheduler)
            if ours == theirs:
                seen = already
                break
        else:
            yield Difference(recorded.name, f"cycle of {name}", theirs, ours)
            return
        pods[name] = {**final[name], "spec": {**final[name]["spec"], "nodeName": cycle["bound"]}}


def _of_cycle(cycle: Data) -> Data:
    """A single feasible node is bound without being scored."""
    return {"feasible": cycle["feasible"], "scores": cycle["scores"], "totals": cycle["totals"]}


def _ours(initial: Data, pods: Sequence[Data], candidate: Data, scheduler: Scheduler) -> Data:
    objects = [
        *({"apiVersion": "v1", "kind": "Node", **node} for node in initial["nodes"]),
        *({"apiVersion": "v1", "kind": "Pod", **pod} for pod in (*initial["otherPods"], *pods)),
    ]
    report = kubespread.explain(Snapshot.from_objects(objects), candidate, scheduler)
    feasible = [node for node in report.to_dict()["nodes"] if node["feasible"]]
    scored = feasible if len(feasible) > 1 else []
    return {
        "feasible": len(feasible),
        "scores": {node["name"]: node["scores"] for node in scored},
        "totals": {node["name"]: node["total"] for node in scored},
    }


def _left(pods: dict[str, Data], deletions: Sequence[Data]) -> list[Data]:
    """The pods after some deletions: terminating first, gone later."""
    left = dict(pods)
    for each in deletions:
        if each["event"] == _GONE:
            left.pop(each["pod"], None)
        elif pod := left.get(each["pod"]):
            left[each["pod"]] = {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": each["t"][:19] + "Z"}}
    return list(left.values())


def _without_node(pod: Data) -> Data:
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"], "spec": spec}
