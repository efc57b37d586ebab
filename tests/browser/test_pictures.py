"""The pictures that documents show are of the pages that their commands write, and what is said of them is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.support import ROOT
from tools.pictures.pages import FOLDER, MOST_BYTES, PICTURES, page_of

pytestmark = pytest.mark.slow

COOKBOOK = (ROOT / "docs" / "cookbook" / "pictures.md").read_text()
SHOWN = dict(re.findall(r"^!\[([^\]]*)\]\(\.\./pictures/(\w+)\.png\)$", COOKBOOK, re.MULTILINE))


def test_every_picture_is_shown_and_small() -> None:
    sizes = {file.stem: file.stat().st_size for file in FOLDER.glob("*.png")}
    assert sizes.keys() == PICTURES.keys()
    assert [name for name, size in sizes.items() if size > MOST_BYTES] == []
    assert {*SHOWN.values()} == PICTURES.keys() - {"explain"}
    assert "pictures/explain.png" in (ROOT / "docs/concepts.md").read_text()


@pytest.mark.parametrize(("said", "name"), SHOWN.items())
def test_a_picture_is_called_by_the_answer_on_the_page_of_its_command(said: str, name: str, tmp_path: Path) -> None:
    assert f"kubespread {PICTURES[name].command} -o html > {name}.html\n" in COOKBOOK
    assert page_of(PICTURES[name], tmp_path / "page.html") == said
