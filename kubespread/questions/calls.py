"""Questions called with JSON arguments and answered with JSON reports, by assistants and pages. No argument is a path:
manifests are passed as text, and the server chooses the cluster.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from types import TracebackType
from typing import Annotated, Any, NamedTuple, Self

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from kubespread.deadline import Deadline
from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.questions.question import DrainingQuestion, Question, Text, conflicts, edits_of, only_report, options_of
from kubespread.questions.registry import QUESTIONS
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import ask
from kubespread.questions.scheduler import Scheduler
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, Drain
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot

TIMEOUT, LONGEST = 60.0, 1e9
"""Seconds a call may take: by default, and at most."""
_TRUE_FOR_DRAINS, _FALSE_FOR_DRAINS = (Meta(description=f"Of drains (default {value}).") for value in ("true", "false"))
"""Short: each tool lists it, and a model reads all of them before it asks. Questions that drain say more."""
LEFT_OUT = "leftOut"
"""Key added to a truncated report: the number of missing items of each list, by its path in jq's notation."""
_PAUSE = 10
"""Ratio of the time that a cluster is left alone to the time it takes to read."""


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Arguments that every question's tool takes: the cluster's edits, the scheduler, and limits of the answer."""

    edits: Annotated[
        list[Text],
        Meta(
            description="First, in order: fail zone=c | drain n7 | cordon pool=a | delete-node n7 | "
            "scale deploy/web=5 | budget web:maxUnavailable=1 | spread zone:1 | add-node n7:3 | "
            "label n7 disk=ssd | taint n7 k=v:NoSchedule | delete-pods app=web"
        ),
    ] = []
    ignore_daemonsets: Annotated[bool | UnsetType, _TRUE_FOR_DRAINS] = UNSET
    delete_emptydir_data: Annotated[bool | UnsetType, _TRUE_FOR_DRAINS] = UNSET
    force: Annotated[bool | UnsetType, _FALSE_FOR_DRAINS] = UNSET
    kube_version: Annotated[str | None, Meta(description="Release, such as 1.34.")] = None
    feature_gates: Annotated[str | None, Meta(description="A=true,B=false")] = None
    limit: Annotated[int, Meta(ge=1, description="Items per list; 'leftOut' counts the rest.")] = 50
    timeout: Annotated[float, Meta(gt=0, description="Seconds.")] = TIMEOUT


@cache
def arguments_of(question: type[Question[Any]]) -> type[Arguments]:
    """Make the type of the arguments of a question's tool, from the fields that assistants may set."""
    options = [option for option in options_of(question) if option[2].is_for_assistants]
    arguments = [argument for field, kind, option in options for argument in option.arguments(field, kind)]
    arguments_type = msgspec.defstruct(question.__name__, arguments, bases=(Arguments,), frozen=True, kw_only=True)
    assert issubclass(arguments_type, Arguments), "its base"
    return arguments_type


def arguments_from(question: type[Struct], arguments: Mapping[str, Any]) -> Any:
    """Convert the arguments of a call to the type ``question``. Raises UsageError for the first wrong one."""
    fields = msgspec.structs.fields(question)
    names = [field.encode_name for field in fields]
    for name in (field.encode_name for field in fields if field.required):
        if name not in arguments:
            raise UsageError(f"{name}: required")
    for name in arguments:
        if name not in names:
            hint = did_you_mean(near_miss(name, names)) or f": expected {', '.join(names)}"
            raise UsageError(f"unknown argument {name!r}{hint}")
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


class QuestionCall(NamedTuple):
    """A question with its cluster, scheduler and arguments."""

    question: Question[Any]
    cluster: Snapshot
    scheduler: Scheduler
    arguments: Arguments


def pose(
    question: type[Question[Any]], snapshot: Snapshot, scheduler: Scheduler, passed: Mapping[str, Any]
) -> QuestionCall:
    """Build the question of a call, with edits that read no files. Raises KubespreadError."""
    arguments: Arguments = arguments_from(arguments_of(question), passed)
    edited = snapshot.edited(*_edits(question, arguments))
    scheduling = replace(
        scheduler,
        kube_version=arguments.kube_version or scheduler.kube_version,
        feature_gates=arguments.feature_gates or scheduler.feature_gates,
    )
    fields = {
        field.name: option.read_arguments(field, arguments, edited, scheduling)
        for field, _, option in options_of(question)
        if option.is_for_assistants
    }
    return QuestionCall(question(**fields), edited, scheduling, arguments)


