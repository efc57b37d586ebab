"""Columns for pipes, with the sheets that only who asks for them gets."""

from __future__ import annotations

from dataclasses import replace

from kubespread.views import plain
from kubespread.views.documents import Answer
from kubespread.views.look import Look


def write(answer: Answer, look: Look) -> str:
    return plain.write(answer, replace(look, wide=True))
