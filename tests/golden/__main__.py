"""Replay files of recorded answers by the name that people know: ``python -m tests.golden FILE...``."""

from __future__ import annotations

import sys

from tools.replay.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
