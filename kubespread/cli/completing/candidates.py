"""What a word may become: of each option and argument, where its values come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kubespread.cli.completing import cluster_names, known_names
from kubespread.cli.completing.line import Line
from kubespread.cli.completing.tree import Parameter


@dataclass(frozen=True, slots=True)
class Candidate:
    """A whole value, and what it is in a few words."""

    value: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a word may become."""

    words: tuple[Candidate, ...] = ()
    files: bool = False
    """Whether the names of files are candidates too."""

    @property
    def is_partial(self) -> bool:
        """Whether more is typed directly after each of them: ``deploy/``, ``zone=``."""
        return bool(self.words) and all(word.value.endswith(("/", "=")) for word in self.words)


Source = Callable[[Line, Mapping[str, str]], Iterable[str]]

_BY_NAME: Mapping[str, Source] = {
    "context": known_names.contexts, "contexts": known_names.contexts, "to_context": known_names.contexts,
    "cluster": known_names.clusters,
    "user": known_names.users, "namespace": cluster_names.namespaces,
    "kube_version": known_names.releases, "kube_versions": known_names.releases,
    "to_kube_version": known_names.releases,
    "feature_gates": known_names.feature_gates, "to_feature_gates": known_names.feature_gates,
    "proposed": known_names.proposals, "key": cluster_names.topology_keys, "same": cluster_names.topology_keys,
    "max_skew": cluster_names.key_equals, "min_domains": cluster_names.key_equals, "survive": cluster_names.key_equals,
    "node_selector": cluster_names.key_equals,
    "evict": cluster_names.pods, "scale": cluster_names.scaled,
    "scale_requests": cluster_names.scaled, "add_node": cluster_names.nodes,
    "pod": cluster_names.references, "manifest": cluster_names.references, "workload": cluster_names.references,
    "select": known_names.rule_codes, "ignore": known_names.rule_codes,
}  # fmt: skip
"""By the name of the parameter, where that is enough."""
_BY_METAVAR: Mapping[str, Source] = {
    "NODES": cluster_names.nodes_or_labels, "NODE=TAINT": cluster_names.node_equals,
    "NODE=KEY=VALUE": cluster_names.node_equals,
    "CODE": known_names.rule_codes, "POD": cluster_names.references, "[WORKLOAD]...": cluster_names.references,
    "[NODES]": cluster_names.nodes, "[NODES]...": cluster_names.nodes_or_labels, "KEY": cluster_names.topology_keys,
    "CPUxGI|TEMPLATE[@KEY=VALUE]": cluster_names.nodes,
}  # fmt: skip
"""By what the help calls a value."""
_BY_COMMAND: Mapping[tuple[str, str], Source] = {
    ("explain", "nodes"): cluster_names.nodes, ("audit", "workloads"): cluster_names.references_and_services,
}  # fmt: skip
"""Those of one command only."""

FILES = frozenset({
    "FILE", "PATH", "PATTERN", "DIRECTORY", "POD", "[POD]", "[POD]...", "[POD] [POD]", "[MANIFEST]...", "SCENARIO",
    "[PROMISES]", "TEMPLATE[:N][@CPUxGI][@KEY=VALUE]", "CPUxGI|TEMPLATE[@KEY=VALUE]", "POLICY",
})  # fmt: skip
"""What the help calls a value that may be a file's name."""
_PLAIN = re.compile(r"\w[\w.:/@=,+-]*")
"""What no shell reads anything into. Names in files may be anything; those of Kubernetes are this."""
_HELP = Candidate("--help", "Show this message and exit.")
_VERSION = Candidate("--version", "Print the version and exit.")
_NO_FILES = frozenset({"template_path", "contexts"})
FREE = frozenset({
    "N", "K", "N|all", "STEP", "TIME", "USER", "GROUP", "LABELS", "[NS/]LABELS", "FIELD=VALUE", "RESOURCE=AMOUNT,...",
    "KEY[=VALUE][:EFFECT]", "REVISION", "POOL=CPUxGI[:COUNT][@KEY=VALUE]",
})  # fmt: skip
"""What the help calls a value that cannot be completed."""


def source_of(command: str, parameter: Parameter) -> Source | None:
    """Where the values of an option or argument come from, apart from files."""
    if parameter.choices:
        return lambda _line, _environment: parameter.choices
    by_command = _BY_COMMAND.get((command.rpartition(" ")[2], parameter.name))
    return by_command or _BY_NAME.get(parameter.name) or _BY_METAVAR.get(parameter.metavar)


def takes_files(parameter: Parameter) -> bool:
    """Whether a value may be the name of a file."""
    return parameter.metavar in FILES and parameter.name not in _NO_FILES


def candidates(line: Line, environment: Mapping[str, str]) -> Candidates:
    """What the word of ``line`` may become, each beginning as it does."""
    if line.is_option:
        return Candidates(tuple(_options(line)))
    if line.parameter is None:
        return Candidates(tuple(_commands(line)))
    source = source_of(line.command, line.parameter)
    values = source(line, environment) if source is not None else ()
    words = (
        Candidate(value) for value in dict.fromkeys(values) if value.startswith(line.word) and _PLAIN.fullmatch(value)
    )
    return Candidates(tuple(words), files=takes_files(line.parameter))


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
