"""What happens in a scenario besides edits, and all verbs there are. As text:

    rollout [NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]     without either it is restarted
    rollback [NAMESPACE/]KIND/NAME
    restore NODES
    apply FILE... [--set FIELD=VALUE]... [--replicas N] [--name NAME]
    upgrade NODES [--surge N] [--batch N] [--force]

Words are quoted as in a shell where they hold blanks. A word with an equals sign is a field, any other a manifest.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kubespread.candidate.settings import parse_settings
from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import Named, named
from kubespread.snapshot.edits.nodes import FORCE
from kubespread.snapshot.edits.pods import WORKLOAD
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import NODES, Field, FieldValues, Form, Holds, OfNodes, Verb, parse_target, path_in

_NUMBER = re.compile(r"[0-9]{1,9}")
ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
"""The kinds whose pods are replaced when their template changes."""


class StepVerb(Verb, frozen=True):
    """One that only a scenario has: its text is words, as in a shell."""

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Verb:
        words = words_in(cls.form.verb, text)
        if not words:
            raise UsageError(f"invalid step {cls.form.verb!r}: {cls.form.expected}")
        return cls.of(cls.parsed(words), directory)

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        """The fields written in ``words``. Raises UsageError."""
        raise NotImplementedError


class Rollout(StepVerb, frozen=True):
    """A workload gets another template; with the workload alone it is restarted."""

    form: ClassVar = Form(
        "rollout",
        "[NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]",
        fields={
            "workload": WORKLOAD,
            "manifest": Field(Holds.TEXT, "a file with the workload as it is to be"),
            "set": Field(Holds.TEXTS, "fields to change, as --set has them: maxSkew[zone]=2"),
        },
    )
    workload: Named
    manifest: str | None = None
    """The path of a file with the workload's new manifest."""
    settings: tuple[str, ...] = ()
    """Fields to change in it, as ``--set`` has them."""

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        manifests = [word for word in words[1:] if "=" not in word]
        if len(manifests) > 1:
            raise UsageError(f"rollout {words[0]}: expected one manifest, found {', '.join(manifests)}")
        manifest = {"manifest": manifests[0]} if manifests else {}
        return {"workload": words[0], **manifest, "set": [word for word in words[1:] if "=" in word]}

    @classmethod
    def of(cls, fields: FieldValues, directory: str | None = "", /) -> Verb:
        workload, manifest, settings = fields["workload"], fields.get("manifest"), fields.get("set", ())
        rolled_out = _rolled_out(workload, "rollout", ROLLED_OUT)
        parse_settings(settings)
        return cls(rolled_out, None if manifest is None else path_in(directory, manifest), tuple(settings))

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        manifest = [fields["manifest"]] if "manifest" in fields else []
        return f"rollout {shlex.join([fields['workload'], *manifest, *fields.get('set', ())])}"


class Rollback(StepVerb, frozen=True):
    """A Deployment goes back to the template it had before."""

    form: ClassVar = Form("rollback", "[NAMESPACE/]KIND/NAME", fields={"workload": WORKLOAD})
    workload: Named

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        if len(words) > 1:
            raise UsageError(f"rollback: expected one workload, found {' '.join(words)}")
        return {"workload": words[0]}

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Verb:
        workload = named(fields["workload"])
        if workload.kind in ("StatefulSet", "DaemonSet"):
            raise UsageError(
                f"rollback {fields['workload']}: the ControllerRevisions of a {workload.kind} are not read; name the "
                "manifest to go back to in a rollout"
            )
        return cls(_rolled_out(fields["workload"], "rollback", ("Deployment",)))


class Restore(OfNodes, StepVerb, frozen=True):
    """Nodes that failed are there again."""

    form: ClassVar = Form("restore", "NODES", fields={"nodes": NODES})

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        return {"nodes": " ".join(words)}

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Verb:
        return cls(parse_target(fields["nodes"]))


class Apply(StepVerb, frozen=True):
    """Manifests are applied: what is new is created, what runs is changed."""

    form: ClassVar = Form(
        "apply",
        "FILE...",
        "FILE... [--set FIELD=VALUE] [--replicas N] [--name NAME] [--create-namespaces]",
        fields={
            "files": Field(Holds.TEXTS, "manifests or directories of them"),
            "set": Field(Holds.TEXTS, "fields to change in each workload, as --set has them", flag="--set"),
            "replicas": Field(Holds.NUMBER, "how many replicas, whatever the manifest says", flag="--replicas"),
            "name": Field(Holds.TEXT, "which of several workloads", flag="--name"),
            "createNamespaces": Field(
                Holds.FLAG, "whether namespaces that are missing are created first", flag="--create-namespaces"
            ),
        },
    )
    given: tuple[Any, ...]
    """Paths of files and directories, or workloads in any other accepted form."""
    settings: tuple[str, ...] = ()
    """Fields to change in each workload, as ``--set`` has them."""
    replicas: int | None = None
    name: str | None = None
    """Which of several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME. None: all of them."""
    creates_namespaces: bool = False
    """Whether the namespaces of what is applied are created where they are missing."""

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        files, fields = _with_flags(cls.form, words)
        return {**({"files": files} if files else {}), **fields}

    @classmethod
    def of(cls, fields: FieldValues, directory: str | None = "", /) -> Verb:
        settings = fields.get("set", ())
        parse_settings(settings)
        given = tuple(path_in(directory, file) for file in fields.get("files", ()))
        if not given:
            raise UsageError("apply: expected the manifests to apply")
        creates = bool(fields.get("createNamespaces"))
        return cls(given, tuple(settings), fields.get("replicas"), fields.get("name"), creates)

    @classmethod
    def line(cls, fields: FieldValues) -> str:
        flags = [(flag, fields[name]) for name, flag in cls.form.flags.items() if name in fields]
        values = [(flag, item) for flag, value in flags for item in (value if isinstance(value, list) else [value])]
        words = (word for flag, value in values for word in ([flag] if value is True else [flag, str(value)]))
        return f"apply {shlex.join([*fields.get('files', ()), *words])}"


