"""Gangs as they look on clusters from twelve nodes to five hundred."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.views.gang_screens import SCREENS, SCREENS_KEPT, Screen


@pytest.mark.parametrize("kept", SCREENS_KEPT, ids=lambda kept: kept.path.stem)
def test_the_screen_is_the_one_that_was_looked_at(kept: Screen) -> None:
    assert kept.text == kept.path.read_text()
    assert max(map(cell_len, kept.text.splitlines())) <= kept.width


def test_every_screen_that_is_kept_is_looked_at() -> None:
    assert {path.name for path in SCREENS.glob("gang-*.txt")} == {kept.path.name for kept in SCREENS_KEPT}
