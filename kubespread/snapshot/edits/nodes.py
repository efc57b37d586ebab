"""Nodes that are cordoned, drained, deleted or fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.taint import cordoned, uncordoned
from kubespread.snapshot.edits.target import nodes_of_target, parse_target
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
        "drain", "NODES [--ignore-daemonsets] [--delete-emptydir-data] [--force]",
        f"{NODE_USAGE}, and flags of kubectl drain",
        fields={
            "nodes": NODES,
            "ignoreDaemonsets": Field(
                Holds.FLAG, "leave the pods of DaemonSets alone", flag="--ignore-daemonsets",
                option="With --drain, ignore pods of DaemonSets.",
            ),
            "deleteEmptydirData": Field(
                Holds.FLAG, "evict pods with emptyDir volumes too", flag="--delete-emptydir-data",
                option="With --drain, also evict pods with emptyDir volumes.",
            ),
            "force": FORCE,
        },
        metavar="NODES", option="Drain nodes, as kubectl drain does.",
    )  # fmt: skip
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    force: bool = False

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        known_flags, flags = cls.form.flags, FLAG.findall(text)
        for flag in flags:
            if flag not in known_flags.values():
                listed = f"; its flags are {', '.join(known_flags.values())}"
                raise UsageError(
                    f"unknown flag {flag!r} of drain{did_you_mean(near_miss(flag, known_flags.values())) or listed}"
                )
        nodes = " ".join(FLAG.sub("", text).split())
        return {"nodes": nodes, **{name: flag in flags for name, flag in known_flags.items()}} if nodes else None

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        return cls(parse_target(fields["nodes"]), *(bool(fields.get(name)) for name in cls.form.flags))

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        # A drained node may well be cordoned already: there is more to a drain.
        return replace(self.replaced(cordoned, nodes), notes=())

    def __str__(self) -> str:
        are_set = (self.ignore_daemonsets, self.delete_emptydir_data, self.force)
        return self.line({"nodes": self.target, **dict(zip(self.form.flags, are_set, strict=True))})


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
