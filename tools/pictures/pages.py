"""The pictures that documents show: which page each is of, made by the command that they show."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "kubespread"
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
    "explain": Picture("explain deploy/web -n shop -S docs/tutorial/cluster.yaml", 810),
}


def page_of(picture: Picture, file: Path) -> str:
    """Writes the page, and returns its first sentence."""
    words = [str(PROGRAM), *shlex.split(picture.command), "-o", "html"]
    dated = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    asked = subprocess.run(words, cwd=ROOT, env=dated, capture_output=True, text=True, check=False)
    assert asked.returncode in (0, 1), asked.stderr
    file.write_text(asked.stdout)
    first = re.search(r'<p class="first">(.*?)</p>', file.read_text())
    assert first is not None, picture.command
    return html.unescape(re.sub(r"<[^>]*>", "", first[1]))
