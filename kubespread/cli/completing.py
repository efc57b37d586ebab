"""Shell completion: the answer to a shell that completes a word, never an error on the terminal.

A script runs the program with the words typed so far as its arguments, the one being typed last, and
``_KUBESPREAD_COMPLETE`` set to the shell; the answer is lines of text that no shell evaluates. It reads no cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kubespread.cli.command import CommandArgument, QuestionGroup
from kubespread.cli.commands import app
from kubespread.regex import regex

_FILES_BEFORE_A_COMMAND = CommandArgument("snapshot", metavar="FILE", help="")


def options_of(command: Any) -> Iterator[Any]:
    return (option for option in command.params if option.param_type_name == "option")


def argument_of(command: Any) -> Any:
    """Positional argument that takes several words, if any."""
    if isinstance(command, QuestionGroup):
        return _FILES_BEFORE_A_COMMAND if command.has_files else None
    return next((argument for argument in command.params if argument.param_type_name == "argument"), None)


def takes_value(option: Any) -> bool:
    return not (option.is_flag or option.count)


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].partition(". ")[0].split())


END_OF_OPTIONS = "--"


class Line(Struct):
    """The words of an unfinished command line."""

    word: str
    """Word being typed, or its value part (``pr`` of ``--context=pr``)."""
    command: Any = app
    """The command on the line so far."""
    prefix: str = ""
    """Text before ``word`` in the same shell word."""
    parameter: Any = None
    """Option or argument with ``word`` as its value; None for a command's name, or nothing."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """Values of options, by the parameter's name; none for flags."""
    only_arguments: bool = False
    """True if a ``--`` precedes the word."""

    @property
    def is_option(self) -> bool:
        """True if the word begins an option's name."""
        return self.parameter is None and self.word.startswith("-") and not self.only_arguments

    @property
    def following(self) -> Mapping[str, Any]:
        """Commands that may come next, by word."""
        return self.command.commands if isinstance(self.command, QuestionGroup) else {}

    def value(self, name: str) -> str:
        """Last value of an option; empty without one."""
        return next(reversed(self.values.get(name, [])), "")


def read_line(words: Sequence[str]) -> Line:
    """Parse ``words`` after the program's name; the last is being typed. Mistyped ones are skipped."""
    *before, word = words or [""]
    line = Line(word)
    waiting: Any = None
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
        elif text in line.following:
            line.command = line.following[text]
        elif line.following and argument_of(line.command) is not None:
            line.values.setdefault(str(_FILES_BEFORE_A_COMMAND.name), []).append(text)
        elif line.following:
            # After a command that does not exist, any word may follow.
            line.command = app
    _end(line, waiting)
    return line


def _end(line: Line, waiting: Any) -> None:
    """Classify the last word: value of ``waiting`` or of an option, or argument."""
    if waiting is not None:
        line.parameter = waiting
        return
    if line.is_option and line.word != "-":
        option, head = _option(line, line.word)
        if option is not None and (head != line.word or head.endswith("=")):
            line.parameter, line.prefix, line.word = option, head, line.word[len(head) :]
        return
    if not line.word.startswith("-") or line.only_arguments:
        line.parameter = argument_of(line.command)


def _option(line: Line, word: str) -> tuple[Any, str]:
    """The option in ``word`` that takes a value, None without one, and how far it reaches there (``--context=``)."""
    taking = {name: option for option in options_of(line.command) if takes_value(option) for name in option.opts}
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        return taking.get(name), name + equals
    # Short options may stand together, the last of them with its value: -Av, -ojson, -vn shop.
    for end, letter in enumerate(word[1:], start=2):
        if (option := taking.get(f"-{letter}")) is not None:
            return option, word[:end]
    return None, word


