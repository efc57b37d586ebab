"""Errors of a run, as one small tree. What goes wrong for a pod on a node is a value, not an exception."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubespread.escaping import escape


class KubespreadError(Exception):
    """Something the user can mend; its text is the lines the user reads, whatever names, files and servers put into
    them.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(escape, lines)))


class UsageError(KubespreadError):
    """The command line asks for something that cannot be done."""


class NoClusterError(UsageError):
    """Nothing says which cluster is meant."""


class UnansweredError(KubespreadError):
    """There is no answer for now, whatever is asked: the time is up."""


class SnapshotError(KubespreadError):
    """The cluster could not be read: a missing file, a malformed one, no nodes in it."""


class ApiError(SnapshotError):
    """The API server did not give what was asked; ``status`` is its HTTP status, 0 when there was no answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Fault(NamedTuple):
    """One thing wrong with one file: where it is and what was expected there."""

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
    """A file does not mean what it must: every fault in it, each on a line of its own."""

    def __init__(self, file: str, faults: Sequence[Fault]) -> None:
        self.file = file
        self.faults = tuple(faults)
        super().__init__("")

    def __str__(self) -> str:
        return "\n".join(escape(fault.describe(self.file)) for fault in self.faults)
