"""The tools: each is one question of the library, and answers with its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

import kubespread
from kubespread.assistants import arguments as tool_arguments
from kubespread.assistants.arguments import Question, arguments_of, asked_by, description_of
from kubespread.questions.registry import QUESTIONS
from kubespread.questions.registry import question as question_of
from kubespread.reports.parts import Report
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.snapshot import Snapshot

LEFT_OUT = "leftOut"
"""Beside the fields of the report, only where something was cut: by path as jq has it, how many items are missing."""
SCHEMA = {"type": "object", "additionalProperties": {"type": "integer"}}


class Tool(Struct, frozen=True):
    """One question: what it is called and asked with, and who answers it with what."""

    name: str
    description: str
    question: type[Question]
    reports: Sequence[type[Report]]
    answer: Callable[[Snapshot, kubespread.Scheduler, Any], Report]

    def call(self, snapshot: Snapshot, scheduler: kubespread.Scheduler, arguments: dict[str, Any]) -> dict[str, Any]:
        """The report as ``-o json`` prints it, its lists cut to the limit. Raises KubespreadError."""
        question = tool_arguments.question_of(self.question, arguments)
        report = self.answer(_edited(snapshot, question.edits), _scheduling(scheduler, question), question)
        return bounded(report.to_dict(), question.limit)


def _edited(snapshot: Snapshot, edits: list[str]) -> Snapshot:
    """With edits that read no files. Raises UsageError."""
    return snapshot.edited(*(parse(text, None) for text in edits))


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
        lambda snapshot, scheduler, arguments: _alone(
            snapshot, asked_by(question, arguments, snapshot, scheduler), scheduler
        ),
    )


def _alone(snapshot: Snapshot, question: Any, scheduler: kubespread.Scheduler) -> Report:
    report: Report = question.alone(kubespread.ask(snapshot, question, scheduler))
    return report


def tools() -> Mapping[str, Tool]:
    """By name."""
    return {name: _tool(name) for name in QUESTIONS}


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
