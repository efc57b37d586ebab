"""Files about nodes that an autoscaler may add: node groups, and instance types in place of Karpenter's provider.

Both are read strictly, each fault named by line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from kubespread.errors import ManifestError, UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import full_kind
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.selector import SelectorError, parse_selector
from kubespread.kube.well_known import INSTANCE_TYPE, ZONE
from kubespread.manifest.text import STDIN
from kubespread.node_groups import DEFAULT_EXPANDERS, Expander, InstanceType, NodeGroup, NodeGroups
from kubespread.scenario.document import API_VERSION, Document, Faults, Field, Fields, FieldType, read_document
from kubespread.snapshot.edits.new_nodes import checked_node, is_file, read_template

GROUPS_KIND, TYPES_KIND = "NodeGroups", "InstanceTypes"
NODE_GROUPS: Fields = {
    "expander": Field(FieldType.TEXT, "how cluster-autoscaler chooses among groups, by default least-waste"),
    "groups": Field(FieldType.LIST, "what may grow", is_required=True),
}
GROUP: Fields = {
    "name": Field(FieldType.TEXT, "what its nodes are called after", is_required=True),
    "template": Field(FieldType.MANIFEST, "what new nodes are made of"),
    "zones": Field(FieldType.TEXTS, "where it grows, each zone by itself"),
    "nodes": Field(FieldType.TEXT, "the labels of its nodes, as kubectl's -l has them"),
    "min": Field(FieldType.NUMBER, "of each zone"),
    "max": Field(FieldType.NUMBER, "of each zone, by default any number"),
    "priority": Field(FieldType.NUMBER, "for the expander priority"),
    "price": Field(FieldType.DECIMAL, "of one node, for the expander price"),
}
INSTANCE_TYPES: Fields = {"instanceTypes": Field(FieldType.LIST, "what Karpenter may launch", is_required=True)}
TYPE: Fields = {
    "name": Field(FieldType.TEXT, f"what its nodes have as {INSTANCE_TYPE}", is_required=True),
    "cpu": Field(FieldType.AMOUNT, "what a node of it offers pods, as status.allocatable has it", is_required=True),
    "memory": Field(FieldType.AMOUNT, "what it offers of memory, likewise", is_required=True),
    "pods": Field(FieldType.AMOUNT, "how many pods a node of it takes, by default 110"),
    "resources": Field(FieldType.OBJECT, "what else it offers: ephemeral-storage, nvidia.com/gpu"),
    "labels": Field(FieldType.LABELS, "what it is like: kubernetes.io/arch, karpenter.sh/capacity-type and the like"),
    "zones": Field(FieldType.TEXTS, "where it is offered, by default in all zones that its NodePool may use"),
    "price": Field(FieldType.DECIMAL, "of one node, in the unit that all prices have"),
}
_ALWAYS = ("cpu", "memory", "pods")
"""Resources that are fields of their own."""
_PODS = "110"
_LINUX = {"kubernetes.io/os": "linux"}
_SMALLEST_GROUPS = f"{{apiVersion: {API_VERSION}, kind: {GROUPS_KIND}, groups: [{{name: workers, template: NODE}}]}}"
_SMALLEST_TYPES = (
    f"{{apiVersion: {API_VERSION}, kind: {TYPES_KIND}, "
    "instanceTypes: [{name: m6i.large, cpu: 1930m, memory: 6903Mi}]}"
)


def read_node_groups(path: str) -> NodeGroups:
    """Node groups in the file at ``path``, in its order; template files are relative to it. Raises ManifestError with
    every fault.
    """
    document = read_document(path, GROUPS_KIND, _SMALLEST_GROUPS)
    faults, folder = document.faults, Path() if path == STDIN else Path(path).parent
    fields, _ = document.fields(NODE_GROUPS)
    entries = fields.get("groups", ())
    if "groups" in fields and not entries:
        faults.add("groups", "expected at least one group, found none")
    groups = [_group(entry, f"groups[{place}]", folder, faults) for place, entry in enumerate(entries)]
    names = Counter(group.name for group in groups)
    for place, group in enumerate(groups):
        if group.name and names[group.name] > 1:
            faults.add(f"groups[{place}].name", f"Duplicate value: {quote(group.name)}")
    expanders = faults.read("expander", partial(_expanders, fields.get("expander", "")))
    if faults.entries:
        raise faults.error()
    return NodeGroups(tuple(groups), expanders or DEFAULT_EXPANDERS)


def _expanders(text: str) -> tuple[Expander, ...]:
    """``priority,least-waste``, as cluster-autoscaler's option has them."""
    names = text.split(",") if text else []
    if unknown := [name for name in names if name not in list(Expander)]:
        raise UsageError(f"Unsupported value: {quote(unknown[0])}{alternatives(unknown[0], Expander)}")
    if len(names) > len(set(names)):
        raise UsageError(f"Duplicate value: {quote(text)}")
    return tuple(map(Expander, names))


def _group(data: Any, path: str, folder: Path, faults: Faults) -> NodeGroup:
    fields = faults.check(data, GROUP, path)
    name, least, most = fields.get("name", ""), fields.get("min", 0), fields.get("max")
    for fault in subdomain_faults(name) if name else ():
        faults.add(f"{path}.name", f"Invalid value: {quote(name)}: {fault}")
    if most is not None and most < least:
        faults.add(f"{path}.max", f"Invalid value: {most}: must be greater than or equal to min")
    if isinstance(data, Mapping) and data.get("template") is None and data.get("nodes") is None:
        expected = f"{FieldType.MANIFEST.value}, unless nodes says which there are"
        faults.add(f"{path}.template", f"Required value: {expected}")
    members = None
    try:
        members = parse_selector(fields["nodes"]) if "nodes" in fields else None
    except SelectorError as error:
        faults.add(f"{path}.nodes", f"Invalid value: {quote(fields['nodes'])}: {error}")
    return NodeGroup(
        name=name,
        maximum=most,
        minimum=least,
        template=_template(fields.get("template"), f"{path}.template", name, folder, faults),
        zones=_zones(fields.get("zones", ()), f"{path}.zones", faults),
        priority=fields.get("priority"),
        price=_price(fields),
        members=members,
    )


