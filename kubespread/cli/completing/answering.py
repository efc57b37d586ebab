"""The answer to a shell that completes a word, in the form its script reads; never an error on the terminal.

Names of a cluster are those of the snapshots on the line; a running cluster is never contacted.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kubespread.cli.completing.tree import MAY_STAND_ALONE, Line, Parameter, commands, read_line
from kubespread.config import SNAPSHOT, settings
from kubespread.snapshot.topology_keys import SHORT_KEYS

if TYPE_CHECKING:
    from kubespread.snapshot.live.kubeconfig import Named
    from kubespread.snapshot.name_index import Names

_STDIN = "-"
_RUNNING = {"context", "kubeconfig"}
"""The options that ask for a running cluster."""
_DEFAULT = "default"


def nodes(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The nodes."""
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
    yield from (f"{before}{comma}{label_key}=" for names in clusters for label_key in _label_keys(names))


def node_equals(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``NODE=``."""
    return (f"{node}=" for node in nodes(line, environment))


def topology_keys(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """Keys that nodes can be grouped by: the short names, and the labels nodes have."""
    yield from SHORT_KEYS
    for names in _clusters(line, environment):
        yield from names.labels


def namespaces(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The namespaces of the snapshots, or those that the contexts of the kubeconfig name."""
    clusters = _clusters(line, environment)
    if clusters:
        yield from (namespace for names in clusters for namespace in names.namespaces)
        return
    yield from sorted({each.context.namespace for each in _contexts(line, environment)} - {""})


def references(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``deploy/``, then ``deploy/web``; after a kind as a separate word, names (``deploy web``)."""
    from kubespread.kube.api.kinds import REFERABLE, kind_called

    clusters = _clusters(line, environment)
    if not clusters:
        return
    kind = kind_called(line.arguments[0]) if line.arguments else None
    if kind is not None:
        yield from _named(clusters, kind.short, line)
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


def words_or_references(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The words of the parameter's own, and references to workloads."""
    yield from line.parameter.listed if line.parameter is not None else ()
    yield from references(line, environment)


def scaled(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``deploy/``, then ``deploy/web=``, of the kinds that have replicas."""
    from kubespread.kube.api.kinds import REFERABLE, kind_called

    clusters = _clusters(line, environment)
    typed, slash, _ = line.word.partition("/")
    kind = kind_called(typed) if slash else None
    if not slash:
        present = {short for names in clusters for short in names.by_kind}
        yield from (f"{row.short}/" for row in REFERABLE if row.has_replicas and row.short in present)
    elif kind is not None and kind.has_replicas:
        yield from (f"{typed}/{name}=" for name in _named(clusters, kind.short, line))


def steps(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``fail=``, then what the option of that edit takes, or a step that is none: ``fail=zone=a``."""
    from kubespread.snapshot.edits.registry import EDITS

    verb, equals, rest = line.word.partition("=")
    if not equals:
        yield from (f"{step}=" for step in dict.fromkeys((*EDITS, *_STEPS)))
        return
    edit = next((option for option in line.of.options if verb in EDITS and f"--{verb}" in option.opts), None)
    source = _STEPS.get(verb) if edit is None else source_of(line.command, edit)
    if source is not None:
        values = source(replace(line, word=rest, parameter=edit), environment)
        yield from (f"{verb}={value}" for value in values)


def pods(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The pods, with their namespace once one is typed."""
    namespace, slash, _ = line.word.partition("/")
    for names in _clusters(line, environment):
        if slash:
            yield from (f"{namespace}/{name}" for name in names.of_kind("po", namespace))
        else:
            yield from names.of_kind("po", _namespace(line, names))
            yield from (f"{namespace}/" for namespace in names.namespaces)


def _named(clusters: Sequence[Names], short: str, line: Line) -> Iterable[str]:
    return (name for names in clusters for name in names.of_kind(short, _namespace(line, names)))


def _label_keys(names: Names) -> Iterator[str]:
    """Short names for labels that nodes have, then all labels in full."""
    yield from (short for short, key in SHORT_KEYS.items() if key in names.labels)
    yield from names.labels


def _values(names: Names, key: str) -> list[str]:
    return names.values_of(key if key in names.labels else SHORT_KEYS.get(key, key))


def _namespace(line: Line, names: Names) -> str:
    """The namespace for a name without one."""
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
    """The contexts of the kubeconfig."""
    return sorted({each.name for each in _contexts(line, environment)})


def _contexts(line: Line, environment: Mapping[str, str]) -> Sequence[Named]:
    from kubespread.snapshot.live.kubeconfig import Access, contexts

    return contexts(Access(kubeconfig=line.value("kubeconfig") or None), environment)


def releases(_line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """The modeled releases, the newest first."""
    from kubespread.kube.versions import NEWEST, OLDEST

    return (f"1.{minor}" for minor in range(NEWEST, OLDEST - 1, -1))


def rule_codes(line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """The codes of ``kubespread check``, after those already typed."""
    before, comma, _ = line.word.rpartition(",")
    values = line.parameter.listed if line.parameter is not None else ()
    return (f"{before}{comma}{value}" for value in values if value not in before.split(","))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A whole value, and what it is in a few words."""

    value: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
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
    "evict": pods,
    "scale": scaled,
    "spread": topology_keys,
    "add_node": nodes,
    "scenario": steps,
    "pod": references,
    "manifest": references,
    "workload": references,
    "select": rule_codes,
    "ignore": rule_codes,
}
"""By the name of the parameter, where that is enough."""
_STEPS: Mapping[str, Source | None] = {
    "rollout": references,
    "restore": nodes_or_labels,
    "upgrade": nodes_or_labels,
    "apply": None,
    "fail-hard": nodes_or_labels,
}
"""The steps that are no options."""
_BY_METAVAR: Mapping[str, Source] = {
    "NODES": nodes_or_labels,
    "NODE=TAINT": node_equals,
    "NODE=KEY=VALUE": node_equals,
    "CODE": rule_codes,
    "[WORKLOAD]...": references,
    "[AREA|WORKLOAD]...": words_or_references,
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
        "TEMPLATE[:N][@CPUxGI][@KEY=VALUE]",
        "CPUxGI|TEMPLATE[@KEY=VALUE]",
        "POLICY",
    }
)
"""Metavars of values that may be a file's name."""
_PLAIN = re.compile(r"\w[\w.:/@=,+-]*")
"""Text that no shell reads anything into. Names in files may be anything; those of Kubernetes are this."""
_HELP = Candidate("--help", "Show this message and exit.")
_VERSION = Candidate("--version", "Print the version and exit.")
_NEVER_FILES = frozenset({"contexts"})


def source_of(command: str, parameter: Parameter) -> Source | None:
    """Find the source of the values of an option or argument, apart from files."""
    if parameter.choices:
        return lambda _line, _environment: parameter.choices
    by_command = _BY_COMMAND.get((command.rpartition(" ")[2], parameter.name))
    return by_command or _BY_NAME.get(parameter.name) or _BY_METAVAR.get(parameter.metavar)


def takes_files(parameter: Parameter) -> bool:
    return parameter.metavar in FILES and parameter.name not in _NEVER_FILES


def candidates(line: Line, environment: Mapping[str, str]) -> Candidates:
    """Find the candidates for the word of ``line``, each beginning as it does."""
    if line.is_option:
        return Candidates(tuple(_options(line)))
    if line.parameter is None or (line.parameter.is_argument and line.following):
        return Candidates(tuple(_commands(line)), files=line.parameter is not None)
    source = source_of(line.command, line.parameter)
    values = source(line, environment) if source is not None else ()
    words = (
        Candidate(value) for value in dict.fromkeys(values) if value.startswith(line.word) and _PLAIN.fullmatch(value)
    )
    following = _commands(line) if line.parameter.name == MAY_STAND_ALONE else ()
    return Candidates((*words, *following), files=takes_files(line.parameter))


def _commands(line: Line) -> Iterator[Candidate]:
    return (Candidate(name, command.help) for name, command in line.following.items() if name.startswith(line.word))


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
BREAKS_VARIABLE = "_KUBESPREAD_BREAKS"
"""At which characters such a shell breaks words in two."""

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


def behind_last_break(line: str, breaks: str) -> int:
    """Count the characters of the last word, without its quotes, that precede what bash considers the word being typed:
    bash starts a new word after each unquoted ``=``, ``:`` and ``@``.
    """
    quote, is_escaped, typed, start = "", False, 0, 0
    for character in line:
        if is_escaped:
            is_escaped, typed = False, typed + 1
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif character == quote:
            quote = ""
        elif quote:
            typed += 1
        elif character in "'\"":
            quote = character
        elif character.isspace():
            typed = start = 0
        else:
            typed += 1
            start = typed if character in breaks and character in "=:@" else start
    return start


def _described(line: Line, offered: Candidates, _environment: Mapping[str, str]) -> str:
    """Directives on the first line, then one value with its help per line."""
    todo = [name for name, is_so in (("files", offered.files), ("nospace", offered.is_partial)) if is_so]
    words = (f"{line.prefix}{word.value}\t{word.help}" for word in offered.words)
    return "".join(f"{row}\n" for row in (" ".join(todo), *words))


def _bare(line: Line, offered: Candidates, environment: Mapping[str, str]) -> str:
    """A word without its help, and without what precedes the last character at which bash breaks words."""
    start = behind_last_break(environment.get(LINE_VARIABLE, ""), environment.get(BREAKS_VARIABLE, ""))
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
