"""Which rows of a table are for every run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(every: Collection[Any], rows: Iterable[Any]) -> list[Any]:
    """All rows; slow are those not in ``every``, which are for every run, and each of these is there."""
    made = [*rows]
    assert {*every} <= {*made}
    return [row if row in every else pytest.param(row, marks=pytest.mark.slow) for row in made]
