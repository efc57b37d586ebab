"""A page of every command, and one that lists them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from typer.core import TyperGroup

from kubespread.cli.command import in_full
from kubespread.cli.commands import app

_PROGRAM = app
assert isinstance(_PROGRAM, TyperGroup)
COMMANDS = _PROGRAM.commands
"""In the order of ``kubespread --help``."""
_EXAMPLES = "\b\nExamples:\n"


def contents() -> str:
    rows = (f"| [{name}]({name}.md) | {made.get_short_help_str(100)} |" for name, made in COMMANDS.items())
    return "\n".join(("# Every command", "", "| command | what it does |", "|---|---|", *rows, ""))


def page(name: str) -> str:
    """All that ``--help-all`` says of the command."""
    program = _PROGRAM.make_context("kubespread", [], resilient_parsing=True)
    context = in_full(COMMANDS[name].make_context(name, [], parent=program, resilient_parsing=True))
    written = _Markdown()
    COMMANDS[name].format_help(context, written)  # type: ignore[arg-type]  # all that help asks of a formatter
    return "\n\n".join((f"# kubespread {name}", *written.parts)) + "\n"


class _Markdown:
    """What help is written with."""

    width = 100

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write_usage(self, program: str, pieces: str) -> None:
        self.parts.append(f"```\n{program} {pieces}\n```")

    def write_text(self, text: str) -> None:
        for paragraph in inspect.cleandoc(text).split("\n\n"):
            if paragraph.startswith(_EXAMPLES):
                examples = inspect.cleandoc(paragraph.removeprefix(_EXAMPLES))
                self.parts += ["## Examples", f"```\n{examples}\n```"]
            else:
                self.parts.append(_escaped(paragraph))

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        self.parts.append("\n".join(f"- `{name}`<br>{_escaped(meaning)}" for name, meaning in rows))

    def write_paragraph(self) -> None:
        """Parts are ones already."""

    def section(self, heading: str) -> AbstractContextManager[None]:
        self.parts.append(f"## {heading}")
        return nullcontext()

    def indentation(self) -> AbstractContextManager[None]:
        return nullcontext()


def _escaped(text: str) -> str:
    """On one line, with what Markdown would take for its own."""
    return re.sub("[*<]", r"\\\g<0>", " ".join(text.split()))
