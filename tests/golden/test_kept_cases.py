"""Cases that were answered otherwise than by the real code, each minimized: the name of its file says what it is about."""

from __future__ import annotations

import msgspec
import pytest

from tools.replay import refusals, scheduling
from tools.replay.cases import FIXTURES, Recorded

CASES = FIXTURES.parent / "cases"
FOLDERS = {"scheduler": scheduling.differences, "validation": refusals.differences}
FILES = sorted(str(path.relative_to(CASES)) for folder in FOLDERS for path in (CASES / folder).glob("*.json"))


@pytest.mark.parametrize("file", FILES)
def test_the_real_code_says_the_same(file: str) -> None:
    path = CASES / file
    found = msgspec.json.decode(path.read_bytes())
    case = Recorded(found["case"], found["expect"])
    assert list(FOLDERS[path.parent.name](case, found.get("release", "1.36.2"))) == []
