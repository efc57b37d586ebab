"""Recorded answers of the real code, replayed through the library and compared to the last unit."""

from __future__ import annotations

import pytest

from tests.golden.cases import FIXTURES, recorded
from tests.golden.replay import differences

LATER = {
    "second/simulate-volumes": "the replicas of one simulation share their claims",
}
XFAIL: dict[str, str] = {}
FILES = sorted(
    name
    for path in FIXTURES.rglob("*.jsonl.gz")
    if not (name := str(path.relative_to(FIXTURES))).startswith(("live/", *LATER))
)


@pytest.mark.parametrize("file", FILES)
def test_every_case_of_a_file_gets_the_real_answer(file: str) -> None:
    path = FIXTURES / file
    version = "1.34.1" if path.parent.name == "v1.34.1" else "1.36.2"
    cases = [case for case in recorded(path) if case.name not in XFAIL]
    assert cases
    assert [str(found) for case in cases for found in differences(path.name, case, version)] == []
