"""The pictures that documents show: which page each is of, made by the command that they show."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from tests.cli.support import ROOT, run

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 200_000


class Picture(NamedTuple):
    command: str
    """What is typed, without where the page is written to."""
    height: int
    """In pixels of a page that is 1,200 wide."""
    dark: bool = False


PICTURES = {
    "capacity": Picture("capacity -S fixtures/cases/everyday/gke60.json.gz", 560),
    "upgrade": Picture(
        "upgrade cloud.google.com/gke-nodepool=default-pool -S fixtures/cases/everyday/gke60.json.gz", 860
    ),
    "survive": Picture("survive -A -S fixtures/cases/everyday/aws12.json.gz", 860, dark=True),
    "removable": Picture("removable -S fixtures/cases/everyday/gke60.json.gz", 860),
    "verify": Picture("verify fixtures/promises/shop.yaml -S fixtures/clusters/shop.yaml", 640),
    "explain": Picture("explain deploy/web -n shop -S docs/tutorial/cluster.yaml", 810),
}


def page_of(picture: Picture, file: Path) -> str:
    """Writes the page, and returns its first sentence."""
    asked = run(*shlex.split(picture.command), "--html", str(file), cwd=ROOT)
    assert asked.code in (0, 1), asked.err
    first = re.search(r'<p class="first">(.*?)</p>', file.read_text())
    assert first is not None, picture.command
    return html.unescape(re.sub(r"<[^>]*>", "", first[1]))
