"""Which options do not go together: each one that is typed is honored, or refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kubespread.cli.stdout import stdout_takes_tables
from kubespread.errors import UsageError
from kubespread.questions.question import Ending, Option, options_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import FORMATS, chosen_format

_STDIN = "-"
_RUNNING = (
    "live", "max_age", "context", "kubeconfig", "cluster", "user", "as_user", "as_group", "request_timeout",
    "chunk_size",
)  # fmt: skip
"""What says which running cluster is read, and how."""
_SEVERAL = ("every", "selector", "all_namespaces")
"""What asks for several workloads."""


class Apart(NamedTuple):
    """Options of which only one can be honored, by the names of their parameters."""

    option: str
    others: tuple[str, ...]
    why: str
    unless: str = ""
    """The option that both are honored beside."""


APART = (
    Apart("snapshot", ("live", "max_age", "context", "cluster", "user"), "both say which cluster is read"),
    Apart(
        "snapshot",
        ("kubeconfig", "as_user", "as_group", "request_timeout", "chunk_size"),
        "a file is read, and no running cluster",
        unless="to_context",
    ),
    Apart("to_snapshot", ("to_context",), "both name the cluster after"),
    Apart("namespace", ("all_namespaces",), "both say which namespaces are asked about"),
    Apart("named", _SEVERAL, "both say which workloads are meant"),
    Apart("workloads", ("selector", "all_namespaces"), "both say which workloads are meant"),
    Apart("manifest", ("all_namespaces",), "both say which workloads are meant"),
    Apart("filename", ("every", "all_namespaces"), "both say which workloads are meant"),
    Apart("request", ("filename",), "both say what the pods ask for"),
    Apart("filename", ("tolerate", "node_selector"), "the manifest says what its pods tolerate and select"),
    Apart("kustomize", ("every", "all_namespaces"), "both say which workloads are meant"),
    Apart("nodes_by_place", ("nodes",), "both name the nodes to replace"),
    Apart("tells_preemption", ("no_preemption",), "nobody is evicted"),
    Apart("replicas", ("until_full",), "both say how many replicas there are to be"),
    Apart("ties", ("seed",), "a seed breaks ties at random"),
    Apart("ties", ("runs",), "runs break ties at random", unless="sample"),
    Apart("autoscaler", ("until_full",), "as many as fit leaves none pending"),
    Apart("gang", ("tells_preemption", "autoscaler", "sample"), "that is not modeled of gangs"),
    Apart("watch_interval", ("snapshot",), "files are read again when they change"),
    Apart("node", ("by", "all_nodes"), "it alone says which nodes are shown"),
    Apart("write_baseline", ("fail_on",), "recorded findings are known, and the exit code is 0"),
    Apart("explain", ("fail_on",), "the exit code says whether the pod fits"),
    Apart("explain", ("deals",), "one moment of one deal is explained"),
    Apart("deals", ("until_full", "from_scratch"), "no controller deletes anything"),
    Apart(
        "then",
        (
            "until_full", "from_scratch", "ties", "seed", "sample", "runs", "tells_preemption", "autoscaler",
            "node_groups",
            "gang", "same", "require_placed", "max_skew", "min_domains", "survive", *_SEVERAL,
        ),
        "the steps are played for one workload, whose replicas stay where they are",
    ),
    Apart("then", ("template_path",), "what controllers of unknown kinds do is not known"),
)  # fmt: skip
NEEDS = {
    "watch_interval": "watch", "same": "gang", "node_groups": "autoscaler", "fail_on": "then",
    "at": "explain", "map_file": "anonymize", "max_age": "live",
}  # fmt: skip
"""What does nothing without another option, where a command has that."""
_WORKLOAD = ("workload", "filename", "kustomize")
IDLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("map", "named"): _WORKLOAD,
    ("map", "settings"): _WORKLOAD,
    ("map", "namespace"): (*_WORKLOAD, "evict", "delete_pods", "scale"),
}
"""What an option of a command does nothing without: one of these, the argument first."""
SHOWN_IN: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("explain", "by"): ("table", "wide", "plain"),
    ("explain", "pods"): ("table", "wide", "plain", "json", "yaml"),
    ("explain", "sort"): tuple(name for name in FORMATS if name != "name"),
    ("explain", "all_nodes"): tuple(name for name in FORMATS if name != "name"),
}
"""The formats that show what an option of a command asks for, of questions that do not say so themselves."""
BESIDE_ENDS = ("output", "no_headers", "color", "quiet", "debug", "no_config")
_FILES = ("FILE", "PATH", "DIRECTORY")
"""Placeholders of what is the name of a file."""
READERS = (
    "pod", "manifest", "workload", "scenario", "filename", "snapshot", "to_snapshot", "scheduler_config",
    "to_scheduler_config", "node_groups", "descheduler", "baseline", "explain",
)  # fmt: skip
"""What names files that are read."""


def refuse_empty(context: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError where a text among the ``values`` that were typed is empty: a path would be the working
    directory, and of a variable in a script that is not set nobody knows what it was to be.
    """
    for parameter in context.command.params:
        if "" in texts_of(values.get(parameter.name)):
            raise UsageError(f"{spelled(parameter)} is empty: give it a value, or leave it out")


