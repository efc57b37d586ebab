"""kubectl-style columns for pipes: upper-case headers, three blanks between columns, nothing folded or cut."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.escaping import escaped

NONE = "<none>"
"""A cell without a value."""
EMPTY = '""'
"""A value that is the empty string."""
_GUTTER = "   "


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns as wide as their widest cell, every cell on its line."""
    if not rows:
        return ""
    rows = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (_GUTTER.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)
