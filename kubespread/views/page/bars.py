"""Pods by domain: a bar each, or before and after beside each other with what moves between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kubespread.views.lines import CUT
from kubespread.views.page.parts import breakable, of_bars, text
from kubespread.views.terminal import shared
from kubespread.views.view import Bar, Bars
from kubespread.wording import count_of

_BAR, _LINE = 320, 20
_MOST_BARS = 24
_BETWEEN = 100
"""How wide moves are drawn; a page stretches them."""
_LEAST, _WIDEST = 1.5, 9.0
"""Of lines, for one pod and for the most."""
_HEADS = '<div class="sides heads" aria-hidden="true"><p>before</p><p>after</p></div>'
_LONG = 24
"""Letters of a name that is shortened."""


def bars(every: Sequence[Bars]) -> str:
    """Each constraint with a bar per domain and its numbers beside it."""
    charts = [chart for chart in every if not chart.is_beside]
    drawn = "".join(_bars(f"c{place}", chart) for place, chart in enumerate(charts))
    return f"<section><h2>Constraints</h2>{of_bars(charts)}{drawn}</section>" if charts else ""


def _bars(name: str, chart: Bars) -> str:
    shown, hidden = _shown(chart, lambda bar: -bar.after)
    most, called = _most(chart), _called([bar.name for bar in shown])
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


def _shown(chart: Bars, weight: Callable[[Bar], int]) -> tuple[Sequence[Bar], Sequence[Bar]]:
    """The bars there is room for, and the others."""
    bars = sorted(chart.bars, key=weight) if len(chart.bars) > _MOST_BARS else chart.bars
    return bars[:_MOST_BARS], bars[_MOST_BARS:]


def _most(chart: Bars) -> int:
    return max(1, chart.limit or 0, *(max(bar.before, bar.after) for bar in chart.bars))


def sides(every: Sequence[Bars]) -> str:
    """Before to the left, after to the right, and lines between them for the pods that go from one to another."""
    charts = [chart for chart in every if chart.is_beside]
    drawn = "".join(_sides(f"s{place}", chart) for place, chart in enumerate(charts))
    return f"<section><h2>Before and after</h2>{of_bars(charts)}{drawn}</section>" if charts else ""


def _sides(name: str, chart: Bars) -> str:
    shown, hidden = _shown(chart, lambda bar: -abs(bar.after - bar.before))
    most = _most(chart)
    more = f"<p>and {count_of(len(hidden), 'more domain')} that change less</p>" if hidden else ""
    called = _called([bar.name for bar in shown])
    cells = "".join(
        _side(bar, called[bar.name], most, is_after=is_after) for bar in shown for is_after in (False, True)
    )
    return (
        f'<h3 id="{name}">{text(chart.title)}</h3>{_HEADS}'
        f'<div class="sides" role="group" aria-labelledby="{name}">{cells}'
        f"{_lines(chart, [*called])}</div>{more}"
    )


def _called(names: Sequence[str]) -> Mapping[str, str]:
    """Long names without what all of them share."""
    prefix, end = shared([name for name in names if len(name) > _LONG])
    return {
        name: f"{CUT if prefix else ''}{name.removeprefix(prefix).removesuffix(end)}" if len(name) > _LONG else name
        for name in names
    }


def _side(bar: Bar, name: str, most: int, *, is_after: bool) -> str:
    """A name with its pods, and a bar that grows away from the other side."""
    pods, stay = bar.after if is_after else bar.before, min(bar.before, bar.after)
    wide, kept = (round(_BAR * count / most) for count in (pods, stay))
    start, changes = (kept, "came") if is_after else (_BAR - wide, "went")
    drawing = (
        f'<svg viewBox="0 0 {_BAR} {_LINE}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="was" x="{0 if is_after else _BAR - kept}" width="{kept}" height="{_LINE}"/>'
        f'<rect class="{changes}" x="{start}" width="{wide - kept}" height="{_LINE}"/></svg>'
    )
    when = "after" if is_after else "before"
    return (
        f'<p class="{when}"><span title="{text(bar.name)}">{breakable(name)}</span> '
        f'<span class="told">{when}</span> <b>{pods:,}</b> {drawing}</p>'
    )


def _lines(chart: Bars, names: Sequence[str]) -> str:
    """Lines from what loses pods to what gets some, through one point: which pod goes where is not known."""
    rows = {name: place + 0.5 for place, name in enumerate(names)}
    middle, half = len(names) / 2, _BETWEEN // 2
    changes = [(rows[bar.name], bar.after - bar.before) for bar in chart.bars if bar.name in rows]
    went = [(0, row, half, middle, -more) for row, more in changes if more < 0]
    came = [(half, middle, _BETWEEN, row, more) for row, more in changes if more > 0]
    lines = [*went, *came] if went and came else []
    most = max((pods for *_, pods in lines), default=1)
    paths = "".join(_line(*line, most) for line in lines)
    return (
        f'<svg class="moves" viewBox="0 0 {_BETWEEN} {len(names)}" preserveAspectRatio="none" aria-hidden="true">'
        f"{paths}</svg>"
    )


def _line(left: int, top: float, right: int, bottom: float, pods: int, most: int) -> str:
    middle, width = (left + right) // 2, _LEAST + (_WIDEST - _LEAST) * (pods - 1) / max(1, most - 1)
    return f'<path d="M{left},{top} C{middle},{top} {middle},{bottom} {right},{bottom}" stroke-width="{width:.1f}"/>'
