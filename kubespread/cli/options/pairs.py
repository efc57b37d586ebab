"""Which options do not go together: each one that is typed is honored, or refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kubespread.cli.streams import stdout_takes_tables
from kubespread.errors import UsageError
from kubespread.questions.question import Apart, Question, options_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import chosen_format

_STDIN = "-"
_RUNNING = (
    "live", "max_age", "context", "kubeconfig", "cluster", "user", "as_user", "as_group", "request_timeout",
    "chunk_size",
)  # fmt: skip
"""What says which running cluster is read, and how."""
_SEVERAL = ("every", "selector", "all_namespaces")
"""What asks for several workloads."""


APART = (
    Apart("snapshot", ("live", "max_age", "context", "cluster", "user"), "both say which cluster is read"),
    Apart(
        "snapshot",
        ("kubeconfig", "as_user", "as_group", "request_timeout", "chunk_size"),
        "a file is read, and no running cluster",
        unless=("to_context", "contexts"),
    ),
    Apart("to_snapshot", ("to_context",), "both name the cluster after"),
    Apart("namespace", ("all_namespaces",), "both say which namespaces are asked about"),
    Apart("named", _SEVERAL, "both say which workloads are meant"),
    Apart("workloads", ("selector", "all_namespaces"), "both say which workloads are meant"),
    Apart("manifest", ("all_namespaces",), "both say which workloads are meant"),
    Apart("filename", ("every", "all_namespaces"), "both say which workloads are meant"),
    Apart("kustomize", ("every", "all_namespaces"), "both say which workloads are meant"),
    Apart("jobs", ("engine",), "the workers of a cluster do it, as many as there are"),
    Apart("watch_interval", ("snapshot",), "files are read again when they change"),
)  # fmt: skip
NEEDS: Mapping[str, tuple[str, ...]] = {
    "watch_interval": ("watch",), "map_file": ("anonymize",), "max_age": ("live",),
}  # fmt: skip
"""What does nothing without one of others, where a command has that."""
BESIDE_ENDS = ("output", "no_headers", "color", "quiet", "debug", "no_config")
_FILES = ("FILE", "PATH", "DIRECTORY")
"""Placeholders of what is the name of a file."""
READERS = (
    "pod", "manifest", "workload", "scenario", "filename", "snapshot", "to_snapshot", "scheduler_config",
    "to_scheduler_config", "node_groups", "instance_types", "descheduler", "baseline", "explain", "prices",
)  # fmt: skip
"""What names files that are read."""


def refuse_empty(context: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError if a text among the typed ``values`` is empty: an empty path would be the working directory, and
    the intended value of an unset variable in a script is not known.
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
    """Raise UsageError if a parsed command has an option that would have no effect beside another."""
    names = {parameter.name: spelled(parameter) for parameter in context.command.params}
    typed = {name: context.params[name] for name in names if _is_typed(context, name) and name in context.params}
    if context.obj is not None:
        # Of a fleet's answer each cluster is a part, whatever is asked of it.
        typed.pop("timeout", None)
    output = context.params.get("output")
    for fault in faults(context.command.name, names, typed, None if output is None else str(output)):
        raise UsageError(fault)


def faults(command: str, names: Mapping[str, str], typed: Mapping[str, Any], output: str | None) -> Iterator[str]:
    """The faults of the typed parameters. ``names`` are those of all parameters as spelled, ``output`` is the requested
    format, if any.
    """
    cls = question(command) if command in QUESTIONS else Question
    for one, other, why in (*_apart((*APART, *cls.apart), typed), *_ended(cls, typed)):
        yield f"{names[one]} and {names[other]} do not go together: {why}"
    for option, others in {**NEEDS, **cls.needs}.items():
        if option in typed and others[0] in names and not typed.keys() & {*others}:
            needed = names[others[0]]
            missing = f"{needed}: add that" if needed.startswith("-") else f"a {needed}: name one"
            yield f"{names[option]} is for {missing}, or leave it out"
    yield from _unshown(cls, names, typed, output)
    for text in texts_of(typed.get("settings")):
        for other in ("replicas", "until_full"):
            if text.partition("=")[0].strip() == "replicas" and other in typed:
                yield f"--set {text} and {names[other]} do not go together: both say how many replicas there are to be"
    readers = [names[name] for name in READERS for text in texts_of(typed.get(name)) if text == _STDIN]
    if len(readers) > 1:
        yield f"standard input can be read only once: {readers[0]} and {readers[1]} both ask for it"


def _apart(pairs: Iterable[Apart], typed: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for pair in pairs:
        if pair.option in typed and not typed.keys() & {*pair.unless}:
            yield from ((pair.option, other, pair.why) for other in pair.others if other in typed)


def _ended(cls: type[Question[Any]], typed: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Options that have no effect on what is printed instead of an answer."""
    for field, _, option in options_of(cls):
        if option.prints and field.name in typed:
            others = (other for other in typed if other not in (field.name, *BESIDE_ENDS))
            yield from ((field.name, other, f"nothing but {option.prints} is printed") for other in others)


def _unshown(
    cls: type[Question[Any]], names: Mapping[str, str], typed: Mapping[str, Any], output: str | None
) -> Iterator[str]:
    """Options about rows and columns that the format does not have."""
    for field, _, option in options_of(cls):
        if not option.shown_in or field.name not in typed:
            continue
        written = chosen_format(output or cls.own_format(typed), is_terminal=stdout_takes_tables()).name
        if written not in option.shown_in:
            by_default = ", the default in a pipe," if output is None else ""
            formats = ", ".join(option.shown_in)
            yield f"{names[field.name]} and -o {written}{by_default} do not go together: it is for {formats}"


def spelled(parameter: Any) -> str:
    """``-S/--snapshot`` for an option, ``POD`` for an argument."""
    if parameter.param_type_name == "option":
        return "/".join(parameter.opts)
    return str(parameter.metavar).strip("[].").split("]")[0]


def texts_of(value: Any) -> list[str]:
    """The texts of a parameter that may have none, one or several."""
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _is_typed(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
