"""The nodes that ``add-node`` adds: copies of a template, as a new machine would join the cluster.

Some labels name the same domain as another label, so a copy of the node elsewhere gets other values for them. A
CSI driver attaches volumes by its own label (``topology.ebs.csi.aws.com/zone``), which has the value of
``topology.kubernetes.io/zone`` on every node. The nodes show which labels go together. A template may also be a Node
manifest.

Source of the rules: how cluster-autoscaler makes a node group's template from one of its nodes, and the node
controller, which taints cordoned nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, ClassVar

from msgspec.structs import replace

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.admission.defaulting import default_node
from kubespread.kube.api.core import Node, NodeCondition, Taint
from kubespread.kube.api.decoding import DecodingError, decode, normalize
from kubespread.kube.api.kinds import full_kind
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.unknown_fields import alternatives, unknown_fields
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import subdomain_faults
from kubespread.kube.quantity import NANO, parse
from kubespread.kube.taint import cordon_node, uncordon_node
from kubespread.kube.validation.pods import node_faults
from kubespread.kube.well_known import (
    BETA_INSTANCE_TYPE,
    BETA_REGION,
    BETA_ZONE,
    CORDON_TAINT_KEY,
    HOSTNAME,
    INSTANCE_TYPE,
    READ_ANNOTATIONS,
    READY,
    REGION,
    ZONE,
)
from kubespread.manifest.objects import read_objects
from kubespread.manifest.text import display_name, faults_of, read_file
from kubespread.regex import regex
from kubespread.snapshot.edits.nodes import check_label
from kubespread.snapshot.edits.verb import Edit, Form, NodeChange, path_in
from kubespread.snapshot.topology_keys import full_topology_key, label_keys
from kubespread.wording import short_key


def read_template(path: str) -> Node:
    """Read the one Node in the file at ``path``, defaulted. Raises ManifestError with all its faults."""
    file, text = display_name(path), read_file(path)
    with faults_of(file):
        objects = [item for item in read_objects(iter([text])) if not item.size]
    kinds = [(item.api_version, item.kind) for item in objects]
    if kinds != [("v1", "Node")]:
        listed = ", ".join(full_kind(*pair) or "an object without kind" for pair in kinds)
        raise ManifestError(file, [Fault(f"expected one Node, found {listed or 'nothing'}")])
    item = objects[0]
    with faults_of(file):
        # Decoded here, once: only decoding finds numbers that no field can hold.
        _ = item.data
    try:
        node, faults = checked_node(item.data)
    except DecodingError as error:
        raise ManifestError(file, [Fault(str(error), error.path, item.line_of(error.path))]) from error
    if faults:
        raise ManifestError(file, [Fault(message, path, item.line_of(path)) for path, message in faults])
    return node


def checked_node(data: Mapping[str, Any], path: str = "", name: str = "") -> tuple[Node, list[tuple[str, str]]]:
    """Node from ``data`` at ``path``, defaulted, and called ``name`` if it has no name; its faults, each with its path.
    Raises DecodingError.
    """
    # Decoding alone does not look at amounts.
    node = decode(normalize(data, Node, path), Node, path)
    node.metadata.name = node.metadata.name or name
    inside = f"{path}." if path else ""
    faults = [(field.path, str(field)) for field in unknown_fields(data, "Node", path)]
    faults += [(f"{inside}{fault.path}", fault.message) for fault in node_faults(node)]
    default_node(node)
    return node, faults


MAX_COPIES = 10_000
"""Most nodes that one edit adds: about twice the limit of a cluster."""
_EXPECTED_COUNT = f"expected a number of nodes from 1 to {MAX_COPIES}"
_TEMPLATE = regex(
    r"(?P<template>.+?)(?::(?P<count>[^:@/]*))?(?:@(?P<size>[0-9][^@=/]*))?(?P<labels>(?:@[^@=,/]+(?:/[^@=,]+)?=[^@]*)*)"
)
_SIZE = regex(r"(?P<cpu>[0-9]{1,5}(?:\.[0-9]{1,3})?)x(?P<memory>[0-9]{1,6}(?:\.[0-9]{1,3})?)")
_LIKE_A_SIZE = regex(r"[0-9][0-9.]*x[0-9][0-9.]*")
_COUNT = regex(r"[1-9][0-9]{0,4}")
_SUFFIXES = (".yaml", ".yml", ".json")
# Taints that describe the state of a machine, and taints of cluster-autoscaler.
_STATE_TAINTS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        CORDON_TAINT_KEY,
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    }
)
_STATE_PREFIXES = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
)


class AddNode(Edit, frozen=True):
    """New nodes join the cluster."""

    form: ClassVar = Form(
        "add-node",
        "LIKE-NODE[:COUNT][@CPUxGI][@KEY=VALUE]",
        name="addNodes",
        metavar="LIKE-NODE[:N][@CPUxGI][@KEY=VALUE]",
        option="Add N new nodes like one of the cluster or a Node manifest; size (8x16) and labels may differ.",
    )
    brings_nodes: ClassVar = True
    template: str
    """File of ``manifest``, or name of a node of the cluster."""
    count: int = 1
    labels: tuple[tuple[str, str], ...] = ()
    """Labels that differ from the template's; keys may be short, as in a target."""
    manifest: Node | None = None
    """None to copy the node called ``template``."""
    size: str = ""
    """CPUs and GiB of memory, ``8x16``, with as much reserved as on the template; empty for the template's size."""

    @classmethod
    def parse(cls, text: str, directory: str | None, /) -> Edit | None:
        match = _TEMPLATE.fullmatch(text)
        if match is None or (not is_file(match["template"]) and subdomain_faults(match["template"])):
            return None
        template, number, size = match["template"], match["count"] or "1", match["size"] or ""
        if (match["count"] is not None and not _COUNT.fullmatch(match["count"])) or int(number) > MAX_COPIES:
            raise UsageError(f"invalid edit 'add-node {text}': {_EXPECTED_COUNT}")
        # A key may be there twice: they stay pairs.
        labels: list[tuple[str, str]] = []
        for pair in re.split("[@,]", match["labels"].removeprefix("@")) if match["labels"] else ():
            key, equals, value = pair.partition("=")
            if not equals:
                raise UsageError(f"invalid edit 'add-node {text}': expected KEY=VALUE behind @, found {pair!r}")
            labels.append((key, value))
        edit = cls(template, int(number), tuple(labels), size=size)
        check_size(size, str(edit))
        for key, value in labels:
            check_label(key, value)
        if not is_file(template):
            return edit
        # With what the API server would refuse in a Node, which no other edit takes.
        return replace(edit, manifest=read_template(path_in(directory, template)))

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        """New nodes TEMPLATE-1, TEMPLATE-2, ... with free numbers, and notes on them. Raises UsageError for a template
        that is no node of the cluster.
        """
        # A cordon in a Node manifest is intended; a copy of a cordoned node is a new machine.
        copied = self.manifest or node_called(self.template, nodes)
        template = self.manifest or uncordon_node(copied)
        changed = {full_topology_key(key, nodes): value for key, value in self.labels}
        along = dependent_labels(template, changed, nodes)
        first = as_new_node(_resize(template, self.size), {**along, **changed})
        node_names = {node.metadata.name for node in nodes}
        names = (name for number in count(1) if (name := f"{template.metadata.name}-{number}") not in node_names)
        added = tuple(rename_node(first, name) for name in islice(names, self.count))
        notes = (
            *_template_notes(copied, changed, along, is_manifest=self.manifest is not None),
            *(_size_notes(template, changed) if self.size else ()),
            *_label_notes(added[0], nodes),
        )
        return NodeChange(added=added, notes=tuple(f"{self}: {note}" for note in notes))

    def __str__(self) -> str:
        number = f":{self.count}" if self.count != 1 else ""
        size = f"@{self.size}" if self.size else ""
        labels = ",".join(f"{key}={value}" for key, value in self.labels)
        return f"add-node {self.template}{number}{size}{f'@{labels}' if labels else ''}"


