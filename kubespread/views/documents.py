"""Whole reports as one document: JSON, or the plain data of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kubespread.reports.parts import API_VERSION, Report

Answer = Report | Sequence[Report]


class _Kind(msgspec.Struct):
    kind: str


def json_document(answer: Answer) -> bytes:
    """A single report unchanged, also from a sequence; several as a list of their kind."""
    reports = [answer] if isinstance(answer, Report) else answer
    texts = [report.to_json() for report in reports]
    if len(texts) == 1:
        return texts[0]
    kind = msgspec.json.decode(texts[0], type=_Kind).kind
    return msgspec.json.encode(
        {"apiVersion": API_VERSION, "kind": f"{kind}List", "items": [msgspec.Raw(text) for text in texts]}
    )


def document(answer: Answer) -> dict[str, Any]:
    """The same as plain data."""
    plain = msgspec.json.decode(json_document(answer))
    assert isinstance(plain, dict)
    return plain
