"""The fields of a scenario file: what each is called, what it holds, and which step as text a key with fields means.

The reader and the JSON Schema are both made of these.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kubespread.scenario.text import apply, rollback, rollout, upgrade
from kubespread.scenario.types import Action, Restore
from kubespread.snapshot.edits.target import parse_target
from kubespread.snapshot.edits.text import (
    add_node_edit,
    delete_pods_edit,
    evict_edit,
    label_edit,
    scale_edit,
    taint_edit,
)
from kubespread.snapshot.edits.types import Cordon, DeleteNode, Drain, Fail, Target, Uncordon


class Holds(Enum):
    """What a field holds."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    NUMBER = "a number from 0"
    FLAG = "true or false"
    LABELS = "an object of strings"
    STEPS = "a list of steps"
    OBJECT = "an object"
    READINESS = "atOnce or an object"


@dataclass(frozen=True, slots=True)
class Field:
    holds: Holds
    help: str
    is_required: bool = False


Fields = Mapping[str, Field]
Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepShape:
    """One key of a step."""

    help: str
    short: str
    """What it holds where it is a string."""
    verb: str
    """The step as text that the string belongs to."""
    fields: Fields
    """What it holds otherwise; without any it is a string or a list of strings."""
    text: Callable[[Given], str]
    """From the fields to the string, which is only shown."""
    action: Callable[[Given, str], Action]
    """From the fields, and the directory that paths are relative to, to what happens. Raises KubespreadError."""


_WORKLOAD = Field(Holds.TEXT, "[NAMESPACE/]KIND/NAME, such as deploy/web", is_required=True)
_NODES = Field(Holds.TEXT, "a node's name, or labels as kubectl's -l has them: zone=a", is_required=True)
_DRAIN_FLAGS = {
    "ignoreDaemonsets": Field(Holds.FLAG, "leave the pods of DaemonSets alone"),
    "deleteEmptydirData": Field(Holds.FLAG, "evict pods with emptyDir volumes too"),
    "force": Field(Holds.FLAG, "evict pods without a controller too"),
}
_FLAG_TEXTS = {
    "ignoreDaemonsets": "--ignore-daemonsets",
    "deleteEmptydirData": "--delete-emptydir-data",
    "force": "--force",
}


def _drain_text(given: Given) -> str:
    return " ".join([given["nodes"], *(flag for name, flag in _FLAG_TEXTS.items() if given.get(name))])


def _rollout_text(given: Given) -> str:
    words = [given["workload"], *([given["manifest"]] if "manifest" in given else []), *given.get("set", ())]
    return shlex.join(words)


def _add_nodes_text(given: Given) -> str:
    count = f":{given['count']}" if "count" in given else ""
    labels = ",".join(f"{key}={value}" for key, value in given.get("labels", {}).items())
    return f"{given['template']}{count}{f'@{labels}' if labels else ''}"


def _apply_text(given: Given) -> str:
    words = [*given["files"]]
    for setting in given.get("set", ()):
        words += ["--set", setting]
    for name in ("replicas", "name"):
        if name in given:
            words += [f"--{name}", str(given[name])]
    return shlex.join(words)


def _upgrade_text(given: Given) -> str:
    numbers = [word for name in ("surge", "batch") if name in given for word in (f"--{name}", str(given[name]))]
    return " ".join([_drain_text(given), *numbers])


def _drain(given: Given) -> Drain:
    flags = (bool(given.get(name)) for name in _FLAG_TEXTS)
    return Drain(parse_target(given["nodes"]), *flags)


def _about_nodes(verb: str, text: str, edit: Callable[[Target], Action]) -> StepShape:
    return StepShape(
        text, "NODES", verb, {"nodes": _NODES}, lambda given: str(given["nodes"]),
        lambda given, _: edit(parse_target(given["nodes"])),
    )  # fmt: skip


