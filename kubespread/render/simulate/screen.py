"""Simulations for people: one workload as a picture, several as one line each unless they are wanted in full."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.look import Look
from kubespread.render.rich_text import printed
from kubespread.render.simulate.overview import overview
from kubespread.render.simulate.picture import picture


def write(reports: Sequence[SimulateReport], look: Look) -> str:
    """The whole answer, in lines that ``look.width`` bounds."""
    if len(reports) > 1 and not look.in_full:
        return printed(list(overview(reports, look)), look)
    parts: list[RenderableType] = []
    for report in reports:
        parts += [*([""] if parts else []), *picture(report, look)]
    return printed(parts, look)