class Upgrade(OfNodes, StepVerb, frozen=True):
    """Nodes are replaced batch by batch."""

    form: ClassVar = Form(
        "upgrade",
        "NODES [--surge N] [--batch N] [--force]",
        fields={
            "nodes": NODES,
            "surge": Field(Holds.NUMBER, "new nodes that come before old ones are drained", flag="--surge"),
            "batch": Field(Holds.NUMBER, "nodes that are drained at once, by default 1", flag="--batch"),
            "force": FORCE,
        },
    )
    brings_nodes: ClassVar = True
    surge: int = 0
    """How many new nodes there are before old ones are drained."""
    batch: int = 1
    """How many are drained at once."""
    force: bool = False
    """Whether pods without a controller are evicted too."""

    @classmethod
    def parsed(cls, words: Sequence[str]) -> FieldValues:
        nodes, fields = _with_flags(cls.form, words)
        if not nodes:
            raise UsageError("upgrade: expected the nodes to replace")
        return {"nodes": " ".join(nodes), **fields}

    @classmethod
    def of(cls, fields: FieldValues, _: str | None = "", /) -> Verb:
        batch = fields.get("batch", 1)
        if batch < 1:
            raise UsageError("upgrade --batch must be at least 1")
        return cls(parse_target(fields["nodes"]), fields.get("surge", 0), batch, bool(fields.get("force")))


_VERBS: tuple[type[Verb], ...] = (*EDITS.values(), Rollout, Rollback, Restore, Apply, Upgrade)
VERBS: Mapping[str, type[Verb]] = {verb.form.verb: verb for verb in _VERBS}
"""What happens, by the first word of its text."""
_IN_ORDER = (
    "scale",
    "rollout",
    "rollback",
    "drain",
    "cordon",
    "uncordon",
    "taint",
    "label",
    "fail",
    "restore",
    "addNodes",
    "removeNodes",
)
_BY_KEY = {verb.form.key: verb for verb in _VERBS if verb.form.fields}
STEPS: Mapping[str, type[Verb]] = {key: _BY_KEY[key] for key in dict.fromkeys((*_IN_ORDER, *_BY_KEY))}
"""All verbs with fields, by the keys of a scenario: what is done most comes first."""


def words_in(verb: str, text: str) -> list[str]:
    """The words after a verb. Raises UsageError."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"invalid step {f'{verb} {text}'!r}: {error}") from error


def _rolled_out(text: str | Named, verb: str, kinds: Sequence[str]) -> Named:
    workload = named(text)
    if workload.kind not in POD_CREATORS:
        raise UsageError(f"{verb} {text}: how the controller of a {workload.kind} replaces pods is not modeled")
    if workload.kind not in kinds:
        raise UsageError(f"{verb} {text}: a {workload.kind} has none, only a {', '.join(kinds)}")
    return workload


def _with_flags(form: Form, words: Sequence[str]) -> tuple[list[str], FieldValues]:
    """The words that are no flags, and the fields that the flags are."""
    fields = {spec.flag: (name, spec.holds) for name, spec in form.fields.items() if spec.flag}
    rest: list[str] = []
    values: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        flag, equals, value = word.partition("=")
        if not word.startswith("--"):
            rest.append(word)
            continue
        name, holds = fields.get(flag, ("", None))
        if holds is None or (holds is Holds.FLAG and equals):
            meant = did_you_mean(near_miss(flag, fields)) or f"; its flags are {', '.join(fields)}"
            raise UsageError(f"unknown flag {flag!r} of {form.verb}{meant}")
        if holds is Holds.FLAG:
            values[name] = True
            continue
        if not equals and not waiting:
            raise UsageError(f"{form.verb} {flag}: expected a value")
        text = value if equals else waiting.pop(0)
        match holds:
            case Holds.NUMBER:
                values[name] = _number(text, f"{form.verb} {flag}")
            case Holds.TEXTS:
                values.setdefault(name, []).append(text)
            case _:
                values[name] = text
    return rest, values


def _number(text: str, what: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise UsageError(f"{what}: expected a number from 0, found {text!r}")
    return int(text)
