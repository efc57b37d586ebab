"""Writes every screen that is kept anew: ``python -m tests.views``, then look at what ``git diff`` shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("*.py")):
    if path.stem != "__main__" and '__name__ == "__main__"' in path.read_text():
        subprocess.run([sys.executable, "-m", f"tests.views.{path.stem}"], check=True)
