"""Durations and timestamps, as Go's time parses them.

Source: vendor/github.com/google/cel-go/common/stdlib/standard.go, inTimeZone
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from kubespread.scheduler.plugins.dynamicresources.cel.declaring import Function, Run, declared
from kubespread.scheduler.plugins.dynamicresources.cel.values import Duration, EvaluationError, Timestamp, exact

SECOND = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_FIRST_SECOND, _LAST_SECOND = -62135596800, 253402300799
"""Of the years 1 to 9999."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))", re.ASCII
)


def within_duration(nanoseconds: int) -> Duration:
    if not -(2**63) <= nanoseconds < 2**63:
        raise EvaluationError("duration overflow")
    return Duration(nanoseconds)


def within_timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    if not _FIRST_SECOND <= nanoseconds // SECOND <= _LAST_SECOND:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def timestamp_of_seconds(seconds: int) -> Timestamp:
    return within_timestamp(seconds * SECOND)


def parse_duration(text: str) -> Duration | None:
    """``1h30m``; None where it is none."""
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if digits == "0":
        return Duration(0)
    if not re.fullmatch(f"(?:{_PART})+", digits, re.ASCII):
        return None
    nanoseconds = 0
    for number, unit in re.findall(_PART, digits, re.ASCII):
        whole, _, fraction = number.partition(".")
        nanoseconds += int(whole or 0) * _UNITS[unit]
        nanoseconds += int(fraction or 0) * _UNITS[unit] // 10 ** len(fraction)
    nanoseconds = -nanoseconds if text.startswith("-") else nanoseconds
    return Duration(nanoseconds) if -(2**63) <= nanoseconds < 2**63 else None


def parse_timestamp(text: str) -> Timestamp | None:
    """None where it is none. Raises EvaluationError."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    *parts, fraction, _zulu, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = map(int, parts)
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    offset = 0
    if sign is not None:
        if int(hours) > 24 or int(minutes) >= 60:
            return None
        offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - offset
    return within_timestamp(seconds * SECOND + int((fraction or "0")[:9].ljust(9, "0")), offset)


def duration_text(duration: Duration) -> str:
    # Go adds whole seconds and the rest as floats.
    sign = -1 if duration.nanoseconds < 0 else 1
    seconds, rest = divmod(abs(duration.nanoseconds), SECOND)
    return f"{exact(sign * (float(seconds) + float(rest) / 1e9))}s"


def timestamp_text(timestamp: Timestamp) -> str:
    moment = _moment(timestamp, timezone(timedelta(seconds=timestamp.offset)))
    fraction = f".{timestamp.nanoseconds % SECOND:09}".rstrip("0").rstrip(".")
    hours, minutes = divmod(abs(timestamp.offset) // 60, 60)
    zone = f"{'-' if timestamp.offset < 0 else '+'}{hours:02}:{minutes:02}" if timestamp.offset else "Z"
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction + zone


def _moment(timestamp: Timestamp, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=timestamp.nanoseconds // SECOND)).astimezone(zone)
    except OverflowError as error:
        raise EvaluationError("timestamp overflow") from error


def _zone(name: str) -> tzinfo:
    hours, colon, minutes = name.partition(":")
    if not colon:
        if name in ("", "UTC", "Local"):
            return UTC
        if ".." in name or name[0] in "/\\":
            raise EvaluationError("time: invalid location name")
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, LookupError):
            raise EvaluationError(f"unknown time zone {name}") from None
    for part in (hours, minutes):
        if not re.fullmatch(r"[+-]?\d+", part, re.ASCII):
            raise EvaluationError(f'strconv.Atoi: parsing "{part}": invalid syntax')
    offset = int(hours) * 60 + int(minutes) * (-1 if name.startswith("-") else 1)
    try:
        return timezone(timedelta(minutes=offset))
    except ValueError as error:
        raise EvaluationError("timestamp overflow") from error


def _part(name: str, part: Callable[[datetime], int], unit: int | None = None) -> Function:
    """Of a timestamp in UTC or in a time zone, and of a duration where there is a ``unit``."""

    def of(timestamp: Timestamp, zone: str = "UTC") -> int:
        if name == "getMilliseconds":
            _zone(zone)
            return timestamp.nanoseconds % SECOND // 10**6
        return part(_moment(timestamp, _zone(zone)))

    rows: dict[str, Run] = {"timestamp | -> int": of, "timestamp | string -> int": of}
    if unit is not None:
        rows["duration | -> int"] = lambda duration: int(duration.nanoseconds / unit)
    return declared(name, rows)


FUNCTIONS = [
    _part("getFullYear", lambda moment: moment.year),
    _part("getMonth", lambda moment: moment.month - 1),
    _part("getDayOfYear", lambda moment: moment.timetuple().tm_yday - 1),
    _part("getDayOfMonth", lambda moment: moment.day - 1),
    _part("getDate", lambda moment: moment.day),
    _part("getDayOfWeek", lambda moment: (moment.weekday() + 1) % 7),
    _part("getHours", lambda moment: moment.hour, 3600 * SECOND),
    _part("getMinutes", lambda moment: moment.minute, 60 * SECOND),
    _part("getSeconds", lambda moment: moment.second, SECOND),
    _part("getMilliseconds", lambda moment: moment.microsecond, 10**6),
]
