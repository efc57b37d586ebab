"""Commands that know the order in which their options were typed, and take settings for those that were not.

Typer only passes on the values of each option together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from kubespread.cli.options.helping import HelpingCommand
from kubespread.cli.streams import say
from kubespread.config.layers import CONTEXT, KEYS, OUTPUT, SNAPSHOT, Setting, Settings, settings
from kubespread.errors import UsageError

TYPED_ORDER = "typed_order"
_TYPED = "COMMANDLINE"
_CLUSTER = (CONTEXT, "kubeconfig", "cluster", "user", "live")
"""The parameters that ask for a running cluster."""


class OrderedCommand(HelpingCommand):
    """Passes the names of the typed options to the command as ``typed_order``, each as often as it was typed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = [*args]
        values, _, typed = self.make_parser(ctx).parse_args([*args])
        # Help works even with a faulty configuration file.
        configured = _configure(ctx, files="no_config" not in values) if self.is_asked(ctx, args) else {}
        rest = super().parse_args(ctx, args)
        _settle(ctx, configured)
        ctx.params[TYPED_ORDER] = tuple(str(parameter.name) for parameter in typed)
        if "watch" in ctx.params:
            ctx.params["parsed_again"] = lambda: self.make_context(ctx.info_name, [*words], parent=ctx.parent)
        return rest


def _configure(context: Any, *, files: bool) -> Settings:
    """Before parsing, give a command's context the settings as defaults, those of configuration files only with
    ``files``. Raises ManifestError and UsageError.
    """
    configured = settings(os.environ, files=files)
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
