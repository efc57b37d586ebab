"""A command line that is being typed: its command, what its options have been given, and what the last word is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kubespread.cli.completing.tree import Command, Commands, Parameter

END_OF_OPTIONS = "--"
_NONE = Command()


@dataclass(slots=True)
class Line:
    """The words of an unfinished command line."""

    word: str
    """The one being typed, or that part of it which is a value (``pr`` of ``--context=pr``)."""
    commands: Commands
    command: str = ""
    prefix: str = ""
    """What precedes ``word`` in the same shell word."""
    parameter: Parameter | None = None
    """The option or argument that ``word`` is a value of; None for the name of a command, or for nothing at all."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """What the options were given, by the parameter's name; of flags nothing."""
    flags: list[str] = field(default_factory=list)
    """Words of options that take no value, as they were typed."""
    arguments: list[str] = field(default_factory=list)
    """The words that belong to no option."""
    only_arguments: bool = False
    """Whether a ``--`` precedes the word."""

    @property
    def of(self) -> Command:
        """The command on the line; one without anything before there is any."""
        return self.commands.get(self.command, _NONE)

    @property
    def is_option(self) -> bool:
        """Whether the word is the beginning of an option's name."""
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
            elif waiting is None:
                line.flags.append(text)
        elif text in (following := line.following):
            line.command = f"{line.command} {text}".strip()
        elif following:
            # Nothing is known of what follows a command that does not exist.
            line.command = ""
        else:
            line.arguments.append(text)
    _end(line, waiting)
    return line


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
