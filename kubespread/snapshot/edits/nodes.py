"""What an edit does to the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node, Taint
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.snapshot.edits.cordoning import cordoned, uncordoned
from kubespread.snapshot.edits.new_nodes import new_nodes
from kubespread.snapshot.edits.target import nodes_meant
from kubespread.snapshot.edits.types import (
    AddNode,
    AddTaint,
    Cordon,
    DeleteNode,
    Drain,
    NodeEdit,
    RemoveLabel,
    RemoveTaint,
    SetLabel,
    Target,
    Uncordon,
)
from kubespread.snapshot.topology_keys import full_topology_key


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Which nodes become others, come and go. No node that was there before is changed itself."""

    replaced: Mapping[str, Node] = field(default_factory=dict)
    """By name, only those that differ."""
    added: tuple[Node, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What to say of it."""


def change_nodes(edit: NodeEdit, nodes: Sequence[Node]) -> NodeChange:
    """What ``edit`` makes of ``nodes``, of a drain its cordon.

    Raises UsageError for an edit about nodes, taints or labels that are not there.
    """
    changed: Callable[[Node], Node]
    match edit:
        case AddNode():
            added, notes = new_nodes(edit, nodes)
            return NodeChange(added=added, notes=notes)
        case DeleteNode():
            return NodeChange(removed=tuple(node.metadata.name for node in nodes_meant(edit.target, nodes)))
        case Cordon() | Drain():
            changed = cordoned
        case Uncordon():
            changed = uncordoned
        case AddTaint():
            changed = partial(_with_taint, taint=edit.taint)
        case RemoveTaint():
            _check_taint(edit, nodes)
            changed = partial(_without_taint, edit=edit)
        case SetLabel():
            changed = partial(_with_label, key=full_topology_key(edit.key, nodes), value=edit.value)
        case RemoveLabel():
            _check_label(edit, nodes)
            changed = partial(_without_label, key=full_topology_key(edit.key, nodes))
    return _replaced(edit, edit.target, changed, nodes)


def _replaced(edit: NodeEdit, target: Target, changed: Callable[[Node], Node], nodes: Sequence[Node]) -> NodeChange:
    pairs = [(node, changed(node)) for node in nodes_meant(target, nodes)]
    replaced = {old.metadata.name: new for old, new in pairs if new != old}
    # A drained node may well be cordoned already: there is more to a drain.
    notes = () if replaced or isinstance(edit, Drain) else (f"{edit}: changes nothing",)
    return NodeChange(replaced=replaced, notes=notes)


def _with_taint(node: Node, taint: Taint) -> Node:
    """``kubectl taint --overwrite`` writes the new taint before the others."""
    others = [other for other in node.spec.taints if (other.key, other.effect) != (taint.key, taint.effect)]
    taints = node.spec.taints if taint in node.spec.taints else [taint, *others]
    return replace(node, spec=replace(node.spec, taints=taints))


def _without_taint(node: Node, edit: RemoveTaint) -> Node:
    return replace(
        node, spec=replace(node.spec, taints=[taint for taint in node.spec.taints if not _is_it(edit, taint)])
    )


def _is_it(edit: RemoveTaint, taint: Taint) -> bool:
    return taint.key == edit.key and edit.effect in ("", taint.effect)


def _check_taint(edit: RemoveTaint, nodes: Sequence[Node]) -> None:
    taints = [taint for node in nodes_meant(edit.target, nodes) for taint in node.spec.taints]
    if not any(_is_it(edit, taint) for taint in taints):
        known = (f"{taint.key}:{taint.effect}" if edit.effect else taint.key for taint in taints)
        raise UsageError(
            f"taint {quote(edit.described)} not found on {edit.target}{alternatives(edit.described, known)}"
        )


def _with_label(node: Node, key: str, value: str) -> Node:
    return replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, key: value}))


def _without_label(node: Node, key: str) -> Node:
    labels = {other: value for other, value in node.metadata.labels.items() if other != key}
    return replace(node, metadata=replace(node.metadata, labels=labels))


def _check_label(edit: RemoveLabel, nodes: Sequence[Node]) -> None:
    known = {key for node in nodes_meant(edit.target, nodes) for key in node.metadata.labels}
    if full_topology_key(edit.key, nodes) not in known:
        raise UsageError(f"label {quote(edit.key)} not found on {edit.target}{alternatives(edit.key, known)}")
