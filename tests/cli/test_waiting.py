"""A person who waits is told what for; a pipe, -q and short answers are not."""

from __future__ import annotations

import io
import sys
import time

import pytest

from kubespread.cli.options import waiting
from kubespread.views import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "patience", "is_told"),
    [
        (Terminal, False, 0.0, True),
        (Terminal, True, 0.0, False),
        (io.StringIO, False, 0.0, False),
        (Terminal, False, 60.0, False),
    ],
    ids=["a terminal", "a terminal, quiet", "a pipe", "a short answer"],
)
def test_what_is_done_is_said(
    stream: type[io.StringIO], quiet: bool, patience: float, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    err = stream()
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", err)
    with waiting("reading cluster.json", quiet=quiet):
        while is_told and "reading cluster.json: " not in err.getvalue():
            time.sleep(0.01)
    assert ("reading cluster.json: " in err.getvalue()) is is_told
