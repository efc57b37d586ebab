"""How an answer is written, and what is printed beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kubespread.errors import UsageError
from kubespread.views.formats import Writer, output_help


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_STDOUT = "-"


def _checked_target(path: str | None) -> str | None:
    """``path``, once it is known that a file can be there: before a cluster is read. Raises UsageError."""
    if path is not None:
        if path == _STDOUT:
            raise UsageError("--html -: standard output is for the answer: name a file")
        if Path(path).is_dir():
            raise UsageError(f"{path}: {os.strerror(errno.EISDIR)}")
        if not Path(path).parent.is_dir():
            raise UsageError(f"{path}: {os.strerror(errno.ENOENT)}")
    return path


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How an answer is given. Which formats -o takes is for a command to say, with `formats_in`."""

    output: str | None = None
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            show_default=False,
            callback=_checked_target,
            help="Also write the answer as one self-contained HTML page that draws the cluster topology.",
        ),
    ] = None
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Omit headers from tables, columns and csv.")] = False
    color: Annotated[Color, typer.Option("--color", case_sensitive=False, help="Color the table.")] = Color.AUTO
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")] = False


def formats_in(writers: Mapping[str, Writer]) -> Mapping[str, Any]:
    """The option of `AnswerOptions` that differs between commands: -o, with the formats that it is written in."""
    choices = StrEnum("Format", {name.upper(): name for name in writers})  # type: ignore[misc]  # from the registry
    option = typer.Option("-o", "--output", case_sensitive=False, show_default=False, help=output_help(writers))
    return {"output": Annotated[choices | None, option]}


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """How much is printed beside the answer."""

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes on standard error.")] = False
    verbose: Annotated[
        int,
        typer.Option("-v", "--verbose", count=True, show_default=False, help="Print more detail to standard error."),
    ] = 0
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when kubespread fails.")] = False
    """Read by main()."""
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no configuration files.")] = False
    """Read before the other options are."""
