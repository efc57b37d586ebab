"""The tools: each is one question of the library, and answers with its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

import kubespread
from kubespread.assistants import arguments as tool_arguments
from kubespread.assistants.arguments import Question, arguments_of, asked_by, description_of
from kubespread.errors import UsageError
from kubespread.questions.registry import QUESTIONS
from kubespread.questions.registry import question as question_of
from kubespread.reports.parts import Report
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, with_flags
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

if TYPE_CHECKING:
    from kubespread.questions.fleet.clusters import Member

_MAX_NAMED = 5
LEFT_OUT = "leftOut"
"""Beside the fields of the report, only where something was cut: by path as jq has it, how many items are missing."""
SCHEMA = {"type": "object", "additionalProperties": {"type": "integer"}}


class Tool(Struct, frozen=True):
    """One question: what it is called and asked with, and who answers it with what."""

    name: str
    description: str
    question: type[Struct]
    reports: Sequence[type[Report]]
    answer: Callable[[Snapshot, kubespread.Scheduler, Any], Report]
    reads_cluster: bool = True
    """Whether it is about the one cluster, which is read for it."""

    def call(self, snapshot: Snapshot, scheduler: kubespread.Scheduler, arguments: dict[str, Any]) -> dict[str, Any]:
        """The report as ``-o json`` prints it, its lists cut to the limit. Raises KubespreadError."""
        asked = tool_arguments.question_of(self.question, arguments)
        return bounded(self.answer(snapshot, scheduler, asked).to_dict(), asked.limit)


def _scheduling(scheduler: kubespread.Scheduler, question: Question) -> kubespread.Scheduler:
    return replace(
        scheduler,
        kube_version=question.kube_version or scheduler.kube_version,
        feature_gates=question.feature_gates or scheduler.feature_gates,
    )


def _tool(name: str) -> Tool:
    """A question's own."""
    question = question_of(name)
    return Tool(
        name,
        description_of(question),
        arguments_of(question),
        (question.report(), *question.other_reports()),
        partial(_alone, question),
    )


def _alone(question: Any, snapshot: Snapshot, scheduler: kubespread.Scheduler, arguments: Question) -> Report:
    """About the one cluster, with edits that read no files. Raises KubespreadError."""
    edited = snapshot.edited(*_edits(arguments))
    scheduling = _scheduling(scheduler, arguments)
    asked = asked_by(question, arguments, edited, scheduling)
    report: Report = asked.alone(kubespread.ask(edited, asked, scheduling))
    return report


def _edits(arguments: Question) -> Iterator[Edit]:
    """Those of a call, drains with the flags of its question. Raises UsageError."""
    flags = {name: getattr(arguments, name) for name in DRAIN_FLAGS.values() if hasattr(arguments, name)}
    return (with_flags(parse(text, None), flags) for text in arguments.edits)


def tools(fleet: Sequence[Member] = ()) -> Mapping[str, Tool]:
    """By name; that of a fleet where there is one."""
    own = {name: _tool(name) for name in QUESTIONS}
    return {**own, "fleet": _of_fleet(fleet)} if fleet else own


def _of_fleet(clusters: Sequence[Member]) -> Tool:
    """Any question, asked of many clusters."""
    # The modules of a fleet are for those that have one.
    from kubespread.questions.fleet.report import FleetReport

    description = (
        f"Ask the {len(clusters):,} clusters of a fleet the same question, that of another tool with its arguments: a "
        "row for each, the worst first, with its verdict, the first sentence of its answer and its report. A cluster "
        "that cannot be reached or read has a row with the reason."
    )
    return Tool(
        "fleet", description, tool_arguments.Fleet, (FleetReport,),
        lambda _, scheduler, asked: _asked_of_fleet(clusters, scheduler, asked), reads_cluster=False,
    )  # fmt: skip


def _asked_of_fleet(clusters: Sequence[Member], scheduler: kubespread.Scheduler, asked: tool_arguments.Fleet) -> Report:
    from kubespread.questions.fleet.answer import answers
    from kubespread.questions.tasks import ALONE

    chosen = [
        member
        for member in clusters
        if not asked.clusters or any(fnmatchcase(member.name, pattern) for pattern in asked.clusters)
    ]
    if not chosen:
        names = some_of([member.name for member in clusters], _MAX_NAMED)
        raise UsageError(f"no cluster matches {', '.join(map(repr, asked.clusters))}; there are {names}")
    question = question_of(asked.question)
    arguments: Question = tool_arguments.question_of(arguments_of(question), asked.arguments)
    scheduling = _scheduling(scheduler, arguments)

    def settled(_: Any, snapshot: Snapshot) -> Any:
        return asked_by(question, arguments, snapshot, scheduling)

    edits = tuple(_edits(arguments))
    members = [replace(member, edits=edits) for member in chosen]
    return answers(members, settled(None, Snapshot()), scheduling, ALONE, settle=settled)


def bounded(report: dict[str, Any], limit: int) -> dict[str, Any]:
    """``report`` with the first ``limit`` items of each list, and a count of the others; itself where none is longer.

    Lists within lists are counted together: ``.constraints[].domains`` has those of all constraints. A report about
    5,000 nodes is megabytes, of which an assistant reads the beginning at best; lists have the best or the worst first
    wherever that means something.
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
