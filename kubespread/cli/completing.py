"""Shell completion: the answer to a shell that completes a word, never an error on the terminal.

A script runs the program with the words typed so far as its arguments, the one being typed last, and
``_KUBESPREAD_COMPLETE`` set to the shell; the answer is lines of text that no shell evaluates. Names of a cluster are
those of the snapshots on the line; a running cluster is never contacted. The commands are remembered as data, since
importing all of them takes longer than all the rest.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from kubespread import __version__
from kubespread.config import SNAPSHOT, settings
from kubespread.regex import regex
from kubespread.snapshot.cache import cache_folder, recalled, remember
from kubespread.snapshot.topology_keys import SHORT_KEYS

if TYPE_CHECKING:
    from kubespread.snapshot.name_index import Names


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """One option or argument."""

    name: str
    opts: tuple[str, ...] = ()
    """Spellings of the option and of its opposite; none for an argument."""
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Words that a value may be besides others."""
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
        words=part.words,
        choices=part.choices,
        is_argument=is_argument,
        takes_value=is_argument or not (part.is_flag or part.count),
        is_repeatable=not is_argument and (part.multiple or part.count),
    )


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
_NONE = Command()


class Line(Struct):
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


_STDIN = "-"
_RUNNING = {"context", "kubeconfig"}
"""The options that ask for a running cluster."""
_DEFAULT = "default"


