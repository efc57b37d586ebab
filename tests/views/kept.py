"""Screens that were looked at and are kept, each in a file of its own below ``screens/``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from tests.views.simulate_screens import SCREENS


class Screen(NamedTuple):
    name: str
    """The file without its ending, which begins with the command."""
    width: int
    """Of the terminal; 0 for what no terminal bounds."""
    text: str


def check(screens: Sequence[Screen], *, uncut: Sequence[str] = ()) -> None:
    """All are as they were looked at and within their width, but for lines with one of ``uncut``; no other is kept."""
    for kept in screens:
        assert kept.text == (SCREENS / f"{kept.name}.txt").read_text(), kept.name
        bounded = [line for line in kept.text.splitlines() if not any(part in line for part in uncut)]
        assert not kept.width or max(map(cell_len, bounded)) <= kept.width, kept.name
    commands = {kept.name.partition("-")[0] for kept in screens}
    there = {path.stem for command in commands for path in SCREENS.glob(f"{command}-*.txt")}
    assert there == {kept.name for kept in screens}


def keep(screens: Iterable[Screen]) -> None:
    """Keep them as they are now."""
    for kept in screens:
        (SCREENS / f"{kept.name}.txt").write_text(kept.text)
