"""A row for each cluster, the worst first; on a page a tile for each, which leads to the rows of its own answer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from kubespread.questions.fleet.report import FleetCluster, FleetReport
from kubespread.views.layout import DIM, HEAD, Line, answered, cell, flowed, left_out, remarks
from kubespread.views.look import Look
from kubespread.views.registry import view_of
from kubespread.views.sheet import Column, Fit, Readers, Sheet, Tone
from kubespread.views.terminal import table
from kubespread.views.view import TONES, Tile, View, beside
from kubespread.wording import age, count_of

_MOST_FINE = 20
"""Rows of clusters that pass, on a terminal."""


def _says(row: FleetCluster) -> str:
    """Its answer in one line, after what could not be read, before what is not met."""
    parts = ((row.error or "").removeprefix(f"{row.name}: "), *row.faults, row.headline, *row.unmet)
    return "; ".join(part.replace("\n", "; ") for part in parts if part)


def _tone(row: FleetCluster) -> Tone:
    """Green only where nothing is to be said against it."""
    return max((TONES[row.passes], TONES[row.verdict]), key=(Tone.GOOD, Tone.WARN, Tone.BAD).index)


def _age(row: FleetCluster) -> int | None:
    return None if row.cluster is None else row.cluster.age_seconds


def _old(row: FleetCluster) -> str:
    seconds = _age(row)
    return "" if seconds is None else age(seconds)


def _columns(folder: str = "") -> Sequence[Column[FleetCluster]]:
    """``folder`` is left out of names on a terminal."""
    return (
        Column(header="CLUSTER", value=lambda row: row.name, readers=Readers.RECORDS),
        Column(
            header="CLUSTER", value=lambda row: row.name.removeprefix(folder), fit=Fit.NAMES, least=24,
            readers=Readers.TERMINAL,
        ),
        Column(header="VERDICT", value=lambda row: row.verdict, tone=lambda row: TONES[row.verdict]),
        Column(header="PASSES", value=lambda row: row.passes, readers=Readers.RECORDS),
        Column(
            header="PASSES", value=lambda row: row.passes if row.passes != row.verdict else None, hides_empty=True,
            nothing="", readers=Readers.TERMINAL, tone=lambda row: TONES[row.passes],
        ),
        Column(header="AGE", value=_old, readers=Readers.TERMINAL | Readers.PAGES, hides_empty=True, nothing=""),
        Column(header="AGE-SECONDS", value=_age, readers=Readers.PIPES),
        Column(header="ANSWER", value=_says, fit=Fit.END, least=20),
    )  # fmt: skip


def view(report: FleetReport) -> View:
    """One row per cluster."""
    rows, folder = report.clusters, _folder(report.clusters)
    return View(
        title=f"{report.question['name']} of {count_of(len(rows), 'cluster')}",
        provenance="",
        answer=report.answer,
        tone=TONES[report.verdict],
        sheets=[Sheet(title="Clusters", columns=_columns(), rows=rows, tone=_tone)],
        names=[row.name for row in rows if (row.verdict, row.passes) != ("yes", "yes")],
        lines=lambda look: _lines(report, look),
        tiles=[
            Tile(row.name.removeprefix(folder), _verdict(row), _tone(row), says=_says(row), views=partial(_views, row))
            for row in rows
        ],
        beside=beside([report]),
    )  # fmt: skip


def _views(row: FleetCluster) -> Sequence[View]:
    return [view_of(report) for report in row.reports]


def _verdict(row: FleetCluster) -> str:
    return row.verdict if row.error is None else "no answer"


def _folder(rows: Sequence[FleetCluster]) -> str:
    """What all names begin with, with the slash behind it."""
    return os.path.commonprefix([row.name for row in rows]).rpartition("/")[0] + "/"


def _lines(report: FleetReport, look: Look) -> Iterator[Line]:
    folder = _folder(report.clusters)
    if look.headers:
        yield from flowed([[cell(view(report).title, HEAD)], [cell(folder.removesuffix("/"), DIM)]], look, indent="")
    yield from answered(report.answer, look)
    fine = [row for row in report.clusters if _tone(row) is Tone.GOOD]
    hidden = 0 if look.in_full else max(0, len(fine) - _MOST_FINE)
    rows = report.clusters[: len(report.clusters) - hidden]
    yield from table(_columns(folder), rows, look, explains_names=True)
    yield from left_out(hidden, "cluster", ": yes")
    yield from remarks(report.answer, look)
