"""Simulations for people: one workload as a picture, several as one line each unless they are wanted in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.layout import Line, written
from kubespread.views.look import Look
from kubespread.views.simulate.overview import overview
from kubespread.views.simulate.picture import picture
from kubespread.views.simulate.scaling import account_of, scaling


def write(reports: Sequence[SimulateReport], look: Look) -> str:
    """The whole answer, in lines that ``look.width`` bounds."""
    lines = overview(reports, look) if len(reports) > 1 and not look.in_full else _pictures(reports, look)
    account = account_of(reports)
    scaled = scaling(account, look) if account is not None else ()
    return written(chain(lines, scaled), color=look.color)


def _pictures(reports: Sequence[SimulateReport], look: Look) -> Iterator[Line]:
    for number, report in enumerate(reports):
        if number:
            yield ()
        yield from picture(report, look)
