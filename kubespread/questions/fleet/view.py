"""A row for each cluster, the worst first; on a page a tile for each, which leads to the rows of its own answer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from kubespread.questions.fleet.report import WORST_FIRST, FleetCluster, FleetReport
from kubespread.reports.columns import Fit, Readers
from kubespread.views.look import Cell, Tone
from kubespread.views.sheet import Column, Sheet
from kubespread.views.terminal import headline
from kubespread.views.view import TONES, Metric, Tile, View, beside, view_of
from kubespread.wording import age, count_of

_LEAST_SHARE = 0.01
_MAX_ROWS = 20
"""Rows of clusters that pass, on a terminal."""


def _says(row: FleetCluster, *, in_brief: bool = False) -> str:
    """Its answer in one line, after what could not be read, before what is not met; ``in_brief`` of a no the worst
    that is wrong instead.
    """
    answer = row.finding if in_brief and row.finding and row.verdict == "no" else row.headline
    parts = ((row.error or "").removeprefix(f"{row.name}: "), *row.faults, answer, *row.unmet)
    return "; ".join(part.replace("\n", "; ") for part in parts if part)


def _tone(row: FleetCluster) -> Tone:
    """Green only where nothing is to be said against it."""
    return max((TONES[row.passes], TONES[row.verdict]), key=(Tone.GOOD, Tone.WARN, Tone.BAD).index)


def _age(row: FleetCluster) -> int | None:
    return None if row.cluster is None else row.cluster.age_seconds


def _old(row: FleetCluster) -> str:
    seconds = _age(row)
    return "" if seconds is None else age(seconds)


def _share(row: FleetCluster) -> str:
    """``45% of 11``, ``<1% of 455``, ``0 of 3``."""
    if row.share is None:
        return ""
    part = "0" if not row.share.bad else "<1%" if row.share.part < _LEAST_SHARE else f"{row.share.part:.0%}"
    return f"{part} of {row.share.total:,}"


def _columns(folder: str, noun: str) -> Sequence[Column[FleetCluster]]:
    """``folder`` is left out of names on a terminal; ``noun`` is what shares are of, if there are any."""
    return (
        Column(
            "CLUSTER",
            lambda row: row.name,
            on_terminal=lambda row: row.name.removeprefix(folder),
            fit=Fit.NAMES,
            least=24,
        ),
        Column("VERDICT", lambda row: row.verdict, tone=lambda row: TONES[row.verdict]),
        Column(
            "PASSES",
            lambda row: row.passes,
            hides_empty=True,
            nothing="",
            tone=lambda row: TONES[row.passes],
            on_terminal=lambda row: row.passes if row.passes != row.verdict else None,
        ),
        Column("AGE", _old, Readers.TERMINAL | Readers.PAGES, hides_empty=True, nothing=""),
        Column("AGE-SECONDS", _age, Readers.PIPES),
        Column("NODES", lambda row: row.nodes, nothing="", is_number=True),
        Column("PODS", lambda row: row.pods, nothing="", is_number=True, gives_way=True),
        Column(
            f"BAD-{noun.upper()}",
            _share,
            Readers.TERMINAL | Readers.PAGES,
            hides_empty=True,
            nothing="",
            is_number=True,
            short="BAD",
        ),
        Column("BAD", lambda row: row.share and row.share.bad, Readers.PIPES),
        Column("OF", lambda row: row.share and row.share.total, Readers.PIPES),
        Column("FINDING", lambda row: row.finding, Readers.RECORDS),
        Column("ANSWER", _says, on_terminal=partial(_says, in_brief=True), fit=Fit.END, least=24),
    )


def view(report: FleetReport) -> View:
    rows, folder = report.clusters, _folder(report.clusters)
    noun = next((row.share.noun for row in rows if row.share is not None), "")
    title = f"{report.question['name']} of {count_of(len(rows), 'cluster')}"
    return View(
        metrics=partial(_metrics, report),
        title=title,
        provenance="",
        answer=report.said,
        tone=TONES[report.verdict],
        sheets=[
            Sheet(
                title="Clusters", columns=_columns(folder, noun), rows=rows, tone=_tone, most=_MAX_ROWS, noun="cluster"
            )
        ],
        heading=lambda look: headline([Cell(title, Tone.STRONG)], folder.removesuffix("/"), look),
        names=[row.name for row in rows if (row.verdict, row.passes) != ("yes", "yes")],
        tiles=[
            Tile(
                row.name.removeprefix(folder),
                _verdict(row),
                _tone(row),
                says=_says(row, in_brief=True),
                views=partial(_views, row),
            )
            for row in rows
        ],
        beside=beside([report]),
    )


def _views(row: FleetCluster) -> Sequence[View]:
    return [view_of(report) for report in row.reports]


def _verdict(row: FleetCluster) -> str:
    return row.verdict if row.error is None else "no answer"


def _folder(rows: Sequence[FleetCluster]) -> str:
    """Common beginning of all names, with the slash behind it."""
    return os.path.commonprefix([row.name for row in rows]).rpartition("/")[0] + "/"


def _metrics(report: FleetReport) -> Iterator[Metric]:
    asked = report.question["name"]
    rows = [({"cluster": row.name, "question": asked}, row) for row in report.clusters]
    verdicts = [
        ({**on, "verdict": verdict}, int(row.verdict == verdict)) for on, row in rows for verdict in WORST_FIRST
    ]
    yield "fleet_verdict", "1 for the verdict of the cluster's answer, 0 for the others.", verdicts
    yield "fleet_passes", "1 where the question ends with a yes.", [(on, int(row.passes == "yes")) for on, row in rows]
    yield "fleet_answered", "0 where there is no answer.", [(on, int(row.error is None)) for on, row in rows]
    ages = [(on, seconds) for on, row in rows if (seconds := _age(row)) is not None]
    yield "fleet_snapshot_age_seconds", "How old what was read of the cluster is.", ages
