"""What rich lays out, as text."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType

from kubespread.render.look import Look

_UNBOUNDED = 10_000


def printed(parts: Sequence[RenderableType], look: Look) -> str:
    """``parts`` one below the other, as text for a terminal."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=look.width or _UNBOUNDED,
        force_terminal=look.color,
        color_system="standard" if look.color else None,
        no_color=not look.color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    console.print(Group(*parts))
    # Rich fills every line up to the width of its table.
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
