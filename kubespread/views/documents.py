"""Whole reports as one document: JSON, YAML, or the plain data of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kubespread.escaping import json_escaped
from kubespread.reports.parts import API_VERSION, Report
from kubespread.views.look import Look

Answer = Report | Sequence[Report]


def json(answer: Answer, _look: Look) -> str:
    """JSON, printable and indented by two spaces."""
    return json_escaped(msgspec.json.format(_encode(answer), indent=2).decode()) + "\n"


def yaml(answer: Answer, _look: Look) -> str:
    # Imported only to write YAML: PyYAML takes as long as a short answer.
    from kubespread.manifest.writer import to_yaml

    return to_yaml(document(answer))


def document(answer: Answer) -> dict[str, Any]:
    """Plain data of a single report, even if in a sequence; of several an object of kind ``...List``."""
    plain: dict[str, Any] = msgspec.json.decode(_encode(answer))
    return plain


def _encode(answer: Answer) -> bytes:
    reports = [answer] if isinstance(answer, Report) else answer
    texts = [report.to_json() for report in reports]
    if len(texts) == 1:
        return texts[0]
    kind = msgspec.json.decode(texts[0])["kind"]
    return msgspec.json.encode(
        {"apiVersion": API_VERSION, "kind": f"{kind}List", "items": [msgspec.Raw(text) for text in texts]}
    )
