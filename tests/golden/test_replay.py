"""Recorded answers of the real code, replayed through the library and compared to the last unit."""

from __future__ import annotations

import pytest

from tests.golden.cases import FIXTURES, count_of_lines, recorded, release_of
from tests.golden.replay import differences

XFAIL: dict[str, str] = {}
ELSEWHERE = ("live/placements", "running")
"""They have tests of their own, which know what chance decides."""
FILES = sorted(
    file for path in FIXTURES.rglob("*.jsonl.gz") if not (file := str(path.relative_to(FIXTURES))).startswith(ELSEWHERE)
)


CHUNK = 200
"""How many lines of a file one test replays, so that workers share them evenly."""
CHUNKS = [(file, start) for file in FILES for start in range(0, count_of_lines(FIXTURES / file), CHUNK)]


@pytest.mark.parametrize(("file", "start"), CHUNKS)
def test_every_case_of_a_file_gets_the_real_answer(file: str, start: int) -> None:
    path = FIXTURES / file
    release = release_of(path)
    cases = [case for case in recorded(path, start, start + CHUNK) if case.name not in XFAIL]
    assert cases
    assert [str(found) for case in cases for found in differences(path.name, case, release)] == []
