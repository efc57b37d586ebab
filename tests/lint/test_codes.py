"""docs/codes.md says what the rules' docstrings do."""

from __future__ import annotations

from pathlib import Path

import kubespread
from kubespread.render.check.rules import document

ROOT = Path(__file__).parents[2]


def test_the_published_codes_are_the_rules_own() -> None:
    assert (ROOT / "docs" / "codes.md").read_text() == document(kubespread.rules())
