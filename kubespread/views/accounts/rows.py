"""The rows that columns in a pipe have, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubespread.views.aligned import NONE
from kubespread.views.sheet import Row, Table, Tone


def table_of(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    tones: Iterable[Tone] = (),
    *,
    is_detail: bool = False,
) -> Table:
    """``header`` in upper case as columns have it; a cell without a value is empty. ``tones`` go with the rows."""
    each = iter(tones)
    words = [name.replace("-", " ").capitalize() for name in header]
    told = [Row(["" if cell == NONE else str(cell) for cell in row], next(each, Tone.PLAIN)) for row in rows]
    return Table(caption, words, told, is_detail)


def whose(namespace: str | None, selector: str) -> Iterator[str]:
    """Which workloads are asked about."""
    yield "all namespaces" if namespace is None else f"namespace {namespace}"
    if selector:
        yield f"with {selector}"
