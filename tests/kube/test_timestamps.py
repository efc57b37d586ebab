"""Moments as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubespread.kube.time import TimestampError, format_utc, parse


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T14:00:00+02:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00.250Z", datetime(2026, 3, 1, 12, 0, 0, 250000, tzinfo=UTC)),
        pytest.param("", None, id="absent"),
        pytest.param("0001-01-01T00:00:00Z", None, id="Go's zero time is absent too"),
    ],
)
def test_moment(text: str, moment: datetime | None) -> None:
    assert parse(text) == moment


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-03-01", "20260301T120000Z", "2026-02-30T12:00:00Z", "2026-03-01T12:00:00"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(TimestampError, match="is not a time as RFC 3339 writes it"):
        parse(text)


def test_a_moment_is_written_in_utc_to_the_second() -> None:
    assert format_utc(datetime.fromisoformat("2026-03-01T14:00:00.9+02:00")) == "2026-03-01T12:00:00Z"
