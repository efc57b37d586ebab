"""Pods by domain: a bar each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubespread.views.lines import CUT
from kubespread.views.page.parts import breakable, of_bars, text
from kubespread.views.terminal import shared
from kubespread.views.view import Bar, Bars
from kubespread.wording import count_of

_BAR, _LINE = 320, 20
_MOST_BARS = 24
_LONG = 24
"""Letters of a name that is shortened."""


def bars(every: Sequence[Bars]) -> str:
    """Each constraint with a bar per domain and its numbers beside it."""
    drawn = "".join(_bars(f"c{place}", chart) for place, chart in enumerate(every))
    return f"<section><h2>Constraints</h2>{of_bars(every)}{drawn}</section>" if every else ""


def _bars(name: str, chart: Bars) -> str:
    every = sorted(chart.bars, key=lambda bar: -bar.after) if len(chart.bars) > _MOST_BARS else chart.bars
    shown, hidden = every[:_MOST_BARS], every[_MOST_BARS:]
    most = max(1, chart.limit or 0, *(max(bar.before, bar.after) for bar in chart.bars))
    called = _called([bar.name for bar in shown])
    rows = "".join(_bar(bar, called[bar.name], most, chart.limit) for bar in shown)
    more = f"<p>and {count_of(len(hidden), 'more domain')} {_at_most(hidden[0].after)}</p>" if hidden else ""
    head = '<tr><th scope="col">Domain</th><th scope="col">Pods</th><th scope="col">In numbers</th></tr>'
    caption = f'<h3 id="{name}">{text(chart.title)}</h3>'
    table = f'<table class="bars" aria-labelledby="{name}"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'{caption}<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}">{table}</div>{more}'


def _at_most(pods: int) -> str:
    return f"with at most {count_of(pods, 'pod')} each" if pods else "without pods"


def _bar(bar: Bar, name: str, most: int, limit: int | None) -> str:
    was, now = (round(_BAR * count / most) for count in (bar.before, bar.after))
    line = (
        ""
        if limit is None
        else f'<line class="limit" x1="{_at(limit, most)}" x2="{_at(limit, most)}" y1="0" y2="{_LINE}"/>'
    )
    drawing = (
        f'<svg viewBox="0 0 {_BAR + 2} {_LINE}" width="{_BAR + 2}" height="{_LINE}" preserveAspectRatio="none" '
        'aria-hidden="true">'
        f'<rect class="was" width="{min(was, now)}" height="{_LINE}"/>'
        f'<rect class="came {bar.tone}" x="{min(was, now)}" width="{max(0, now - was)}" height="{_LINE}"/>'
        f'<rect class="went" x="{now}" width="{max(0, was - now)}" height="{_LINE}"/>{line}</svg>'
    )
    return (
        f'<tr class="{bar.tone}"><th scope="row" title="{text(bar.name)}">{breakable(name)}</th>'
        f"<td>{drawing} <span>{bar.after}</span></td><td>{text(bar.arithmetic)}</td></tr>"
    )


def _at(limit: int, most: int) -> int:
    return round(_BAR * limit / most)


def _called(names: Sequence[str]) -> Mapping[str, str]:
    """Long names without what all of them share."""
    prefix, end = shared([name for name in names if len(name) > _LONG])
    return {
        name: f"{CUT if prefix else ''}{name.removeprefix(prefix).removesuffix(end)}" if len(name) > _LONG else name
        for name in names
    }
