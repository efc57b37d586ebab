"""Numbers as they are typed."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.errors import UsageError

Keyed = tuple[tuple[str, int], ...]
"""Numbers by topology key; a key given twice is there twice."""
_MAX_DIGITS = 9


def count(option: str, text: str, expected: str) -> int:
    """A number that is not negative. Raises UsageError."""
    if not _is_count(text):
        raise UsageError(f"invalid {option} {text!r}: expected {expected}")
    return int(text)


def keyed(option: str, texts: Sequence[str] | None) -> Keyed:
    """``KEY=N``, as often as wanted. Raises UsageError."""
    pairs = []
    for text in texts or ():
        key, _, number = text.partition("=")
        if not key or not _is_count(number):
            raise UsageError(f"invalid {option} {text!r}: expected KEY=N, such as topology.kubernetes.io/zone=1")
        pairs.append((key, int(number)))
    return tuple(pairs)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
