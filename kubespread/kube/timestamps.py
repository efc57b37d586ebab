"""Moments as Kubernetes writes them: RFC 3339, to the second.

Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/time.go, Time, UnmarshalJSON, MarshalJSON
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from kubespread.kube.gotext import quote

_RFC_3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
_ZERO = datetime(1, 1, 1, tzinfo=UTC)


class TimestampError(ValueError):
    """Text that is no moment."""


@lru_cache(maxsize=4096)
def parse(text: str) -> datetime | None:
    """The moment; None for an absent one, which Go also writes as the first second of year 1.

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
    """The moment where ``text`` says one, else None: of something that need not have any."""
    try:
        return parse(text or "")
    except TimestampError:
        return None


@lru_cache(maxsize=64)
def format_utc(moment: datetime) -> str:
    """``moment`` to the second, as the API server writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
