"""The commands by name, each imported when it is first asked for: an answer takes one of them, and all of them take
longer to import than the rest of what ``--version`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer

from kubespread.cli.exitcodes import EPILOG, epilog
from kubespread.cli.options.helping import HelpingCommand, HelpingGroup


@dataclass(frozen=True, slots=True)
class _Command:
    """What the program says of the command that the function ``function`` in the module of its own name is."""

    epilog: str | None = EPILOG
    function: str = ""
    has_ordered_options: bool = True


# In the order in which people come to ask.
_COMMANDS = {
    "explain": _Command(),
    "advise": _Command(epilog("it fits, or a change is found that makes it fit", "no change is found")),
    "simulate": _Command(),
    "play": _Command(),
    "pending": _Command(epilog("nothing is pending", "something is")),
    "audit": _Command(epilog("nothing is at the level of --fail-on", "something is")),
    "check": _Command(epilog("no finding", "some finding at or above --fail-on")),
    "compare": _Command(epilog("nothing differs", "something does")),
    "survive": _Command(epilog("the answer is there", "a requirement fails")),
    "upgrade": _Command(epilog("all are replaced", "it is blocked or pods stay pending")),
    "map": _Command(epilog("the map is drawn", None), function="map_"),
    "rebalance": _Command(epilog("all constraints hold or can", "no plan found")),
    "capacity": _Command(epilog("some pod fits, or none is asked about", "none fits")),
    "removable": _Command(epilog("some node can go", "none can")),
    "snapshot": _Command(),
    "mcp": _Command(epilog("the assistant hung up", None), has_ordered_options=False),
    "config": _Command(None, has_ordered_options=False),
    "rbac": _Command(None, has_ordered_options=False),
    "completion": _Command(None, has_ordered_options=False),
    "demo": _Command(None, has_ordered_options=False),
}


class CommandGroup(HelpingGroup):
    """The program's commands, of which only those that are asked for are made."""

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
            self._made[name] = _made(name, _COMMANDS[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)

    def __contains__(self, name: object) -> bool:
        return name in _COMMANDS


def _made(name: str, command: _Command) -> Any:
    from kubespread.cli.options.ordered import OrderedCommand

    function = getattr(import_module(f"kubespread.cli.{name}"), command.function or name)
    # A program of one command is that command.
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=OrderedCommand if command.has_ordered_options else HelpingCommand, epilog=command.epilog)(
        function
    )
    return typer.main.get_command(alone)
