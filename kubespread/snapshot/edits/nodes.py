"""Nodes that are cordoned, drained, deleted or fail, and the taints and labels that they get and lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import alternatives, did_you_mean, near_miss
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import subdomain_faults
from kubespread.kube.taint import DrainFlags, TaintError, cordon_node, parse_taint, uncordon_node
from kubespread.kube.validation.faults import labels_faults
from kubespread.snapshot.edits.verb import FLAG, Edit, Form, NodeChange, NodesEdit, nodes_of_target, parse_target
from kubespread.snapshot.topology_keys import full_topology_key

if TYPE_CHECKING:
    from kubespread.kube.api.core import Node, Taint


_USAGE = "NODE or KEY=VALUE"


class NodeTaint(NodesEdit, frozen=True):
    """Nodes get or lose a taint."""

    form: ClassVar = Form(
        "taint",
        "NODE=KEY[=VALUE]:EFFECT, NODE=KEY- or 'KEY=VALUE TAINT'",
        metavar="NODE=TAINT",
        option="Taint a node: key=value:Effect, or key:Effect- or key- to remove; "
        "'LABELS TAINT' taints nodes by label.",
    )

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        nodes, mark = _nodes_and_mark(text)
        if not nodes or not mark:
            return None
        target = parse_target(nodes)
        try:
            taint, removes = parse_taint(mark)
        except TaintError as error:
            raise UsageError(str(error)) from error
        return RemoveTaint(target, taint.key, taint.effect) if removes else AddTaint(target, taint)


class AddTaint(NodeTaint, frozen=True):
    """The nodes get a taint, replacing one with the same key and effect."""

    taint: Taint

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return self.replace_nodes(self._taint_node, nodes)

    def _taint_node(self, node: Node) -> Node:
        """``kubectl taint --overwrite`` writes the new taint before the others."""
        taint, taints = self.taint, node.spec.taints
        others = [other for other in taints if (other.key, other.effect) != (taint.key, taint.effect)]
        return replace(node, spec=replace(node.spec, taints=taints if taint in taints else [taint, *others]))

    def __str__(self) -> str:
        value = f"={self.taint.value}" if self.taint.value else ""
        return f"taint {self.target} {self.taint.key}{value}:{self.taint.effect}"


class RemoveTaint(NodeTaint, frozen=True):
    """The nodes lose the taints with a key."""

    key: str
    effect: str = ""
    """Empty for any effect."""

    @property
    def mark(self) -> str:
        """``key`` or ``key:effect``."""
        return f"{self.key}:{self.effect}" if self.effect else self.key

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        taints = [taint for node in nodes_of_target(self.target, nodes) for taint in node.spec.taints]
        if not any(map(self._matches, taints)):
            taint_names = (f"{taint.key}:{taint.effect}" if self.effect else taint.key for taint in taints)
            raise UsageError(
                f"taint {quote(self.mark)} not found on {self.target}{alternatives(self.mark, taint_names)}"
            )
        return self.replace_nodes(self._untaint_node, nodes)

    def _untaint_node(self, node: Node) -> Node:
        taints = [taint for taint in node.spec.taints if not self._matches(taint)]
        return replace(node, spec=replace(node.spec, taints=taints))

    def _matches(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)

    def __str__(self) -> str:
        return f"taint {self.target} {self.mark}-"


class NodeLabel(NodesEdit, frozen=True):
    """Nodes get or lose a label."""

    form: ClassVar = Form(
        "label",
        "NODE=KEY=VALUE, NODE=KEY- or 'KEY=VALUE LABEL'",
        metavar="NODE=KEY=VALUE",
        option="Label a node, or KEY- to remove; 'LABELS KEY=VALUE' labels nodes by label.",
    )
    brings_nodes: ClassVar = True

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        nodes, label = _nodes_and_mark(text)
        key, equals, value = label.partition("=")
        if not nodes or not key:
            return None
        target = parse_target(nodes)
        if not equals and not key.endswith("-"):
            raise UsageError(f"unknown label spec: {key}")
        if equals:
            check_label(key, value)
            return SetLabel(target, key, value)
        key = key.removesuffix("-")
        check_label(key)
        return RemoveLabel(target, key)


class SetLabel(NodeLabel, frozen=True):
    """The nodes get a label; its key may be short, like a target's."""

    key: str
    value: str

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        label = {full_topology_key(self.key, nodes): self.value}
        return self.replace_nodes(lambda node: _label(node, {**node.metadata.labels, **label}), nodes)

    def __str__(self) -> str:
        return f"label {self.target} {self.key}={self.value}"


class RemoveLabel(NodeLabel, frozen=True):
    """The nodes lose a label; its key may be short, like a target's."""

    key: str

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        label_names = {key for node in nodes_of_target(self.target, nodes) for key in node.metadata.labels}
        full = full_topology_key(self.key, nodes)
        if full not in label_names:
            raise UsageError(f"label {quote(self.key)} not found on {self.target}{alternatives(self.key, label_names)}")
        return self.replace_nodes(
            lambda node: _label(node, {key: value for key, value in node.metadata.labels.items() if key != full}), nodes
        )

    def __str__(self) -> str:
        return f"label {self.target} {self.key}-"


