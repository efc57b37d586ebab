"""The picture of an answer that is about no nodes, or about many: a bar for each row, with what it says beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.views.page.parts import as_list, breakable, sample, short_name, text
from kubespread.views.view import Chart, ChartRow
from kubespread.wording import count_of

_WIDE, _HIGH = 1000, 16
_MOST = 12
"""Rows of a chart: tables below it have them all."""


def charts(every: Sequence[Chart]) -> str:
    """Each that has rows, with the meaning of its colors right above it."""
    return "".join(_chart(f"g{place}", chart) for place, chart in enumerate(every) if chart.rows)


def _chart(name: str, chart: Chart) -> str:
    longest = max((sum(size for _, size in row.parts) for row in chart.rows), default=0)
    rows = "".join(_row(row, row.of or longest or 1) for row in chart.rows[:_MOST])
    left_out = len(chart.rows) - _MOST
    more = f'<p class="legend">and {count_of(left_out, "more row")} in the table below</p>' if left_out > 0 else ""
    head = '<tr><th scope="col">What</th><th scope="col">Bar</th><th scope="col">In words</th></tr>'
    return (
        f'<section class="chart"><h2 id="{name}">{text(chart.title)}</h2>{as_list(_legend(chart))}'
        f'<table aria-labelledby="{name}"><thead class="told">{head}</thead><tbody>{rows}</tbody></table>'
        f"{more}</section>"
    )


def _legend(chart: Chart) -> Iterator[str]:
    drawn = {tone for row in chart.rows for tone, size in row.parts if size}
    yield from (sample(tone, meaning) for tone, meaning in chart.meanings.items() if tone in drawn)


def _row(row: ChartRow, whole: float) -> str:
    past, drawn = 0.0, []
    for tone, size in row.parts:
        width = min(_WIDE, round(_WIDE * (past + size) / whole)) - round(_WIDE * past / whole)
        drawn.append(
            f'<rect class="{tone}" x="{round(_WIDE * past / whole)}" width="{max(0, width)}" height="{_HIGH}"/>'
        )
        past += size
    svg = f'<svg viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none" aria-hidden="true">{"".join(drawn)}</svg>'
    return f'<tr><th scope="row">{short_name(row.name)}</th><td>{svg}</td><td>{breakable(row.says)}</td></tr>'
