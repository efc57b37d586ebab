"""Who writes each kind of report in each format."""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import Writer, writers_of

KINDS: tuple[str, ...] = (*QUESTIONS,)


def writers(kind: str) -> Mapping[str, Writer]:
    """By the name of the format, in the order of the help of -o."""
    asked = question(kind)
    return writers_of(asked.outputs)
