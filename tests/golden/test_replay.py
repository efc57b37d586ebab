"""Recorded answers of the real code, replayed through the library and compared to the last unit."""

from __future__ import annotations

import pytest

from tests.golden.cases import FIXTURES, recorded, release_of
from tests.golden.replay import differences

XFAIL: dict[str, str] = {}
ELSEWHERE = {"live/placements.jsonl.gz"}
"""It has a test of its own."""
FILES = sorted({str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*.jsonl.gz")} - ELSEWHERE)


@pytest.mark.parametrize("file", FILES)
def test_every_case_of_a_file_gets_the_real_answer(file: str) -> None:
    path = FIXTURES / file
    cases = [case for case in recorded(path) if case.name not in XFAIL]
    assert cases
    assert [str(found) for case in cases for found in differences(path.name, case, release_of(path))] == []