def replacement_text(node: Node, by: str, labels: str = "", number: int = 1) -> str:
    """Text of ``add-node`` in the zone of ``node``, by a size or a template; ``labels`` are ``@KEY=VALUE``."""
    if _LIKE_A_SIZE.fullmatch(by):
        return f"{node.metadata.name}:{number}@{by}{labels}"
    zone = node.metadata.labels.get(ZONE)
    in_zone = "" if zone is None else f"@{ZONE}={zone}"
    return f"{by}:{number}{in_zone}{labels}"


def check_size(size: str, text: str) -> None:
    """Raise UsageError for an invalid size that is not empty, quoting ``text``."""
    if size and not (_SIZE.fullmatch(size) and all(map(float, size.split("x")))):
        raise UsageError(f"invalid edit '{text}': expected CPUs and GiB as in 8x16, found {size!r}")


def _resize(template: Node, size: str) -> Node:
    """The template as a machine of another size, and so of another type; everything else stays."""
    if not size:
        return template
    meta, status = template.metadata, template.status
    labels = {key: value for key, value in meta.labels.items() if key not in (INSTANCE_TYPE, BETA_INSTANCE_TYPE)}
    cpu, memory = size.split("x")
    capacity, allocatable = dict(status.capacity), dict(status.allocatable)
    for name, amount in (("cpu", cpu), ("memory", f"{memory}Gi")):
        reserved = parse(capacity.get(name)).nano - parse(allocatable.get(name)).nano if name in capacity else 0
        left = max(0, parse(amount).nano - max(0, reserved))
        capacity[name] = amount
        allocatable[name] = f"{left // 10**6}m" if name == "cpu" else str(left // NANO)
    return replace(
        template,
        metadata=replace(meta, labels=labels),
        status=replace(status, capacity=capacity, allocatable=allocatable),
    )


def _size_notes(template: Node, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield notes on further differences of a machine of another size."""
    name = template.metadata.name
    status = template.status
    is_all = all(status.capacity.get(key, amount) == amount for key, amount in status.allocatable.items())
    reserved = "none" if is_all else "as much"
    yield f"{reserved} of its CPUs and memory is reserved, and as many pods may run there, as on {name}"
    if INSTANCE_TYPE in template.metadata.labels and INSTANCE_TYPE not in labels:
        yield f"no {INSTANCE_TYPE}, as the type of that size is not known: @{INSTANCE_TYPE}=TYPE sets it"


def is_file(template: str) -> bool:
    """True if a template is a file rather than a node of the cluster, by its name alone."""
    return "/" in template or template.endswith(_SUFFIXES)


def node_called(name: str, nodes: Sequence[Node]) -> Node:
    """Node of the cluster to copy. Raises UsageError."""
    for node in nodes:
        if node.metadata.name == name:
            return node
    hint = alternatives(name, (node.metadata.name for node in nodes))
    missing = f"nodes {quote(name)} not found{hint}"
    raise UsageError(f"new nodes are like one that is there: {missing}; a Node manifest ends in .yaml, .yml or .json")


def as_new_node(template: Node, labels: Mapping[str, str]) -> Node:
    """Node like a template that just became ready: without the template's state and images."""
    meta = template.metadata
    copied = replace(
        template,
        metadata=ObjectMeta(
            labels={**meta.labels, **labels},
            annotations={key: value for key, value in meta.annotations.items() if key in READ_ANNOTATIONS},
        ),
        spec=replace(template.spec, taints=[taint for taint in template.spec.taints if not is_state_taint(taint)]),
        status=replace(template.status, images=[], conditions=[NodeCondition(type=READY, status="True")]),
    )
    return cordon_node(copied) if copied.spec.unschedulable else copied


def rename_node(node: Node, name: str) -> Node:
    """``node`` renamed, with its hostname label to match."""
    meta = node.metadata
    return replace(node, metadata=replace(meta, name=name, labels={**meta.labels, HOSTNAME: name}))


def is_state_taint(taint: Taint) -> bool:
    """True for a taint that describes a machine's state, which a new one does not share."""
    return taint.key in _STATE_TAINTS or taint.key.startswith(_STATE_PREFIXES)


def _template_notes(
    template: Node, labels: Mapping[str, str], along: Mapping[str, str], *, is_manifest: bool
) -> Iterator[str]:
    name, spec = template.metadata.name, template.spec
    if spec.unschedulable:
        yield f"{name} is cordoned, and {'so are its copies' if is_manifest else 'its copies are not'}"
    cordon_key = CORDON_TAINT_KEY if spec.unschedulable else ""
    dropped = dict.fromkeys(taint.key for taint in spec.taints if is_state_taint(taint) and taint.key != cordon_key)
    if dropped:
        yield f"taints of {name} that a new node does not have: {', '.join(dropped)}"
    if not template.status.allocatable:
        yield f"{name} says neither status.allocatable nor status.capacity: no pod finds room on its copies"
    if along:
        yield f"other labels of its domain are set too: {', '.join(f'{key}={along[key]}' for key in sorted(along))}"
    for key, value in labels.items():
        before = template.metadata.labels.get(key)
        others = template.metadata.labels.items()
        stale = [other for other, same in others if same == before and other not in {key, HOSTNAME, *labels, *along}]
        if before not in (None, "", value) and stale:
            yield f"{key} is {value}, but it was {before} and so still is {', '.join(sorted(stale))}"


def _label_notes(added: Node, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield a note on missing labels: without them a constraint or node selector may exclude the new nodes."""
    others = [set(node.metadata.labels) for node in nodes]
    expected = set.intersection(*others) | ({ZONE, REGION} & label_keys(nodes)) if others else set()
    if lacking := sorted(expected - added.metadata.labels.keys()):
        yield f"the new nodes lack labels that other nodes have: {', '.join(lacking)}"


_OF_A_ZONE = (REGION, BETA_REGION, "topology.k8s.aws/zone-id")
"""Further labels with one value for all nodes of a zone."""


def dependent_labels(template: Node, labels: Mapping[str, str], nodes: Sequence[Node]) -> dict[str, str]:
    """Further labels that depend on the changed ``labels``, as seen on ``nodes``."""
    own, along = template.metadata.labels, dict[str, str]()
    for key, value in labels.items():
        before = own.get(key)
        if before in (None, "", value):
            continue
        others = (other for other in own if other not in {key, HOSTNAME, *labels})
        along |= {other: value for other in others if own[other] == before and _go_together(key, other, nodes)}
        if key in (ZONE, BETA_ZONE):
            along |= _of_the_zone(key, value, own, nodes)
    return {key: value for key, value in along.items() if key not in labels and own[key] != value}


def _go_together(key: str, other: str, nodes: Sequence[Node]) -> bool:
    """True if both labels say the same on every node that has them; where that is one and the same, by their names."""
    pairs = {(node.metadata.labels[key], node.metadata.labels[other]) for node in _select(nodes, key, other)}
    if any(one != another for one, another in pairs):
        return False
    return len(pairs) > 1 or short_key(key) == short_key(other)


def labels_of_zone(zone: str, nodes: Sequence[Node]) -> dict[str, str]:
    """Labels that all nodes of a zone share, for a new machine in it."""
    inside = [node.metadata.labels for node in nodes if node.metadata.labels.get(ZONE) == zone]
    agreed = set.intersection(*({*labels.items()} for labels in inside)) if inside else set()
    own = {key: value for key, value in sorted(agreed) if key in _OF_A_ZONE or (value == zone and key != HOSTNAME)}
    return {**own, ZONE: zone}


def _of_the_zone(key: str, zone: str, own: Mapping[str, str], nodes: Sequence[Node]) -> dict[str, str]:
    """Find the labels that all nodes of the zone agree on."""
    labels = {}
    for other in own.keys() & _OF_A_ZONE:
        labels_of = (node.metadata.labels for node in _select(nodes, key, other))
        values = {own_labels[other] for own_labels in labels_of if own_labels[key] == zone}
        if len(values) == 1:
            labels[other] = values.pop()
    return labels


def _select(nodes: Sequence[Node], *keys: str) -> list[Node]:
    return [node for node in nodes if all(key in node.metadata.labels for key in keys)]
