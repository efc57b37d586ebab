"""Columns for pipes, with the sheets and columns that only who asks for them gets."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.views import plain
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.registry import view_of


def write(answer: Answer, look: Look) -> str:
    """On a terminal too, unless the answer has a wide table for it."""
    wide = replace(look, wide=True)
    if look.width is None or not view_of(answer).is_wide_on_terminals:
        return plain.write(answer, wide)
    from kubespread.views import terminal

    return terminal.write(answer, wide)
