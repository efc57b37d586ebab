"""Names of nodes and domains in a column that is too narrow for some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.render.flow import flowed
from kubespread.render.layout import DIM, Line, cell, cut_middle, width_of
from kubespread.render.look import Look
from kubespread.render.simulate.node_names import CUT, shared


def fitted(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each: without what all of them begin and end with, where they are longer,
    since the rest is what tells them apart.
    """
    if all(width_of(name) <= width for name in names):
        return list(names)
    prefix, suffix = shared(names)
    short = (name.removeprefix(prefix).removesuffix(suffix) for name in names)
    return [cut_middle(f"{CUT if prefix else ''}{name}{CUT if suffix else ''}", width) for name in short]


def left_out(names: Sequence[str], shown: Sequence[str]) -> str:
    """``node names: ip-10-0-….compute.internal``: what names of nodes leave out as they are ``shown``; else empty."""
    prefix, suffix = shared(names)
    return f"node names: {prefix}{CUT}{suffix}" if list(names) != list(shown) and (prefix or suffix) else ""


def legend(names: Sequence[str], shown: Sequence[str], look: Look) -> Iterator[Line]:
    """The same as a line of a screen."""
    if said := left_out(names, shown):
        yield from flowed([[cell(said, DIM)]], look)
