"""Several runs of a simulation side by side, and how many nodes each placement looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.parts import letter
from kubespread.planner.reports.runs import Run
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import Cell, Column, Line, cell, tabulated, wrapped
from kubespread.views.look import Look
from kubespread.views.simulate.constraints import figures
from kubespread.wording import short_key

_MAX_RUNS = 10


def sampling_sentence(report: SimulateReport) -> str | None:
    """How many nodes are scored for each placement, where kube-scheduler does not score all."""
    sampling = report.sampling
    if sampling is None:
        return None
    if sampling.start is None:
        return (
            f"every node that fits is scored; kube-scheduler stops at {sampling.enough:,} of {sampling.nodes:,}, "
            "as --sample does"
        )
    return (
        f"sampled: at most {sampling.enough:,} of {sampling.nodes:,} nodes are scored for each placement, "
        f"the first search beginning at node {sampling.start:,} of kube-scheduler's list"
    )


def run_rows(report: SimulateReport, look: Look) -> Iterator[Line]:
    """A row a run with the pods of each constraint's domains; of many runs those with the greatest and least skew."""
    if report.runs is None or not report.constraints:
        return
    shown, between = _extremes(report.runs.each)
    columns = [
        *_identities(shown),
        Column("PLACED", [Cell(str(run.placed)) for run in shown], is_number=True),
        *(
            Column(f"{letter(place)} {short_key(constraint.topology_key)}", [_outcome(run, place) for run in shown])
            for place, constraint in enumerate(report.constraints)
        ),
    ]
    for line in tabulated(columns, headers=look.headers):
        yield from wrapped(line, look.width, HANGING)
    if between:
        yield [cell(f"{INDENT}and {between:,} run{'' if between == 1 else 's'} between these")]


def _identities(shown: Sequence[Run]) -> Iterator[Column]:
    """What tells a run from the others."""
    for header, values in (("SEED", [run.seed for run in shown]), ("FROM NODE", [run.start for run in shown])):
        if any(value is not None for value in values):
            yield Column(header, [Cell(str(value)) for value in values], is_number=True)


def _extremes(runs: Sequence[Run]) -> tuple[Sequence[Run], int]:
    if len(runs) <= _MAX_RUNS:
        return runs, 0
    ordered = sorted(runs, key=lambda run: tuple(-skew for skew in run.skew))
    return [*ordered[: _MAX_RUNS // 2], *ordered[-_MAX_RUNS // 2 :]], len(runs) - _MAX_RUNS


def _outcome(run: Run, place: int) -> Cell:
    domains = run.domains[place]
    return Cell(f"{figures(domains)}, skew {run.skew[place]}" if domains else "")
