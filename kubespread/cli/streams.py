"""Standard output is for the answer alone; standard error has one printable line at a time, and never costs an answer.

The exit codes are a family of grep's and diff's: 0 yes, 1 no, 2 and above no answer.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from enum import IntEnum
from io import TextIOWrapper
from typing import TYPE_CHECKING

import typer

from kubespread.errors import UsageError
from kubespread.escaping import escape

if TYPE_CHECKING:
    from kubespread.views.look import Look


class ExitCode(IntEnum):
    YES = 0
    """Some node fits; all replicas are placed, and requirements are met; nothing differs."""
    NO = 1
    """No node fits; some replica is not placed, or a requirement is not met; something differs."""
    BAD_INPUT = 2
    """Wrong usage, a manifest that the API server would refuse, or an answer that could not be written."""
    NO_CLUSTER = 3
    """The cluster or snapshot could not be read, or the answer is unknown."""
    BUG = 70
    """kubespread failed; KUBESPREAD_DEBUG=1 shows where."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """The reader of standard output went away."""


def epilog(yes: str, no: str | None) -> str:
    """Exit codes for a command's help; ``yes`` and ``no`` are their meanings, None for no such answer."""
    second = "" if no is None else f"1 {no}, "
    return (
        f"Exit codes: 0 {yes}, {second}2 wrong usage, bad manifest or failed write, "
        "3 cluster or snapshot not readable, or the answer not known, 70 bug, 130 interrupted, 141 output closed."
    )


EPILOG = epilog("it fits", "it does not or a requirement fails")


def complain(message: str) -> None:
    for line in message.split("\n"):
        say(f"error: {line}")


def stderr_is_terminal() -> bool:
    """True if standard error is a terminal, and open."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(line: str) -> None:
    """Write one line to standard error, if it is open."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{escape(line)}\n")


_NARROWEST = 20
"""Columns that a table needs."""
_FEWEST, _BESIDE = 8, 2
"""Rows that an answer takes at least, and that it leaves to the command line before and after it."""


def emit(text: str) -> None:
    """Write the answer, in UTF-8 as kubectl does. A reader that goes away (``| head -1``) ends the program quietly."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        raise UsageError(f"standard output: {error.strerror}") from error


def stdout_is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def stdout_takes_tables() -> bool:
    """True for a terminal wide enough for tables; a narrower one counts as a pipe."""
    return stdout_is_terminal() and shutil.get_terminal_size().columns >= _NARROWEST


def look_of_stdout(*, headers: bool) -> Look:
    """Layout of an answer on standard output."""
    # Help and --version have no answer to lay out, and do without msgspec.
    from kubespread.views.look import Look

    is_terminal = stdout_is_terminal()
    return Look(
        width=max(_NARROWEST, shutil.get_terminal_size().columns) if is_terminal else None,
        rows=max(_FEWEST, shutil.get_terminal_size().lines - _BESIDE) if is_terminal else None,
        color=wants_color(os.environ, is_terminal=is_terminal),
        headers=headers,
    )


def wants_color(environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """True if NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then CLICOLOR and TERM, then the terminal allow it."""
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return is_terminal
