"""HTML in which foreign text is always just text."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from kubespread.escaping import escaped

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def text(value: object) -> str:
    """For the content of elements and for quoted attributes alike; characters that hide or reorder text are escapes."""
    return html.escape(escaped(str(value)))


_PARTS = re.compile(r"(?<=[./_=:,])|(?<=[a-z0-9]-)(?=[a-z0-9])|(?<=[a-z])(?=[A-Z])")
_WHOLE = 24
"""Letters of a name that is never broken."""


def breakable(value: str) -> str:
    """Long names may go on in the next line: behind a dot, a slash or a dash, and before a capital letter."""
    return " ".join(
        text(word) if len(word) <= _WHOLE else "<wbr>".join(map(text, _PARTS.split(word))) for word in value.split(" ")
    )


def data(value: Any) -> str:
    """JSON that is safe in a script element: nothing in it ends the element, begins a comment or hides."""
    return json.dumps(value, separators=(",", ":")).translate(_IN_SCRIPT)


def shown(value: Any) -> Any:
    """Plain data whose texts are as `text` shows them, for a script to find and to show."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list | tuple) else value
