"""Tables of our own about what plugins answer: reasons, scores, details, words, and what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import FIXTURES, differences


@pytest.mark.parametrize("path", sorted((FIXTURES / "scheduler").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_table(path: Path) -> None:
    assert differences(path) == {}
