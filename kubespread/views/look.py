"""How an answer is laid out, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from kubespread.escaping import escaped


class RowOf(StrEnum):
    """What a row is about."""

    NODE = "node"
    DOMAIN = "domain"


class MapBy(StrEnum):
    """What the colors of a map are about."""

    LOAD = "load"
    SKEW = "skew"


class Tone(StrEnum):
    """How good something is; every place that colors it says it in words too."""

    PLAIN = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    STRONG = "strong"
    """Emphasized against its neighbors; FAINT is the opposite. Pages do not distinguish them."""
    FAINT = "faint"


class Look(Struct, frozen=True, kw_only=True):
    """``width`` is the terminal's in columns; without it nothing is folded. Each format heeds what applies to it."""

    width: int | None = None
    color: bool = False
    headers: bool = True
    wide: bool = False
    all_nodes: bool = False
    in_full: bool = False
    """Show several answers in full instead of one line each."""
    in_sentences: bool = False
    """Each row as a paragraph, where an answer has that form."""
    by: RowOf | None = None
    """What gets its own row; each format has its own default."""
    map_by: MapBy = MapBy.LOAD


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of text in one tone, on one line and safe to show, whosever it is."""

    text: str
    tone: Tone = Tone.PLAIN

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            object.__setattr__(self, "text", escaped(self.text))


Line = Sequence[Cell]
