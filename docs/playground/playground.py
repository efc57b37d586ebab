"""What the page runs: installs kubespread beside Pyodide, and asks it as a command line does."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import re
import shlex
import sys

LEFT_OUT = {"kubernetes", "google-re2"}
"""What browsers have no build of, and no use for."""


def needed() -> list[str]:
    """What kubespread requires without its extras, as its wheel says, and without what is left out."""
    required = importlib.metadata.requires("kubespread") or []
    return [
        line
        for line in required
        if "extra ==" not in line and re.split(r"[^\w.-]", line, maxsplit=1)[0] not in LEFT_OUT
    ]


def answered(words: str) -> str:
    """What a command line prints, on either output."""
    # Installed by then.
    from kubespread.cli.main import main

    said = io.StringIO()
    sys.argv = ["kubespread", *shlex.split(words.removeprefix("kubespread "))]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        main()
    return said.getvalue()
