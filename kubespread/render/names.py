"""Names of nodes and domains in a column that is too narrow for some of them."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.render.layout import cut_middle, width_of
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
