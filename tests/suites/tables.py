"""Clusters in one line an object, and what a plugin by itself says of them.

The suites beside this file take their questions and answers from kube-scheduler's own test tables. A plugin's unit
tables ask the plugin alone: `ask_alone` does so with a profile of that plugin, about a pod that is in the cluster
already, since many of those pods would not pass the API server.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from typing import Any

import kubespread
from kubespread.kube.well_known import HOSTNAME
from tests.builders import hard, pod, soft

Data = dict[str, Any]

FITS, NO, NEVER = "Success", "Unschedulable", "UnschedulableAndUnresolvable"
_HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
_numbers = itertools.count()
# The taint of unschedulable nodes, as the tables have it.
_TAINTS = {
    word: {"key": "node.kubernetes.io/unschedulable", "value": "", "effect": effect}
    for word, effect in (("tainted", "NoSchedule"), ("avoided", "PreferNoSchedule"))
}


def labels(*words: str) -> dict[str, str]:
    """``key=value``, and ``key`` for the empty value."""
    return {key: value for key, _, value in (word.partition("=") for word in words)}


def nodes(*lines: str) -> list[Data]:
    """``"node-a zone=zone1 node hostname"``: ``node`` and ``hostname`` are labels with the node's own name.

    ``tainted`` is a NoSchedule taint and ``avoided`` one to PreferNoSchedule; ``failed`` keeps the pod off the node
    without any plugin that is looked at having a say.
    """
    made: list[Data] = []
    for name, *words in map(str.split, lines):
        own = {"node": "node", "hostname": HOSTNAME}
        given = [f"{own[word]}={name}" if word in own else word for word in words if word not in (*_TAINTS, "failed")]
        spec: Data = {"taints": [_TAINTS[word] for word in words if word in _TAINTS]}
        spec |= {"unschedulable": True} if "failed" in words else {}
        status = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}
        metadata = {"name": name, "labels": labels(*given)}
        made.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status})
    return made


def pods(*lines: str, **spec: Any) -> list[Data]:
    """``"node-a foo bar=b x2 @ns1 terminating"``: two pods on node-a, by their labels, namespace and state."""
    made: list[Data] = []
    for line in lines:
        on, *words = line.split()
        copies = next((int(word[1:]) for word in words if word[0] == "x" and word[1:].isdigit()), 1)
        namespace = next((word[1:] for word in words if word[0] == "@"), "default")
        own = [word for word in words if word != "terminating" and word[0] != "@" and word != f"x{copies}"]
        for _ in range(copies):
            one = pod(f"p{next(_numbers)}", on, labels=labels(*own), namespace=namespace, **spec)
            if "terminating" in words:
                one["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            made.append(one)
    return made


def selector(text: str | None) -> Data | None:
    """``foo=bar``: that label; ``foo``: the key exists; empty: everything; None: no selector."""
    if not text:
        return None if text is None else {}
    key, _, value = text.partition("=")
    if value:
        return {"matchLabels": {key: value}}
    return {"matchExpressions": [{"key": key, "operator": "Exists"}]}


def must(key: str, max_skew: int = 1, on: str | None = "foo", **more: Any) -> Data:
    """A DoNotSchedule constraint over the pods of a `selector`."""
    return hard(key, max_skew, labelSelector=selector(on), **more)


def should(key: str, max_skew: int = 1, on: str | None = "foo", **more: Any) -> Data:
    """A ScheduleAnyway one."""
    return soft(key, max_skew, labelSelector=selector(on), **more)


def asking(own: str, *constraints: Data, **spec: Any) -> Data:
    """The pod that is asked about, with its `labels` and constraints."""
    return pod("p", labels=labels(*own.split()), constraints=list(constraints), **spec)


def in_nodes(key: str, operator: str, *values: str) -> Data:
    """Required node affinity of one expression."""
    terms = [{"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def profile_of(plugin: str, args: Data | None = None, *, points: tuple[str, ...] = ("multiPoint",)) -> str:
    """A KubeSchedulerConfiguration with that plugin alone, weighing 1, and what keeps pods off ``failed`` nodes."""
    enabled: dict[str, list[Data]] = defaultdict(list)
    enabled["multiPoint"] += [{"name": name} for name in ("PrioritySort", "DefaultBinder", "NodeUnschedulable")]
    for point in points:
        enabled[point].append({"name": plugin, **({"weight": 1} if point in ("multiPoint", "score") else {})})
    plugins: Data = {point: {"enabled": those} for point, those in enabled.items()}
    plugins["multiPoint"]["disabled"] = [{"name": "*"}]
    profile = {"plugins": plugins, "pluginConfig": [{"name": plugin, "args": args}] if args is not None else []}
    return json.dumps({**_HEAD, "profiles": [profile]})


def scored_by(plugin: str) -> str:
    """The default profile with that plugin's score alone, weighing 1."""
    points: Data = {
        "preScore": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]},
        "score": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin, "weight": 1}]},
    }
    return json.dumps({**_HEAD, "profiles": [{"plugins": points}]})


def ask_alone(
    plugin: str,
    objects: list[Data],
    candidate: Data,
    args: Data | None = None,
    *,
    points: tuple[str, ...] = ("multiPoint",),
    kube_version: str | None = None,
    feature_gates: str | None = None,
) -> kubespread.ExplainReport:
    """What the plugin says of a pod as it is stored, whatever the API server would say of it."""
    config = profile_of(plugin, args, points=points)
    scheduler = kubespread.Scheduler(config=config, kube_version=kube_version, feature_gates=feature_gates)
    meta = candidate["metadata"]
    snapshot = kubespread.Snapshot.from_objects([*objects, candidate])
    return kubespread.explain(snapshot, f"pod/{meta['name']}", scheduler, namespace=meta["namespace"])


def verdicts(report: kubespread.ExplainReport) -> dict[str, str]:
    """The nodes of each verdict, in one line."""
    by_code = defaultdict(list)
    for node in sorted(report.nodes, key=lambda node: node.name):
        by_code[node.verdict.code].append(node.name)
    return {code: " ".join(names) for code, names in by_code.items()}


def reasons(report: kubespread.ExplainReport) -> dict[str, tuple[str, str]]:
    """The code and the reasons of every node that is rejected."""
    return {
        node.name: (node.verdict.code, ", ".join(node.verdict.reasons)) for node in report.nodes if not node.feasible
    }


def scores(report: kubespread.ExplainReport, plugin: str) -> dict[str, int]:
    """The plugin's normalized score of every node it scored."""
    return {node.name: node.score_details[plugin].normalized for node in report.nodes if plugin in node.score_details}


def best(report: kubespread.ExplainReport) -> list[str]:
    """The feasible nodes with the highest total, one of which kube-scheduler takes."""
    totals = {node.name: node.total for node in report.nodes if node.feasible}
    highest = max((total for total in totals.values() if total is not None), default=None)
    return [name for name, total in totals.items() if total == highest]
