"""Regular expressions that are compiled when they are first used: one answer needs few of more than a hundred."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        attribute = self.__dict__[name] = getattr(re.compile(self.pattern, self._flags), name)
        return attribute


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern of ``text``, not yet compiled."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
