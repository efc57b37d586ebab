"""Moments as Kubernetes writes them: RFC 3339, to the second.

Durations as Go reads and prints them: ``1h30m``, ``1.5s``.

Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/time.go, Time, UnmarshalJSON, MarshalJSON
Source: Go 1.26: src/time/format.go, ParseDuration
Source: Go 1.26: src/time/time.go, Duration
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from kubespread.kube.gotext import quote
from kubespread.regex import regex

SECOND = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = regex(r"(?P<whole>[0-9]*)(?P<point>\.(?P<fraction>[0-9]*))?(?P<unit>[^0-9.]+)")
_MAX = 2**63


def nanoseconds(text: str) -> int:
    """Parse ``text`` as Go's ParseDuration does. Raises ValueError in its words."""
    unsigned = text[1:] if text[:1] in ("-", "+") else text
    if unsigned == "0":
        return 0
    total, position = 0, 0
    while position < len(unsigned):
        part = _PART.match(unsigned, position)
        if part is None or not (part["whole"] or part["fraction"]):
            raise _missing_unit(text, unsigned[position:])
        if part["unit"] not in _UNITS:
            raise ValueError(f'time: unknown unit "{part["unit"]}" in duration "{text}"')
        unit, fraction = _UNITS[part["unit"]], part["fraction"] or ""
        # Digits that cannot matter are left out, so that long inputs cost no more than short ones.
        if len(part["whole"]) > len(str(_MAX)):
            raise ValueError(f'time: invalid duration "{text}"')
        total += int(part["whole"] or 0) * unit + int(fraction[:18] or 0) * unit // 10 ** len(fraction[:18])
        position = part.end()
    if not unsigned or total > _MAX - (text[0] != "-"):
        raise ValueError(f'time: invalid duration "{text}"')
    return -total if text[0] == "-" else total


def _missing_unit(text: str, rest: str) -> ValueError:
    lacks_unit = re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", rest)
    return ValueError(f'time: missing unit in duration "{text}"' if lacks_unit else f'time: invalid duration "{text}"')


def format_duration(total: int) -> str:
    """Nanoseconds as Go prints them."""
    sign, size = ("-" if total < 0 else ""), abs(total)
    if size < SECOND:
        for unit, factor in (("ms", 10**6), ("\u00b5s", 10**3), ("ns", 1)):
            if size >= factor:
                return f"{sign}{_decimal(size, factor)}{unit}"
        return "0s"
    hours, rest = divmod(size, 3600 * SECOND)
    minutes, seconds = divmod(rest, 60 * SECOND)
    front = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{front}{_decimal(seconds, SECOND)}s"


def _decimal(value: int, factor: int) -> str:
    whole, fraction = divmod(value, factor)
    digits = str(fraction).zfill(len(str(factor)) - 1).rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)


_RFC_3339 = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
_ZERO = datetime(1, 1, 1, tzinfo=UTC)


class TimestampError(ValueError):
    """Text that is no time."""


@lru_cache(maxsize=4096)
def parse(text: str) -> datetime | None:
    """Parse a time; None for an absent one, which Go also writes as the first second of year 1.
    Raises TimestampError.
    """
    if not text:
        return None
    try:
        # In UTC, in which some moments of the first and the last year are out of Python's reach.
        moment = datetime.fromisoformat(text).astimezone(UTC) if _RFC_3339.fullmatch(text) else None
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise TimestampError(f"{quote(text)} is not a time as RFC 3339 writes it (2006-01-02T15:04:05Z)")
    return None if moment == _ZERO else moment


def instant(text: str | None) -> datetime | None:
    """The time, if ``text`` is one; else None."""
    try:
        return parse(text or "")
    except TimestampError:
        return None


@lru_cache(maxsize=64)
def format_utc(moment: datetime) -> str:
    """The time to the second, as the API server writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
