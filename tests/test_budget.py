"""The house cannot grow unnoticed: tests/budget.toml has a row for each room, and each room keeps to its row."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import ROOT

BUDGET: dict[str, Any] = tomllib.loads((ROOT / "tests" / "budget.toml").read_text())
ROWS = {room: row for part in ("kubespread", "beside") for room, row in BUDGET[part].items()}
SLACK = 0.98
"""The share of a row that a room fills at least: a row follows its room down."""
CODE = (".py", ".js", ".css")
NOT_COUNTED = ("docs/reference/", "docs/codes.md", "docs/json.md", "docs/questions.md", "docs/licenses.md")
"""Pages that are generated."""
RECORDS = ("docs/adr/", "docs/releases/")
"""Pages that are written once and kept: decisions, and the changes of a Kubernetes release."""


def files_of(room: str) -> Iterator[Path]:
    """Yield the files that count for a row: code, and of docs the pages written by hand."""
    folder = ROOT / room
    below = folder.glob("*") if room == "kubespread" else folder.rglob("*")
    for path in below:
        name = path.relative_to(ROOT).as_posix()
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        if room != "docs" or (path.suffix == ".md" and not name.startswith((*NOT_COUNTED, *RECORDS))):
            yield path


def size_of(room: str) -> dict[str, int]:
    files = list(files_of(room))
    counted = [path for path in files if path.suffix in (*CODE, ".md" if room == "docs" else ".go")]
    return {"lines": sum(path.read_bytes().count(b"\n") for path in counted), "files": len(files)}


@pytest.mark.parametrize("room", ROWS)
def test_a_room_fills_its_row_and_no_more(room: str) -> None:
    size, row = size_of(room), ROWS[room]
    assert {key: (size[key], row[key]) for key in row if not SLACK * row[key] <= size[key] <= row[key]} == {}, (
        f"{room} has {size}: make it smaller, or write that into its row"
    )


def test_every_folder_of_the_package_has_a_row() -> None:
    rooms = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "kubespread").glob("*/*") if path.is_file()}
    rooms -= {room for room in rooms if room.endswith("__pycache__")}
    assert {"kubespread", *rooms} == set(BUDGET["kubespread"])


def test_the_rows_of_the_package_add_up_to_no_more_than_its_total() -> None:
    rows = BUDGET["kubespread"].values()
    total = {key: sum(row[key] for row in rows) for key in ("lines", "files")}
    assert {key: total[key] for key in total if total[key] > BUDGET["total"][key]} == {}
