"""Whole reports as one document of plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubespread.reports.parts import API_VERSION, Report

Answer = Report | Sequence[Report]


def document(answer: Answer) -> dict[str, Any]:
    """A single report unchanged, also from a sequence; several as a list of their kind."""
    reports = [answer] if isinstance(answer, Report) else answer
    items = [report.to_dict() for report in reports]
    return (
        items[0] if len(items) == 1 else {"apiVersion": API_VERSION, "kind": f"{items[0]['kind']}List", "items": items}
    )
