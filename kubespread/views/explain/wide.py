"""The table or the plain columns, with a column for each score plugin."""

from __future__ import annotations

from dataclasses import replace

from kubespread.planner.reports.explain import ExplainReport
from kubespread.views.look import Look


def write(report: ExplainReport, look: Look) -> str:
    """A table where there is a terminal, else plain columns, for which rich need not be imported."""
    wide = replace(look, wide=True)
    if look.width is None:
        from kubespread.views.explain import plain

        return plain.write(report, wide)
    from kubespread.views.explain import table

    return table.write(report, wide)
