"""Commands as typer has them, each built only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import typer

from kubespread.cli.options.helping import HelpingCommand


class MadeWhenAsked(Mapping[str, Any]):
    """Typer's commands by name."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def made_command(
    name: str, function: Callable[..., Any], made_as: type[HelpingCommand], short_help: str, codes: str | None
) -> Any:
    """``function`` as a command; ``codes`` are its exit codes, as its help has them."""
    # A program of one command is that command.
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=made_as, short_help=short_help, epilog=codes)(function)
    return typer.main.get_command(alone)
