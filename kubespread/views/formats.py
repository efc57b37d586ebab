"""Output formats: their names for -o, and their writers for each kind of report.

A writer is a function ``NAME(answer, look) -> str``, where the answer is what the question returns: an ExplainReport, a
sequence of SimulateReports, or another question's one report. Its module below views/ is imported when it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct

from kubespread.escaping import printable
from kubespread.views.look import Look

Write = Callable[[Any, Look], str]


class Writer(Struct, frozen=True):
    module: str
    name: str
    """Name of its function, like the format."""
    help: str = ""
    """Text in the help of -o."""

    def load(self) -> Write:
        """Import the function that writes; its output is made printable, without characters that move the cursor."""
        write: Write = getattr(import_module(self.module), self.name)
        return lambda answer, look: printable(write(answer, look), colored=look.color)


class Format(Struct, frozen=True):
    name: str
    engine: str
    """Module in views/ that writes any view or report in this format."""
    is_of_all: bool = False
    """True if every report has it, regardless of its question."""
    is_for_people: bool = False
    """True if its rows are for people, who can also read sentences."""
    is_page: bool = False
    """True if it draws the cluster."""
    has_conclusion: bool = False
    """True if the output includes the conclusion; otherwise it is printed beside it."""
    has_notes: bool = False
    """True if it includes notes, gaps and unmodeled features."""
    help: str = ""
    """Text in the help of -o, unless a question has its own."""


FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format("table", engine="terminal", is_for_people=True, has_conclusion=True, help="a table"),
        Format("wide", engine="plain", is_for_people=True),
        Format("json", engine="documents", is_of_all=True, has_conclusion=True, has_notes=True),
        Format("yaml", engine="documents", is_of_all=True, has_conclusion=True, has_notes=True),
        Format("markdown", engine="markdown", is_of_all=True, has_conclusion=True, has_notes=True),
        Format("name", engine="plain"),
        Format("csv", engine="plain"),
        Format("html", engine="page.writing", is_of_all=True, is_page=True, has_conclusion=True, has_notes=True),
        Format("sarif", engine="findings", is_of_all=True),
        Format("junit", engine="findings", is_of_all=True),
        Format("github", engine="findings", is_of_all=True),
        Format("prometheus", engine="plain", help="prints metrics for a textfile collector"),
    )
}
_ON_TERMINAL = "table"
_IN_PIPE = Format("columns", engine="plain", is_for_people=True)
IN_PIPE = Writer("kubespread.views.plain", "plain")
"""Default writer for pipes, which cannot be requested by name."""


def chosen_format(name: str | None, *, is_terminal: bool) -> Format:
    """Requested format, else the default of standard output."""
    return _IN_PIPE if name is None and not is_terminal else FORMATS[name or _ON_TERMINAL]


def writers_of(outputs: Mapping[str, str]) -> Mapping[str, Writer]:
    """Writers of a report: the common formats and ``outputs``, with their own help if they have any."""
    names = {"table", "csv", *outputs}
    return {
        name: Writer(f"kubespread.views.{form.engine}", name, outputs.get(name) or form.help)
        for name, form in FORMATS.items()
        if form.is_of_all or name in names
    }


def output_help(writers: Mapping[str, Writer]) -> str:
    helps = {name: writer.help for name, writer in writers.items()}
    default = helps.pop(_ON_TERMINAL)
    others = (f" '{name}' {text}." for name, text in helps.items() if text)
    return f"Format (default: {default} on a terminal, columns in a pipe).{''.join(others)}"
