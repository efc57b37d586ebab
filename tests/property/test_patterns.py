"""Python's patterns, which stand in for RE2's where it is not installed: whatever they read, RE2 reads alike."""

from __future__ import annotations

import re2
from hypothesis import given
from hypothesis import strategies as st

from kubespread.scheduler.plugins.dynamicresources.cel import patterns
from kubespread.scheduler.plugins.dynamicresources.cel.types import UnsupportedExpressionError

_PARTS = st.sampled_from(
    [
        *"ab1 -./:^$|()*+?{}[]\\",
        "[a-b]",
        "[^a]",
        "[ab-]",
        "[b-a]",
        "[[:alpha:]]",
        r"\d",
        r"\w",
        r"\s",
        r"\.",
        r"\$",
        r"\z",
        "(?:",
        "a*",
        "b+",
        "1?",
        "a{2}",
    ]
)


@given(st.lists(_PARTS, max_size=6).map("".join), st.text("ab1 -./\n\v٣é", max_size=6))
def test_what_python_reads_re2_reads_alike(pattern: str, text: str) -> None:
    try:
        stand_in = patterns.python_pattern(pattern)
    except UnsupportedExpressionError:
        return
    theirs = [found.span() for found in re2.finditer(pattern, text)]
    assert [found.span() for found in stand_in.finditer(text)] == theirs
