"""The command tree, of which a process builds the one command that it runs.

Typer would build all of them first, from every annotation of every option, which takes as long as a small answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from typer import Typer
from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group
from typer.models import CommandInfo


def command_tree(app: Typer) -> TyperGroup:
    """What typer makes of ``app``, except that a command is built when somebody asks for it."""
    without_commands = copy(app)
    without_commands.registered_commands = []
    tree = get_group(without_commands)
    tree.commands = _Commands(app)  # type: ignore[assignment]  # typer only ever reads them
    return tree


class _Commands(Mapping[str, Any]):
    """By name, in the order in which they were registered."""

    def __init__(self, app: Typer) -> None:
        self._app = app
        self._registered = {_name(info): info for info in app.registered_commands}

    def __getitem__(self, name: str) -> Any:
        return get_command_from_info(
            self._registered[name],
            pretty_exceptions_short=self._app.pretty_exceptions_short,
            rich_markup_mode=self._app.rich_markup_mode,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._registered)

    def __len__(self) -> int:
        return len(self._registered)


def _name(info: CommandInfo) -> str:
    """As typer derives it."""
    assert info.callback is not None
    return info.name or get_command_name(info.callback.__name__)
