"""Losses: one row per domain, the worst first, and the workloads that stay degraded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubespread.escaping import escape
from kubespread.questions.survive import LostDomain, SurviveReport
from kubespread.reports.outcome import badness
from kubespread.views.look import Look, Sentence
from kubespread.views.outcomes import TONES, details, frames_apart, metrics, tone, worst_changes
from kubespread.views.sheet import Sheet, columns_of, named_by_key
from kubespread.views.terminal import by_reason, fold
from kubespread.views.view import Tile, View, shared_fields, tiles, workloads_phrase
from kubespread.wording import count_of, short_key, some_of

_MAX_NAMED = 3


def view(report: SurviveReport) -> View:
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses)) or "domain"
    ordered = sorted(report.losses, key=badness, reverse=True)
    steps = {id(loss): number for number, loss in enumerate(ordered, 1)}
    deleted = " and their Node objects" if report.nodes_deleted else ""
    return View(
        **shared_fields(report),
        title=f"Losing each {'pair of ' if report.pairs else ''}{keys}{'s' if report.pairs else ''} of "
        f"{count_of(report.nodes, 'node')}{deleted}, {workloads_phrase(report, report.workloads)}",
        sheets=[
            Sheet(
                title="Domains",
                columns=columns_of(LostDomain),
                rows=ordered[::-1],
                step=lambda loss: steps.get(id(loss)),
                tone=tone,
            ),
            *details(report.losses),
        ],
        parts=lambda look: _parts(report, look),
        tiles=[*_tiles(report)],
        names=[change.workload for _, change in worst_changes(report.losses).rows],
        frames=lambda drawn: frames_apart([loss for loss in ordered if loss.topology_key in drawn.keys], drawn),
        metrics=lambda: metrics("survive", LostDomain, report.losses),
    )


def _tiles(report: SurviveReport) -> Iterator[Tile]:
    safe = sum(not loss.troubles for loss in report.standing)
    what = " or ".join(f"{short_key(key)}s" for key, _ in report.by_key())
    number = "not known" if report.needs_tests else f"{safe:,} of {len(report.standing):,}"
    yield Tile(f"{what} can be lost", number, TONES[report.verdict])
    yield from tiles(LostDomain, report.losses)
    yield Tile("pods pending before", f"{report.pending_before:,}")


def _parts(report: SurviveReport, look: Look) -> Iterator[Sheet[Any] | Sentence]:
    """The domains of each key, and the degraded workloads: a row each, with the domain that leaves it fewest."""
    degraded = worst_changes(report.losses)
    # Why they are degraded, unless the answer says it already.
    answer = " ".join(report.answer)
    whys = ((escape(change.workload.short_name), change.why) for _, change in degraded.on_screen(look))
    for why, names in by_reason((name, why) for name, why in whys if why.rstrip(".") not in answer).items():
        yield fold(f"{some_of(names, _MAX_NAMED)}: {why}", indent="")
    for key, losses in report.by_key():
        columns = named_by_key(columns_of(LostDomain), key)
        yield Sheet(title="", columns=columns, rows=sorted(losses, key=badness), tone=tone, noun=short_key(key))
    yield degraded
