"""A file that is replaced is the old one or the new one, and alone, whenever its writer is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kubespread.snapshot import cache


@contextmanager
def interrupted_at(line: int) -> Iterator[None]:
    """An interrupt before the line of `replacing` that is reached as that one, counted from 0."""
    lines = count()

    def interrupt(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != cache.__file__:
            return None
        if event == "line" and next(lines) == line:
            raise KeyboardInterrupt
        return interrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what is open then, its process closes
def test_an_interrupt_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    target = tmp_path / "saved.json"
    found = []
    for line in range(50):
        target.write_text("old")
        with suppress(KeyboardInterrupt), interrupted_at(line), cache.replacing(target) as file:
            file.write(b"new")
        assert [path.name for path in tmp_path.iterdir()] == ["saved.json"]
        found.append(target.read_text())
    assert found == sorted(found, reverse=True)
    assert {*found} == {"old", "new"}
