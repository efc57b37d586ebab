"""Whole reports as JSON."""

from __future__ import annotations

import json

from kubespread.escaping import json_escaped
from kubespread.views.documents import Answer, document
from kubespread.views.look import Look


def write(answer: Answer, _look: Look) -> str:
    """One document, printable and indented by two blanks."""
    return json_escaped(json.dumps(document(answer), indent=2, ensure_ascii=False)) + "\n"
