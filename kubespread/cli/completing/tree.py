"""The commands and their parameters as data, remembered, since importing all commands takes longer than all the rest;
and a command line that is being typed, as far as they explain it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
    """Spellings of the option and of its opposite; none for an argument."""
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    """Words that a value lists, or may be besides others, where they are known and take long to find out."""
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
        """Argument that takes the words that belong to no option."""
        return next((parameter for parameter in self.parameters if parameter.is_argument), None)


_FILES_BEFORE_A_COMMAND = Parameter("snapshot", metavar="FILE", is_argument=True, is_repeatable=True)
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
    """The commands, with what each takes."""
    from kubespread.cli.commands import app

    return dict(_commands(app, ""))


def _commands(group: Any, before: str) -> Iterator[tuple[str, Command]]:
    for name, command in group.commands.items():
        files = (_FILES_BEFORE_A_COMMAND,) if getattr(command, "has_files", False) else ()
        yield f"{before}{name}", Command(_first_sentence(command.help), (*map(_parameter, command.params), *files))
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")


def _parameter(part: Any) -> Parameter:
    is_argument = part.param_type_name == "argument"
    return Parameter(
        name=part.name,
        opts=() if is_argument else (*part.opts, *part.secondary_opts),
        metavar=part.metavar or "",
        help=_first_sentence(part.help),
        listed=_rule_codes() if part.name in ("select", "ignore") or part.metavar == "CODE" else part.words,
        choices=part.choices,
        is_argument=is_argument,
        takes_value=is_argument or not (part.is_flag or part.count),
        is_repeatable=not is_argument and (part.multiple or part.count),
    )


@cache
def _rule_codes() -> tuple[str, ...]:
    import kubespread

    return tuple(rule.code for rule in kubespread.rules())


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].partition(". ")[0].split())


def _state_of_the_program() -> tuple[str, int, int]:
    """The version, and of a program in files how many they are and when the last was written."""
    folder = Path(__file__).parents[1]
    written = []
    with suppress(OSError):
        written += [entry.stat().st_mtime_ns for entry in os.scandir(folder) if entry.name.endswith(".py")]
    return __version__, len(written), max(written, default=0)


END_OF_OPTIONS = "--"
MAY_STAND_ALONE = "contexts"
"""The option whose value is left out where a command follows."""
_NONE = Command()


@dataclass(slots=True)
class Line:
    """The words of an unfinished command line."""

    word: str
    """The one being typed, or that part of it which is a value (``pr`` of ``--context=pr``)."""
    commands: Commands
    command: str = ""
    prefix: str = ""
    """Text before ``word`` in the same shell word."""
    parameter: Parameter | None = None
    """The option or argument that ``word`` is a value of; None for the name of a command, or for nothing at all."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """Values given to the options, by the parameter's name; none for flags."""
    arguments: list[str] = field(default_factory=list)
    """The words that belong to no option."""
    only_arguments: bool = False
    """True if a ``--`` precedes the word."""

    @property
    def of(self) -> Command:
        """The command on the line; one without anything before there is any."""
        return self.commands.get(self.command, _NONE)

    @property
    def is_option(self) -> bool:
        """True if the word is the beginning of an option's name."""
        return self.parameter is None and self.word.startswith("-") and not self.only_arguments

    @property
    def following(self) -> dict[str, Command]:
        """The commands that may come next, by the word that they are."""
        before = f"{self.command} " if self.command else ""
        names = (name for name in self.commands if name.startswith(before) and " " not in name[len(before) :])
        return {name[len(before) :]: self.commands[name] for name in names}

    def value(self, name: str) -> str:
        """The last value given to an option; empty without one."""
        return next(reversed(self.values.get(name, [])), "")


def read_line(words: Sequence[str], commands: Commands) -> Line:
    """``words`` follow the program's name; the last is being typed. Mistyped ones are skipped."""
    *before, word = words or [""]
    line = Line(word, commands)
    waiting: Parameter | None = None
    for text in before:
        waiting = _waiting(line, waiting, text)
        if waiting is not None:
            line.values.setdefault(waiting.name, []).append(text)
            waiting = None
        elif text == END_OF_OPTIONS and not line.only_arguments:
            line.only_arguments = True
        elif text.startswith("-") and text != "-" and not line.only_arguments:
            waiting, head = _option(line, text)
            if waiting is not None and (head != text or head.endswith("=")):
                line.values.setdefault(waiting.name, []).append(text[len(head) :])
                waiting = None
        elif text in (following := line.following):
            line.command = f"{line.command} {text}".strip()
        elif following and (files := line.of.argument) is not None:
            line.values.setdefault(files.name, []).append(text)
        elif following:
            # Nothing is known of what follows a command that does not exist.
            line.command = ""
        else:
            line.arguments.append(text)
    _end(line, waiting)
    return line


def _waiting(line: Line, option: Parameter | None, text: str) -> Parameter | None:
    """The ``option`` that ``text`` is a value of; None where it stands alone before a command."""
    stands_alone = option is not None and option.name == MAY_STAND_ALONE and text in line.following
    return None if stands_alone else option


def _end(line: Line, waiting: Parameter | None) -> None:
    """Say what the last word is."""
    if waiting is not None:
        line.parameter = waiting
        return
    if line.is_option and line.word != "-":
        option, head = _option(line, line.word)
        if option is not None and (head != line.word or head.endswith("=")):
            line.parameter, line.prefix, line.word = option, head, line.word[len(head) :]
        return
    if not line.word.startswith("-") or line.only_arguments:
        line.parameter = line.of.argument


def _option(line: Line, word: str) -> tuple[Parameter | None, str]:
    """The option in ``word`` that takes a value, None without one, and how far it reaches there (``--context=``)."""
    taking = {name: option for option in line.of.options if option.takes_value for name in option.opts}
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        return taking.get(name), name + equals
    # Short options may stand together, the last of them with its value: -Av, -ojson, -vn shop.
    for end, letter in enumerate(word[1:], start=2):
        if (option := taking.get(f"-{letter}")) is not None:
            return option, word[:end]
    return None, word
