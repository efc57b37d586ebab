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
    "answer": "What it comes to, in sentences: the answer first, then what else is worth knowing, the worst first.",
    "unmet": "What was required, as by `--fail-on`, and is not so, a sentence each.",
    "doubts": "What is not known of the cluster and may change the answer, a sentence each: of the "
    "`snapshotFindings`, and gaps that decide. To be said before the answer.",
    "question": "What was asked: the question's `name`, and the options that were given, in camelCase.",
    "unfinished": "What is missing where `--timeout` ended the answer; null where everything was done.",
    "provenance": "kubespread's `version`, the `command` as typed and the `time` of the answer; null in the library.",
    "kubeVersion": "The Kubernetes release that is emulated: `1.37`, or `1.36.2`.",
    "schedulerName": "The profile that decides, by its `schedulerName`.",
    "cluster": "Which cluster was asked, as far as its source says.",
    "gaps": "What the answer needs and the cluster's data lacks, a sentence each.",
    "notModelled": "What the input uses and the answer leaves out, a sentence each.",
    "admission": "What admission plugins would change in the pod, with the objects that the cluster holds.",
    "notes": "What was filled in or assumed, and what else is worth knowing, a sentence each.",
}
"""Told once for all reports, by name in JSON."""

_WORDS = {
    "topologyKey": "The constraint's `topologyKey`.",
    "whenUnsatisfiable": "`DoNotSchedule` or `ScheduleAnyway`.",
    "maxSkew": "The constraint's `maxSkew`.",
    "minDomains": "The constraint's `minDomains`; null where it sets none.",
    "selector": "Whose pods count, in kubectl's notation.",
    "nodeAffinityPolicy": "`Honor` or `Ignore`.",
    "nodeTaintsPolicy": "`Honor` or `Ignore`.",
    "source": "`pod` for a constraint of its own, `profile` or `system` for a default one.",
    "namespace": "Its namespace.",
    "namespaces": "Whose pods count.",
    "namespaceSelector": "Of further namespaces; null where there is none.",
    "domain": "The node's value of the topology key; null without the label.",
    "node": "The name of the node.",
    "pod": "NAMESPACE/name of the pod.",
    "claim": "NAMESPACE/name of the claim.",
    "volume": "The name of the volume.",
    "storageClass": "The name of the StorageClass.",
    "driver": "The name of the CSI driver.",
    "resource": "As Kubernetes names it.",
    "key": "That of a label, or of a taint.",
    "operator": "As node affinity has it: `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`.",
    "values": "Those that the operator compares with.",
    "value": "That of the taint.",
    "effect": "That of the taint.",
    "term": "The position of its term, from 0.",
    "actual": "What the node has; null where it lacks the label.",
    "requested": "What the pod requests.",
    "free": "What is left of it on the node.",
    "allocatable": "What the node has for pods.",
    "running": "How many pods run there.",
    "allowed": "How many may.",
    "port": "Its number.",
    "protocol": "`TCP`, `UDP` or `SCTP`.",
    "address": "The address it is held on.",
    "attached": "How many volumes are attached.",
    "added": "How many more the pod needs.",
    "limit": "How many may be attached.",
    "usable": "How many devices are left for it.",
    "inUse": "How many that match are taken.",
    "feature": "Its name.",
}
"""Kubernetes' own fields, and words that mean one thing wherever they stand without a docstring."""


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
