"""Answers that fit an assistant: long lists are cut, and what was cut is counted.

A report about 5,000 nodes is megabytes, of which an assistant reads the beginning at best. Lists have the best or the
worst first wherever that means something, so the beginning is what to keep.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

LEFT_OUT = "leftOut"
"""Beside the fields of the report, only where something was cut: by path as jq has it, how many items are missing."""
SCHEMA = {"type": "object", "additionalProperties": {"type": "integer"}}


def bounded(report: dict[str, Any], limit: int) -> dict[str, Any]:
    """``report`` with the first ``limit`` items of each list, and a count of the others; itself where none is longer.

    Lists within lists are counted together: ``.constraints[].domains`` has those of all constraints.
    """
    missing: Counter[str] = Counter()
    cut = _cut(report, limit, "", missing)
    return {**cut, LEFT_OUT: dict(missing)} if missing else report


def _cut(value: Any, limit: int, path: str, missing: Counter[str]) -> Any:
    if isinstance(value, dict):
        return {key: _cut(each, limit, f"{path}.{key}", missing) for key, each in value.items()}
    if isinstance(value, list):
        if len(value) > limit:
            missing[path] += len(value) - limit
        return [_cut(each, limit, f"{path}[]", missing) for each in value[:limit]]
    return value