def nodes(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    return (node for names in _clusters(line, environment) for node in names.nodes)


def nodes_or_labels(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The nodes and ``KEY=``, then ``KEY=VALUE``; after a comma only labels."""
    clusters = _clusters(line, environment)
    before, comma, last = line.word.rpartition(",")
    key, equals, _ = last.partition("=")
    if equals:
        yield from (f"{before}{comma}{key}={value}" for names in clusters for value in _values(names, key))
        return
    if not comma:
        yield from (node for names in clusters for node in names.nodes)
    for names in clusters:
        keys = (*(short for short, key in SHORT_KEYS.items() if key in names.labels), *names.labels)
        yield from (f"{before}{comma}{key}=" for key in keys)


def topology_keys(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """Keys that nodes can be grouped by: the short names, and the labels nodes have."""
    yield from SHORT_KEYS
    for names in _clusters(line, environment):
        yield from names.labels


def namespaces(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    return (namespace for names in _clusters(line, environment) for namespace in names.namespaces)


def references(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The words of the parameter's own, and ``deploy/``, then ``deploy/web``."""
    from kubespread.kube.api.kinds import REFERABLE, kind_called

    yield from line.parameter.words if line.parameter is not None else ()
    clusters = _clusters(line, environment)
    if not clusters:
        return
    typed, slash, _ = line.word.partition("/")
    if slash:
        kind = kind_called(typed)
        yield from (f"{typed}/{name}" for name in _named(clusters, typed if kind is None else kind.short, line))
    else:
        present = {short for names in clusters for short in names.by_kind}
        known = [row.short for row in REFERABLE]
        # Then those that only pods know.
        yield from (f"{kind}/" for kind in (*known, *sorted(present.difference(known))) if kind in present)


def _named(clusters: Sequence[Names], short: str, line: Line) -> Iterable[str]:
    return (name for names in clusters for name in names.by_kind.get(short, {}).get(_namespace(line, names), ()))


def _values(names: Names, key: str) -> Sequence[str]:
    return names.labels.get(key if key in names.labels else SHORT_KEYS.get(key, key), ())


def _namespace(line: Line, names: Names) -> str:
    return line.value("namespace") or names.namespace or _DEFAULT


def _clusters(line: Line, environment: Mapping[str, str]) -> list[Names]:
    """The names in each snapshot that the line names or that is set; none for a running cluster."""
    from kubespread.snapshot.name_index import names_in

    paths: Sequence[str] = line.values.get("snapshot", ())
    if not paths and not line.values.keys() & _RUNNING:
        set_to = settings(environment).get(SNAPSHOT)
        paths = set_to.values if set_to is not None else ()
    return [names_in(_path(path), environment) for path in paths if path != _STDIN]


def _path(word: str) -> str:
    """The file that a word of the line means, in which a shell has not put values for variables yet."""
    return word if os.path.lexists(word) else os.path.expandvars(word)


def contexts(line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    from kubespread.snapshot.live import kubeconfig

    access = kubeconfig.Access(kubeconfig=line.value("kubeconfig") or None)
    return sorted({each.name for each in kubeconfig.contexts(access, environment)})


def releases(_line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    from kubespread.kube.versions import NEWEST, OLDEST

    return (f"1.{minor}" for minor in range(NEWEST, OLDEST - 1, -1))


class Candidate(Struct, frozen=True):
    """A whole value, and what it is in a few words."""

    value: str
    help: str = ""


class Candidates(Struct, frozen=True):
    """Candidates for a word."""

    words: tuple[Candidate, ...] = ()
    files: bool = False
    """True if the names of files are candidates too."""

    @property
    def is_partial(self) -> bool:
        """True if more is typed directly after each of them: ``deploy/``, ``zone=``."""
        return bool(self.words) and all(word.value.endswith(("/", "=")) for word in self.words)


Source = Callable[[Line, Mapping[str, str]], Iterable[str]]

_BY_NAME: Mapping[str, Source] = {
    "context": contexts,
    "contexts": contexts,
    "namespace": namespaces,
    "kube_version": releases,
    "to_kube_version": releases,
    "key": topology_keys,
    "scale": references,
    "spread": topology_keys,
    "add_node": nodes,
    "pod": references,
    "manifest": references,
    "workload": references,
}
"""By the name of the parameter, where that is enough."""
_BY_METAVAR: Mapping[str, Source] = {
    "NODES": nodes_or_labels,
    "NODE=TAINT": nodes,
    "NODE=KEY=VALUE": nodes,
    "[WORKLOAD]...": references,
    "[AREA|WORKLOAD]...": references,
    "[NODES]": nodes,
    "[NODES]...": nodes_or_labels,
    "KEY": topology_keys,
    "CPUxGI|TEMPLATE[@KEY=VALUE]": nodes,
}
"""By what the help calls a value."""
_BY_COMMAND: Mapping[tuple[str, str], Source] = {("explain", "nodes"): nodes}
"""Sources of one command only."""

FILES = frozenset(
    {
        "FILE",
        "PATH",
        "PATTERN",
        "DIRECTORY",
        "[POD]",
        "[POD]...",
        "[POD] [POD]",
        "[MANIFEST]...",
        "[STEP|SCENARIO]...",
        "PROMISES",
        "LIKE-NODE[:N][@CPUxGI][@KEY=VALUE]",
        "CPUxGI|TEMPLATE[@KEY=VALUE]",
        "POLICY",
    }
)
"""Metavars of values that may be a file's name."""
_PLAIN = regex(r"\w[\w.:/@=,+-]*")
"""Text that no shell reads anything into. Names in files may be anything; those of Kubernetes are this."""
_HELP = Candidate("--help", "Show this message and exit.")
_VERSION = Candidate("--version", "Print the version and exit.")


def source_of(command: str, parameter: Parameter) -> Source | None:
    """Find the source of the values of an option or argument, apart from files."""
    if parameter.choices:
        return lambda _line, _environment: parameter.choices
    by_command = _BY_COMMAND.get((command.rpartition(" ")[2], parameter.name))
    return by_command or _BY_NAME.get(parameter.name) or _BY_METAVAR.get(parameter.metavar)


def takes_files(parameter: Parameter) -> bool:
    return parameter.metavar in FILES


def candidates(line: Line, environment: Mapping[str, str]) -> Candidates:
    """Find the candidates for the word of ``line``, each beginning as it does."""
    if line.is_option:
        return Candidates(tuple(_options(line)))
    if line.parameter is None or (line.parameter.is_argument and line.following):
        following = (item for item in line.following.items() if item[0].startswith(line.word))
        named = tuple(Candidate(name, command.help) for name, command in following)
        return Candidates(named, files=line.parameter is not None)
    source = source_of(line.command, line.parameter)
    values = source(line, environment) if source is not None else ()
    words = (
        Candidate(value) for value in dict.fromkeys(values) if value.startswith(line.word) and _PLAIN.fullmatch(value)
    )
    return Candidates((*words,), files=takes_files(line.parameter))


def _options(line: Line) -> Iterator[Candidate]:
    """The options that may still be given: repeatable ones, and those that were not."""
    for option in line.of.options:
        if option.name in line.values and not option.is_repeatable:
            continue
        names = [name for name in option.opts if name.startswith(line.word)]
        # A long name says more than its letter.
        for name in [name for name in names if name.startswith("--")] or names:
            yield Candidate(name, option.help)
    yield from (
        candidate
        for candidate in (_HELP, *(() if line.command else (_VERSION,)))
        if candidate.value.startswith(line.word)
    )


LINE_VARIABLE = "_KUBESPREAD_LINE"
"""The whole line, for a shell whose words are not those of the program."""
WORD_VARIABLE = "_KUBESPREAD_WORD"
"""The word that is being typed, as such a shell breaks words: behind the last ``=`` or ``:``."""

_NO_SPACE, _NO_FILES = 2, 4
"""Values of cobra's completion directives of these names."""


def answer(shell: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Write the candidates for ``shell``; nothing where anything goes wrong."""
    form = _FORMS.get(shell)
    if form is None:
        return ""
    line = read_line(_words(arguments, environment), commands(environment))
    try:
        offered = candidates(line, environment)
    except Exception:  # noqa: BLE001 - no faulty file may disturb a shell that completes a word
        offered = Candidates()
    return form(line, offered, environment)


def _words(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    if LINE_VARIABLE in environment:
        return split_line(environment[LINE_VARIABLE])[1:]
    return arguments


def split_line(line: str) -> list[str]:
    """The words of a line without their quotes; the last is being typed, and empty behind a space."""
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


def _described(line: Line, offered: Candidates, _environment: Mapping[str, str]) -> str:
    """Directives on the first line, then one value with its help per line."""
    todo = [name for name, is_so in (("files", offered.files), ("nospace", offered.is_partial)) if is_so]
    words = (f"{line.prefix}{word.value}\t{word.help}" for word in offered.words)
    return "".join(f"{row}\n" for row in (" ".join(todo), *words))


def _bare(line: Line, offered: Candidates, environment: Mapping[str, str]) -> str:
    """A word without its help, and without what precedes the word as bash breaks it."""
    typed, own = f"{line.prefix}{line.word}", split_line(environment.get(WORD_VARIABLE, ""))[-1]
    start = len(typed) - (0 if own in ("=", ":") else len(own))
    rows = _described(line, offered, environment).splitlines()
    return "".join(f"{row}\n" for row in (rows[0], *(row.partition("\t")[0][start:] for row in rows[1:])))


def _for_kubectl(_line: Line, offered: Candidates, _environment: Mapping[str, str]) -> str:
    """Write them as cobra reads them: a value and its help on each line, then a colon and a sum of directives."""
    directives = (0 if offered.files else _NO_FILES) + (_NO_SPACE if offered.is_partial else 0)
    return "".join(f"{row}\n" for row in (*(f"{word.value}\t{word.help}" for word in offered.words), f":{directives}"))


_FORMS: Mapping[str, Callable[[Line, Candidates, Mapping[str, str]], str]] = {
    "bash": _bare,
    "zsh": _described,
    "fish": _described,
    "kubectl": _for_kubectl,
}
