"""The arguments of each tool for assistants; their types define the JSON Schema.

None of them is a path: manifests are passed as text, and the cluster is the one named on the command line.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from kubespread import Scheduler
from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.questions import question as questions
from kubespread.questions.registry import QUESTIONS
from kubespread.snapshot.snapshot import Snapshot

_Edits = Annotated[
    list[questions.Text],
    Meta(
        description="Changes made first, in order: 'fail zone=c', 'drain node-7', 'cordon pool=a', "
        "'delete-node node-7', 'scale deploy/web=5', 'scale-requests *=0.8', 'add-node node-7:3', "
        "'label node-7 disk=ssd', 'taint node-7 key=value:NoSchedule', 'delete-pods app=web'."
    ),
]
_KubeVersion = Annotated[str | None, Meta(description="Kubernetes release, such as 1.34.")]
_FeatureGates = Annotated[str | None, Meta(description="Its feature gates: Name=true,Other=false.")]


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Arguments of every question: the cluster, how it schedules, and how long the answer may be."""

    edits: _Edits = []
    kube_version: _KubeVersion = None
    feature_gates: _FeatureGates = None
    limit: Annotated[
        int, Meta(ge=1, description="At most this many items of each list; 'leftOut' counts the others.")
    ] = 50


class Fleet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Arguments of a question that is asked of many clusters."""

    question: Annotated[Literal[tuple(QUESTIONS)], Meta(description="The tool whose question is asked.")]  # type: ignore[valid-type]  # made of the registry
    arguments: Annotated[dict[str, Any], Meta(description="Its arguments, as that tool takes them.")] = {}
    clusters: Annotated[
        list[questions.Text],
        Meta(description="Names, or patterns of them ('prod-*'), of some clusters (default: all)."),
    ] = []
    limit: Annotated[
        int, Meta(ge=1, description="At most this many items of each list, clusters too; 'leftOut' counts the others.")
    ] = 10


def arguments_of(question: type[questions.Question[Any]]) -> type[Question]:
    """The arguments of a question's tool: those of its fields that are for assistants."""
    options = [option for option in questions.options_of(question) if option[2].is_for_assistants]
    arguments = [argument for field, kind, option in options for argument in option.arguments(field, kind)]
    made = msgspec.defstruct(question.__name__, arguments, bases=(Question,), frozen=True, kw_only=True)
    assert issubclass(made, Question), "its base"
    return made


def asked_by(
    question: type[questions.Question[Any]], arguments: Any, snapshot: Snapshot, scheduler: Scheduler
) -> questions.Question[Any]:
    """The question that is asked with these arguments. Raises UsageError and ManifestError."""
    return question(
        **{
            field.name: option.passed(field, arguments, snapshot, scheduler)
            for field, _, option in questions.options_of(question)
            if option.is_for_assistants
        }
    )


def description_of(question: type[questions.Question[Any]]) -> str:
    """The first paragraph of its help."""
    return " ".join((question.__doc__ or "").partition("\n\n")[0].split())


def question_of(question: type[Struct], arguments: dict[str, Any]) -> Any:
    """The ``question`` that the arguments of a call ask. Raises UsageError with the first argument that is wrong."""
    fields = msgspec.structs.fields(question)
    names = [field.encode_name for field in fields]
    for name in (field.encode_name for field in fields if field.required):
        if name not in arguments:
            raise UsageError(f"{name}: required")
    for name in arguments:
        if name not in names:
            meant = did_you_mean(near_miss(name, names)) or f": expected {', '.join(names)}"
            raise UsageError(f"unknown argument {name!r}{meant}")
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError("an argument holds half a character, which no text has") from error
    try:
        return msgspec.convert(arguments, question)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        place = f"{path.removesuffix('`')}: " if path else ""
        raise UsageError(f"{place}{message[:1].lower()}{message[1:]}") from error


def schema(question: type[Struct]) -> dict[str, Any]:
    """The arguments as a JSON Schema, whose root is the object itself."""
    _, definitions = msgspec.json.schema_components([question], ref_template="#/$defs/{name}")
    root: dict[str, Any] = {"type": "object", **definitions.pop(question.__name__)}
    root.pop("title", None)
    root.pop("description", None)
    return root
