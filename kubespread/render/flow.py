"""Phrases that share lines as long as a terminal is wide enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from kubespread.escaping import escaped
from kubespread.render.look import Look

GUTTER = "      "
INDENT = "  "
_HANGING = "    "
_USUAL_WIDTH = 120


def styled(text: str, style: str = "") -> Text:
    """``text`` with everything unprintable spelled out."""
    return Text(escaped(text), style=style)


def width_of(look: Look) -> int:
    """What lines aim at; where there is no terminal, sentences may be longer."""
    return look.width or _USUAL_WIDTH


def flowed(phrases: Iterable[Text], look: Look, *, gutter: str = GUTTER, indent: str = INDENT) -> Iterator[Text]:
    """Lines of whole phrases, each indented. A phrase that is wider than the terminal is folded between words."""
    line = Text()
    for phrase in phrases:
        if line and line.cell_len + len(gutter) + phrase.cell_len <= width_of(look):
            line = Text.assemble(line, gutter, phrase)
            continue
        if line:
            yield from folded(line, look)
        line = Text.assemble(indent, phrase)
    if line:
        yield from folded(line, look)


def folded(line: Text, look: Look) -> Iterator[Text]:
    """``line`` in as many as the terminal demands, all but the first indented."""
    if look.width is None or line.cell_len <= look.width:
        yield line
        return
    first, *others = line.wrap(Console(width=look.width), look.width - len(_HANGING))
    yield first
    for other in others:
        yield Text.assemble(_HANGING, other)


def cut_middle(text: Text, width: int) -> Text:
    """``text`` without its middle where it is wider than ``width``: both ends tell names apart."""
    if text.cell_len <= width:
        return text
    keep, whole = width - 1, text.plain
    head, tail = whole[: keep // 2], whole[-(keep - keep // 2) :]
    while cell_len(head) + cell_len(tail) > keep:
        head, tail = (head[:-1], tail) if cell_len(head) > cell_len(tail) else (head, tail[1:])
    return Text(f"{head}…{tail}")
