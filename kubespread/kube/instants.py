"""Points in time as objects of the API carry them: RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(text: str | None) -> datetime | None:
    """The time that ``text`` says, None where it says none."""
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return read if read.tzinfo is not None else None


def rfc3339(time: datetime) -> str:
    """``time`` as the API writes it: UTC, whole seconds."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
