"""Help that is written as answers are: to a full disk or to a reader that has gone away, it is no bug."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from kubespread.cli.streams import emit

HELP_ALL = "--help-all"
EDITS = "Edits of the cluster (repeatable, applied in the order given)"
_EXPLAINED = ("Arguments", "Options")
"""The headings of what belongs to a command alone; the others have examples, unless help is ``--help-all``."""
EXAMPLES = {
    "Manifests": ("-f web.yaml", "--set cpu=3"),
    "Requirements": ("--require-placed all", "--fail-on nothing"),
    "What differs AFTER": ("--to-kube-version 1.36",),
    "Autoscaling": ("--autoscaler ca", "--node-groups groups.yaml"),
    "Gangs": ("--gang 8:zone",),
    "Chance": ("--seed 1", "--runs 100"),
    "Edits": ("--drain node-1", "--scale deploy/web=9"),
    "Drain": ("--force", "--no-delete-emptydir-data"),
    "Scheduler": ("--kube-version 1.36", "--scheduler-config scheduler.yaml"),
    "Cluster": ("-S cluster.json.gz",),
    "Output": ("-o json", "-v"),
    "Workers": ("--jobs 4", "--timeout 2m"),
}
"""Of which options help shows how they are written, by how their heading begins, in the order of purposes: what is
placed, what is asked of it, what is changed, how it is scheduled and read, how it is answered. The first two that a
command has go together.
"""
_IN_FULL = "kubespread.help_all"
_SHORT_OPTION_WITH_VALUE = re.compile("-[A-Za-z]=.")


def valued(*names: str, metavar: str, help: str, rich_help_panel: str | None = None) -> Any:
    """An option that takes a value, and whose help shows no default."""
    return typer.Option(*names, metavar=metavar, show_default=False, help=help, rich_help_panel=rich_help_panel)


def in_full(context: Any) -> Any:
    """The context of a command, whose help now explains every option."""
    context.meta[_IN_FULL] = True
    return context


def _show(context: Any, option: Any, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        emit(f"{(in_full(context) if HELP_ALL in option.opts else context).get_help()}\n")
        raise typer.Exit


class HelpingCommand(TyperCommand):
    """A command, of whose options each is honored or refused by name."""

    never_modelled: Sequence[str] = ()
    """What its answers leave out, whatever the cluster."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = [*_as_kubectl_reads(args)]
        if not self.is_asked(ctx, args):
            return super().parse_args(ctx, args)
        # The program's own help and version do without it.
        from kubespread.cli.options.pairs import refuse_pairs, refuse_repeated, refuse_texts

        typed = self.make_parser(ctx).parse_args([*args])[0]
        refuse_repeated(ctx, self._every_value(ctx).parse_args([*args])[0])
        refuse_texts(ctx, typed)
        rest = super().parse_args(ctx, args)
        refuse_pairs(ctx)
        return rest

    def _every_value(self, ctx: Any) -> Any:
        """A parser that keeps all values of each option: the last one would win in silence."""
        parser = self.make_parser(ctx)
        for parameter in ctx.command.params:
            if parameter.param_type_name == "option" and not parameter.count:
                repeatable = copy(parameter)
                repeatable.multiple = True
                repeatable.add_to_parser(parser, ctx)
        return parser

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)
        return params if all(_heading(parameter) in _EXPLAINED for parameter in params) else [*params, _help_all()]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """What the command does, and examples; everything else about it only with all options."""
        if ctx.meta.get(_IN_FULL):
            super().format_help_text(ctx, formatter)
            return
        first, *others = inspect.cleandoc(self.help or "").split("\n\n")
        text = "\n\n".join([first, *(paragraph for paragraph in others if paragraph.startswith("\b"))])
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options under the headings of their panels, which typer's plain help leaves out."""
        panels: dict[str, list[Any]] = {heading: [] for heading in _EXPLAINED}
        for parameter in self.get_params(ctx):
            panels.setdefault(_heading(parameter), []).append(parameter)
        for heading, parameters in panels.items():
            records = [record for parameter in parameters if (record := parameter.get_help_record(ctx)) is not None]
            if records and (heading in _EXPLAINED or ctx.meta.get(_IN_FULL)):
                with formatter.section(heading):
                    formatter.write_dl(records)
        if ctx.meta.get(_IN_FULL):
            return
        rows = [
            (purpose, "  ".join(_of_these(examples, panels[heading])))
            for purpose, examples in EXAMPLES.items()
            for heading in panels
            if heading.startswith(purpose)
        ]
        if rows and self.never_modelled:
            rows.append(("Not modeled", "what no answer takes into account"))
        if rows:
            with formatter.section(f"By purpose, for example (explained by {HELP_ALL})"):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.never_modelled and ctx.meta.get(_IN_FULL):
            with formatter.section("Not modeled"):
                for text in self.never_modelled:
                    formatter.write_text(text)
        super().format_epilog(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        from kubespread.cli.options.pairs import refuse_overwriting

        # Once all is known that is read, configured files too, and before anything is.
        refuse_overwriting(ctx)
        return super().invoke(ctx)

    def is_asked(self, ctx: Any, args: list[str]) -> bool:
        """Whether the command itself is asked for, and not its help or candidates for completion."""
        return not ctx.resilient_parsing and not {*args} & {*ctx.help_option_names, HELP_ALL}

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)
        option.callback = _show
        return option


def _heading(parameter: Any) -> str:
    return parameter.rich_help_panel or ("Arguments" if parameter.param_type_name == "argument" else "Options")


def _of_these(examples: Sequence[str], parameters: Sequence[Any]) -> Iterator[str]:
    """Two examples at most of options that are among ``parameters``."""
    names = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    return islice((example for example in examples if example.split()[0] in names), 2)


def _help_all() -> TyperOption:
    return TyperOption(
        param_decls=[HELP_ALL],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show,
        help="Show this with all options, and exit.",
    )


def _as_kubectl_reads(args: Sequence[str]) -> Iterator[str]:
    """``-o=json`` as ``-ojson``: the sign between a short option and its value belongs to neither."""
    is_option = True
    for arg in args:
        is_option = is_option and arg != "--"
        yield arg[:2] + arg[3:] if is_option and _SHORT_OPTION_WITH_VALUE.match(arg) else arg


class HelpingGroup(TyperGroup):
    """All commands."""

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)
        option.callback = _show
        return option
