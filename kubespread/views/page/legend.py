"""What the marks and colors of a page mean, in words beside a sample of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.questions.map.report import TopologyMap, is_closed
from kubespread.views.page.markup import text
from kubespread.views.page.picture import SHADES, is_judged, joining_nodes, names_nodes
from kubespread.views.view import Bars, View


def of_picture(account: View, drawn: TopologyMap) -> str:
    """What a dot is, what the color of a node says, and how nodes look that take no pods."""
    return _listed(_in_picture(account, drawn))


def of_bars(every: Sequence[Bars]) -> str:
    """The meaning of the parts that bars have."""
    return _listed(_in_bars(every))


def _in_picture(account: View, drawn: TopologyMap) -> Iterator[str]:
    joining = joining_nodes(account, drawn)
    if names_nodes(len(drawn.nodes) + len(joining)):
        yield text(" ".join(["● a", *_dot(account, drawn)]))
        if account.is_rollout:
            yield text("○ one with the old template")
    else:
        noun, *meanings = _dot(account, drawn)
        what, *which = noun.split(" ")
        yield text(" ".join([f"Number on a node: its {what}s", *which, *meanings]))
    if is_judged(account):
        assert account.nodes is not None
        yield text(f"Color of a node: {account.nodes.colors}")
    else:
        yield text("Requested of a node's fullest resource:")
        yield from (_sample(style, f"from {least}%") for least, style in reversed(SHADES))
    if any(is_closed(node.closed) for node in drawn.nodes) or any(frame.states for frame in account.frames):
        yield _sample("closed", "cordoned or not ready")
    if any(node.joined for node in drawn.nodes) or joining:
        yield _sample("joined", "joined")
    if any(frame.gone for frame in account.frames):
        yield _sample("off", "gone, or not there yet")
    if account.frames:
        yield _sample("moved", "changed in this step")


def _dot(account: View, drawn: TopologyMap) -> tuple[str, ...]:
    """The noun, and which of these."""
    if account.before is not None:
        return (account.dot or "replica",)
    if drawn.selector is not None:
        return "pod", f"matching {drawn.selector}"
    return ("pod",) if drawn.workload is None else ("pod", f"of {drawn.workload}")


def _in_bars(every: Sequence[Bars]) -> Iterator[str]:
    bars = [bar for chart in every for bar in chart.bars]
    changes = any(bar.before != bar.after for bar in bars)
    yield _sample("was", "matching pods that stay" if changes else "matching pods")
    if any(bar.after > bar.before for bar in bars):
        yield _sample("came", "that come")
    if any(bar.after < bar.before for bar in bars):
        yield _sample("went", "that go")
    if any(chart.is_beside for chart in every) and changes:
        yield _sample("line", "from where to where they go")
    if any(chart.limit is not None for chart in every):
        yield _sample("limit", "the most a domain may have: minimum + maxSkew")


def _sample(style: str, meaning: str) -> str:
    return f'<span class="sample {style}"></span>{text(meaning)}'


def _listed(items: Iterator[str]) -> str:
    return f'<ul class="legend">{"".join(f"<li>{item}</li>" for item in items)}</ul>'
