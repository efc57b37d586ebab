"""Standard output: the answer, and nothing else.

Standard error: one line at a time, printable, and never the reason why an answer is lost.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.errors import UsageError
from kubespread.escaping import escaped

if TYPE_CHECKING:
    from kubespread.views.look import Look


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


_UNICODE_TO_ASCII = str.maketrans(
    {
        **{
            "≤": "<=",
            "–": "-",
            "−": "-",
            "·": "|",
            "…": "...",
            "→": "->",
            "▒": "=",
            "█": "#",
            "░": ".",
            "●": "o",
            "∙": ".",
        },
        **dict.fromkeys("┌┐└┘", "+"),
        **{"─": "-", "│": "|", "×": "x"},
        **{shade: str(number) for number, shade in enumerate("▁▂▃▄▅▆▇", 1)},
    }
)


_NARROWEST = 20
"""Columns that a table needs."""
_GROWTH = 8
"""How many columns a line may gain where one character becomes two or three."""


def emit(text: str) -> None:
    """Write the answer. A reader that goes away (``| head -1``) ends the program quietly."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    if not _takes_unicode():
        encoding = sys.stdout.encoding
        text = text.translate(_UNICODE_TO_ASCII).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        raise UsageError(f"standard output: {error.strerror}") from error


def _takes_unicode() -> bool:
    return (sys.stdout.encoding or "utf-8").lower().startswith("utf")


def stdout_is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def stdout_takes_tables() -> bool:
    """Whether it is a terminal wide enough for tables; what is narrower gets what a pipe gets."""
    return stdout_is_terminal() and shutil.get_terminal_size().columns >= _NARROWEST


def look_of_stdout(*, color: str, headers: bool) -> Look:
    """How an answer is laid out there; ``color`` is what --color says."""
    # Help and --version have no answer to lay out, and do without msgspec.
    from kubespread.views.look import Look

    is_terminal = stdout_is_terminal()
    return Look(
        width=max(_NARROWEST, _columns()) if is_terminal else None,
        color=wants_color(color, os.environ, is_terminal=is_terminal),
        headers=headers,
    )


def _columns() -> int:
    columns = shutil.get_terminal_size().columns
    return columns if _takes_unicode() else max(columns - _GROWTH, columns // 2)


def wants_color(choice: str, environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """--color, then NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then CLICOLOR and TERM, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return is_terminal
