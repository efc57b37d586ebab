"""Text that is safe to show: characters that could move a cursor, hide text or change its direction are escaped."""

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
    """A whole answer, escaped except for printable characters, line breaks, tabs and, if ``colored``, colors."""
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
    """JSON with all characters of strings escaped that are not printable; its line breaks are layout."""
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
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
