"""The nodes, pods and budgets of kube-scheduler's preemption tables in one line each, and what preemption makes of them."""

from __future__ import annotations

from typing import Any

import kubespread
from tests.builders import pod
from tests.suites.tables import labels

Data = dict[str, Any]
Found = tuple[str, set[str], int]
"""The nominated node, the names of its victims, and how many of them break a budget."""

PRIORITIES = {"neg": -100, "low": 0, "mid": 100, "high": 1000, "veryhigh": 10000}
SIZES = {"small": 100, "medium": 200, "large": 300, "verylarge": 500}
KEYS = ("hostname", "zone", "region")


def preemption_nodes(*names: str, milli: int = 500, memory: int = 500, pods: int = 32) -> list[Data]:
    """``node-a/zone1``: a node labeled hostname=node-a, zone=zone1 with so many millicores, bytes and pods."""
    made: list[Data] = []
    for name in names:
        values = name.split("/")
        allocatable = {"cpu": f"{milli}m", "memory": str(memory), "pods": str(pods)}
        metadata = {"name": values[0], "labels": dict(zip(KEYS, values, strict=False))}
        made.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}})
    return made


def preemption_pod(line: str, **spec: Any) -> Data:
    """``p1.2 node1 mid large @3 app=foo``: a pod on a node, of a priority and a size, started as the third, labeled."""
    name, *words = line.split()
    on = words.pop(0) if words and words[0].startswith("node") else None
    wants = next((SIZES[word] for word in words if word in SIZES), None)
    own = [word for word in words if word not in SIZES and word not in PRIORITIES and word[0] != "@"]
    made = pod(
        name,
        on,
        labels=labels(*own),
        requests=None if wants is None else {"cpu": f"{wants}m", "memory": str(wants)},
        priority=next((PRIORITIES[word] for word in words if word in PRIORITIES), 0),
        **spec,
    )
    made["metadata"]["uid"] = name
    started = next((word[1:] for word in words if word[0] == "@"), None)
    if on is not None:
        made["status"] = {"phase": "Running"}
    if started is not None:
        made["status"]["startTime"] = f"2026-01-01T00:00:0{started}Z"
    return made


def preemption_pods(*lines: str) -> list[Data]:
    return [preemption_pod(line) for line in lines]


def budget(allowed: int, *words: str, disrupted: tuple[str, ...] = (), name: str = "pdb") -> Data:
    """A PodDisruptionBudget over the pods with these labels."""
    status = {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")}
    metadata = {"name": name, "namespace": "default"}
    spec = {"selector": {"matchLabels": labels(*words)}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def preempt(objects: list[Data], preemptor: Data | str, config: str | None = None) -> kubespread.ExplainReport:
    """The whole answer about a manifest, or about a stored pod by its name."""
    snapshot = kubespread.Snapshot.from_objects(objects)
    return kubespread.explain(snapshot, preemptor, kubespread.Scheduler(config=config), preemption=True)


def found(report: kubespread.ExplainReport) -> Found | None:
    preemption = report.preemption
    if preemption is None or preemption.node is None:
        return None
    return preemption.node, {name.partition("/")[2] for name in preemption.victims}, preemption.violations


def candidates(nodes: list[Data], others: list[Data], preemptor: Data) -> dict[str, tuple[set[str], int]]:
    """Each node's candidate: what preemption finds when the other nodes are cordoned, which keeps them in all counts."""
    by_node = {}
    for node in nodes:
        cordoned = [{**each, "spec": {"unschedulable": each is not node}} for each in nodes]
        answer = found(preempt([*cordoned, *others], preemptor))
        if answer is not None:
            by_node[answer[0]] = answer[1:]
    return by_node
