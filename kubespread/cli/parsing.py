"""Checks of a parsed command line: settings stand in for what is not typed, and what would be lost, is empty or does
not go together is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kubespread.cli.streams import say, stdout_takes_tables
from kubespread.config import CONTEXT, KEYS, OUTPUT, SNAPSHOT, Setting, Settings, settings
from kubespread.errors import UsageError
from kubespread.questions.question import Option, misplaced
from kubespread.regex import regex
from kubespread.views.formats import FORMATS, chosen_format

STDIN = "-"
_TYPED = "COMMANDLINE"
_CLUSTER = (CONTEXT, "kubeconfig", "live")
"""The parameters that ask for a running cluster."""
_ONLY_SET = ("pod_node_selector", "extended_resource_toleration")
"""Settings of the scheduler that no option is for."""
_NOT_UTF_8 = regex("[\ud800-\udfff]")
_FILES = ("FILE", "PATH", "DIRECTORY")
"""Placeholders of what is the name of a file."""
_WRITTEN = ("map_file", "output")


def configured(context: Any) -> Settings:
    """Settings, which become the defaults of options. Raises ManifestError and UsageError."""
    command = context.command
    if not {key.parameter for key in KEYS.values()} & {parameter.name for parameter in command.params}:
        return {}
    found = settings(os.environ, files=command.reads_files)
    context.default_map = {
        parameter.name: list(setting.values) if parameter.multiple else setting.values[0]
        for key, setting in found.items()
        for parameter in command.params
        if parameter.name == KEYS[key].parameter and _takes(parameter, key, setting)
    }
    return found


def settle(context: Any, configured: Settings) -> None:
    """Let a typed cluster win over a configured one, add what only a configuration sets, and print what its files
    decided.
    """
    parameters = context.params
    typed = [name for name in (SNAPSHOT, *_CLUSTER) if name in parameters and _is_typed(context, name)]
    if SNAPSHOT in typed and CONTEXT not in typed:
        parameters[CONTEXT] = None
    elif typed and SNAPSHOT not in typed:
        parameters[SNAPSHOT] = None
        # A context is that of one kubeconfig.
        if CONTEXT not in typed:
            parameters[CONTEXT] = None
    for key, setting in configured.items():
        name = KEYS[key].parameter
        if name in _ONLY_SET and "scheduler_config" in parameters:
            parameters[name] = setting.text == "true"
    if not parameters.get("quiet"):
        for key, setting in _decisive(context, configured):
            say(f"note: {key} {setting.text} ({setting.origin})")


def _takes(parameter: Any, key: str, setting: Setting) -> bool:
    """True if the parameter is the one that is meant, and has such a value: not every report has every format, and -o
    of ``snapshot`` names a file.
    """
    return key != OUTPUT or _format_name(setting) in parameter.choices


def _format_name(setting: Setting) -> str:
    """Name of a format which some report has. Raises UsageError."""
    from kubespread.kube.api.unknown_fields import alternatives

    name = setting.values[0].lower()
    if name not in FORMATS:
        raise UsageError(f"{setting.origin}: unknown format {setting.text!r}{alternatives(name, FORMATS)}")
    return name


def _is_typed(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == _TYPED


def _decisive(context: Any, configured: Settings) -> Iterator[tuple[str, Setting]]:
    """Yield the settings of files that answers depend on and that nothing typed took the place of."""
    for key, setting in configured.items():
        if setting.is_from_file and KEYS[key].decides:
            name = KEYS[key].parameter
            if context.params.get(name) and not _is_typed(context, name):
                yield key, setting


def refuse_texts(parameters: Iterable[Any], values: Mapping[str, Any]) -> None:
    """Raise UsageError if one of the typed ``values`` would be lost, or a text is empty: an empty path would be the
    working directory, and the intended value of an unset variable in a script is not known. Or if it has bytes that are
    not UTF-8: files alone may be called so.
    """
    for parameter in parameters:
        texts = texts_of(values.get(parameter.name))
        if parameter.param_type_name == "option" and not parameter.multiple and not parameter.count:
            first, *others = dict.fromkeys(texts) or [""]
            if others:
                raise UsageError(f"{spelled(parameter)} is given as {first!r} and as {others[0]!r}: leave one out")
    for parameter in parameters:
        for text in texts_of(values.get(parameter.name)):
            if not text:
                raise UsageError(f"{spelled(parameter)} is empty: give it a value, or leave it out")
            if _NOT_UTF_8.search(text) and parameter.metavar not in _FILES and not Path(text).exists():
                raise UsageError(f"{spelled(parameter)}: {text!r} is not UTF-8")


def refuse_pairs(context: Any) -> None:
    """Raise UsageError if a parsed command has an option that would have no effect beside another."""
    typed = {name: value for name, value in context.params.items() if _is_typed(context, name)}
    for fault in faults(context.command.params, typed, context.params.get("output")):
        raise UsageError(fault)


def faults(parameters: Sequence[Any], typed: Mapping[str, Any], output: str | None) -> Iterator[str]:
    """The faults of the typed parameters; ``output`` is the requested format, if any."""
    names = {parameter.name: spelled(parameter) for parameter in parameters}
    rules = {parameter.name: parameter.rule for parameter in parameters if parameter.rule is not None}
    yield from misplaced(rules, names, typed)
    for name in typed:
        rule = rules.get(name)
        if not isinstance(rule, Option) or not rule.shown_in:
            continue
        written = chosen_format(output, is_terminal=stdout_takes_tables()).name
        if written not in rule.shown_in:
            format_ = f"-o {written}" if output else f"{written}, the default,"
            formats = ", ".join(form for form in rule.shown_in if form in FORMATS)
            yield f"{names[name]} and {format_} do not go together: it is for {formats}"
    twice = [names[name] for name in readers(parameters) for text in texts_of(typed.get(name)) if text == STDIN]
    if len(twice) > 1:
        yield f"standard input can be read only once: {twice[0]} and {twice[1]} both ask for it"


def readers(parameters: Iterable[Any]) -> Iterator[str]:
    """The names of those that name files to read."""
    for parameter in parameters:
        if parameter.name not in _WRITTEN and (parameter.metavar in _FILES or parameter.param_type_name == "argument"):
            yield parameter.name


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
