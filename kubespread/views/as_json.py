"""Whole reports as JSON."""

from __future__ import annotations

import msgspec

from kubespread.escaping import json_escaped
from kubespread.views.documents import Answer, json_document
from kubespread.views.look import Look


def write(answer: Answer, _look: Look) -> str:
    """One document, printable and indented by two blanks."""
    return json_escaped(msgspec.json.format(json_document(answer), indent=2).decode()) + "\n"
