"""Advice: what bars the pod, a row a change, the least of them as a patch, and what does not suffice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from kubespread.questions.advise.report import AdviseReport
from kubespread.reports.advise import Suggestion
from kubespread.views.constraints import asked_bars, constraint_lines
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Fit, Readers, Sheet, count
from kubespread.views.terminal import about_pod, folded, remarks
from kubespread.views.view import Tile, View, about, source
from kubespread.wording import count_of

_LEAST_NAME = 28
_INSIDE = 4


_SUMMARIES: Mapping[str, tuple[str, str]] = {
    "uncordon": ("uncordon", "node"),
    "untaint": ("untaint", "node"),
    "wait": ("wait for", "terminating pod"),
    "evict": ("evict", "pod"),
}
"""Verb and noun, by family."""


def _summary(suggestion: Suggestion) -> str:
    """The change in a few words, without the names of nodes and pods: its option has them."""
    of = f" of {len(suggestion.alternatives) + 1}" if suggestion.alternatives else ""
    if suggestion.family in _SUMMARIES and len(suggestion.options) == 1:
        verb, noun = _SUMMARIES[suggestion.family]
        return f"{verb} 1{of} {noun}{'s' if of else ''}"
    return suggestion.brief


def _remarks(suggestion: Suggestion) -> tuple[str, ...]:
    """Notes on it, and what happens to other pods."""
    return (*suggestion.notes, *suggestion.consequences)


def _fits(suggestion: Suggestion) -> int:
    return (suggestion.nodes if suggestion.nodes is not None else suggestion.placed) or 0


_COLUMNS: Sequence[Column[Suggestion]] = (
    Column(
        "CHANGE",
        lambda row: row.change,
        on_terminal=_summary,
        fit=Fit.MIDDLE,
        least=_LEAST_NAME,
        tone=lambda _: Tone.STRONG,
    ),
    count("FITS", _fits),
    # Options are meant to be copied, so they are never cut.
    Column("OPTIONS", lambda row: " ".join(row.options), short="OPTION"),
    Column("ALTERNATIVES", lambda row: len(row.alternatives), Readers.RECORDS),
    Column("NOTES", lambda row: "; ".join(_remarks(row)), Readers.RECORDS),
)
_COMMANDS: Sequence[Column[tuple[Suggestion, str]]] = (
    Column("CHANGE", lambda row: row[0].change),
    Column("COMMAND", lambda row: row[1]),
)


def view(report: AdviseReport) -> View:
    """The smallest changes first, each with how to make it."""
    subject = report.workload or f"Pod/{report.pod.name}"
    enough = report.advice.enough if report.advice is not None else _spreading(report)
    seen = View(
        **about(report),
        title=f"Advice for {subject} in {report.pod.namespace}",
        bars=[asked_bars(constraint, place) for place, constraint in enumerate(report.constraints)],
        sheets=[
            Sheet(title="Changes that suffice", columns=_COLUMNS, rows=enough, is_answer=True),
            Sheet(
                title="Commands",
                columns=_COMMANDS,
                is_detail=True,
                readers=Readers.PAGES,
                rows=[(suggestion, command) for suggestion in enough for command in suggestion.commands],
            ),
        ],
        heading=lambda look: _title(report, look),
        answer_tone=Tone.GOOD if report.succeeds else Tone.BAD,
        parts=lambda look: _parts(report, enough, look),
        remarks="among",
        tiles=[
            Tile("nodes fit now", f"{report.fitting:,} of {report.nodes:,}", Tone.GOOD if report.fits else Tone.BAD),
            Tile("changes suffice", f"{len(enough):,}", Tone.GOOD if enough else Tone.PLAIN),
            Tile("changes tried", f"{0 if report.advice is None else report.advice.tried:,}"),
        ],
    )
    return replace(
        seen,
        provenance=source(report.cluster, report.kube_version, f"profile {report.scheduler_name}"),
        answer=[*report.said, *([report.message] if report.message is not None else ())],
        tone=Tone.GOOD if report.fits else Tone.WARN if report.succeeds else Tone.BAD,
    )


def _spreading(report: AdviseReport) -> Sequence[Suggestion]:
    return () if report.gathered is None else (report.gathered.suggestion,)


def _parts(report: AdviseReport, enough: Sequence[Suggestion], look: Look) -> Iterator[Sheet[Suggestion] | Line]:
    """In full with the patch of every change."""
    if look.headers:
        yield from constraint_lines(report.constraints, look.width, domains=True)
    for sentence in (report.message, report.conclusion) if report.advice is not None else ():
        if sentence:
            yield folded(sentence)
    fits = "NODES" if report.replicas is None else "PLACED"
    columns = [replace(column, short=fits) if column.header == "FITS" else column for column in _COLUMNS]
    yield Sheet(title="", columns=columns, rows=enough)
    for suggestion in enough if look.in_full else enough[:1]:
        yield from _in_full(suggestion, look)
    yield from remarks(report.answer)


def _title(report: AdviseReport, look: Look) -> Iterator[Line]:
    pod = Cell(f"{report.pod.namespace}/{report.pod.name}", Tone.STRONG)
    begin = "Pod "
    if report.replicas is not None:
        of = f" of {report.workload}" if report.workload else ""
        begin = f"{count_of(report.replicas, 'replica')}{of}, pod "
    question = [Cell(begin), pod, Cell(f" against {count_of(report.nodes, 'node')}")]
    return about_pod(question, report, look)


def _in_full(suggestion: Suggestion, look: Look) -> Iterator[Line]:
    """Its remarks and its patch; of a diff only what changes and where. Commands, to be copied, stay in one line."""
    inside = partial(folded, indent=" " * _INSIDE, hanging=_INSIDE + 2)
    yield folded(Cell(f"{suggestion.change}:", Tone.STRONG))
    for text in _remarks(suggestion):
        yield inside(text)
    yield from ([Cell(" " * _INSIDE + command)] for command in suggestion.commands)
    for line in (suggestion.diff or "").splitlines():
        tone = Tone.GOOD if line.startswith("+") else Tone.BAD if line.startswith("-") else Tone.FAINT
        yield [Cell(" " * _INSIDE), Cell(line, tone)]
    for other in suggestion.alternatives if look.in_full else ():
        yield inside(Cell(f"or {other}", Tone.FAINT))
    if suggestion.commands or suggestion.diff:
        return
    for operation in suggestion.patch or ():
        value = "" if operation.op == "remove" else f": {json.dumps(operation.value)}"
        yield inside(f"{operation.op} {operation.path}{value}")
    if not suggestion.patch:
        yield inside(" ".join(suggestion.options))
