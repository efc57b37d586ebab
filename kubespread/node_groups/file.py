"""Node groups of a file: ``kind: NodeGroups, apiVersion: kubespread.dev/v1alpha1``, in YAML or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import field

from kubespread.errors import Fault, ManifestError
from kubespread.kube.api.core import Node
from kubespread.kube.api.decoding import DecodingError, decode, normalized, unexpected_fields
from kubespread.kube.api.kinds import full_kind
from kubespread.kube.api.meta import Int32, KubeObject
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import label_value_faults, subdomain_faults
from kubespread.kube.selector import Selector, SelectorError, parse_selector
from kubespread.manifest.text import STDIN, display_name
from kubespread.node_groups.groups import DEFAULT_EXPANDERS, Expander, NodeGroup, NodeGroups
from kubespread.snapshot.edits.new_nodes import checked_node, is_file, only_object, read_template
from kubespread.wording import describe

_MAX_PRICE = 999_999_999
API_VERSION, KIND = "kubespread.dev/v1alpha1", "NodeGroups"


class NodeGroupFields(KubeObject):
    """One group, as written."""

    name: str = ""
    template: Any = None
    zones: list[str] = field(default_factory=list)
    nodes: str = ""
    min: Int32 = 0
    max: Int32 | None = None
    priority: Int32 | None = None
    price: Any = None


class NodeGroupsFields(KubeObject):
    """The whole file."""

    ignored = dict.fromkeys(("apiVersion", "kind", "metadata"), "")

    expander: str = ""
    groups: list[NodeGroupFields] = field(default_factory=list)


_Faults = list[tuple[str, str]]
"""Each with the field it is about."""


def read_node_groups(path: str) -> NodeGroups:
    """The groups of the file at ``path``, in its order. Raises ManifestError with every fault it has.

    A template that is a file is found beside it.
    """
    file = display_name(path)
    item = only_object(path, API_VERSION, KIND, f"one {KIND} of apiVersion {API_VERSION}")
    try:
        fields = decode(normalized(item.data, NodeGroupsFields), NodeGroupsFields)
    except DecodingError as error:
        raise ManifestError(file, [Fault(str(error), error.path, item.line_of(error.path))]) from error
    faults: _Faults = [(unknown.path, str(unknown)) for unknown in unexpected_fields(item.data, NodeGroupsFields)]
    if not fields.groups:
        faults.append(("groups", "Required value: at least one group"))
    names = Counter(group.name for group in fields.groups)
    faults += [
        (f"groups[{position}].name", f"Duplicate value: {quote(group.name)}")
        for position, group in enumerate(fields.groups)
        if names[group.name] > 1
    ]
    expanders = _expanders(fields.expander, faults)
    folder = Path() if path == STDIN else Path(path).parent
    groups = [_group(group, f"groups[{place}]", folder, faults) for place, group in enumerate(fields.groups)]
    if faults:
        raise ManifestError(file, [Fault(message, place, item.line_of(place)) for place, message in faults])
    return NodeGroups(tuple(groups), expanders)


def _expanders(text: str, faults: _Faults) -> tuple[Expander, ...]:
    """``priority,least-waste``, as cluster-autoscaler's option has them."""
    names = text.split(",") if text else []
    known = [name for name in names if name in list(Expander)]
    for name in names:
        if name not in known:
            faults.append(("expander", f"Unsupported value: {quote(name)}{alternatives(name, Expander)}"))
    if len(known) > len(set(known)):
        faults.append(("expander", f"Duplicate value: {quote(text)}"))
    return tuple(map(Expander, known)) or DEFAULT_EXPANDERS


def _group(fields: NodeGroupFields, place: str, folder: Path, faults: _Faults) -> NodeGroup:
    faults += ((f"{place}.{name}", message) for name, message in _simple_faults(fields))
    return NodeGroup(
        name=fields.name,
        maximum=fields.max,
        minimum=fields.min,
        template=_template(fields, f"{place}.template", folder, faults),
        zones=tuple(fields.zones),
        priority=fields.priority,
        price=Decimal(str(fields.price)) if _is_decimal(fields.price) else None,
        members=_members(fields.nodes, f"{place}.nodes", faults),
    )


def _simple_faults(fields: NodeGroupFields) -> Iterator[tuple[str, str]]:
    if not fields.name:
        yield "name", "Required value"
    for fault in subdomain_faults(fields.name) if fields.name else ():
        yield "name", f"Invalid value: {quote(fields.name)}: {fault}"
    for position, zone in enumerate(fields.zones):
        faults = label_value_faults(zone) if zone else ["must not be empty"]
        yield from ((f"zones[{position}]", f"Invalid value: {quote(zone)}: {fault}") for fault in faults)
        if zone in fields.zones[:position]:
            yield f"zones[{position}]", f"Duplicate value: {quote(zone)}"
    if fields.min < 0:
        yield "min", f"Invalid value: {fields.min}: must be greater than or equal to 0"
    if fields.max is not None and fields.max < max(0, fields.min):
        yield "max", f"Invalid value: {fields.max}: must be greater than or equal to min"
    if fields.priority is not None and fields.priority < 0:
        yield "priority", f"Invalid value: {fields.priority}: must be greater than or equal to 0"
    if fields.price is not None and not _is_decimal(fields.price):
        yield "price", f"expected a number from 0, found {_described(fields.price)}"
    if fields.template is None and not fields.nodes:
        reason = "a Node manifest, its file or a node's name, unless nodes says which there are"
        yield "template", f"Required value: {reason}"


def _is_decimal(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_PRICE


def _described(value: Any) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else describe(value)


def _members(text: str, place: str, faults: _Faults) -> Selector | None:
    if not text:
        return None
    try:
        return parse_selector(text)
    except SelectorError as error:
        faults.append((place, f"Invalid value: {quote(text)}: {error}"))
        return None


def _template(fields: NodeGroupFields, place: str, folder: Path, faults: _Faults) -> Node | str | None:
    template = fields.template
    if isinstance(template, str) and not is_file(template):
        return template
    try:
        if isinstance(template, str):
            return read_template(str(folder / template))
        if isinstance(template, dict):
            kind = template.get("apiVersion", "v1"), template.get("kind", "Node")
            if kind == ("v1", "Node"):
                node, node_faults = checked_node(template, place, fields.name)
                faults += node_faults
                return node
            faults.append((place, f"expected a Node, found {full_kind(*map(str, kind))}"))
        elif template is not None:
            faults.append((place, f"expected a Node manifest, its file or a node's name, found {describe(template)}"))
    except ManifestError as error:
        faults += ((place, fault.describe(error.file)) for fault in error.faults)
    except DecodingError as error:
        faults.append((error.path, str(error)))
    return None
