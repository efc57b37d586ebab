"""The arguments of each tool for assistants; their types define the JSON Schema.

None of them is a path: manifests are passed as text, and the cluster is the one named on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from kubespread import ClusterSide, Scheduler, Side
from kubespread.candidate.manifest import Manifest, manifest_from_text
from kubespread.candidate.sources import Reference, reference, reference_kinds
from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.questions import question as questions
from kubespread.questions.registry import QUESTIONS
from kubespread.scenario.text import parse_step
from kubespread.scenario.types import Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.snapshot import Snapshot

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
_Edits = Annotated[
    list[Text],
    Meta(
        description="Changes made first, in order: 'fail zone=c', 'drain node-7', 'cordon pool=a', "
        "'delete-node node-7', 'scale deploy/web=5', 'scale-requests *=0.8', 'add-node node-7:3', "
        "'label node-7 disk=ssd', 'taint node-7 key=value:NoSchedule', 'delete-pods app=web'."
    ),
]
_KubeVersion = Annotated[str | None, Meta(description="Kubernetes release, such as 1.34.")]
_FeatureGates = Annotated[str | None, Meta(description="Its feature gates: Name=true,Other=false.")]
_Manifest = Annotated[str | None, Meta(description="A Pod, or what creates pods, as YAML or JSON text; never a path.")]
_Workload = Annotated[str | None, Meta(description="KIND/NAME of something in the cluster: deploy/web, pod/web-0.")]
_OneOrAll = Annotated[
    str | None,
    Meta(
        description="KIND/NAME of something in the cluster: deploy/web, pod/web-0. Without it and without a manifest "
        "the next pod of every workload is asked about."
    ),
]
_Steps = Annotated[
    list[Text],
    Meta(
        min_length=1,
        description="What happens, one after another: any edit, 'scale deploy/web=12', 'rollout deploy/web "
        "cpu=2', 'rollback deploy/web', 'fail zone=c', 'restore zone=c', 'upgrade pool=a --surge 1'.",
    ),
]
_First = Annotated[str | None, Meta(description="Manifest that is applied first, as text.")]
_AFTER = {
    "to_manifest": Annotated[str | None, Meta(description="The manifest after, as text (default: as before).")],
    "to_set": Annotated[list[Text] | None, Meta(description="'set' after (default: as before).")],
    "to_edits": Annotated[list[Text] | None, Meta(description="'edits' after (default: as before).")],
    "to_kube_version": Annotated[str | None, Meta(description="'kubeVersion' after (default: as before).")],
}
_Settings = Annotated[
    list[Text], Meta(description="Fields to change in the pod before it is admitted: 'maxSkew[zone]=2', 'cpu=500m'.")
]
_Preemption = Annotated[
    bool, Meta(description="Let pods that fit nowhere evict pods of lower priority, as kube-scheduler does.")
]


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
        list[Text], Meta(description="Names, or patterns of them ('prod-*'), of some clusters (default: all).")
    ] = []
    limit: Annotated[
        int, Meta(ge=1, description="At most this many items of each list, clusters too; 'leftOut' counts the others.")
    ] = 10


class PodQuestion(Question, frozen=True, kw_only=True):
    """A question about one workload, given as a manifest or by its name in the cluster."""

    manifest: _Manifest = None
    workload: _Workload = None
    name: Annotated[str | None, Meta(description="Which workload, where the manifest has several.")] = None
    namespace: Annotated[str | None, Meta(description="Namespace to use where none is said.")] = None
    set: _Settings = []


def arguments_of(question: type[questions.Question[Any]]) -> type[Question]:
    """The arguments of a question's tool: those of its fields that are for assistants."""
    made = msgspec.defstruct(
        question.__name__, list(_arguments(question)), bases=(Question,), frozen=True, kw_only=True
    )
    assert issubclass(made, Question), "its base"
    return made


