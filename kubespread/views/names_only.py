"""Only the names in an answer, one per line."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.registry import view_of


def write(answer: Answer, _look: Look) -> str:
    names = view_of(answer).names
    assert names is not None, "a view that has names"
    rows = ([name] if isinstance(name, str) else name for name in names)
    return "".join("\t".join(map(escaped, row)) + "\n" for row in rows)
