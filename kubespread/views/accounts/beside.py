"""What is said beside any answer: notes, gaps, admission, and what is not modeled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_HEADINGS = {"Notes": "notes", "Admission": "admission", "Gaps": "gaps", "Not modeled": "not_modelled"}


def beside(reports: Iterable[Any]) -> Mapping[str, Sequence[str]]:
    """Of all of ``reports``, each text once."""
    told: dict[str, dict[str, None]] = {}
    for report in reports:
        for heading, name in _HEADINGS.items():
            texts: Sequence[str] = getattr(report, f"all_{name}", getattr(report, name, ()))
            told.setdefault(heading, {}).update(dict.fromkeys(texts))
    return {heading: tuple(texts) for heading, texts in told.items() if texts}
