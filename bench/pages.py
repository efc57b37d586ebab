"""How large pages of a large cluster are: browsers open them, and people send them to each other."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from bench.measuring import MEGABYTE, PROGRAM, against
from bench.surviving import saved

_MOST = 1.5
_ASKED = (
    ("capacity",),
    ("map",),
    ("audit", "-A"),
    ("survive", "-A", "--key", "zone"),
    ("removable",),
    ("report", "-A"),
)


def pages() -> None:
    print("Pages of 5,000 nodes with 1,000 Deployments")
    with tempfile.TemporaryDirectory() as name:
        large, page = saved(Path(name), 5_000), Path(name) / "page.html"
        for words in _ASKED:
            with page.open("wb") as file:
                subprocess.run([PROGRAM, *words, "-S", large, "-o", "html", "-q"], check=False, stdout=file)
            size = page.stat().st_size / MEGABYTE
            print(f"  {' '.join(words):<30}{size:6.2f} MB   {against(size, _MOST, 'MB')}")
