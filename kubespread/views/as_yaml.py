"""Whole reports as YAML."""

from __future__ import annotations

from kubespread.manifest.writer import to_yaml
from kubespread.views.documents import Answer, document
from kubespread.views.look import Look


def write(answer: Answer, _look: Look) -> str:
    """One document."""
    return to_yaml(document(answer))
