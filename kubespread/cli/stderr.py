"""Standard error: one line at a time, printable, and never the reason why an answer is lost."""

from __future__ import annotations

import sys
from contextlib import suppress

from kubespread.escaping import escaped


def complain(message: str) -> None:
    """Say what is wrong, one line a fault."""
    for line in message.split("\n"):
        say(f"error: {line}")


def stderr_is_terminal() -> bool:
    """Whether a person watches, and not where it is closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(line: str) -> None:
    """Write one line, where there is a standard error that takes it."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{escaped(line)}\n")
