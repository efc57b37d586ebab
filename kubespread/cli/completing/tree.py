"""The commands and their parameters as data, remembered: importing all commands takes longer than all the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from kubespread import __version__
from kubespread.snapshot.cache import cache_folder, recalled, remember


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """One option or argument."""

    name: str
    opts: tuple[str, ...] = ()
    """How it is spelled, and how its opposite; of an argument nothing that is typed."""
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    """What a value is a list of, where that is known and takes long to find out."""
    is_argument: bool = False
    takes_value: bool = True
    is_repeatable: bool = False


class Command(msgspec.Struct, frozen=True):
    """One command."""

    help: str = ""
    parameters: tuple[Parameter, ...] = ()

    @property
    def options(self) -> Iterator[Parameter]:
        return (parameter for parameter in self.parameters if not parameter.is_argument)

    @property
    def argument(self) -> Parameter | None:
        """What words that belong to no option are."""
        return next((parameter for parameter in self.parameters if parameter.is_argument), None)


Commands = dict[str, Command]
"""By name, in the order of ``--help``; what follows another command has the name of that before its own."""


class _Remembered(msgspec.Struct):
    """Commands, and the state of the files they were read from."""

    state: tuple[str, int, int]
    commands: Commands


def commands(environment: Mapping[str, str]) -> Commands:
    """All commands: those remembered while the program is the same, else those of the program."""
    state = _state_of_the_program()
    memory = cache_folder(environment) / "commands.json"
    remembered = recalled(memory, _Remembered)
    if remembered is not None and remembered.state == state:
        return remembered.commands
    tree = read_commands()
    if state[1]:
        remember(memory, msgspec.json.encode(_Remembered(state, tree)))
    return tree


def read_commands() -> Commands:
    """The commands as typer defines them, without hidden ones."""
    from typer.main import get_command

    from kubespread.cli.commands import app

    return dict(_commands(get_command(app), ""))


def _commands(group: Any, before: str) -> Iterator[tuple[str, Command]]:
    for name, command in group.commands.items():
        if not command.hidden:
            parameters = tuple(_parameter(part) for part in command.params if not _is_hidden(part))
            yield f"{before}{name}", Command(_first_sentence(command.help), parameters)
            if hasattr(command, "commands"):
                yield from _commands(command, f"{before}{name} ")


def _parameter(part: Any) -> Parameter:
    is_argument = part.param_type_name == "argument"
    return Parameter(
        name=part.name,
        opts=() if is_argument else (*part.opts, *part.secondary_opts),
        metavar=part.metavar or "",
        help=_first_sentence(getattr(part, "help", "")),
        listed=_rule_codes() if part.name in ("select", "ignore") or part.metavar == "CODE" else (),
        choices=tuple(str(getattr(choice, "value", choice)) for choice in getattr(part.type, "choices", ())),
        is_argument=is_argument,
        takes_value=is_argument or not (part.is_flag or part.count),
        is_repeatable=not is_argument and (part.multiple or part.count),
    )


@cache
def _rule_codes() -> tuple[str, ...]:
    import kubespread

    return tuple(rule.code for rule in kubespread.rules())


def _is_hidden(part: Any) -> bool:
    return bool(getattr(part, "hidden", False))


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].partition(". ")[0].split())


def _state_of_the_program() -> tuple[str, int, int]:
    """The version, and of a program in files how many they are and when the last was written."""
    folder = Path(__file__).parents[1]
    written = []
    with suppress(OSError):
        for directory in (folder, folder / "options"):
            written += [entry.stat().st_mtime_ns for entry in os.scandir(directory) if entry.name.endswith(".py")]
    return __version__, len(written), max(written, default=0)
