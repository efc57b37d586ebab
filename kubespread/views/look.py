"""Layout of an answer, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from kubespread.escaping import escaped


class Tone(StrEnum):
    """Degree to which something is good or bad; every place that colors it says it in words too."""

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
    rows: int | None = None
    """Number of lines a terminal shows of an answer, the most important ones; without it all of them."""
    next_command: str = ""
    """Command to type after this, at the end of an answer on a terminal."""
    color: bool = False
    headers: bool = True
    wide: bool = False
    in_full: bool = False
    """True if all there is to say is shown: every row, and several answers in full instead of one line each."""
    drawn: Any = None
    """The cluster that a page draws, as map answers."""


class Cell(Struct, frozen=True):
    """A piece of text in one tone, on one line and safe to show, whosever it is."""

    text: str
    tone: Tone = Tone.PLAIN

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            force_setattr(self, "text", escaped(self.text))


Line = Sequence[Cell]


class Sentence(Struct, frozen=True):
    """Text that is folded between words where it is wider than a terminal; other lines are not, to be copied whole."""

    cells: Line
    hanging: int = 4
    """Columns by which folded lines are indented."""


Text = Sentence | Line


class Rows(Struct, frozen=True):
    """A table as a terminal has it."""

    header: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    """Each of one line or several."""
    noun: str = "row"
    below: Sequence[Text] = ()
    """Lines on what its headers mean, and what is left out of all its cells."""
    hidden: int = 0
    """Further rows."""
    tones: Sequence[Tone] = ()
    """Tone of each row, where the first are not the ones that matter most."""


Part = Rows | Text
"""Part of a screen."""