def _template(template: Any, path: str, name: str, folder: Path, faults: Faults) -> Node | str | None:
    if template is None or (isinstance(template, str) and not is_file(template)):
        return template
    try:
        if isinstance(template, str):
            return read_template(str(folder / template))
        kind = str(template.get("apiVersion", "v1")), str(template.get("kind", "Node"))
        if kind != ("v1", "Node"):
            faults.add(path, f"expected a Node, found {full_kind(*kind)}")
            return None
        node, of_node = checked_node(template, path, name)
        for place, fault in of_node:
            faults.add(place, fault)
        return node
    except ManifestError as error:
        faults.add_error(path, error)
    except DecodingError as error:
        faults.add(error.path, str(error))
    return None


def _price(fields: Mapping[str, Any]) -> Decimal | None:
    """The price as it was written: no number that is let through has more digits than a float keeps."""
    return Decimal(str(fields["price"])) if "price" in fields else None


InstanceTypesGiven = Sequence[InstanceType] | Mapping[str, Any] | str | Path


def read_instance_types(source: InstanceTypesGiven) -> tuple[InstanceType, ...]:
    """Read instance types: a path (``-``: standard input), text (with a line break, or beginning with a brace) or plain
    data.

    A type has the label of its name, and runs Linux unless it says otherwise. Raises ManifestError with every fault.
    """
    if isinstance(source, Mapping | str | Path):
        return _instance_types(read_document(source, TYPES_KIND, _SMALLEST_TYPES))
    return tuple(source)


def _instance_types(document: Document) -> tuple[InstanceType, ...]:
    faults = document.faults
    fields, _ = document.fields(INSTANCE_TYPES)
    entries = fields.get("instanceTypes", ())
    if "instanceTypes" in fields and not entries:
        faults.add("instanceTypes", "expected at least one instance type, found none")
    types: list[InstanceType] = []
    for place, entry in enumerate(entries):
        path = f"instanceTypes[{place}]"
        instance_type = _instance_type(faults.check(entry, TYPE, path), path, faults)
        if any((instance_type.name, instance_type.labels) == (other.name, other.labels) for other in types):
            same = f"Duplicate value: {quote(instance_type.name)}: another with the same labels is above"
            faults.add(f"{path}.name", same)
        types.append(instance_type)
    if faults.entries:
        raise faults.error()
    return tuple(types)


def _instance_type(fields: Mapping[str, Any], path: str, faults: Faults) -> InstanceType:
    name = fields.get("name", "")
    for fault in label_value_faults(name):
        faults.add(f"{path}.name", f"Invalid value: {quote(name)}: {fault}")
    amounts = {resource: (fields.get(resource), f"{path}.{resource}") for resource in _ALWAYS}
    others = fields.get("resources", {})
    for resource in map(str, others):
        for fault in label_key_faults(resource):
            faults.add(f"{path}.resources.{resource}", f"Invalid value: {quote(resource)}: {fault}")
    checked = faults.check(others, dict.fromkeys(others, Field(FieldType.AMOUNT, "how much")), f"{path}.resources")
    for resource, amount in checked.items():
        if resource in amounts:
            faults.add(f"{path}.resources.{resource}", f"expected this beside resources, as {path}.{resource}")
        amounts.setdefault(resource, (amount, f"{path}.resources.{resource}"))
    allocatable = {
        resource: _quantity(amount, place, faults)
        for resource, (amount, place) in amounts.items()
        if amount is not None
    }
    return InstanceType(
        name=name,
        allocatable={"pods": _PODS, **allocatable},
        labels={**_LINUX, INSTANCE_TYPE: name, **_labels(name, fields.get("labels", {}), f"{path}.labels", faults)},
        zones=_zones(fields.get("zones", ()), f"{path}.zones", faults),
        price=_price(fields),
    )


def _quantity(amount: int | str, path: str, faults: Faults) -> str:
    try:
        if parse(amount).nano < 0:
            faults.add(path, f"Invalid value: {quote(str(amount))}: must be greater than or equal to 0")
    except QuantityError as error:
        faults.add(path, f"Invalid value: {quote(str(amount))}: {error}")
    return str(amount)


def _labels(name: str, labels: Mapping[str, str], path: str, faults: Faults) -> Mapping[str, str]:
    for key, value in labels.items():
        for fault in (*label_key_faults(key), *label_value_faults(value)):
            faults.add(f"{path}.{key}", f"Invalid value: {quote(f'{key}={value}')}: {fault}")
    if labels.get(INSTANCE_TYPE, name) != name:
        faults.add(
            f"{path}.{INSTANCE_TYPE}", f"Invalid value: {quote(labels[INSTANCE_TYPE])}: it is {quote(name)}, the name"
        )
    if ZONE in labels:
        faults.add(f"{path}.{ZONE}", "expected the zones in zones, not as a label")
    return labels


def _zones(zones: Sequence[str], path: str, faults: Faults) -> tuple[str, ...]:
    for place, zone in enumerate(zones):
        for fault in label_value_faults(zone):
            faults.add(f"{path}[{place}]", f"Invalid value: {quote(zone)}: {fault}")
        if zone in zones[:place]:
            faults.add(f"{path}[{place}]", f"Duplicate value: {quote(zone)}")
    return tuple(zones)
