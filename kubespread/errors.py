"""Errors of a run, as one small tree. A fault of a pod on a node is a value, not an exception."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubespread.escaping import escape


class KubespreadError(Exception):
    """Error that the user can fix; its text, escaped, is printed as it is."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(escape, lines)))


class UsageError(KubespreadError):
    """The command line or call cannot be carried out."""


class NoClusterError(UsageError):
    """No cluster is named, and there is no kubeconfig."""


class UnansweredError(KubespreadError):
    """No part of the answer was finished within the time limit."""


class SnapshotError(KubespreadError):
    """The cluster could not be read: a missing file, a malformed one, no nodes in it."""


class ApiError(SnapshotError):
    """A request to the API server failed; ``status`` is its HTTP status, 0 without a response."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Fault(NamedTuple):
    """One fault in a file, with its place."""

    message: str
    field: str = ""
    line: int | None = None
    column: int | None = None
    expected: str = ""
    """The type, in Go's words, of a field that cannot even hold the value; empty where the value is refused."""

    def describe(self, file: str) -> str:
        place = file if self.line is None else f"{file}:{self.line}"
        return ": ".join(part for part in (place, self.field, self.message) if part)


class ManifestError(KubespreadError):
    """A file is invalid: every fault in it, each on a line of its own."""

    def __init__(self, file: str, faults: Sequence[Fault]) -> None:
        self.file = file
        self.faults = tuple(faults)
        super().__init__("")

    def __str__(self) -> str:
        return "\n".join(escape(fault.describe(self.file)) for fault in self.faults)