def _edits(question: type[Question[Any]], arguments: Arguments) -> tuple[Edit, ...]:
    """Collect the edits of the call. Raises UsageError for an argument that has no effect beside or without another, as
    commands do for options.
    """
    edits = edits_of(arguments, arguments.edits)
    all_edits = (*edits, *edits_of(arguments, getattr(arguments, "to_edits", None) or ()))
    fields = msgspec.structs.fields(type(arguments))
    names = {field.name: field.encode_name for field in fields}
    values = {
        field.name: value for field in fields if (value := getattr(arguments, field.name)) not in (field.default, [])
    }
    if not (issubclass(question, DrainingQuestion) or any(isinstance(edit, Drain) for edit in all_edits)):
        for flag in values.keys() & {*DRAIN_FLAGS.values()}:
            raise UsageError(f"{names[flag]} is for drains among edits: name what to drain, or leave it out")
    # Edits, which commands know as options.
    values |= {edit.form.verb.replace("-", "_"): edit for edit in edits}
    rules = {name: rule for field, kind, rule in options_of(question) for name, *_ in rule.arguments(field, kind)}
    for fault in conflicts(rules, names, values):
        raise UsageError(fault)
    return edits


class Tool(Struct, frozen=True):
    """The tool of one question."""

    asks: type[Question[Any]]

    @property
    def description(self) -> str:
        return " ".join((self.asks.__doc__ or "").partition("\n\n")[0].split())

    def call(self, snapshot: Snapshot, scheduler: Scheduler, passed: Mapping[str, Any]) -> dict[str, Any]:
        """Report as ``-o json`` prints it, its lists cut to the limit. Raises KubespreadError."""
        question, edited, scheduling, arguments = pose(self.asks, snapshot, scheduler, passed)
        answer = only_report(ask(edited, question, scheduling, timeout=arguments.timeout))
        return truncate(answer.to_dict(), arguments.limit)


def tools() -> Mapping[str, Tool]:
    """Tools by name, in the order in which people ask."""
    return {name: Tool(question_of(name)) for name in QUESTIONS}


def arguments_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """JSON Schema of a call's arguments, an object at the root."""
    _, definitions = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    root: dict[str, Any] = {"type": "object", **definitions.pop(arguments.__name__)}
    root.pop("title", None)
    root.pop("description", None)
    return root


class Reading:
    """A cluster, read on first use and again once the last reading is older than ``max_age`` seconds; None: only once.

    Time between readings is at least ten times that of a reading. If one fails, the next question reads again.
    """

    def __init__(self, read: Callable[[], Snapshot], max_age: float | None) -> None:
        self._read, self.max_age = read, max_age
        self._snapshot: Snapshot | None = None
        self._due = 0.0
        self.number = 0
        """Number of different snapshots that were read."""

    def snapshot(self) -> Snapshot:
        """The cluster as last read. Raises SnapshotError, UsageError and ManifestError."""
        before, begun = self._snapshot, time.monotonic()
        if before is not None and (self.max_age is None or begun <= self._due):
            return before
        now = self._read()
        read = time.monotonic()
        self._due = read + max(self.max_age or 0.0, _PAUSE * (read - begun))
        # The results cached with the last snapshot stay valid where nothing changed.
        if before is not None and (before.nodes, before.pods, before.objects) == (now.nodes, now.pods, now.objects):
            return before
        self._snapshot, self.number = now, self.number + 1
        return now


def truncate(report: dict[str, Any], limit: int) -> dict[str, Any]:
    """Truncate each list of ``report`` to its first ``limit`` items, and count the rest.

    Lists within lists are counted together: ``.constraints[].domains`` counts the domains left out of all constraints.
    A report about 5,000 nodes has megabytes, too many for an assistant; ordered lists begin with the best or the worst.
    """
    missing: Counter[str] = Counter()
    cut = _cut(report, limit, "", missing)
    return {**cut, LEFT_OUT: dict(missing)} if missing else report


def _cut(value: Any, limit: int, path: str, missing: Counter[str]) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item, limit, f"{path}.{key}", missing) for key, item in value.items()}
    if isinstance(value, list):
        if len(value) > limit:
            missing[path] += len(value) - limit
        return [_cut(item, limit, f"{path}[]", missing) for item in value[:limit]]
    return value


_AT_A_TIME = 0.02
"""Seconds that one call works while others wait."""


class Turn(Deadline):
    """Time limit of a call that takes turns with others on one lock, as neither msgspec nor cached values may be used
    by two threads at once.
    """

    _next, _works = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        self._take()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> bool:
        is_given_up = super().__exit__(kind, error, traceback)
        self._works.release()
        return is_given_up

    def is_over(self) -> bool:
        if self._next.locked() and time.monotonic() - self._since > _AT_A_TIME:
            self._works.release()
            self._take()
        return super().is_over()

    def _take(self) -> None:
        # The call that waits is next, before any later one.
        with self._next:
            self._works.acquire()
        self._since = time.monotonic()
