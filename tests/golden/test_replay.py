"""Recorded answers of the real code, replayed through the library and compared to the last unit."""

from __future__ import annotations

import pytest

from tools.replay.cases import FIXTURES, recorded, release_of
from tools.replay.families import differences

XFAIL: dict[str, str] = {}
ELSEWHERE = ("live/placements", "running")
"""They have tests of their own, which know what chance decides."""
FILES = sorted(
    file for path in FIXTURES.rglob("*.jsonl.gz") if not (file := str(path.relative_to(FIXTURES))).startswith(ELSEWHERE)
)

PART = 150_000
"""How many bytes of a file one test replays, so that workers share them evenly."""
PARTS = {file: 1 + (FIXTURES / file).stat().st_size // PART for file in FILES}


@pytest.mark.parametrize(("file", "part"), [(file, part) for file in FILES for part in range(PARTS[file])])
def test_every_case_of_a_file_gets_the_real_answer(file: str, part: int) -> None:
    path = FIXTURES / file
    release = release_of(path)
    cases = [case for case in recorded(path, part, PARTS[file]) if case.name not in XFAIL]
    assert cases
    assert [str(found) for case in cases for found in differences(path.name, case, release)] == []
