"""The commands by name, each imported when it is first asked for: an answer needs only one of them, and importing all
would take longer than everything else ``--version`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer

from kubespread.cli.exitcodes import epilog
from kubespread.cli.options.helping import HelpingCommand, HelpingGroup
from kubespread.questions.registry import QUESTIONS


@dataclass(frozen=True, slots=True)
class _Command:
    """Help for a command, which is the function ``function`` in the module of the same name."""

    short_help: str
    """What it does, in what fits on a line of the program's help."""
    yes: str | None = None
    """What its exit code 0 means; None if exit codes need no explanation."""
    no: str | None = None
    """What its exit code 1 means; None where it has none."""
    function: str = ""
    has_ordered_options: bool = True


# In the order in which people need them; None: everything is taken from the question of that name.
_COMMANDS: dict[str, _Command | None] = {
    **dict.fromkeys(QUESTIONS),
    "snapshot": _Command("Save what scheduling needs from a cluster as one file.", "the file is written"),
    "mcp": _Command("Serve the questions to assistants (MCP).", "the client disconnected", has_ordered_options=False),
    "config": _Command("Show what the environment and configuration files set.", has_ordered_options=False),
    "rbac": _Command("Print the ClusterRole needed to read a running cluster.", has_ordered_options=False),
    "completion": _Command(
        "Print the script that completes commands, options and names.", has_ordered_options=False
    ),
    "demo": _Command("Try explain and simulate on a small example cluster.", has_ordered_options=False),
}  # fmt: skip


class CommandGroup(HelpingGroup):
    """The program's commands, each built only when it is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _MadeWhenAsked()  # type: ignore[assignment]  # a group that is complete only reads it

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's own, which is that
        return [*self.commands]


class _MadeWhenAsked(Mapping[str, Any]):
    """Typer's commands by name."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, _COMMANDS.get(name))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*_COMMANDS, *QUESTIONS)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in _COMMANDS or name in QUESTIONS


def _made(name: str, command: _Command | None) -> Any:
    from kubespread.cli.options.ordered import OrderedCommand

    if command is None:
        from kubespread.cli.asking import command_of
        from kubespread.questions.registry import question

        cls = question(name)
        return _command(name, command_of(cls), OrderedCommand, cls.summary, epilog(cls.yes, cls.no))
    function = getattr(import_module(f"kubespread.cli.{name}"), command.function or name)
    made_as = OrderedCommand if command.has_ordered_options else HelpingCommand
    codes = epilog(command.yes, command.no) if command.yes is not None else None
    return _command(name, function, made_as, command.short_help, codes)


def _command(
    name: str, function: Callable[..., Any], made_as: type[HelpingCommand], short_help: str, codes: str | None
) -> Any:
    # A program of one command is that command.
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=made_as, short_help=short_help, epilog=codes)(function)
    return typer.main.get_command(alone)
