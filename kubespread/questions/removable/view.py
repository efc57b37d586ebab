"""Removable nodes: the nodes behind each obstacle and effect, then one row per node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.questions.removable import NodeRemoval, RemovableReport, kind_words
from kubespread.reports.columns import Readers
from kubespread.reports.outcome import REFUSALS, TROUBLES, by_why, down_meanwhile, explanation, phrase, phrases, uneven
from kubespread.views.look import Sentence, Tone
from kubespread.views.outcomes import details
from kubespread.views.sheet import Column, Sheet, columns_of
from kubespread.views.terminal import by_reason, fold
from kubespread.views.view import NodeFacts, Tile, View, share_tile, shared_fields, unwanted_tile
from kubespread.wording import count_of, some_of, verb_of

_MAX_NAMED = 2
_MAX_PODS = 3


def _consequences(row: NodeRemoval) -> Iterator[str]:
    """Yield effects of removing a node, besides moving its pods."""
    if local := [pod for remark in row.remarks if remark.kind == "localStorage" for pod in remark.pods]:
        yield f"deletes the local data of {some_of(local, _MAX_PODS)}"
    if not row.alone:
        return
    yield from down_meanwhile(row.down)
    yield from (f"leaves {text}" for text in uneven([row]))
    if row.preempted:
        find = verb_of(len(row.preempted), "find another node")
        yield f"preempts {some_of([victim.pod for victim in row.preempted], _MAX_PODS)}, which {find}"
    if row.lost:
        yield f"loses {some_of(row.lost, _MAX_PODS)} for good"


_NODE: Sequence[Column[NodeRemoval]] = (
    *columns_of(NodeRemoval, "name", "domain", "pods", "alone", "place", "kinds"),
    Column(
        "WHY",
        lambda row: "; ".join((*phrases(row), *([row.kept_back] if row.stays else ()), *_consequences(row))),
        readers=Readers.RECORDS,
    ),
)


def _tone(row: NodeRemoval) -> Tone:
    return Tone.GOOD if row.place else Tone.PLAIN if row.alone else Tone.BAD


def view(report: RemovableReport) -> View:
    """One row per node: its place in the order of removal, and its obstacles."""
    nodes = Sheet(title="Nodes", columns=_NODE, rows=report.rows, readers=Readers.PIPES, tone=_tone)
    return View(
        **shared_fields(report),
        title=_question(report),
        sheets=[nodes, *details(report.together.groups)],
        nodes=NodeFacts.from_sheet(
            nodes,
            _verdict,
            {Tone.GOOD: "goes, with the others", Tone.PLAIN: "can go, but alone", Tone.BAD: "held: cannot go"},
            _word,
        ),
        parts=lambda _: _parts(report),
        names=report.together.by_group,
        tiles=_tiles(report),
    )


def _tiles(report: RemovableReport) -> Sequence[Tile]:
    alone, together = sum(row.alone for row in report.rows), report.together
    return [
        share_tile("nodes can go alone", alone, len(report.rows)),
        Tile("can go together", f"{len(together.nodes):,}", Tone.GOOD if together.nodes else Tone.BAD),
        Tile("pods placed elsewhere for that", f"{together.moves:,}"),
        unwanted_tile("pods lost for good", sum(len(group.lost) for group in together.groups)),
    ]


def _verdict(row: NodeRemoval) -> str:
    return "can go alone" if row.alone else f"cannot go: {kind_words(row.kinds)}"


def _word(row: NodeRemoval) -> str:
    """``goes``, ``can go``, or the obstacle and its subject: ``budget: web-0``."""
    if row.alone:
        return "goes" if row.place else "can go"
    trouble = row.troubles[0]
    return f"{TROUBLES[trouble.kind].word}: {trouble.subject.name}"


def _question(report: RemovableReport) -> str:
    if len(report.rows) == 1:
        return f"Removing {report.rows[0].name} of {count_of(report.nodes, 'node')}"
    of_rows = f"{len(report.rows):,} of " if len(report.rows) < report.nodes else ""
    return f"Removing each of {of_rows}{count_of(report.nodes, 'node')}"


def _parts(report: RemovableReport) -> Iterator[Sheet[NodeRemoval] | Sentence]:
    """Yield obstacles and effects, the one of most nodes first, and the rows."""
    refusals = by_why(trouble for row in report.rows for trouble in row.get(*REFUSALS))
    reasons = by_reason(
        (row.name, text)
        for row in report.rows
        for text in (*(explanation(refusals[why]) for why in by_why(row.get(*REFUSALS))), *_reasons(row))
        if text not in report.answer[0]
    )
    for text, nodes in sorted(reasons.items(), key=lambda reason: -len(reason[1])):
        yield fold(f"{some_of(nodes, _MAX_NAMED)}: {text}", indent="")
    # Nodes that go together, in their order, then nodes that cannot go, then the others.
    rows = sorted(report.rows, key=lambda row: (row.place is None, row.place or 0, row.alone))
    yield Sheet(title="", columns=_NODE, rows=rows, tone=_tone, noun="node")


def _reasons(row: NodeRemoval) -> Iterator[str]:
    """Yield troubles after its drain, the reason it does not go with others, and other effects."""
    yield from (phrase(row, kind) for kind in row.kinds if kind not in REFUSALS)
    yield from ([row.kept_back] if row.stays else ())
    yield from (f"goes, and {consequence}" for consequence in _consequences(row))
