"""The interface of verbs: one class says how it is written as text, as fields and as an option, and what it does to
nodes.

Text is read into fields, and fields into the verb, so it is the same whether it was typed, read from a scenario or
sent. Which nodes an edit is about: a node's name, or labels as kubectl's ``-l`` has them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.selector import Requirement, Selector, SelectorError, parse_selector
from kubespread.snapshot.topology_keys import SHORT_KEYS, full_topology_key, label_keys, near_keys
from kubespread.wording import Decisive

_IN_SELECTORS_ONLY = frozenset("=!<>(),/ \t")


class Target(Struct, frozen=True):
    """The nodes that an edit is about: one by its name, or all with certain labels."""

    text: str
    """As it was written: the node's name where there is no selector."""
    selector: Selector | None = None
    """Its keys may be short: ``zone`` for topology.kubernetes.io/zone."""

    def __str__(self) -> str:
        return self.text


def parse_target(text: str) -> Target:
    """A word with nothing in it that a node's name cannot have is one; anything else are labels. Raises UsageError."""
    if not _IN_SELECTORS_ONLY.intersection(text):
        return Target(text)
    try:
        return Target(text, parse_selector(text))
    except SelectorError as error:
        raise UsageError(f"invalid labels {text!r}: {error}") from error


def nodes_of_target(target: Target, nodes: Sequence[Node]) -> list[Node]:
    """The nodes that ``target`` names, at least one, in the order of ``nodes``. Raises UsageError for none."""
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
    """The nodes that have ``labels``, whose keys may be short; there may be none."""
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
    """Other values of a label, where no node has one that is asked for; None where some node has."""
    labels = [node.metadata.labels for node in nodes]
    if requirement.operator != "In" or any(requirement.matches(label) for label in labels):
        return None
    values = (label[requirement.key] for label in labels if requirement.key in label)
    return alternatives(requirement.values[0], values)


FLAG = re.compile(r"(?<!\S)--\S*")


class Holds(Enum):
    """What a field holds."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    NUMBER = "a number from 0"
    AMOUNT = "a number or a string"
    DECIMAL = "a number from 0 with at most six decimals"
    FLAG = "true or false"
    LABELS = "an object of strings"
    STEPS = "a list of steps"
    LIST = "a list"
    OBJECT = "an object"
    READINESS = "atOnce or an object"


class Field(Struct, frozen=True):
    holds: Holds
    help: str
    is_required: bool = False
    flag: str = ""
    """What it is in a text: ``--force``."""
    default: bool = False
    """Of a flag: what it is unless it is said. One that is true has a second form, ``--no-force``."""

    def written(self, value: bool) -> str:
        """The flag that says so: ``--force`` or ``--no-force``."""
        return self.flag if value else f"--no-{self.flag.removeprefix('--')}"

    @property
    def forms(self) -> tuple[str, ...]:
        """All that it may be in a text."""
        return tuple(map(self.written, (True, False) if self.default else (True,)))


Fields = Mapping[str, Field]
FieldValues = Mapping[str, Any]
"""Fields with what they hold."""


class Form(Struct, frozen=True):
    """How a verb is written."""

    verb: str
    """The first word of its text: ``add-node``."""
    text: str
    """What follows it."""
    usage: str = ""
    """The form as errors show it, if they show more."""
    name: str = ""
    """What a scenario calls it, where that is another word."""
    fields: Fields = field(default_factory=dict)
    """Empty: in a scenario the verb can only be written as text."""
    metavar: str = ""
    """What follows ``--VERB`` on the command line."""
    option: str = ""
    """What that means; empty for what is a step of a plan and no option."""

    @property
    def key(self) -> str:
        return self.name or self.verb

    @property
    def expected(self) -> str:
        return f"expected {self.verb} {self.usage or self.text}"

    @property
    def flags(self) -> dict[str, str]:
        """The flags of its text, by their fields."""
        return {name: field.flag for name, field in self.fields.items() if field.flag}


NODES = Field(Holds.TEXT, "a node's name, or labels as kubectl's -l has them: zone=a", is_required=True)
NODE_USAGE = "NODE or KEY=VALUE"


class NodeChange(Struct, frozen=True):
    """Which nodes become others, come and go. No node that was there before is changed itself."""

    replaced: Mapping[str, Node] = field(default_factory=dict)
    """By name, only those that differ."""
    added: tuple[Node, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on it."""


