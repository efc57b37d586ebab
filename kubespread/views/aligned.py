"""kubectl-style columns for pipes: upper-case headers, three blanks between columns, nothing folded or cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubespread.escaping import escaped

NONE = "<none>"
"""A cell without a value."""
_GUTTER = "   "


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns as wide as their widest cell, every cell on its line."""
    if not rows:
        return ""
    rows = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (_GUTTER.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def columns(header: Sequence[str], rows: Iterable[Sequence[object]], *, headers: bool) -> str:
    """Rows below their header, where that is wanted."""
    texts = [[str(value) for value in row] for row in rows]
    return aligned([header, *texts] if headers else texts)


def blocks(*parts: tuple[Sequence[str], Iterable[Sequence[object]]], headers: bool) -> str:
    """Rows below their headers, block after block with a blank line between; a block without rows is left out."""
    filled = [(header, list(rows)) for header, rows in parts]
    return "\n".join(columns(header, rows, headers=headers) for header, rows in filled if rows)