def _arguments(question: type[questions.Question[Any]]) -> Iterator[tuple[str, Any, Any]]:
    for field, kind, option in questions.options_of(question):
        if isinstance(option, questions.Workload):
            yield "manifest", _Manifest, None
            yield "workload", _OneOrAll if isinstance(option, questions.Sides) else _Workload, None
            if isinstance(option, questions.Sides):
                yield from ((name, kind, None) for name, kind in _AFTER.items())
        elif isinstance(option, questions.Applied):
            yield "manifest", _First, None
        elif isinstance(option, questions.Scenario):
            yield "steps", _Steps, msgspec.field()
            yield "manifest", _First, None
        elif isinstance(option, questions.Promises):
            yield (
                field.name,
                Annotated[str, Meta(description="A file of kind Promises, as YAML or JSON text.")],
                (msgspec.field()),
            )
        elif option.is_for_assistants:
            yield field.name, _described(kind, option), msgspec.field(default=field.default, name=field.encode_name)


def _described(kind: Any, option: questions.Option) -> Any:
    default = " Default: all namespaces." if isinstance(option, questions.Namespace) else ""
    if option.least is not None:
        number = Annotated[int, Meta(ge=option.least)]
        kind = reduce(or_, (number if part is int else part for part in get_args(kind) or (kind,)))
    return Annotated[kind, Meta(description=f"{option.help}{default}")]


def asked_by(
    question: type[questions.Question[Any]], arguments: Any, snapshot: Snapshot, scheduler: Scheduler
) -> questions.Question[Any]:
    """The question that is asked with these arguments. Raises UsageError and ManifestError."""
    values: dict[str, Any] = {}
    for field, _, option in questions.options_of(question):
        if isinstance(option, questions.Scenario):
            values[field.name] = scenario_of(arguments)
        elif isinstance(option, questions.Applied):
            values[field.name] = () if arguments.manifest is None else (manifest_of(arguments.manifest),)
        elif isinstance(option, questions.Promises):
            from kubespread.scenario.promises import promises_of

            values[field.name] = promises_of(arguments.promises)
        elif isinstance(option, questions.Sides):
            values[field.name] = sides_of(arguments, snapshot, scheduler)
        elif not isinstance(option, questions.Workload):
            if option.is_for_assistants:
                values[field.name] = getattr(arguments, field.name)
        elif field.required or arguments.manifest is not None or arguments.workload is not None:
            values[field.name] = (workload_of(arguments),)
    return question(**values)


def workload_of(question: Any) -> Manifest | Reference:
    """What the question is about, never a path. Raises UsageError and ManifestError."""
    if (question.manifest is None) == (question.workload is None):
        raise UsageError("expected either manifest, as text, or workload, as KIND/NAME")
    if question.manifest is not None:
        return manifest_of(question.manifest)
    named = reference(question.workload or "")
    if named is None:
        raise UsageError(f"workload {question.workload!r}: expected KIND/NAME, KIND one of {reference_kinds()}")
    return named


def sides_of(question: Any, snapshot: Snapshot, scheduler: Scheduler) -> tuple[Side | ClusterSide, Side | ClusterSide]:
    """What is asked before and after, of all workloads where none is named. Raises UsageError and ManifestError."""
    unedited = replace(snapshot, edits=snapshot.edits[: len(snapshot.edits) - len(question.edits)])
    edits, release = question.to_edits, question.to_kube_version
    later = snapshot if edits is None else unedited.edited(*(parse(text, None) for text in edits))
    scheduled = scheduler if release is None else replace(scheduler, kube_version=release)
    settings = question.settings if question.to_set is None else question.to_set
    if question.manifest is None and question.workload is None and question.to_manifest is None:
        return ClusterSide(snapshot, scheduler, question.settings), ClusterSide(later, scheduled, settings)
    pod = workload_of(question)
    after = pod if question.to_manifest is None else manifest_of(question.to_manifest)
    return Side(snapshot, pod, scheduler, question.settings), Side(later, after, scheduled, settings)


def scenario_of(question: Any) -> Scenario:
    """The steps, after the manifest that is applied. Raises UsageError and ManifestError."""
    first = () if question.manifest is None else (Step("apply the manifest", Apply((manifest_of(question.manifest),))),)
    return Scenario((*first, *(parse_step(text, None) for text in question.steps)))


def manifest_of(text: str) -> Manifest:
    """The manifest in a text, which errors name as their source. Raises ManifestError."""
    return manifest_from_text("manifest", text.encode("utf-8", "surrogatepass"))


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
