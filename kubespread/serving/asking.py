"""Contents that are served: the state of the cluster, and one question's answer as ``-o json`` prints it, in another
format, or as a page.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

from kubespread.errors import UsageError
from kubespread.escaping import json_escaped
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import REFERABLE
from kubespread.kube.owners import controller_of
from kubespread.questions.calls import Reading, bounded, posed
from kubespread.questions.commands import Commands, flag_of, option_of, typed
from kubespread.questions.provenance import CODES, drawn_for, with_provenance
from kubespread.questions.question import Option, Question, only_report, options_of, reports_in
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import ask, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.reports.parts import outcome
from kubespread.snapshot.snapshot import Snapshot
from kubespread.views.formats import writers_of
from kubespread.views.look import Look
from kubespread.views.page.writing import write_page

_MOST = 8
"""Taints that are named."""
_SOFT = "PreferNoSchedule"
"""The effect of taints that keep no pod away."""


class Workload(Struct, frozen=True):
    """Workload as it is in the cluster, with the numbers that may be turned."""

    name: str
    """NAMESPACE/KIND/NAME, KIND as kubectl abbreviates it."""
    replicas: int
    requests: Mapping[str, str]
    """Requests of its only container; nothing where it has several."""


class Served(Struct, frozen=True, rename="camel"):
    """State that is served now."""

    number: int
    """Number of this reading, from 1."""
    time: str
    source: str
    nodes: int
    pods: int
    workloads: tuple[Workload, ...]
    """By name."""
    taints: tuple[str, ...]
    """Taints of nodes, as tolerations are written."""
    is_live: bool


def served(reading: Reading) -> Served:
    """The cluster as it is now. Raises SnapshotError, UsageError and ManifestError."""
    snapshot = reading.snapshot()
    reference = cluster_reference(snapshot)
    return Served(
        reading.number,
        reference.time or "",
        reference.context or reference.snapshot or "",
        len(snapshot.nodes),
        len(snapshot.pods),
        tuple(sorted(_workloads(snapshot), key=lambda one: one.name)),
        _taints(snapshot),
        reading.max_age is not None,
    )


def _workloads(snapshot: Snapshot) -> Iterator[Workload]:
    """Yield the workloads that no other one made."""
    for row in REFERABLE:
        for obj in snapshot.of_kind(row) if row.cls is not Pod else ():
            if controller_of(obj) is None and (template := row.pod_template(obj)) is not None:
                containers = template.spec.containers
                requests = containers[0].resources.requests if len(containers) == 1 else {}
                replicas: int | None = getattr(getattr(obj, "spec", None), "replicas", None)
                called = f"{obj.metadata.namespace}/{row.short}/{obj.metadata.name}"
                texts = {name: str(amount) for name, amount in requests.items()}
                yield Workload(called, 1 if replicas is None else replicas, texts)


def _taints(snapshot: Snapshot) -> tuple[str, ...]:
    taints = (taint for node in snapshot.nodes for taint in node.spec.taints if taint.effect != _SOFT)
    texts = {f"{each.key}{f'={each.value}' if each.value else ''}:{each.effect}" for each in taints}
    return tuple(sorted(texts))[:_MOST]


def answer_of(name: str, arguments: Mapping[str, Any], output: str, snapshot: Snapshot, scheduler: Scheduler) -> str:
    """The answer of a question to the arguments of its tool, whose lists are cut where a limit is passed; ``output`` is
    the format, as -o has it, or ``page``: all that a browser shows. Raises KubespreadError.
    """
    question = question_of(name)
    writers = writers_of(question.outputs, question.__module__.rpartition(".")[0])
    if output not in ("page", *writers):
        raise UsageError(f"output {output!r}: expected {', '.join(writers)}")
    asked, cluster, scheduling, _ = posed(question, snapshot, scheduler, arguments)
    answer = ask(cluster, asked, scheduling, timeout=arguments.get("timeout"))
    command = command_of(question, arguments, cluster, scheduling)
    report = with_provenance(only_report(answer), shlex.split(command)[1:])
    if output not in ("json", "page"):
        return writers[output].load()(report, Look())
    limit = arguments.get("limit")
    plain = report.to_json() if limit is None else msgspec.json.encode(bounded(report.to_dict(), limit))
    if output == "json":
        return json_escaped(msgspec.json.format(plain, indent=2).decode()) + "\n"
    reports = [each for _, each in reports_in(answer)]
    code = CODES[outcome(reports, asked.passes(answer), is_in_part=bool(cluster.faults))]
    shown = write_page(report, drawn_for(report, asked.clusters(cluster, scheduling)[-1][0], scheduling))
    page = {"exitCode": code, "command": command, "page": shown, "report": msgspec.Raw(plain)}
    return msgspec.json.encode(page).decode()


_FILES = {"manifest": "manifest.yaml", "toManifest": "after.yaml", "promises": "promises.yaml"}
"""Names on the command line of the files that hold what a call passes as text."""
_ONE_SIDE = ("edits", "set")
"""Arguments that a call may give for the first side of a comparison, and a command line only for the second."""


def command_of(
    question: type[Question[Any]], arguments: Mapping[str, Any], cluster: Snapshot, scheduler: Scheduler
) -> str:
    """The command that asks what a call with these ``arguments`` asks of ``cluster``, whose edits include theirs, and
    of ``scheduler``, whose release is theirs; empty where no command line says the same. What is passed as text is in a
    file.
    """
    options = [each for each in options_of(question) if each[2].is_for_assistants]
    has_sides = any(option.form == "sides" for *_, option in options)
    if has_sides and any(arguments.get(name) for name in _ONE_SIDE):
        return ""
    words, names_some = list[str](), False
    for field, _, option in options:
        own = [*_words(field, option, arguments)]
        names_some |= option.is_subject and bool(own)
        if option.form == "namespace" and not own and not names_some:
            own = ["-A"]
        words += own
    if arguments.get("toKubeVersion"):
        words += ["--to-kube-version", arguments["toKubeVersion"]]
    if question.hands_out and arguments.get("timeout"):
        words += ["--timeout", f"{arguments['timeout']}s"]
    later = [option_of(edit) for edit in (arguments.get("toEdits") if has_sides else None) or ()]
    parts = (Commands(cluster, scheduler).of(question.name, *map(quote, words)), *later)
    return " ".join(parts) if all(parts) else ""


def _words(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that are typed for a field."""
    match option.form:
        case "pods" | "sides" | "pod" | "applied":
            for name in ("manifest", "workload", "toManifest"):
                if value := arguments.get(name):
                    by_name = {"pod": flag_of(field, option), "applied": "-f"}.get(option.form)
                    yield from (*([by_name] if by_name else []), _FILES.get(name, value))
            for value in arguments.get("toSet") or () if option.form == "sides" else ():
                yield from ("--set", value)
        case "scenario":
            yield from arguments.get("steps") or ()
        case _:
            yield from _value(field, option, arguments)


def _value(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    value = arguments.get(field.encode_name)
    if value is None or value in ("", [], field.default):
        return
    file = _FILES.get(field.encode_name)
    yield from typed(field, option, value) if file is None else [file]
