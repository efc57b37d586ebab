"""Files that are named pipes: whoever reads one waits until somebody writes to it, and is told so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubespread.cli.options.pairs import READERS, texts_of
from kubespread.cli.stderr import say

_PIPES_OF_SHELLS = ("/dev/", "/proc/")
"""Where ``<(command)`` has its pipes, to which the command writes."""


def say_what_is_waited_for(context: Any) -> None:
    """A line for each named pipe that a parsed command reads."""
    if context.params.get("quiet"):
        return
    for name in (*READERS, "kubeconfig"):
        for path in texts_of(context.params.get(name)):
            if not path.startswith(_PIPES_OF_SHELLS) and _is_pipe(path):
                say(f"reading {path}, a named pipe: waiting for what is written to it")


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except (OSError, ValueError):
        return False
