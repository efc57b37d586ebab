"""Every command's help on one page."""

from __future__ import annotations

from typer.core import TyperGroup
from typer.main import get_command

from kubespread.cli.commands import app
from kubespread.cli.options.helping import in_full

_WIDTH = 78
"""That of a terminal of 80 columns, less the margin that help keeps."""


def page() -> str:
    """Markdown: the commands in the order of ``kubespread --help``, each with all its help as a terminal shows it."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    context = root.make_context("kubespread", [], resilient_parsing=True, terminal_width=_WIDTH)
    sections = [f"# Every command and option\n\n```\n{root.get_help(context)}\n```"]
    for name, command in root.commands.items():
        own = command.make_context(name, [], parent=context, resilient_parsing=True)
        sections.append(f"## {name}\n\n```\n{command.get_help(in_full(own))}\n```")
    return "\n\n".join(sections) + "\n"
