"""Write what every rule of ``kubespread check`` is about: ``python -m kubespread.cli.codes FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import kubespread
from kubespread.render.check.rules import document


def main(file: str) -> None:
    Path(file).write_text(document(kubespread.rules()))


if __name__ == "__main__":
    main(sys.argv[1])
