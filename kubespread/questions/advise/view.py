"""Advice: what bars the pod, a row a change, the least of them as a patch, and what does not suffice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from kubespread.questions.advise.report import AdviseReport
from kubespread.reports.advise import Suggestion
from kubespread.views.bars import asked_bars
from kubespread.views.constraints import constraint_lines
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    HANGING,
    HEAD,
    INDENT,
    Cell,
    Line,
    answered,
    cell,
    remarks,
    titled,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.sheet import Column, Fit, Readers, Sheet, Tone, count
from kubespread.views.terminal import table
from kubespread.views.view import Tile, View, about, source
from kubespread.wording import count_of

_LEAST_NAME = 28
_INSIDE = 4


class _Summary(NamedTuple):
    verb: str
    noun: str


_SUMMARIES: Mapping[str, _Summary] = {
    "uncordon": _Summary("uncordon", "node"),
    "untaint": _Summary("untaint", "node"),
    "wait": _Summary("wait for", "terminating pod"),
    "evict": _Summary("evict", "pod"),
}


def _summary(suggestion: Suggestion) -> str:
    """The change in a few words, without the names of nodes and pods: its option has them."""
    of = f" of {len(suggestion.alternatives) + 1}" if suggestion.alternatives else ""
    words = _SUMMARIES.get(suggestion.family)
    if words is not None and len(suggestion.options) == 1:
        return f"{words.verb} 1{of} {words.noun}{'s' if of else ''}"
    return suggestion.brief


def _remarks(suggestion: Suggestion) -> tuple[str, ...]:
    """Notes on it, and what happens to other pods."""
    return (*suggestion.notes, *suggestion.consequences)


def _fits(suggestion: Suggestion) -> int:
    return (suggestion.nodes if suggestion.nodes is not None else suggestion.placed) or 0


_FITS: Column[Suggestion] = count("FITS", _fits)
_COLUMNS: Sequence[Column[Suggestion]] = (
    Column(header="CHANGE", value=lambda row: row.change, readers=Readers.RECORDS),
    Column(
        header="CHANGE", value=_summary, readers=Readers.TERMINAL, fit=Fit.MIDDLE, least=_LEAST_NAME,
        tone=lambda _: Tone.STRONG,
    ),
    _FITS,
    # Options are meant to be copied, so they are never cut.
    Column(header="OPTIONS", value=lambda row: " ".join(row.options), short="OPTION"),
    Column(
        header="ALTERNATIVES", value=lambda row: len(row.alternatives), is_number=True, readers=Readers.RECORDS
    ),
    Column(header="NOTES", value=lambda row: "; ".join(_remarks(row)), readers=Readers.RECORDS),
)  # fmt: skip
_COMMANDS: Sequence[Column[tuple[Suggestion, str]]] = (
    Column(header="CHANGE", value=lambda row: row[0].change),
    Column(header="COMMAND", value=lambda row: row[1]),
)


def view(report: AdviseReport) -> View:
    """The smallest changes first, each with how to make it."""
    subject = report.workload or f"Pod/{report.pod.name}"
    enough = report.advice.enough if report.advice is not None else ()
    seen = View(
        **about(report),
        title=f"Advice for {subject} in {report.pod.namespace}",
        bars=[asked_bars(constraint, place) for place, constraint in enumerate(report.constraints)],
        sheets=[
            Sheet(title="Changes that suffice", columns=_COLUMNS, rows=enough, is_answer=True),
            Sheet(
                title="Commands", columns=_COMMANDS, is_detail=True, readers=Readers.PAGES,
                rows=[(suggestion, command) for suggestion in enough for command in suggestion.commands],
            ),
        ],
        lines=lambda look: _lines(report, look),
        tiles=[
            Tile("nodes fit now", f"{report.fitting:,} of {report.nodes:,}", Tone.GOOD if report.fits else Tone.BAD),
            Tile("changes suffice", f"{len(enough):,}", Tone.GOOD if enough else Tone.PLAIN),
            Tile("changes tried", f"{0 if report.advice is None else report.advice.tried:,}"),
        ],
    )  # fmt: skip
    return replace(
        seen,
        provenance=source(report.cluster, report.kube_version, f"profile {report.scheduler_name}"),
        answer=[*report.answer, *([report.message] if report.message is not None else ())],
        tone=Tone.GOOD if report.fits else Tone.WARN if report.succeeds else Tone.BAD,
    )


def _lines(report: AdviseReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows the patch of every change."""
    if look.headers:
        yield from _title(report, look)
    yield from answered(report.answer, look, GOOD if report.succeeds else BAD)
    if look.headers:
        yield from constraint_lines(report.constraints, look.width, domains=True)
    for sentence in (report.message, report.conclusion) if report.advice is not None else ():
        if sentence:
            yield from wrapped([Cell(INDENT), cell(sentence)], look.width, HANGING)
    enough = report.advice.enough if report.advice is not None else ()
    if enough:
        fits = replace(_FITS, short="NODES" if report.replicas is None else "PLACED")
        yield from table([fits if column is _FITS else column for column in _COLUMNS], enough, look)
        for suggestion in enough if look.in_full else enough[:1]:
            yield from _in_full(suggestion, look)
    yield from remarks(report.answer, look)


def _title(report: AdviseReport, look: Look) -> Iterator[Line]:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    headline = [Cell("Pod "), cell(pod, HEAD)]
    if report.replicas is not None:
        of = f" of {report.workload}" if report.workload else ""
        headline = [Cell(f"{count_of(report.replicas, 'replica')}{of}, pod "), cell(pod, HEAD)]
    headline.append(Cell(f" against {count_of(report.nodes, 'node')}"))
    return titled(headline, report.cluster, report.kube_version, report.scheduler_name, look.width)


def _in_full(suggestion: Suggestion, look: Look) -> Iterator[Line]:
    """Its remarks and its patch; of a diff only what changes and where."""
    yield from wrapped([Cell(INDENT), cell(f"{suggestion.change}:", HEAD)], look.width, HANGING)
    for text in _remarks(suggestion):
        yield from wrapped([Cell(" " * _INSIDE), cell(text)], look.width, _INSIDE + 2)
    # To be copied, and therefore in one line.
    yield from ([Cell(" " * _INSIDE), cell(command)] for command in suggestion.commands)
    for line in (suggestion.diff or "").splitlines():
        style = GOOD if line.startswith("+") else BAD if line.startswith("-") else DIM
        yield [Cell(" " * _INSIDE), cell(line, style)]
    for other in suggestion.alternatives if look.in_full else ():
        yield from wrapped([Cell(" " * _INSIDE), cell(f"or {other}", DIM)], look.width, _INSIDE + 2)
    if suggestion.patch and not (suggestion.commands or suggestion.diff):
        for operation in suggestion.patch:
            value = "" if operation.op == "remove" else f": {json.dumps(operation.value)}"
            text = f"{operation.op} {operation.path}{value}"
            yield from wrapped([Cell(" " * _INSIDE), cell(text)], look.width, _INSIDE + 2)
    elif not (suggestion.commands or suggestion.diff):
        yield from wrapped([Cell(" " * _INSIDE), cell(" ".join(suggestion.options))], look.width, _INSIDE + 2)