def contexts(line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    from kubespread.snapshot.live import kubeconfig

    access = kubeconfig.Access(kubeconfig=line.value("kubeconfig") or None)
    return sorted({context.name for context in kubeconfig.contexts(access, environment)})


class Completion(Struct, frozen=True):
    """A whole value, with a short description."""

    value: str
    help: str = ""


class Completions(Struct, frozen=True):
    words: tuple[Completion, ...] = ()
    files: bool = False
    """True if file names are candidates too."""


FILES = frozenset(
    {
        "FILE",
        "PATH",
        "PATTERN",
        "[POD]",
        "[POD]...",
        "[POD] [POD]",
        "[MANIFEST]...",
        "[STEP|SCENARIO]...",
        "PROMISES",
        "LIKE-NODE[:N][@CPUxGI][@KEY=VALUE]",
        "CPUxGI|TEMPLATE[@KEY=VALUE]",
    }
)
"""Metavars of values that may be file names."""
_PLAIN = regex(r"\w[\w.:/@=,+-]*")
"""Text without characters special to a shell: any name of Kubernetes, but not any name in a file."""


def candidates(line: Line, environment: Mapping[str, str]) -> Completions:
    if line.is_option:
        return Completions(tuple(_options(line)))
    if line.parameter in (None, _FILES_BEFORE_A_COMMAND):
        named = [name for name in line.following if name.startswith(line.word)]
        helps = (Completion(name, _first_sentence(line.following[name].help)) for name in named)
        return Completions((*helps,), files=line.parameter is not None)
    is_context = line.parameter.name == "context"
    values = contexts(line, environment) if is_context else line.parameter.choices or line.parameter.words
    words = (Completion(value) for value in values if value.startswith(line.word) and _PLAIN.fullmatch(value))
    return Completions((*words,), files=line.parameter.metavar in FILES)


def _options(line: Line) -> Iterator[Completion]:
    """Options that may follow: repeatable ones, and ones not on the line yet."""
    for option in options_of(line.command):
        if option.name in line.values and not (option.multiple or option.count):
            continue
        names = [name for name in (*option.opts, *option.secondary_opts) if name.startswith(line.word)]
        # A long name says more than its letter.
        for name in [name for name in names if name.startswith("--")] or names:
            yield Completion(name, _first_sentence(option.help))


LINE_VARIABLE = "_KUBESPREAD_LINE"
"""Variable with the whole line, for a shell that splits words differently."""
WORD_VARIABLE = "_KUBESPREAD_WORD"
"""The word that is being typed, as such a shell breaks words: behind the last ``=`` or ``:``."""


def answer(shell: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Candidates as ``shell`` reads them: on the first line whether files are some too, then each with its help."""
    line = read_line(_words(arguments, environment))
    try:
        offered = candidates(line, environment)
    except Exception:  # noqa: BLE001 - no faulty file may disturb a shell that completes a word
        offered = Completions()
    rows = ["files" if offered.files else "", *(f"{line.prefix}{word.value}\t{word.help}" for word in offered.words)]
    return "".join(f"{row}\n" for row in (_bare(line, rows, environment) if shell == "bash" else rows))


def _words(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    if LINE_VARIABLE in environment:
        return split_line(environment[LINE_VARIABLE])[1:]
    return arguments


def split_line(line: str) -> list[str]:
    """Words of a line without their quotes; the last is being typed, and empty after a space."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    is_open = False
    try:
        words.extend(lexer)
    except ValueError:
        # The quote is still to be closed.
        words.append(lexer.token)
        is_open = True
    ends_in_space = line[-1:].isspace() and not line.endswith("\\ ")
    return [*words, ""] if not words or (ends_in_space and not is_open) else words


def _bare(line: Line, rows: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Yield words without their help, and without the text before the last word as bash splits it."""
    typed, own = f"{line.prefix}{line.word}", split_line(environment.get(WORD_VARIABLE, ""))[-1]
    start = len(typed) - (0 if own in ("=", ":") else len(own))
    yield from (rows[0], *(row.partition("\t")[0][start:] for row in rows[1:]))
