"""Decodes as much of an object as possible, so that all its faults are reported at once."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from kubespread.kube.api.decoding import DecodingError, normalized
from kubespread.kube.api.meta import KubeObject
from kubespread.kube.quantity import BAD_FORMAT, BAD_SUFFIX

_MAX_FAULTS = 100
_STEP = re.compile(r"\[(?P<inside>[^\]]*)\]|(?P<name>[^.\[\]]+)")
_SUFFIX = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<prefix>[kmgtpe])(?:i?b|i)?", re.IGNORECASE)


def decodable(data: Any, cls: type[KubeObject]) -> tuple[Any, list[DecodingError]]:
    """``data`` as `normalized` has it, without the values that cannot be decoded, and what is wrong with those."""
    errors: list[DecodingError] = []
    while True:
        try:
            return normalized(data, cls), errors
        except DecodingError as error:
            seen = {other.path for other in errors}
            data = data if errors else deepcopy(data)
            if error.path in seen or len(errors) >= _MAX_FAULTS or not _take_out(data, error.path):
                raise
            errors.append(error)


def hint(error: DecodingError, data: Any) -> str:
    """What the author of ``data`` probably meant, appended to the API server's text; else empty."""
    value = value_at(data, error.path)
    message = str(error)
    if message.endswith("of type string") and isinstance(value, bool | int | float):
        return "; quote it"
    if message.endswith(("of type int32", "of type int64")) and isinstance(value, str) and value.isdigit():
        return f"; write {value} without quotes"
    if message in (BAD_FORMAT, BAD_SUFFIX) and isinstance(value, str):
        meant = _meant_quantities(value.strip())
        return f", did you mean {' or '.join(map(_quoted, meant))}?" if meant else ""
    return ""


def value_at(data: Any, path: str) -> Any:
    """The value at a path like ``spec.containers[0].resources.requests[cpu]``, None where there is none."""
    for step in _STEP.finditer(path):
        data = _child(data, step)
    return data


def are_related(path: str, other: str) -> bool:
    """Whether two fields are the same, or one is inside the other."""
    shorter, longer = sorted((path, other), key=len)
    return longer == shorter or longer.startswith((f"{shorter}.", f"{shorter}["))


def _meant_quantities(text: str) -> list[str]:
    if text.count(",") == 1 and text.replace(",", "").isdigit():
        return [text.replace(",", ".")]
    if match := _SUFFIX.fullmatch(text):
        number, prefix = match["number"], match["prefix"].upper()
        return [f"{number}{'k' if prefix == 'K' else prefix}", f"{number}{prefix}i"]
    return []


def _quoted(text: str) -> str:
    return f'"{text}"'


def _child(data: Any, step: re.Match[str]) -> Any:
    key = step["name"] or step["inside"]
    if isinstance(data, list) and key.isdigit():
        return data[int(key)] if int(key) < len(data) else None
    return data.get(key) if isinstance(data, dict) else None


def _take_out(data: Any, path: str) -> bool:
    """Make the value at ``path`` null, which counts as absent."""
    steps = list(_STEP.finditer(path))
    if not steps:
        return False
    *above, last = steps
    for step in above:
        data = _child(data, step)
    key = last["name"] or last["inside"]
    if isinstance(data, list) and key.isdigit() and int(key) < len(data):
        data[int(key)] = None
        return True
    if isinstance(data, dict) and key in data:
        data[key] = None
        return True
    return False
