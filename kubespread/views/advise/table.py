"""Advice for people: what bars the pod, a row a change, the least of them as a patch, and what does not suffice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kubespread.planner.reports.advise import AdviseReport, Suggestion
from kubespread.views.advise.plain import remarks
from kubespread.views.advise.words import summary
from kubespread.views.explain.heading import constraint_lines
from kubespread.views.flow import HANGING, INDENT, aim
from kubespread.views.layout import (
    BAD,
    DIM,
    GAP,
    GOOD,
    HEAD,
    Cell,
    Column,
    Line,
    cell,
    cut_middle,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.provenance import titled
from kubespread.views.screen import concluded, screen
from kubespread.wording import count_of

_LEAST_NAME = 28
_INSIDE = 4


@screen
def write(report: AdviseReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows the patch of every change."""
    if look.headers:
        yield from _title(report, look)
        yield from constraint_lines(report.constraints, look.width, domains=True)
    for said in (report.message, report.conclusion) if report.advice is not None else ():
        if said:
            yield from wrapped([Cell(INDENT), cell(said)], look.width, HANGING)
    enough = report.advice.enough if report.advice is not None else ()
    if enough:
        yield from tabulated(_columns(report, enough, look), headers=look.headers)
        for each in enough if look.in_full else enough[:1]:
            yield from _in_full(each, look)
    yield from concluded(report.answer, look, GOOD if report.succeeds else BAD, others="")


def _title(report: AdviseReport, look: Look) -> Iterator[Line]:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    asked = [Cell("Pod "), cell(pod, HEAD)]
    if report.replicas is not None:
        of = f" of {report.workload}" if report.workload else ""
        asked = [Cell(f"{count_of(report.replicas, 'replica')}{of}, pod "), cell(pod, HEAD)]
    asked.append(Cell(f" against {count_of(report.nodes, 'node')}"))
    return titled(asked, report.cluster, report.kube_version, report.scheduler_name, look.width)


def _columns(report: AdviseReport, enough: Sequence[Suggestion], look: Look) -> list[Column]:
    fits = [each.nodes if each.nodes is not None else each.placed for each in enough]
    count = Column("NODES" if report.replicas is None else "PLACED", [Cell(f"{each or 0}") for each in fits], True)
    options = [Cell(" ".join(each.options)) for each in enough]
    # Options are there to be copied, so they are never cut.
    room = aim(look) - len(INDENT) - count.width - 2 * GAP - max(len(each.text) for each in options)
    names = [cell(cut_middle(summary(each), max(room, _LEAST_NAME)), HEAD) for each in enough]
    return [Column("CHANGE", names), count, Column("OPTION", options)]


def _in_full(suggestion: Suggestion, look: Look) -> Iterator[Line]:
    """Its remarks and its patch; of a diff only what changes and where."""
    yield from wrapped([Cell(INDENT), cell(f"{suggestion.change}:", HEAD)], look.width, HANGING)
    for said in (*remarks(suggestion), *suggestion.commands):
        yield from wrapped([Cell(" " * _INSIDE), cell(said)], look.width, _INSIDE + 2)
    for line in (suggestion.diff or "").splitlines():
        style = GOOD if line.startswith("+") else BAD if line.startswith("-") else DIM
        yield [Cell(" " * _INSIDE), cell(line, style)]
    for other in suggestion.alternatives if look.in_full else ():
        yield from wrapped([Cell(" " * _INSIDE), cell(f"or {other}", DIM)], look.width, _INSIDE + 2)
    if suggestion.patch and not (suggestion.commands or suggestion.diff):
        for operation in suggestion.patch:
            value = "" if operation.op == "remove" else f": {json.dumps(operation.value)}"
            said = f"{operation.op} {operation.path}{value}"
            yield from wrapped([Cell(" " * _INSIDE), cell(said)], look.width, _INSIDE + 2)
    elif not (suggestion.commands or suggestion.diff):
        yield from wrapped([Cell(" " * _INSIDE), cell(" ".join(suggestion.options))], look.width, _INSIDE + 2)
