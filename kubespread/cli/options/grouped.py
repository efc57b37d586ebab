"""Commands whose parameters are groups of options, which know the order in which options were typed, and take settings
for those that were not.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from kubespread.cli.options.helping import HelpingCommand
from kubespread.cli.streams import say
from kubespread.config.layers import CONTEXT, KEYS, OUTPUT, SNAPSHOT, Setting, Settings, settings
from kubespread.errors import UsageError

TYPED_ORDER = "typed_order"
NOT_TYPED = "not_typed"
"""Of a command's function the parameters that no option is for."""
_TYPED = "COMMANDLINE"
_CLUSTER = (CONTEXT, "kubeconfig", "live")
"""The parameters that ask for a running cluster."""


class OrderedCommand(HelpingCommand):
    """Passes the names of the typed options to the command as ``typed_order``, each as often as it was typed, and what
    only a configuration sets.
    """

    reads_files = True
    """True if configuration files count, and not the environment alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = [*args]
        _, _, typed = self.make_parser(ctx).parse_args([*args])
        # Help works even with a faulty configuration file.
        configured = self._configured(ctx) if self.is_asked(ctx, args) else {}
        rest = super().parse_args(ctx, args)
        # Also where nothing is set: typer keeps what a parameter was the last time.
        for key, (name, *_) in ((key, KEYS[key].parameters) for key in KEYS):
            if name in self._not_typed():
                text = configured[key].text if key in configured else ""
                ctx.params[name] = text == "true" if KEYS[key].is_flag else text
        _settle(ctx, configured)
        if TYPED_ORDER in self._not_typed():
            ctx.params[TYPED_ORDER] = tuple(str(parameter.name) for parameter in typed)
        if "watch" in ctx.params:
            ctx.params["parsed_again"] = lambda: self.make_context(ctx.info_name, [*words], parent=ctx.parent)
        return rest

    def _not_typed(self) -> frozenset[str]:
        """The parameters of the command that no option is for."""
        names: frozenset[str] = getattr(self.callback, NOT_TYPED, frozenset())
        return names

    def _configured(self, context: Any) -> Settings:
        """Settings that are the defaults of options. Raises ManifestError and UsageError."""
        configured = settings(os.environ, files=self.reads_files)
        context.default_map = {
            parameter.name: list(setting.values) if parameter.multiple else setting.values[0]
            for key, setting in configured.items()
            for parameter in context.command.params
            if parameter.name in KEYS[key].parameters and _takes(parameter, key, setting)
        }
        return configured


def _settle(context: Any, configured: Settings) -> None:
    """Let a typed cluster win over a configured one, and print what configuration files decided."""
    parameters = context.params
    typed = [name for name in (SNAPSHOT, *_CLUSTER) if name in parameters and _is_typed(context, name)]
    if SNAPSHOT in typed and CONTEXT not in typed:
        parameters[CONTEXT] = None
    elif typed and SNAPSHOT not in typed:
        parameters[SNAPSHOT] = None
        # A context is that of one kubeconfig.
        if CONTEXT not in typed:
            parameters[CONTEXT] = None
    if not parameters.get("quiet"):
        for key, setting in _decisive(context, configured):
            say(f"note: {key} {setting.text} ({setting.origin})")


def _takes(parameter: Any, key: str, setting: Setting) -> bool:
    """Whether the parameter is the one that is meant, and has such a value: not every report has every format, and
    -o of ``snapshot`` names a file.
    """
    choices = getattr(parameter.type, "choices", ())
    return key != OUTPUT or _format_name(setting) in [str(getattr(choice, "value", choice)) for choice in choices]


def _format_name(setting: Setting) -> str:
    """That of a format which some report has. Raises UsageError."""
    from kubespread.kube.api.unknown_fields import alternatives
    from kubespread.views.formats import FORMATS

    name = setting.values[0].lower()
    if name not in FORMATS:
        raise UsageError(f"{setting.origin}: unknown format {setting.text!r}{alternatives(name, FORMATS)}")
    return name


def _is_typed(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == _TYPED


def _decisive(context: Any, configured: Settings) -> Iterator[tuple[str, Setting]]:
    """What files set, answers depend on, and nothing typed took the place of."""
    for key, setting in configured.items():
        if setting.is_from_file and KEYS[key].decides:
            names = [name for name in KEYS[key].parameters if context.params.get(name)]
            if any(not _is_typed(context, name) for name in names):
                yield key, setting


_HEADINGS: Mapping[str, str] = {
    "scheduling": "Scheduler",
    "answer": "Output",
    "speaking": "Output",
    "source": "Cluster",
}
"""Under which heading of the help the options of a group stand, by the name that all commands give the group."""


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """``command`` as typer should see it: every parameter that is a group is replaced by the options in it.

    A field of a group without an option annotation is no option, and filled with any other value of its name. A
    parameter annotated ``Annotated[Group, {field: option}]`` has these options instead of the group's own.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    not_typed: set[str] = set()
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group, *others = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not (isinstance(group, type) and is_dataclass(group)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        groups[parameter.name] = group
        options = get_type_hints(group, include_extras=True)
        for own in others:
            options |= own
        not_typed |= {name for name, option in options.items() if get_origin(option) is not Annotated}
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                # An option without a default is one that has to be given.
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=_under(_HEADINGS.get(parameter.name), options[field.name]),
            )
            for field in fields(group)
            if get_origin(options[field.name]) is Annotated
        ]

    @wraps(command)
    def filled(**values: Any) -> int:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name, field.default) for field in fields(group)})
        return command(**values)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    filled.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # how typer reads a function that is made
    setattr(filled, NOT_TYPED, frozenset(not_typed))
    filled.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return filled


def _under(heading: str | None, annotation: Any) -> Any:
    """The option under ``heading`` in the help, unless it has its own heading."""
    kind, option, *rules = get_args(annotation)
    option = copy(option)
    option.rich_help_panel = option.rich_help_panel or heading
    return Annotated[kind, option, *rules]