def refuse_undecodable(context: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError for a word among the ``values`` with bytes that are not UTF-8: files alone may be called so."""
    for parameter in context.command.params:
        if parameter.metavar in _FILES:
            continue
        for text in texts_of(values.get(parameter.name)):
            if not _is_utf_8(text) and not Path(text).exists():
                raise UsageError(f"{spelled(parameter)}: {text!r} is not UTF-8")


def _is_utf_8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_pairs(context: Any) -> None:
    """Raise UsageError where a parsed command has options of which one would have no effect beside another."""
    names = {parameter.name: spelled(parameter) for parameter in context.command.params}
    typed = {name: context.params[name] for name in names if _is_typed(context, name) and name in context.params}
    output = context.params.get("output")
    for fault in faults(context.command.name, names, typed, None if output is None else str(output)):
        raise UsageError(fault)


def faults(command: str, names: Mapping[str, str], typed: Mapping[str, Any], output: str | None) -> Iterator[str]:
    """What is wrong with the parameters that were typed. ``names`` are those of all parameters as they are spelled,
    ``output`` is the format that is asked for, if any.
    """
    for one, other, why in (*_apart(typed), *_ended(command, typed)):
        yield f"{names[one]} and {names[other]} do not go together: {why}"
    for option, other in NEEDS.items():
        if option in typed and other in names and other not in typed:
            yield f"{names[option]} is for {names[other]}: add that, or leave it out"
    for (where, option), others in IDLE.items():
        if where == command and option in typed and not typed.keys() & {*others}:
            yield f"{names[option]} is for a {names[others[0]]}: name one, or leave it out"
    yield from _unshown(command, names, typed, output)
    for text in texts_of(typed.get("settings")):
        for other in ("replicas", "until_full"):
            if text.partition("=")[0].strip() == "replicas" and other in typed:
                yield f"--set {text} and {names[other]} do not go together: both say how many replicas there are to be"
    readers = [names[name] for name in READERS for text in texts_of(typed.get(name)) if text == _STDIN]
    if len(readers) > 1:
        yield f"standard input can be read only once: {readers[0]} and {readers[1]} both ask for it"


def _apart(typed: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for option, others, why, unless in APART:
        if option in typed and unless not in typed:
            yield from ((option, other, why) for other in others if other in typed)


def _ended(command: str, typed: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Options that have no say in what is printed in the place of an answer."""
    for each, _, option in _options(command):
        if isinstance(option, Ending) and each.name in typed:
            others = (other for other in typed if other not in (each.name, *BESIDE_ENDS))
            yield from ((each.name, other, f"nothing but {option.prints} is printed") for other in others)


def _options(command: str) -> Iterable[tuple[Any, Any, Option]]:
    """What the question says of its fields, where the command is one."""
    return options_of(question(command)) if command in QUESTIONS else ()


def _unshown(command: str, names: Mapping[str, str], typed: Mapping[str, Any], output: str | None) -> Iterator[str]:
    """Options about rows and columns that the format does not have."""
    said = {(command, each.name): option.shown_in for each, _, option in _options(command) if option.shown_in}
    shown_in = {**SHOWN_IN, **said}
    for option in typed:
        formats = shown_in.get((command, option))
        if formats is None:
            continue
        written = chosen_format(output, is_terminal=stdout_takes_tables()).name
        if written not in formats:
            by_default = ", the default in a pipe," if output is None else ""
            yield (f"{names[option]} and -o {written}{by_default} do not go together: it is for {', '.join(formats)}")


def spelled(parameter: Any) -> str:
    """``-S/--snapshot`` for an option, ``POD`` for an argument."""
    if parameter.param_type_name == "option":
        return "/".join(parameter.opts)
    return str(parameter.metavar).strip("[].").split("]")[0]


def texts_of(value: Any) -> list[str]:
    """The texts of a parameter that may have none, one or several."""
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]


def _is_typed(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
