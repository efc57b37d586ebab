"""What is changed in the cluster before the question is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubespread.cli.options.cluster import ClusterOptions
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.snapshot.edits.types import Edit

PANEL = "Edits of the cluster (repeatable, applied in the order given)"


def _edit(verb: str, metavar: str, text: str) -> Any:
    return typer.Option(f"--{verb}", metavar=metavar, show_default=False, help=text, rich_help_panel=PANEL)


def _flag(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", help=text, rich_help_panel=PANEL)


@dataclass(frozen=True, slots=True)
class EditedClusterOptions(ClusterOptions):
    """Which cluster is asked about, and what is changed in it: NODES is a name, or labels as kubectl's -l has them."""

    cordon: Annotated[list[str] | None, _edit("cordon", "NODES", "Cordon nodes: a name, or labels (zone=a).")] = None
    uncordon: Annotated[list[str] | None, _edit("uncordon", "NODES", "Uncordon nodes.")] = None
    drain: Annotated[list[str] | None, _edit("drain", "NODES", "Drain nodes, as kubectl drain does.")] = None
    ignore_daemonsets: Annotated[bool, _flag("ignore-daemonsets", "With --drain, ignore pods of DaemonSets.")] = False
    delete_emptydir_data: Annotated[
        bool, _flag("delete-emptydir-data", "With --drain, also evict pods with emptyDir volumes.")
    ] = False
    force: Annotated[bool, _flag("force", "With --drain, also evict pods without a controller.")] = False
    delete_node: Annotated[list[str] | None, _edit("delete-node", "NODES", "Delete nodes.")] = None
    fail: Annotated[list[str] | None, _edit("fail", "NODES", "Fail nodes; their Node objects stay, tainted.")] = None
    fail_hard: Annotated[list[str] | None, _edit("fail-hard", "NODES", "Fail nodes and delete their Node objects.")] = (
        None
    )
    taint: Annotated[
        list[str] | None,
        _edit(
            "taint",
            "NODE=TAINT",
            "Taint a node: key=value:Effect, or key:Effect- or key- to remove; 'LABELS TAINT' taints nodes by label.",
        ),
    ] = None
    label: Annotated[
        list[str] | None,
        _edit("label", "NODE=KEY=VALUE", "Label a node, or KEY- to remove; 'LABELS KEY=VALUE' labels nodes by label."),
    ] = None
    add_node: Annotated[
        list[str] | None,
        _edit(
            "add-node",
            "TEMPLATE[:N][@KEY=VALUE]",
            "Add N copies of a node, or of a Node manifest, with other labels if given.",
        ),
    ] = None
    delete_pods: Annotated[
        list[str] | None, _edit("delete-pods", "[NS/]LABELS", "Delete the pods with these labels.")
    ] = None
    evict: Annotated[
        list[str] | None, _edit("evict", "[NS/]POD", "Evict a pod, as far as its disruption budget allows.")
    ] = None
    scale: Annotated[
        list[str] | None, _edit("scale", "[NS/]KIND/NAME=N", "Scale a workload of the cluster (deploy/web=5).")
    ] = None
    typed_order: tuple[str, ...] = ()
    """The options of the command line by name, each as often as it stands there, from `OrderedCommand`."""

    @property
    def drains(self) -> bool:
        """Whether the question itself drains nodes, with the same flags."""
        return False

    def texts(self) -> list[str]:
        """The edits as `Snapshot.edited` takes them, in the order they were typed. Raises UsageError."""
        waiting = {name: list(getattr(self, name) or ()) for name in _NAMES}
        flags = [flag for name, flag in _FLAGS.items() if getattr(self, name)]
        if flags and not waiting["drain"] and not self.drains:
            raise UsageError(f"{flags[0]} is for --drain: name what to drain, or leave it out")
        made = [(name, waiting[name].pop(0)) for name in self.typed_order if waiting.get(name)]
        # Whoever calls a command as a function has no order but that of the options.
        made += [(name, text) for name, texts in waiting.items() for text in texts]
        return [" ".join([name.replace("_", "-"), text, *(flags if name == "drain" else ())]) for name, text in made]

    def edits(self) -> list[Edit]:
        """The same as values, with the manifests of new nodes read. Raises UsageError and ManifestError."""
        from kubespread.snapshot.edits.text import parse

        return [parse(text) for text in self.texts()]


@dataclass(frozen=True, slots=True)
class OptionalClusterOptions(EditedClusterOptions):
    """Which cluster manifests are tried on, if on any."""

    live: Annotated[
        bool, typer.Option("--live", help="Try manifests on the running cluster of the kubeconfig's current context.")
    ] = False

    @property
    def is_named(self) -> bool:
        """Whether some cluster is asked for."""
        return self.live or any((self.snapshot, self.context, self.kubeconfig, self.cluster, self.user))

    def reaching(self) -> Iterator[str]:
        """The options that say how a running cluster is reached, and not which one."""
        for field in fields(self):
            if field.name in _REACHING and getattr(self, field.name) != field.default:
                yield _REACHING[field.name]


_REACHING = {
    "as_user": "--as", "as_group": "--as-group", "request_timeout": "--request-timeout", "chunk_size": "--chunk-size",
}  # fmt: skip
_FLAGS = {
    "ignore_daemonsets": "--ignore-daemonsets",
    "delete_emptydir_data": "--delete-emptydir-data",
    "force": "--force",
}
_NAMES = (
    "cordon", "uncordon", "drain", "delete_node", "fail", "fail_hard", "taint", "label", "add_node", "delete_pods",
    "evict", "scale",
)  # fmt: skip
