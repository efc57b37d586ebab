"""What the names of all nodes end in, which rows leave out."""

from __future__ import annotations

import os
from collections.abc import Sequence

_LEAST_SAVED = 6
_LEAST_NAMES = 2


def shared_suffix(names: Sequence[str]) -> str:
    """``.eu-west-1.compute.internal`` where all names end in it; empty where that would save little."""
    if len(names) < _LEAST_NAMES:
        return ""
    end = os.path.commonprefix([name[::-1] for name in names])[::-1]
    # What is left of a name has to be a name.
    _, dot, rest = end.partition(".") if end not in names else ("", "", "")
    return f"{dot}{rest}" if len(rest) >= _LEAST_SAVED else ""
