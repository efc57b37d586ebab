"""Text that is safe to show: what could move a cursor, hide or turn around what stands beside it is spelled out."""

from __future__ import annotations

from kubespread.regex import regex


def escape(text: str) -> str:
    """``text`` as one line of printable characters.

    Line breaks, control, C1, bidirectional and other invisible characters, and the bytes of a name that is not UTF-8
    become escapes such as ``\\n``, ``\\x1b``, ``\\u202e`` and ``\\udcff``.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


_COLORS = regex(r"(\x1b\[[0-9;]*m)")


def printable(text: str, *, colored: bool = False) -> str:
    """A whole answer with nothing in it that moves a cursor or hides, whoever wrote it: everything but line breaks and
    tabs is escaped, and where it is ``colored`` but what sets colors.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    if not colored:
        return "".join(map(_show, text))
    pieces = _COLORS.split(text)
    return "".join(piece if place % 2 else "".join(map(_show, piece)) for place, piece in enumerate(pieces))


def _show(char: str) -> str:
    return char if char in "\n\t" else escape(char)


_ASCII = bytes(range(0x80))


def json_escaped(text: str) -> str:
    """A JSON text, in which every line break is layout, with its strings escaped as JSON does it."""
    data = text.encode("utf-8", "surrogatepass")
    # Of megabytes few are no ASCII, and JSON has control characters of ASCII as escapes, but for the last one.
    if b"\x7f" not in data and data.translate(None, _ASCII).decode("utf-8", "surrogatepass").isprintable():
        return text
    return "\n".join(line if line.isprintable() else "".join(map(_json_character, line)) for line in text.split("\n"))


def _json_character(char: str) -> str:
    """Two escapes for a character beyond 16 bits."""
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
