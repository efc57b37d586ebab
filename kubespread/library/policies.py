"""A descheduler policy from a file, with every fault at its line."""

from __future__ import annotations

from pathlib import Path

from kubespread.errors import Fault, ManifestError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, display_name, read_text_bytes
from kubespread.manifest.stream import read_documents
from kubespread.planner.descheduler.decoding import KIND, PolicyError, decode_policy
from kubespread.planner.descheduler.policy import Policy


def read_policy(path: str | Path) -> Policy:
    """The policy in the file at ``path``, ``-`` for standard input. Raises ManifestError."""
    file = display_name(str(path))
    try:
        text = read_text_bytes(str(path), MAX_MANIFEST_BYTES)
        found = read_documents(text)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ManifestError(file, [Fault(f"expected one {KIND}, found {len(found)} documents")])
    try:
        return decode_policy(found[0])
    except PolicyError as error:
        lines = FieldLines(text)
        faults = [Fault(message, place, lines.line(0, place)) for place, message in error.faults]
        raise ManifestError(file, faults) from error
