"""Makes every picture of a page that documents show anew: ``python -m tools.pictures``, then look at them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.pictures.chromium import browser, opened_browser
from tools.pictures.pages import FOLDER, PICTURES, page_of

if browser() is None:
    sys.exit("no Chromium on the PATH (Debian: apt install chromium)")
with tempfile.TemporaryDirectory() as folder, opened_browser() as page:
    for name, picture in PICTURES.items():
        file = Path(folder) / "page.html"
        page_of(picture, file)
        page.open(file)
        page.look(FOLDER / f"{name}.png", width=1200, height=picture.height, dark=picture.dark)