def check_label(key: str, value: str = "") -> None:
    """Raise UsageError for a label that no node can have."""
    if faults := list(labels_faults({key: value}, "metadata.labels")):
        raise UsageError(*map(str, faults))


def _nodes_and_mark(text: str) -> tuple[str, str]:
    """The texts before and after the last blank; without a blank, a node's name ends at the first equals sign."""
    if len(text.split()) > 1:
        nodes, mark = text.rsplit(None, 1)
        return nodes, mark
    name, _, mark = text.partition("=")
    return "" if subdomain_faults(name) else name, mark


def _label(node: Node, labels: dict[str, str]) -> Node:
    return replace(node, metadata=replace(node.metadata, labels=labels))


class Cordon(NodesEdit, frozen=True):
    """New pods stay away from the nodes."""

    form: ClassVar = Form(
        "cordon", "NODES", _USAGE, metavar="NODES", option="Cordon nodes: a name, or labels (zone=a)."
    )

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return self.replace_nodes(cordon_node, nodes)


class Uncordon(NodesEdit, frozen=True):
    """New pods may be scheduled to the nodes again."""

    form: ClassVar = Form("uncordon", "NODES", _USAGE, metavar="NODES", option="Uncordon nodes.")

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return self.replace_nodes(uncordon_node, nodes)


class Drain(NodesEdit, frozen=True):
    """Nodes are drained as kubectl drain does."""

    form: ClassVar = Form(
        "drain",
        "NODES [--no-ignore-daemonsets] [--no-delete-emptydir-data] [--force]",
        f"{_USAGE}, and flags of kubectl drain",
        metavar="NODES",
        option="Drain nodes, as kubectl drain does; its flags may follow: 'pool=a --force'.",
    )
    takes_flags: ClassVar = True
    flags: DrainFlags = DrainFlags()

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        flags = DrainFlags()
        for flag in FLAG.findall(text):
            # kubectl's own way to say no: --ignore-daemonsets=false.
            form, _equals, value = flag.partition("=")
            if form not in _FORMS or value not in ("", "true", "false"):
                suggestion = did_you_mean(near_miss(form, _FORMS)) or f"; its flags are {', '.join(_FORMS)}"
                raise UsageError(f"unknown flag {flag!r} of drain{suggestion}")
            name, is_set = _FORMS[form]
            flags = replace(flags, **{name: is_set is (value != "false")})
        nodes = " ".join(FLAG.sub("", text).split())
        return cls(parse_target(nodes), flags) if nodes else None

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        # A drained node may well be cordoned already: there is more to a drain.
        return replace(self.replace_nodes(cordon_node, nodes), notes=())

    def __str__(self) -> str:
        default = DrainFlags()
        flags = (
            form
            for form, (name, value) in _FORMS.items()
            if getattr(self.flags, name) is value is not getattr(default, name)
        )
        return " ".join((f"drain {self.target}", *flags))


DRAIN_FLAGS = {"ignoreDaemonsets": "ignore_daemonsets", "deleteEmptydirData": "delete_emptydir_data", "force": "force"}
"""Names of `DrainFlags` by the arguments of assistants."""
_FORMS = {
    "--ignore-daemonsets": ("ignore_daemonsets", True),
    "--no-ignore-daemonsets": ("ignore_daemonsets", False),
    "--delete-emptydir-data": ("delete_emptydir_data", True),
    "--no-delete-emptydir-data": ("delete_emptydir_data", False),
    "--force": ("force", True),
}


def with_flags(edit: Edit, flags: Mapping[str, bool]) -> Edit:
    """A drain with the ``flags`` that are not defaults, by their names in `DrainFlags`; any other edit unchanged."""
    if not isinstance(edit, Drain):
        return edit
    default = DrainFlags()
    changes = {name: value for name, value in flags.items() if value is not getattr(default, name)}
    return replace(edit, flags=replace(edit.flags, **changes))


class DeleteNode(NodesEdit, frozen=True):
    """The Node objects are deleted."""

    form: ClassVar = Form("delete-node", "NODES", _USAGE, "removeNodes", metavar="NODES", option="Delete nodes.")

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return NodeChange(removed=tuple(node.metadata.name for node in nodes_of_target(self.target, nodes)))


class Fail(NodesEdit, frozen=True):
    """Nodes break down; their Node objects stay, tainted."""

    form: ClassVar = Form(
        "fail", "NODES", _USAGE, metavar="NODES", option="Fail nodes; their Node objects stay, tainted."
    )
    hard: ClassVar = False


class FailHard(Fail, frozen=True):
    """Nodes break down, and their Node objects are deleted."""

    form: ClassVar = Form("fail-hard", "NODES", _USAGE)
    hard: ClassVar = True
