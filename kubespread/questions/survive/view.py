"""Losses: one row per domain, the worst first where there are many, and the workloads that stay degraded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.kube.owners import WorkloadName
from kubespread.questions.survive import LostDomain, SurviveReport
from kubespread.reports.columns import Readers
from kubespread.reports.outcome import WorkloadChange, badness
from kubespread.views.look import Look, Sentence, Tone
from kubespread.views.outcomes import details, frames_apart, metrics, tone, worst_changes
from kubespread.views.sheet import Column, Drawn, Sheet, columns_of, named_by_key
from kubespread.views.terminal import folded, together
from kubespread.views.view import Tile, View, about, tiles, whose
from kubespread.wording import EMPTY, count_of, short_key, some_of

_MAX_NAMED = 3
_MAX_COLUMNS = 12
_MATRIX_LEGEND = (
    "ready pods before → without the domain; one number where they stay as many, none where no pod is touched"
)


def view(report: SurviveReport) -> View:
    """Domains, and the workloads that losing each leaves degraded."""
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses)) or "domain"
    ordered = sorted(report.losses, key=badness, reverse=True)
    steps = {id(loss): number for number, loss in enumerate(ordered, 1)}
    deleted = " and their Node objects" if report.nodes_deleted else ""
    return View(
        **about(report),
        title=f"Losing each {'pair of ' if report.pairs else ''}{keys}{'s' if report.pairs else ''} of "
        f"{count_of(report.nodes, 'node')}{deleted}, {whose(report, report.workloads)}",
        sheets=[
            *_matrices(report),
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
    yield Tile(
        f"{what} can be lost",
        f"{safe:,} of {len(report.standing):,}",
        Tone.GOOD if safe == len(report.standing) else Tone.BAD,
    )
    yield from tiles(LostDomain, report.losses)
    yield Tile("pods pending before", f"{report.pending_before:,}")


class _Through(Struct, frozen=True):
    """A workload, and what it has left without each domain that touches it."""

    workload: WorkloadName
    without: Mapping[str, WorkloadChange]

    @property
    def tone(self) -> Tone:
        tones = {_tone_of(change) for change in self.without.values()}
        return next(tone for tone in (Tone.BAD, Tone.WARN, Tone.GOOD) if tone in tones)

    @property
    def least(self) -> float:
        """The share of its pods that it has left, at worst."""
        return min(change.ready / max(1, change.wanted) for change in self.without.values())


def _tone_of(change: WorkloadChange) -> Tone:
    if not change.lacks:
        return Tone.GOOD
    return Tone.WARN if change.ready else Tone.BAD


def _readiness(domain: str, row: _Through) -> str:
    """``9 → 6``; without what stays the same."""
    change = row.without.get(domain)
    if change is None:
        return ""
    return " → ".join(f"{state:,}" for state in dict.fromkeys((change.ready_before, change.ready)))


def _drawn(domain: str, row: _Through) -> Drawn | None:
    change = row.without.get(domain)
    if change is None:
        return None
    return Drawn(min(100, 100 * change.ready // max(1, change.wanted)), _tone_of(change))


def _matrices(report: SurviveReport) -> Iterator[Sheet[Any]]:
    """For each key the workloads that losses touch, by domain, the worst first."""
    for key, losses in report.by_key():
        touched: dict[WorkloadName, dict[str, WorkloadChange]] = {}
        for loss in losses:
            for change in loss.workloads:
                touched.setdefault(change.workload, {})[loss.domain] = change
        shown = losses if len(losses) <= _MAX_COLUMNS else sorted(losses, key=badness)[:_MAX_COLUMNS]
        of = f"each {short_key(key)}"
        if len(shown) < len(losses):
            of = f"the worst {len(shown)} of {count_of(len(losses), short_key(key))}"
        rows = [_Through(name, without) for name, without in touched.items()]
        columns: list[Column[_Through]] = [
            Column("WORKLOAD", lambda row: row.workload),
            *(
                Column(
                    header=loss.domain.upper(),
                    title=loss.domain or EMPTY,
                    value=partial(_readiness, loss.domain),
                    drawn=partial(_drawn, loss.domain),
                )
                for loss in shown
            ),
        ]
        yield Sheet(
            title=f"Ready pods without {of}",
            columns=columns,
            readers=Readers.PAGES,
            rows=sorted(rows, key=lambda row: (row.least, row.workload)),
            tone=lambda row: row.tone,
            legend=_MATRIX_LEGEND,
        )


def _parts(report: SurviveReport, look: Look) -> Iterator[Sheet[Any] | Sentence]:
    """The domains of each key, and the degraded workloads: a row each, with the domain that leaves it fewest."""
    degraded = worst_changes(report.losses)
    # Why they are degraded, unless said already.
    said = " ".join(report.answer)
    whys = ((escaped(change.workload.called), change.why) for _, change in degraded.on_screen(look))
    for why, names in together((name, why) for name, why in whys if why.rstrip(".") not in said).items():
        yield folded(f"{some_of(names, _MAX_NAMED)}: {why}", indent="")
    for text in dict.fromkeys(note for loss in report.losses for note in loss.notes):
        yield folded(f"{_named([loss for loss in report.losses if text in loss.notes])}: {text}", indent="")
    for key, losses in report.by_key():
        columns = named_by_key(columns_of(LostDomain), key)
        yield Sheet(title="", columns=columns, rows=sorted(losses, key=badness), tone=tone, noun=short_key(key))
    yield degraded


def _named(losses: Sequence[LostDomain]) -> str:
    more = f" and {len(losses) - 1:,} more" if len(losses) > 1 else ""
    return f"{losses[0].name}{more}"
