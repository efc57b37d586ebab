"""The interface of verbs: one class defines the text, the option and the change of nodes.

The text is the same whether it is typed, read from a scenario or sent. Which nodes an edit is about: a node's name, or
labels as kubectl's ``-l`` has them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.selector import Requirement, Selector, SelectorError, parse_selector
from kubespread.regex import regex
from kubespread.snapshot.topology_keys import SHORT_KEYS, full_topology_key, label_keys, near_keys
from kubespread.wording import Decisive

_IN_SELECTORS_ONLY = frozenset("=!<>(),/ \t")


class Target(Struct, frozen=True):
    """Nodes of an edit: one by name, or all with certain labels."""

    text: str
    """Text as written: the node's name without a selector."""
    selector: Selector | None = None
    """Selector with possibly short keys: ``zone`` for topology.kubernetes.io/zone."""

    def __str__(self) -> str:
        return self.text


def parse_target(text: str) -> Target:
    """Parse a node's name, or labels if the text cannot be one. Raises UsageError."""
    if not _IN_SELECTORS_ONLY.intersection(text):
        return Target(text)
    try:
        return Target(text, parse_selector(text))
    except SelectorError as error:
        raise UsageError(f"invalid labels {text!r}: {error}") from error


def nodes_of_target(target: Target, nodes: Sequence[Node]) -> list[Node]:
    """Nodes of ``target``, at least one, in the order of ``nodes``. Raises UsageError for none."""
    if target.selector is None:
        named = [node for node in nodes if node.metadata.name == target.text]
        if not named:
            raise UsageError(f"nodes {quote(target.text)} not found{_name_hint(target.text, nodes)}")
        return named
    selector = _with_full_keys(target.selector, nodes)
    selected = [node for node in nodes if selector.matches(node.metadata.labels)]
    if not selected:
        raise UsageError(_none_selected(target, selector, nodes))
    return selected


def nodes_with(labels: Selector, nodes: Sequence[Node]) -> list[Node]:
    """Nodes with ``labels``, possibly none; label keys may be short."""
    selector = _with_full_keys(labels, nodes)
    return [node for node in nodes if selector.matches(node.metadata.labels)]


def _with_full_keys(selector: Selector, nodes: Sequence[Node]) -> Selector:
    return Selector(
        tuple(
            replace(requirement, key=full_topology_key(requirement.key, nodes)) for requirement in selector.requirements
        )
    )


def _name_hint(name: str, nodes: Sequence[Node]) -> str:
    keys = label_keys(nodes)
    if name in keys or full_topology_key(name, nodes) in keys:
        return f": it is the key of a label, write {name}=VALUE"
    of_nodes = [key for key in keys if any(node.metadata.labels.get(key) == name for node in nodes)]
    if of_nodes:
        # Some zones are the values of several labels.
        short = next((short for short, key in SHORT_KEYS.items() if key in of_nodes), min(of_nodes))
        return f": it is the value of a label, write {short}={name}"
    return alternatives(name, (node.metadata.name for node in nodes))


def _none_selected(target: Target, selector: Selector, nodes: Sequence[Node]) -> str:
    keys = label_keys(nodes)
    for requirement in selector.requirements:
        if requirement.operator not in ("In", "Exists", "Gt", "Lt"):
            continue
        if requirement.key not in keys:
            names = [node.metadata.name for node in nodes]
            if requirement.operator == "Exists" and requirement.key in names:
                return (
                    f"no node has the labels {target}: {requirement.key} is a node, give each node an edit of its own"
                )
            return f"no node has the label {requirement.key!r}{near_keys(requirement.key, keys)}"
        if (hint := _value_hint(requirement, nodes)) is not None:
            return f"no node has {Selector((requirement,))}{hint}"
    return f"no node has the labels {target}"


def _value_hint(requirement: Requirement, nodes: Sequence[Node]) -> str | None:
    """Suggestion of other values if no node has a required one; None if some node does."""
    labels = [node.metadata.labels for node in nodes]
    if requirement.operator != "In" or any(requirement.matches(label) for label in labels):
        return None
    values = (label[requirement.key] for label in labels if requirement.key in label)
    return alternatives(requirement.values[0], values)


FLAG = regex(r"(?<!\S)--\S*")


class Form(Struct, frozen=True):
    """Written form of a verb."""

    verb: str
    """First word of the text: ``add-node``."""
    text: str
    """Text after the verb."""
    usage: str = ""
    """The form in errors, if they show more."""
    name: str = ""
    """Name in a scenario, if different."""
    metavar: str = ""
    """Text after ``--VERB`` on the command line."""
    option: str = ""
    """Help of the option; empty for a step of a plan that is no option."""

    @property
    def expectation(self) -> str:
        return f"expected {self.verb} {self.usage or self.text}"


class NodeChange(Struct, frozen=True):
    """Changed, added and removed nodes. Existing node objects are not modified."""

    replaced: Mapping[str, Node] = field(default_factory=dict)
    """Changed nodes by name."""
    added: tuple[Node, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Verb(Struct, frozen=True):
    """Base of changes to a cluster. The docstring describes the verb in the schema of scenarios."""

    form: ClassVar[Form]
    brings_nodes: ClassVar[bool] = False
    """True if it may add nodes or labels."""

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Verb:
        """Parse the verb.

        Paths are relative to ``directory``, and refused if it is None. Raises UsageError, and ManifestError for the
        manifest of a new node that the API server would refuse.
        """
        raise NotImplementedError

    @classmethod
    def help(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]


class Edit(Verb, frozen=True):
    """Verb that a snapshot may have, usually an option too. Its text is parsed by `registry.parse`."""

    takes_flags: ClassVar[bool] = False

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Edit:
        text = text.strip()
        if not cls.takes_flags and (flags := FLAG.findall(text)):
            raise UsageError(f"{cls.form.verb} takes no flags, found {flags[0]}")
        if text and (edit := cls.parse(text, directory)) is not None:
            return edit
        raise UsageError(f"invalid edit {f'{cls.form.verb} {text}'.rstrip()!r}: {cls.form.expectation}")

    @classmethod
    def parse(cls, text: str, directory: str | None, /) -> Edit | None:
        """Parse the edit; None for another form. Raises the errors of `read`."""
        raise NotImplementedError

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        """Change of the ``nodes`` themselves: for a drain, the cordon. Raises UsageError for nodes, taints or labels
        that do not exist.
        """
        return NodeChange()


class OfNodes(Verb, frozen=True):
    """Verb about nodes of the cluster."""

    target: Target


class NodesEdit(OfNodes, Edit, frozen=True):
    """An edit of nodes."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        return cls(parse_target(text))

    def replace_nodes(self, changed: Callable[[Node], Node], nodes: Sequence[Node]) -> NodeChange:
        """Change that applies ``changed`` to each targeted node."""
        pairs = [(node, changed(node)) for node in nodes_of_target(self.target, nodes)]
        replaced = {old.metadata.name: new for old, new in pairs if new != old}
        return NodeChange(replaced=replaced, notes=() if replaced else (Decisive(f"{self}: changes nothing"),))

    def __str__(self) -> str:
        return f"{self.form.verb} {self.target}"


def path_in(directory: str | None, file: str) -> str:
    """Path of a file that a verb names. Raises UsageError if files may not be read."""
    if directory is None:
        raise UsageError(f"{file}: files are not read here")
    return str(Path(directory, file))
