"""Node selector terms in one line: ``foo In bar,value2 & GPU Exists``."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]

_NAME = "metadata.name"


def term(text: str) -> Data:
    """Requirements with ``&`` between; those on ``metadata.name`` are matchFields. Empty text: an empty term."""
    made: dict[str, list[Data]] = {}
    for each in filter(None, text.split(" & ")):
        key, operator, values = [*each.split(" ", 2), ""][:3]
        requirement = {"key": key, "operator": operator, **({"values": values.split(",")} if values else {})}
        made.setdefault("matchFields" if key == _NAME else "matchExpressions", []).append(requirement)
    return made


def required(*texts: str) -> Data:
    """A node affinity with these terms, of which one has to match."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term(text) for text in texts]}}


def preferred(**weights: str) -> Data:
    """A node affinity that weighs terms: ``w2="foo In bar"``."""
    terms = [{"weight": int(name[1:]), "preference": term(text)} for name, text in weights.items()]
    return {"preferredDuringSchedulingIgnoredDuringExecution": terms}
