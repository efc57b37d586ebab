"""What a field means: the docstring below it, or what its name means in whatever report it stands."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import FieldInfo

from kubespread.reports.columns import docstring

OF_EVERY_REPORT = {
    "apiVersion": "`kubespread.dev/v1alpha2`.",
    "kind": "The name of the report.",
    "verdict": "`yes`, `no`, or `unknown` where the cluster's data does not tell, or where a part is `unfinished`.",
    "answer": "Sentences: the answer first, then what else is worth knowing, the worst first.",
    "unmet": "Requirements, as of `--fail-on`, that are not met, a sentence each.",
    "doubts": "Unknowns that may change the answer, a sentence each: of the `snapshotFindings`, and gaps that "
    "decide. To be said before the answer.",
    "question": "Question asked: its `name`, and the options given, in camelCase.",
    "unfinished": "Missing parts if `--timeout` ended the answer; null if it is complete.",
    "provenance": "kubespread's `version`, the `command` as typed and the `time` of the answer; null in the library.",
    "kubeVersion": "The Kubernetes release that is emulated: `1.37`, or `1.36.2`.",
    "schedulerName": "The profile that decides, by its `schedulerName`.",
    "cluster": "The cluster, as far as its source says.",
    "gaps": "Data that the answer needs and the cluster's source lacks, a sentence each.",
    "notModelled": "Features that the input uses and the answer leaves out, a sentence each.",
    "admission": "Changes that the cluster's admission plugins would make to the pod, given its objects.",
    "notes": "Defaults, assumptions and anything else worth knowing, a sentence each.",
}
"""Meaning in every report, by name in JSON."""

_WORDS = {
    "topologyKey": "The constraint's `topologyKey`.",
    "whenUnsatisfiable": "`DoNotSchedule` or `ScheduleAnyway`.",
    "maxSkew": "The constraint's `maxSkew`.",
    "minDomains": "The constraint's `minDomains`; null if it sets none.",
    "selector": "Selector of the pods that count, in kubectl's notation.",
    "nodeAffinityPolicy": "`Honor` or `Ignore`.",
    "nodeTaintsPolicy": "`Honor` or `Ignore`.",
    "source": "`pod` for a constraint of its own, `profile` or `system` for a default one.",
    "namespace": "Namespace of the object.",
    "namespaces": "Namespaces of the pods that count.",
    "namespaceSelector": "Selector of further namespaces; null if there is none.",
    "domain": "The node's value of the topology key; null without the label.",
    "node": "Name of the node.",
    "pod": "NAMESPACE/name of the pod.",
    "workload": "NAMESPACE/Kind/name of the workload.",
    "nodes": "Number of nodes in the cluster.",
    "workloads": "Number of workloads.",
    "number": "From 1.",
    "family": "Kind of change.",
    "together": "Subset of `changes` made to several nodes at once.",
    "brokenBudgets": "Names of the disruption budgets, in its namespace, that its preemption violates.",
    "madeRoomFor": "NAMESPACE/name of the pod that preempted it.",
    "selfMatch": "1 if the selector matches the pod itself, else 0.",
    "reasons": "Reasons in kube-scheduler's words.",
    "group": "Autoscaler's name for the group.",
    "zone": "Null if the group has none.",
    "claim": "NAMESPACE/name of the claim.",
    "volume": "The name of the volume.",
    "storageClass": "The name of the StorageClass.",
    "driver": "The name of the CSI driver.",
    "resource": "Name of the resource in Kubernetes.",
    "key": "Key of the label or taint.",
    "operator": "Operator of node affinity: `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`.",
    "values": "Values that the operator compares with.",
    "value": "Value of the label.",
    "effect": "Effect of the taint.",
    "term": "The position of its term, from 0.",
    "actual": "Value on the node; null without the label.",
    "requested": "Amount that the pod requests.",
    "free": "Amount left on the node.",
    "allocatable": "Amount on the node for pods.",
    "running": "Number of pods that run there.",
    "allowed": "Most pods that may.",
    "port": "Port number.",
    "protocol": "`TCP`, `UDP` or `SCTP`.",
    "address": "Address on which it is used.",
    "attached": "Number of attached volumes.",
    "added": "Number of further volumes for the pod.",
    "limit": "Most volumes that may be attached.",
    "usable": "Number of devices left for it.",
    "inUse": "Number of matching devices in use.",
    "feature": "Name of the feature.",
}
"""Meaning of Kubernetes' own fields, and of words that mean one thing in all reports, without a docstring."""


def meaning(struct: type[Struct], field: FieldInfo, inner: type[Struct] | None) -> str:
    """What ``field`` of ``struct`` means, as a line of Markdown that may stand in a table; empty where nothing says it.

    ``inner`` is the type of the objects in it.
    """
    if written := docstring(struct, field.name):
        rows = getattr(struct, "meanings", {}).get(field.name, {})
        return _on_one_line(" ".join((written, *(f"``{value}``: {row.means}." for value, row in rows.items()))))
    common = OF_EVERY_REPORT.get(field.encode_name)
    return common or (_WORDS.get(field.encode_name, "") if inner is None else class_meaning(inner))


def class_meaning(struct: type[Struct]) -> str:
    """What the docstring of ``struct`` says, in the same way."""
    return _on_one_line(struct.__dict__.get("__doc__") or "")


def _on_one_line(docstring: str) -> str:
    """With names and values as JSON has them: docstrings are Python's."""
    line = " ".join(docstring.split()).replace("``", "`").replace("|", r"\|")
    line = re.sub(r"\bNone\b", "null", line)
    return re.sub(r"`[a-z_.]+`", lambda name: re.sub(r"_([a-z])", lambda match: match[1].upper(), name[0]), line)
