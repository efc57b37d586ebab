"""Numbers as they are typed."""

from __future__ import annotations

from kubespread.errors import UsageError

_MAX_DIGITS = 9


def count(option: str, text: str, expected: str) -> int:
    """A number that is not negative. Raises UsageError."""
    if not _is_count(text):
        raise UsageError(f"invalid {option} {text!r}: expected {expected}")
    return int(text)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
