"""Layout of an answer, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from kubespread.escaping import escape


class Tone(StrEnum):
    """Degree to which something is good or bad, always said in words too."""

    PLAIN = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    STRONG = "strong"
    """Emphasized against its neighbors; FAINT is the opposite. Pages do not distinguish them."""
    FAINT = "faint"


class Look(Struct, frozen=True, kw_only=True):
    """Layout of an answer; each format reads the fields that apply to it."""

    width: int | None = None
    """Columns of the terminal; None to fold nothing."""
    rows: int | None = None
    """Number of lines for the most important parts; None for all."""
    next_command: str = ""
    """Command to type next, at the end of an answer on a terminal."""
    color: bool = False
    headers: bool = True
    wide: bool = False
    in_full: bool = False
    """True to show everything: every row, and several answers in full instead of one line each."""
    drawn: Any = None
    """Map of the cluster, for a page."""


class Cell(Struct, frozen=True):
    """Text in one tone, on one line and safe to show."""

    text: str
    tone: Tone = Tone.PLAIN

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            force_setattr(self, "text", escape(self.text))


Line = Sequence[Cell]


class Sentence(Struct, frozen=True):
    """Text that is folded between words on a narrow terminal, unlike other lines, which can be copied whole."""

    cells: Line
    hanging: int = 4
    """Indent of folded lines."""


Text = Sentence | Line


class Rows(Struct, frozen=True):
    """A table on a terminal."""

    header: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    """Each with one or several lines."""
    noun: str = "row"
    below: Sequence[Text] = ()
    """Legend of the headers."""
    hidden: int = 0
    """Number of further rows."""
    tones: Sequence[Tone] = ()
    """Tone of each row; empty if the first rows are the most important."""


Part = Rows | Text
"""Part of a screen."""
