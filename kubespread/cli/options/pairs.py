"""What is refused of a command line: options that do not go together, and files that would be read and written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from kubespread.cli.streams import stdout_takes_tables
from kubespread.config.layers import candidates
from kubespread.errors import UsageError
from kubespread.questions.question import Apart, Question, misplaced, options_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import chosen_format

_STDIN = "-"
_SEVERAL = ("every", "selector", "all_namespaces")
"""What asks for several workloads."""


APART = (
    Apart("snapshot", ("live", "max_age", "context"), "both say which cluster is read"),
    Apart("snapshot", ("kubeconfig",), "a file is read, and no running cluster", unless=("contexts",)),
    Apart("namespace", ("all_namespaces",), "both say which namespaces are asked about"),
    Apart("named", _SEVERAL, "both say which workloads are meant"),
    Apart("workloads", ("selector", "all_namespaces"), "both say which workloads are meant"),
    Apart("manifest", ("all_namespaces",), "both say which workloads are meant"),
    Apart("filename", ("every", "all_namespaces"), "both say which workloads are meant"),
    Apart("types", ("output", "anonymize", "map_file"), "instance types are printed, and have no pseudonyms"),
)
NEEDS: Mapping[str, tuple[str, ...]] = {"map_file": ("anonymize",), "max_age": ("live",)}
"""What does nothing without one of others, where a command has that."""
BESIDE_ENDS = ("output", "no_headers", "quiet")
_CHECKED = "checked"
"""Of `snapshot`, the file that it looks at and does not save."""
_FILES = ("FILE", "PATH", "DIRECTORY")
"""Placeholders of what is the name of a file."""
READERS = (
    "pod",
    "manifest",
    "workload",
    "scenario",
    "filename",
    "snapshot",
    "to_snapshot",
    "scheduler_config",
    "to_scheduler_config",
    "node_groups",
    "checked",
    "instance_types",
    "descheduler",
    "prices",
)
"""What names files that are read."""


def refuse_empty(context: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError if a text among the typed ``values`` is empty: an empty path would be the working directory, and
    the intended value of an unset variable in a script is not known.
    """
    for parameter in context.command.params:
        if "" in texts_of(values.get(parameter.name)):
            raise UsageError(f"{spelled(parameter)} is empty: give it a value, or leave it out")


def refuse_repeated(context: Any, values: Mapping[str, Any]) -> None:
    """Raise UsageError if an option that takes one value is typed with several, of which all but one would be lost."""
    for parameter in context.command.params:
        if parameter.param_type_name == "option" and not parameter.multiple and not parameter.count:
            first, *others = dict.fromkeys(texts_of(values.get(parameter.name))) or [""]
            if others:
                raise UsageError(f"{spelled(parameter)} is given as {first!r} and as {others[0]!r}: leave one out")


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
    # A word without a slash is no workload, but an area of a report.
    given = {name for name in typed if name != "workloads" or any("/" in text for text in texts_of(typed[name]))}
    yield from misplaced((*APART, *cls.apart, *_ended(cls, typed)), {**NEEDS, **cls.needs}, names, given)
    yield from _unshown(cls, names, typed, output)
    for text in texts_of(typed.get("settings")):
        if text.partition("=")[0].strip() == "replicas" and "replicas" in typed:
            yield f"--set {text} and --replicas do not go together: both say how many replicas there are to be"
    readers = [names[name] for name in READERS for text in texts_of(typed.get(name)) if text == _STDIN]
    if len(readers) > 1:
        yield f"standard input can be read only once: {readers[0]} and {readers[1]} both ask for it"


def _ended(cls: type[Question[Any]], typed: Mapping[str, Any]) -> Iterator[Apart]:
    """Options that have no effect on what is printed instead of an answer."""
    for field, _, option in options_of(cls):
        if option.prints and field.name in typed:
            others = tuple(other for other in typed if other not in (field.name, *BESIDE_ENDS))
            yield Apart(field.name, others, f"nothing but {option.prints} is printed")
    if _CHECKED in typed:
        others = tuple(other for other in typed if other not in (_CHECKED, "strict", "quiet"))
        yield Apart(_CHECKED, others, "nothing but what is in doubt about that file is printed")


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


WRITTEN = ("map_file",)
"""What names a file that is written, by the names of the parameters; ``-o`` of ``snapshot`` does too."""
_FILE = "FILE"
_ENDS_OF_PATHS = (":", "@")
"""What may follow the path of a file in a word: ``node.yaml:3@zone=a``."""

_Identity = tuple[int, int]
"""Device and inode: a link is the file that it leads to."""


def refuse_overwriting(context: Any) -> None:
    """Raise UsageError where a parsed command would write over what it reads, or write one file twice."""
    written = {
        spelled(param): str(context.params[param.name]) for param in context.command.params if _is_written(param)
    }
    written = {name: path for name, path in written.items() if path not in ("None", "-")}
    if not written:
        return
    seen: dict[Path, str] = {}
    for name, path in written.items():
        other = seen.setdefault(Path(os.path.realpath(path)), name)
        if other != name:
            raise UsageError(f"{other} and {name} name the same file")
    inputs = dict(_inputs(context))
    for name, path in written.items():
        identity = _identity(Path(path))
        if identity in inputs:
            raise UsageError(f"{name} {path} would overwrite {inputs[identity]}, which is read: name another file")


def _is_written(parameter: Any) -> bool:
    return parameter.name in WRITTEN or (parameter.name == "output" and parameter.metavar == _FILE)


def _inputs(context: Any) -> Iterator[tuple[_Identity, str]]:
    """Every file that a word of the command, the environment or a configuration file names, and those in directories
    that are read.
    """
    for parameter in context.command.params:
        if not _is_written(parameter):
            for text in texts_of(context.params.get(parameter.name)):
                yield from _files(text)
                if parameter.name in READERS:
                    yield from _in_directory(Path(text))
    # Of a fleet the clusters stand before the question, as patterns.
    for pattern in texts_of(context.parent.params.get("snapshot")) if context.parent is not None else ():
        from kubespread.questions.fleet.clusters import matching

        for found in matching(pattern):
            yield from _files(found)
            yield from _in_directory(Path(found))
    for text in os.environ.get("KUBECONFIG", "").split(os.pathsep):
        yield from _files(text)
    for path in (*candidates(os.environ), Path("~/.kube/config")):
        yield from _files(os.path.expanduser(path))  # noqa: PTH111 - keeps the ~ if there is no home
    if (standard_input := _stdin()) is not None:
        yield standard_input, "standard input"


def _files(text: str) -> Iterator[tuple[_Identity, str]]:
    for end in ("", *_ENDS_OF_PATHS):
        path = Path(text.partition(end)[0] if end else text)
        if (identity := _identity(path)) is not None:
            yield identity, str(path)


def _in_directory(directory: Path) -> Iterator[tuple[_Identity, str]]:
    """The files in a directory and its direct subdirectories, which is as deep as a mistake reaches."""
    with suppress(OSError, ValueError):
        for path in chain(directory.glob("*"), directory.glob("*/*")) if directory.is_dir() else ():
            if (identity := _identity(path)) is not None:
                yield identity, str(path)


def _identity(path: Path) -> _Identity | None:
    """That of a file that is there; None for pipes and devices, which are not overwritten."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _stdin() -> _Identity | None:
    try:
        status = os.fstat(0)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
