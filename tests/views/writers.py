"""Who writes each kind of report in each format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import FORMATS, ReportKind, Writer, writers_for, writers_of

KINDS: tuple[str, ...] = (*get_args(ReportKind), *QUESTIONS)


def writers(kind: str) -> Mapping[str, Writer]:
    """By the name of the format, in the order of the help of -o."""
    if kind in QUESTIONS:
        asked = question(kind)
        return writers_of(asked.outputs, asked.__module__.rpartition(".")[0])
    return {name: each for name, each in writers_for(kind).items() if name in FORMATS}
