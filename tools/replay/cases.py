"""Files of recorded answers, and what a comparison with ours comes to."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

Data = dict[str, Any]

_RELEASE = re.compile(r"v1\.\d+(\.\d+)?")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "golden"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""The moment at which controllers are asked."""


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Difference(NamedTuple):
    """Where our answer to one case is not the recorded one."""

    case: str
    what: str
    recorded: object
    ours: object

    def __str__(self) -> str:
        return f"{self.case}: {self.what}: recorded {self.recorded!r}, ours {self.ours!r}"


class Recorded(NamedTuple):
    """One line of a file: the question, and the real code's answer."""

    case: Data
    expect: Data

    @property
    def name(self) -> str:
        return str(self.case["name"])


def lines(path: Path, part: int = 0, parts: int = 1) -> Iterator[Data]:
    """What stands in a file, gzipped or not: where it comes from, if it says so, and its cases; of several parts each
    has one line in turn.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from map(msgspec.json.decode, islice(file, part, None, parts))


def release_of(path: Path) -> str:
    """The release whose answers a file holds: its first line names it, or its folder, else it is the one most were
    recorded with.
    """
    first = next(lines(path), {})
    if "kubernetes" in first.get("recorded", {}):
        return str(first["recorded"]["kubernetes"])
    folder = path.resolve().parent.name
    return folder.removeprefix("v") if _RELEASE.fullmatch(folder) else "1.36.2"


def recorded(path: Path, part: int = 0, parts: int = 1) -> Iterator[Recorded]:
    """The cases of one file, or of one of several parts of it."""
    for found in lines(path, part, parts):
        if "recorded" not in found:
            # What a running cluster did stands in the case itself.
            yield Recorded(found.get("case", found), found.get("expect", {}))
