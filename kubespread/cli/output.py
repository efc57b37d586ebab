"""Standard output for the answer, standard error for everything else."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping

import typer

from kubespread.cli.exitcodes import ExitCode
from kubespread.errors import UsageError

_UNICODE_TO_ASCII = str.maketrans({"≤": "<=", "−": "-", "·": "|", "…": "..."})


def emit(text: str) -> None:
    """Write the answer. A reader that goes away (``| head -1``) ends the program quietly."""
    encoding = sys.stdout.encoding or "utf-8"
    if not encoding.lower().startswith("utf"):
        text = text.translate(_UNICODE_TO_ASCII).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        raise UsageError(f"standard output: {error.strerror}") from error


def note(text: str) -> None:
    """Say something beside the answer."""
    sys.stderr.write(f"{text}\n")


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


def stdin_is_piped() -> bool:
    """Whether someone feeds standard input: a pipe or a file, not a terminal and not /dev/null."""
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def stdout_is_terminal() -> bool:
    return sys.stdout.isatty()


def terminal_width() -> int:
    return shutil.get_terminal_size().columns


def environment() -> Mapping[str, str]:
    return os.environ
