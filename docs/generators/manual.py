"""The man page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup

from kubespread import __version__
from kubespread.cli.commands import app
from kubespread.cli.streams import EPILOG

_AS_TYPED = "\b"
"""What help texts begin a paragraph with that keeps its line breaks."""


def page() -> str:
    """The man page in roff: the commands in the order of ``kubespread --help``, with all of their options."""
    root = app
    assert isinstance(root, TyperGroup)
    context = root.make_context("kubespread", [], resilient_parsing=True)
    return "\n".join(_lines(root, context)) + "\n"


def _lines(root: TyperGroup, context: Any) -> Iterator[str]:
    yield f'.TH KUBESPREAD 1 "" "kubespread {__version__}" "User Commands"'
    yield from (".SH NAME", r"kubespread \- what\-if planner for Kubernetes Pod Topology Spread Constraints")
    yield from (".SH SYNOPSIS", r".B kubespread", r"\fICOMMAND\fR [\fIOPTION\fR]...")
    yield from (".SH DESCRIPTION", *_paragraphs(root.help or ""))
    yield ".SH COMMANDS"
    for name, command in root.commands.items():
        own = command.make_context(name, [], parent=context, resilient_parsing=True)
        usage = " ".join(command.collect_usage_pieces(own))
        yield f".SS {_escaped(f'kubespread {name} {usage}')}"
        yield from _paragraphs(command.help or "")
        for option in command.get_params(own):
            record = option.get_help_record(own)
            if record is not None:
                yield from (".TP", rf"\fB{_escaped(record[0])}\fR", _escaped(record[1]))
    yield from (".SH EXIT STATUS", *_paragraphs(EPILOG))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        yield ".PP"
        if paragraph.startswith(_AS_TYPED):
            yield from (
                ".nf",
                *(_escaped(line) for line in paragraph.removeprefix(_AS_TYPED).strip("\n").split("\n")),
                ".fi",
            )
        else:
            yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    """As roff has it: a dot or an apostrophe at the beginning of a line would be a request, a hyphen a soft one."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
