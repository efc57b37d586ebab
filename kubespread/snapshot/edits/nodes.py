"""Nodes that are cordoned, drained, deleted or fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.drain_flags import DrainFlags
from kubespread.kube.taint import cordoned, uncordoned
from kubespread.snapshot.edits.verb import (
    FLAG,
    NODE_USAGE,
    NODES,
    Edit,
    Field,
    FieldValues,
    Form,
    Holds,
    NodeChange,
    NodesEdit,
    nodes_of_target,
    parse_target,
)

if TYPE_CHECKING:
    from kubespread.kube.api.core import Node

FORCE = Field(
    Holds.FLAG, "evict pods without a controller too", flag="--force",
    option="With --drain, also evict pods without a controller.",
)  # fmt: skip


class Cordon(NodesEdit, frozen=True):
    """New pods stay away from the nodes."""

    form: ClassVar = Form(
        "cordon", "NODES", NODE_USAGE, fields={"nodes": NODES},
        metavar="NODES", option="Cordon nodes: a name, or labels (zone=a).",
    )  # fmt: skip

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return self.replaced(cordoned, nodes)


class Uncordon(NodesEdit, frozen=True):
    """New pods may be scheduled to the nodes again."""

    form: ClassVar = Form(
        "uncordon", "NODES", NODE_USAGE, fields={"nodes": NODES}, metavar="NODES", option="Uncordon nodes."
    )

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return self.replaced(uncordoned, nodes)


class Drain(NodesEdit, frozen=True):
    """Nodes are drained as kubectl drain does."""

    form: ClassVar = Form(
        "drain", "NODES [--no-ignore-daemonsets] [--no-delete-emptydir-data] [--force]",
        f"{NODE_USAGE}, and flags of kubectl drain",
        fields={
            "nodes": NODES,
            "ignoreDaemonsets": Field(
                Holds.FLAG, "leave the pods of DaemonSets alone (default: true)", flag="--ignore-daemonsets",
                option="With --drain, ignore pods of DaemonSets; without it kubectl refuses a node that has any.",
                default=True,
            ),
            "deleteEmptydirData": Field(
                Holds.FLAG, "evict pods with emptyDir volumes too (default: true)", flag="--delete-emptydir-data",
                option="With --drain, also evict pods with emptyDir volumes; without it kubectl refuses.",
                default=True,
            ),
            "force": FORCE,
        },
        metavar="NODES", option="Drain nodes, as kubectl drain does.",
    )  # fmt: skip
    flags: DrainFlags = DrainFlags()

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        fields = {name: field for name, field in cls.form.fields.items() if field.flag}
        values = {field.written(value): (name, value) for name, field in fields.items() for value in (True, False)}
        forms = [form for field in fields.values() for form in field.forms]
        told: dict[str, bool] = {}
        for flag in FLAG.findall(text):
            # kubectl's own way to say no: --ignore-daemonsets=false.
            form, _, value = flag.partition("=")
            if form not in forms or value not in ("", "true", "false"):
                listed = f"; its flags are {', '.join(forms)}"
                raise UsageError(f"unknown flag {flag!r} of drain{did_you_mean(near_miss(form, forms)) or listed}")
            name, is_set = values[form]
            told[name] = is_set is (value != "false")
        nodes = " ".join(FLAG.sub("", text).split())
        return {"nodes": nodes, **told} if nodes else None

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        told = {DRAIN_FLAGS[name]: fields[name] for name in DRAIN_FLAGS if name in fields}
        return cls(parse_target(fields["nodes"]), DrainFlags(**told))

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        # A drained node may well be cordoned already: there is more to a drain.
        return replace(self.replaced(cordoned, nodes), notes=())

    def __str__(self) -> str:
        return self.line(
            {"nodes": self.target, **{name: getattr(self.flags, flag) for name, flag in DRAIN_FLAGS.items()}}
        )


DRAIN_FLAGS = {"ignoreDaemonsets": "ignore_daemonsets", "deleteEmptydirData": "delete_emptydir_data", "force": "force"}
"""The fields of a drain, and what `DrainFlags` calls them."""


def with_flags(edit: Edit, flags: Mapping[str, bool]) -> Edit:
    """A drain with those of ``flags``, by their names in `DrainFlags`, that are not as they are unless they are said;
    any other edit as it is.
    """
    if not isinstance(edit, Drain):
        return edit
    default = DrainFlags()
    said = {name: value for name, value in flags.items() if value is not getattr(default, name)}
    return replace(edit, flags=replace(edit.flags, **said))


class DeleteNode(NodesEdit, frozen=True):
    """The Node objects are deleted."""

    form: ClassVar = Form(
        "delete-node", "NODES", NODE_USAGE, "removeNodes", {"nodes": NODES}, metavar="NODES", option="Delete nodes."
    )

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        return NodeChange(removed=tuple(node.metadata.name for node in nodes_of_target(self.target, nodes)))


class Fail(NodesEdit, frozen=True):
    """Nodes break down; with hard their Node objects are deleted too."""

    form: ClassVar = Form(
        "fail", "NODES", NODE_USAGE, fields={"nodes": NODES, "hard": Field(Holds.FLAG, "delete the Node objects")},
        metavar="NODES", option="Fail nodes; their Node objects stay, tainted.",
    )  # fmt: skip
    hard: bool = False

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        return Fail(parse_target(fields["nodes"]), bool(fields.get("hard")))

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        return f"fail{'-hard' if fields.get('hard') else ''} {fields['nodes']}"

    def __str__(self) -> str:
        return f"fail{'-hard' if self.hard else ''} {self.target}"


class FailHard(Fail, frozen=True):
    """Nodes break down, and their Node objects are deleted: how a failure with ``hard`` is written as text."""

    form: ClassVar = Form(
        "fail-hard", "NODES", NODE_USAGE, metavar="NODES", option="Fail nodes and delete their Node objects."
    )

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        return {"nodes": text, "hard": True}
