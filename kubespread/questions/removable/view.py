"""Removable nodes: one row per node, with many the first of each sort, and by cause what blocks the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.questions.removable.report import Hold, NodeRemoval, RemovableReport
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import Cell, Line, wrapped
from kubespread.views.look import Look
from kubespread.views.screen import concluded, headline, left_out
from kubespread.views.sheet import Column, Fit, Readers, Sheet, Tone, count
from kubespread.views.terminal import table
from kubespread.views.view import Frame, NodeFacts, View, about
from kubespread.wording import count_of, some_of

_MAX_ROWS, _OF_EACH = 20, 8
_WIDEST_ZONE = 16
_MAX_REASONS, _MAX_NAMED = 12, 2
_MAX_PODS = 3
_WORDS = {
    "controlPlane": "control plane",
    "lastOfDomain": "last of its domain",
    "localStorage": "local data",
    "noController": "no controller",
    "daemonSet": "DaemonSet",
    "budget": "budget",
    "noNode": "no other node",
    "notMade": "not made yet",
    "noRoom": "no room",
    "preempts": "preemption",
}


def _sentence(hold: Hold, *, names_protected: bool = True) -> str:
    """``no controller: default/debug``: the cause, the pods, and the message where it says more.

    Without ``names_protected`` all pods of a budget share one sentence.
    """
    word = _WORDS[hold.cause]
    whom = f" {some_of(hold.pods, _MAX_PODS)}" if hold.pods and (names_protected or hold.cause != "budget") else ""
    if hold.cause in ("localStorage", "noController"):
        return f"{word}:{whom}"
    if hold.cause == "lastOfDomain":
        return f"the last node of {hold.detail}"
    return f"{word}:{whom}{':' if whom else ''} {hold.detail}"


def _consequences(row: NodeRemoval) -> Iterator[str]:
    """Effects of removing a node, besides moving its pods."""
    yield from (f"leaves {violation}" for violation in row.violated)
    if row.until_deleted and row.alone:
        wait = "waits" if row.until_deleted == 1 else "wait"
        yield f"{count_of(row.until_deleted, 'pod')} {wait} until the Node object is deleted"
    if row.preempted:
        find = "finds" if len(row.preempted) == 1 else "find"
        yield f"preempts {some_of(row.preempted, _MAX_PODS)}, which {find} another node"
    if row.lost:
        yield f"loses {some_of(row.lost, _MAX_PODS)} for good"


def _causes(row: NodeRemoval) -> list[str]:
    return list(dict.fromkeys(hold.cause for hold in row.held))


_NODE: Sequence[Column[NodeRemoval]] = (
    Column(header="NODE", value=lambda row: row.node, fit=Fit.NAMES),
    Column(
        header="ZONE", value=lambda row: row.domain, readers=Readers.TERMINAL | Readers.PIPES, most=_WIDEST_ZONE
    ),
    count("PODS", lambda row: row.pods),
    Column(header="ALONE", value=lambda row: row.alone, tone=lambda row: Tone.GOOD if row.alone else Tone.BAD),
    Column(header="TOGETHER", value=lambda row: row.place, is_number=True, nothing="-"),
    count("WAIT", lambda row: row.until_deleted, hides_empty=True),
    Column(
        header="HELD-BY", value=_causes, text=lambda row: ", ".join(_WORDS[cause] for cause in _causes(row)),
        fit=Fit.END, hides_empty=True,
    ),
    Column(
        header="WHY", value=lambda row: "; ".join((*map(_sentence, row.held), *_consequences(row))),
        readers=Readers.RECORDS,
    ),
)  # fmt: skip


def view(report: RemovableReport) -> View:
    """One row per node: its place in the order of removal, and what blocks it."""
    nodes = Sheet(
        title="Nodes", columns=_NODE, rows=report.rows, is_answer=True, readers=Readers.PIPES,
        tone=lambda row: Tone.GOOD if row.alone else Tone.BAD,
    )  # fmt: skip
    return View(
        **about(report),
        title=f"Which of {count_of(report.nodes, 'node')} can go",
        sheets=[nodes],
        nodes=NodeFacts.of(nodes, _verdict, "green can go alone, red cannot"),
        lines=lambda look: _lines(report, look),
        names=report.together.by_group,
        frames=[
            Frame(f"{name} goes", "its pods find other nodes, which is not drawn", gone=[name])
            for name in report.together.nodes
        ],
    )


def _verdict(row: NodeRemoval) -> str:
    return "can go alone" if row.alone else f"cannot go: {', '.join(_causes(row))}"


def _lines(report: RemovableReport, look: Look) -> Iterator[Line]:
    of_rows = f"{len(report.rows):,} of " if len(report.rows) < report.nodes else ""
    yield from headline(f"Removing each of {of_rows}{count_of(report.nodes, 'node')}", report, look)
    shown = _shown(report, look)
    yield from table(_NODE, shown, look, explains_names=True)
    yield from left_out(len(report.rows) - len(shown), "node")
    yield from _reasons(report.rows, look)
    yield from concluded(report.answer, look)


def _shown(report: RemovableReport, look: Look) -> Sequence[NodeRemoval]:
    """With many nodes, a few of each sort, in the report's order."""
    if look.in_full or len(report.rows) <= _MAX_ROWS:
        return report.rows
    go = [row for row in report.rows if row.place is not None]
    held = [row for row in report.rows if row.place is None]
    return [*go[:_OF_EACH], *held[:_OF_EACH]]


def _reasons(rows: Sequence[NodeRemoval], look: Look) -> Iterator[Line]:
    """What blocks nodes, grouped by reason, the one with the most nodes first."""
    by_text: dict[str, list[str]] = {}
    for row in rows:
        held = (_sentence(hold, names_protected=False) for hold in row.held)
        for text in (*held, *(f"goes, and {consequence}" for consequence in _consequences(row))):
            by_text.setdefault(escaped(text), []).append(escaped(row.node))
    ordered = sorted(by_text.items(), key=lambda item: -len(item[1]))
    shown = ordered if look.in_full else ordered[:_MAX_REASONS]
    for text, nodes in shown:
        yield from wrapped([Cell(f"{INDENT}{some_of(nodes, _MAX_NAMED)}: {text}")], look.width, HANGING)
    yield from left_out(len(ordered) - len(shown), "reason")
