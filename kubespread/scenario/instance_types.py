"""Instance types as a file says them, in place of Karpenter's provider: read strictly, each fault named by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import label_key_faults, label_value_faults
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.well_known import INSTANCE_TYPE, ZONE
from kubespread.node_groups.groups import InstanceType
from kubespread.scenario.document import API_VERSION, Document, Faults, Field, Fields, Holds, read_document

KIND = "InstanceTypes"
INSTANCE_TYPES: Fields = {
    "apiVersion": Field(Holds.TEXT, "kubespread.dev/v1alpha1", is_required=True),
    "kind": Field(Holds.TEXT, "InstanceTypes", is_required=True),
    "metadata": Field(Holds.OBJECT, "not read"),
    "instanceTypes": Field(Holds.LIST, "what Karpenter may launch", is_required=True),
}
TYPE: Fields = {
    "name": Field(Holds.TEXT, f"what its nodes have as {INSTANCE_TYPE}", is_required=True),
    "cpu": Field(Holds.AMOUNT, "what a node of it offers pods, as status.allocatable has it", is_required=True),
    "memory": Field(Holds.AMOUNT, "the same of memory", is_required=True),
    "pods": Field(Holds.AMOUNT, "how many pods a node of it takes, by default 110"),
    "resources": Field(Holds.OBJECT, "what else it offers: ephemeral-storage, nvidia.com/gpu"),
    "labels": Field(Holds.LABELS, "what it is like: kubernetes.io/arch, karpenter.sh/capacity-type and the like"),
    "zones": Field(Holds.TEXTS, "where it is offered, by default in all zones that its NodePool may use"),
    "price": Field(Holds.DECIMAL, "of one node, in the unit that all prices have"),
}
_ALWAYS = ("cpu", "memory", "pods")
"""Resources that are fields of their own."""
_PODS = "110"
_LINUX = {"kubernetes.io/os": "linux"}
_SMALLEST = (
    f"{{apiVersion: {API_VERSION}, kind: {KIND}, instanceTypes: [{{name: m6i.large, cpu: 1930m, memory: 6903Mi}}]}}"
)

InstanceTypesGiven = Sequence[InstanceType] | Mapping[str, Any] | str | Path


def read_instance_types(source: InstanceTypesGiven) -> tuple[InstanceType, ...]:
    """The types that were given: a path (``-``: standard input), a text, which has a line break or begins with a brace,
    or plain data. A type has the label of its name, and runs Linux unless it says otherwise. Raises ManifestError with
    every fault.
    """
    if isinstance(source, Mapping | str | Path):
        return _instance_types(read_document(source, KIND, _SMALLEST))
    return tuple(source)


def _instance_types(document: Document) -> tuple[InstanceType, ...]:
    faults = document.faults
    fields = faults.checked(document.data, INSTANCE_TYPES, "")
    entries = fields.get("instanceTypes", ())
    if "instanceTypes" in fields and not entries:
        faults.add("instanceTypes", "expected at least one instance type, found none")
    types: list[InstanceType] = []
    for place, entry in enumerate(entries):
        path = f"instanceTypes[{place}]"
        found = _instance_type(faults.checked(entry, TYPE, path), path, faults)
        if any((found.name, found.labels) == (other.name, other.labels) for other in types):
            same = f"Duplicate value: {quote(found.name)}: another with the same labels is above"
            faults.add(f"{path}.name", same)
        types.append(found)
    if faults.entries:
        raise faults.error()
    return tuple(types)


def _instance_type(fields: Mapping[str, Any], path: str, faults: Faults) -> InstanceType:
    name = fields.get("name", "")
    for fault in label_value_faults(name):
        faults.add(f"{path}.name", f"Invalid value: {quote(name)}: {fault}")
    amounts = {resource: (fields.get(resource), f"{path}.{resource}") for resource in _ALWAYS}
    others = fields.get("resources", {})
    for name_given in map(str, others):
        for fault in label_key_faults(name_given):
            faults.add(f"{path}.resources.{name_given}", f"Invalid value: {quote(name_given)}: {fault}")
    checked = faults.checked(others, dict.fromkeys(others, Field(Holds.AMOUNT, "how much")), f"{path}.resources")
    for resource, amount in checked.items():
        if resource in amounts:
            faults.add(f"{path}.resources.{resource}", f"expected this beside resources, as {path}.{resource}")
        amounts.setdefault(resource, (amount, f"{path}.resources.{resource}"))
    allocatable = {
        resource: _quantity(amount, place, faults)
        for resource, (amount, place) in amounts.items()
        if amount is not None
    }
    price = fields.get("price")
    return InstanceType(
        name=name,
        allocatable={"pods": _PODS, **allocatable},
        labels={**_LINUX, INSTANCE_TYPE: name, **_labels(name, fields.get("labels", {}), f"{path}.labels", faults)},
        zones=_zones(fields.get("zones", ()), f"{path}.zones", faults),
        # As it was written: no number that is let through has more digits than a float keeps.
        price=None if price is None else Decimal(str(price)),
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