STEPS: Mapping[str, StepShape] = {
    "scale": StepShape(
        "A workload gets another number of replicas.", "[NAMESPACE/]KIND/NAME=N", "scale",
        {"workload": _WORKLOAD, "replicas": Field(Holds.NUMBER, "how many", is_required=True)},
        lambda given: f"{given['workload']}={given['replicas']}",
        lambda given, _: scale_edit(given["workload"], given["replicas"]),
    ),
    "rollout": StepShape(
        "A workload gets another template; with the workload alone it is restarted.",
        "[NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]", "rollout",
        {
            "workload": _WORKLOAD,
            "manifest": Field(Holds.TEXT, "a file with the workload as it is to be"),
            "set": Field(Holds.TEXTS, "fields to change, as --set has them: maxSkew[zone]=2"),
        },
        _rollout_text,
        lambda given, directory: rollout(
            given["workload"], given.get("manifest"), given.get("set", ()), directory
        ),
    ),
    "rollback": StepShape(
        "A Deployment goes back to the template it had before.", "[NAMESPACE/]KIND/NAME", "rollback",
        {"workload": _WORKLOAD}, lambda given: str(given["workload"]),
        lambda given, _: rollback(given["workload"]),
    ),
    "drain": StepShape(
        "Nodes are drained as kubectl drain does.", "NODES [--ignore-daemonsets] [--delete-emptydir-data] [--force]",
        "drain", {"nodes": _NODES, **_DRAIN_FLAGS}, _drain_text, lambda given, _: _drain(given),
    ),
    "cordon": _about_nodes("cordon", "New pods stay away from the nodes.", Cordon),
    "uncordon": _about_nodes("uncordon", "New pods may come to the nodes again.", Uncordon),
    "taint": StepShape(
        "Nodes get or lose a taint.", "NODE=KEY[=VALUE]:EFFECT, NODE=KEY- or 'KEY=VALUE TAINT'", "taint",
        {"nodes": _NODES, "taint": Field(Holds.TEXT, "KEY[=VALUE]:EFFECT, or KEY[:EFFECT]-", is_required=True)},
        lambda given: f"{given['nodes']} {given['taint']}",
        lambda given, _: taint_edit(parse_target(given["nodes"]), given["taint"]),
    ),
    "label": StepShape(
        "Nodes get or lose a label.", "NODE=KEY=VALUE, NODE=KEY- or 'KEY=VALUE LABEL'", "label",
        {"nodes": _NODES, "label": Field(Holds.TEXT, "KEY=VALUE, or KEY-", is_required=True)},
        lambda given: f"{given['nodes']} {given['label']}",
        lambda given, _: label_edit(parse_target(given["nodes"]), given["label"]),
    ),
    "fail": StepShape(
        "Nodes break down; with hard their Node objects are deleted too.", "NODES", "fail",
        {"nodes": _NODES, "hard": Field(Holds.FLAG, "delete the Node objects")},
        lambda given: str(given["nodes"]),
        lambda given, _: Fail(parse_target(given["nodes"]), bool(given.get("hard"))),
    ),
    "restore": _about_nodes("restore", "Nodes that failed are there again.", Restore),
    "addNodes": StepShape(
        "New nodes join the cluster.", "TEMPLATE[:COUNT][@KEY=VALUE]", "add-node",
        {
            "template": Field(Holds.TEXT, "a Node manifest, or the name of a node to copy", is_required=True),
            "count": Field(Holds.NUMBER, "how many, by default 1"),
            "labels": Field(Holds.LABELS, "labels that differ from the template's"),
        },
        _add_nodes_text,
        lambda given, directory: add_node_edit(
            given["template"], given.get("count", 1), given.get("labels", {}).items(), directory
        ),
    ),
    "removeNodes": _about_nodes("delete-node", "The Node objects are deleted.", DeleteNode),
    "delete": StepShape(
        "Pods are deleted.", "[NAMESPACE/]LABELS", "delete-pods",
        {
            "pods": Field(Holds.TEXT, "their labels, as kubectl's -l has them", is_required=True),
            "namespace": Field(Holds.TEXT, "their namespace"),
        },
        lambda given: f"{given['namespace']}/{given['pods']}" if "namespace" in given else str(given["pods"]),
        lambda given, _: delete_pods_edit(given["pods"], given.get("namespace")),
    ),
    "evict": StepShape(
        "A pod is evicted, as far as its disruption budget allows.", "[NAMESPACE/]POD", "evict",
        {
            "pod": Field(Holds.TEXT, "its name", is_required=True),
            "namespace": Field(Holds.TEXT, "its namespace"),
        },
        lambda given: f"{given['namespace']}/{given['pod']}" if "namespace" in given else str(given["pod"]),
        lambda given, _: evict_edit(given["pod"], given.get("namespace")),
    ),
    "apply": StepShape(
        "Manifests are applied: what is new is created, what runs is changed.", "FILE...", "apply",
        {
            "files": Field(Holds.TEXTS, "manifests or directories of them", is_required=True),
            "set": Field(Holds.TEXTS, "fields to change in each workload, as --set has them"),
            "replicas": Field(Holds.NUMBER, "how many replicas, whatever the manifest says"),
            "name": Field(Holds.TEXT, "which of several workloads"),
        },
        _apply_text,
        lambda given, directory: apply(
            given["files"], given.get("set", ()), given.get("replicas"), given.get("name"), directory
        ),
    ),
    "upgrade": StepShape(
        "Nodes are replaced batch by batch.", "NODES [--surge N] [--batch N] [--force]", "upgrade",
        {
            "nodes": _NODES,
            "surge": Field(Holds.NUMBER, "new nodes that come before old ones are drained"),
            "batch": Field(Holds.NUMBER, "nodes that are drained at once, by default 1"),
            "force": _DRAIN_FLAGS["force"],
        },
        _upgrade_text,
        lambda given, _: upgrade(
            given["nodes"], given.get("surge", 0), given.get("batch", 1), force=bool(given.get("force"))
        ),
    ),
}  # fmt: skip
"""What a step may be; every edit of the command line besides, under its own name."""

IN_LIST = "files"
"""The field that a list in the place of the fields is."""

READINESS: Fields = {
    "stuck": Field(Holds.TEXTS, "workloads whose new pods do not become ready"),
    "ready": Field(Holds.TEXTS, "workloads whose pods become ready again"),
}
BESIDE_STEP: Fields = {"name": Field(Holds.TEXT, "what the step is called"), **READINESS}
"""The fields that any step may have beside its key."""

SCENARIO: Fields = {
    "apiVersion": Field(Holds.TEXT, "kubespread.dev/v1alpha1", is_required=True),
    "kind": Field(Holds.TEXT, "Scenario", is_required=True),
    "metadata": Field(Holds.OBJECT, "name and namespace"),
    "spec": Field(Holds.OBJECT, "the steps", is_required=True),
}
METADATA: Fields = {
    "name": Field(Holds.TEXT, "what the scenario is called"),
    "namespace": Field(Holds.TEXT, "that of names without one"),
}
SPEC: Fields = {
    "steps": Field(Holds.STEPS, "what happens, in this order", is_required=True),
    "preemption": Field(Holds.FLAG, "whether pods evict others of lower priority, by default true"),
    "autoscaler": Field(Holds.TEXT, "ca or karpenter: who adds nodes for pods that find none"),
    "nodeGroups": Field(Holds.TEXT, "file with the groups that may grow, by default those that the cluster tells of"),
    "readiness": Field(Holds.READINESS, "when new pods are ready: atOnce, or which workloads are stuck"),
}
AT_ONCE = "atOnce"
"""The readiness that is the default."""