class Verb(Struct, frozen=True):
    """Base of what happens to a cluster. The docstring of a verb is what a scenario's schema says of it."""

    form: ClassVar[Form]
    brings_nodes: ClassVar[bool] = False
    """Whether nodes or labels may be there after it that are not there yet."""

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Verb:
        """The verb written as ``text``; paths are relative to ``directory``, and not allowed if it is None.

        Raises UsageError, and ManifestError for the manifest of a new node that the API server would refuse.
        """
        raise NotImplementedError

    @classmethod
    def of(cls, fields: FieldValues, directory: str | None = "", /) -> Verb:
        """The verb with fields whose types have been checked. Raises what `read` does."""
        raise NotImplementedError

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        """Fields on one line, to be shown."""
        form, within = cls.form, f"{fields['namespace']}/" if "namespace" in fields else ""
        required = [f"{within}{fields[name]}" for name, field in form.fields.items() if field.is_required]
        flags = [
            field.written(fields[name])
            for name, field in form.fields.items()
            if field.flag and isinstance(fields.get(name), bool) and fields[name] is not field.default
        ]
        numbers = [f"{flag} {fields[name]}" for name, flag in form.flags.items() if type(fields.get(name)) is int]
        return " ".join([form.verb, *required, *flags, *numbers])

    @classmethod
    def help(cls) -> str:
        """What it does."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]


class Edit(Verb, frozen=True):
    """One that a snapshot has too, and most an option. As text it is what `registry.parse` reads."""

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Edit:
        form, text = cls.form, text.strip()
        flags = FLAG.findall(text)
        if flags and not form.flags:
            raise UsageError(f"{form.verb} takes no flags, found {flags[0]}")
        if not text:
            raise UsageError(f"invalid edit {form.verb!r}: {form.expected}")
        fields = cls.parsed(text)
        if fields is None:
            raise UsageError(f"invalid edit {f'{form.verb} {text}'!r}: {form.expected}")
        return cls.of(fields, directory)

    @classmethod
    def parsed(cls, text: str) -> FieldValues | None:
        """The fields written in ``text``; None if it has another form. Raises UsageError."""
        return {next(iter(cls.form.fields)): text}

    @classmethod
    def of(cls, fields: FieldValues, directory: str | None = "", /) -> Edit:
        raise NotImplementedError

    def change(self, nodes: Sequence[Node]) -> NodeChange:
        """What it does to ``nodes`` themselves: for a drain, the cordon.

        Raises UsageError for nodes, taints or labels that are not there.
        """
        return NodeChange()


class OfNodes(Verb, frozen=True):
    """One about nodes of the cluster."""

    target: Target


class NodesEdit(OfNodes, Edit, frozen=True):
    """An edit of nodes."""

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Edit:
        return cls(parse_target(fields["nodes"]))

    def replaced(self, changed: Callable[[Node], Node], nodes: Sequence[Node]) -> NodeChange:
        """Each node that is meant becomes what ``changed`` makes of it."""
        pairs = [(node, changed(node)) for node in nodes_of_target(self.target, nodes)]
        replaced = {old.metadata.name: new for old, new in pairs if new != old}
        return NodeChange(replaced=replaced, notes=() if replaced else (Decisive(f"{self}: changes nothing"),))

    def __str__(self) -> str:
        return f"{self.form.verb} {self.target}"


def path_in(directory: str | None, file: str) -> str:
    """The path of a file that a verb names. Raises UsageError where none is read."""
    if directory is None:
        raise UsageError(f"{file}: files are not read here")
    return str(Path(directory, file))
