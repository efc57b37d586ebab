"""Advice: what bars the pod, a row a change, the least of them as a patch, and what does not suffice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from kubespread.questions.explain.report import ExplainReport, Fix
from kubespread.reports.advice import Suggestion
from kubespread.reports.columns import Fit, Readers
from kubespread.reports.parts import ConstraintReport
from kubespread.views.constraints import asked_bars, constraint_lines
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Sheet, count
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
    Column("NOTES", lambda row: "; ".join(_remarks(row)), Readers.RECORDS),
    Column("COMMANDS", lambda row: "; ".join(row.commands), Readers.PAGES),
)


def view(report: ExplainReport, fix: Fix) -> View:
    """The smallest changes first, each with how to make it."""
    enough = report.advice.enough if report.advice is not None else ()
    seen = View(
        **about(report),
        title=f"Changes for {fix.workload or f'Pod/{report.pod.name}'} in {report.pod.namespace}",
        bars=[asked_bars(constraint, place) for place, constraint in enumerate(_constraints(report))],
        sheets=[Sheet(title="Changes that suffice", columns=_COLUMNS, rows=enough, is_answer=True)],
        heading=lambda look: _title(report, fix, look),
        answer_tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        parts=lambda look: _parts(report, fix, enough, look),
        remarks="among",
        tiles=[
            Tile("changes suffice", f"{len(enough):,}", Tone.GOOD if enough else Tone.PLAIN),
            Tile("changes tried", f"{0 if report.advice is None else report.advice.tried:,}"),
        ],
    )
    return replace(
        seen,
        provenance=source(report.cluster, report.kube_version, f"profile {report.scheduler_name}"),
        answer=[*report.said, *([] if report.fits or report.message is None else [report.message])],
        tone=Tone.GOOD if report.fits else Tone.WARN if enough else Tone.BAD,
    )


def _constraints(report: ExplainReport) -> Sequence[ConstraintReport]:
    """Those of the pod that finds no node."""
    return () if report.advice is None else report.constraints


def _parts(
    report: ExplainReport, fix: Fix, enough: Sequence[Suggestion], look: Look
) -> Iterator[Sheet[Suggestion] | Line]:
    """In full with the patch of every change."""
    if look.headers:
        yield from constraint_lines(_constraints(report), look.width, domains=True)
    for sentence in (report.message, report.conclusion) if report.advice is not None else ():
        if sentence:
            yield folded(sentence)
    fits = "NODES" if fix.replicas is None else "PLACED"
    columns = [replace(column, short=fits) if column.header == "FITS" else column for column in _COLUMNS]
    yield Sheet(title="", columns=columns, rows=enough)
    for suggestion in enough if look.in_full else enough[:1]:
        yield from _in_full(suggestion, look)
    yield from remarks(report.answer)


def _title(report: ExplainReport, fix: Fix, look: Look) -> Iterator[Line]:
    pod = Cell(f"{report.pod.namespace}/{report.pod.name}", Tone.STRONG)
    begin = "Pod "
    if fix.replicas is not None:
        of = f" of {fix.workload}" if fix.workload else ""
        begin = f"{count_of(fix.replicas, 'replica')}{of}, pod "
    question = [Cell(begin), pod, Cell(f" against {count_of(len(report.nodes), 'node')}")]
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
    if not suggestion.commands and not suggestion.diff:
        yield inside(" ".join(suggestion.options))
