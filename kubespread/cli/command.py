"""A command made of its parameters: argv is parsed once, the environment replaces options that are not typed, and
values that would be lost, are empty or conflict are refused. Help is written as answers are, so that a full disk or a
closed pipe is no bug.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from kubespread.cli.streams import emit, stdout_takes_tables
from kubespread.errors import UsageError
from kubespread.regex import regex

if TYPE_CHECKING:
    from kubespread.questions.question import OptionRule

HELP_ALL = "--help-all"
EDITS = "Edits of the cluster (repeatable, applied in the order given)"
_EXPLAINED = ("Arguments", "Options")
"""Headings of a command's own parameters; other headings have examples, except with ``--help-all``."""
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
"""Examples of options in help, by the beginning of their heading; the first two that a command has are shown.

In the order of purposes: manifests, requirements, changes, the scheduler, the cluster, the output.
"""
_IN_FULL = "kubespread.help_all"
_WORDS = "kubespread.words"
TYPED_ORDER = "typed_order"
"""Key, beside the parameters' values, of the names of typed options, each as often as it was typed."""
_SHORT_OPTION_WITH_VALUE = regex("-[A-Za-z]=.")


class CommandOption(TyperOption):
    """An option that keeps all its values: otherwise the last would win in silence."""

    def __init__(
        self,
        *names: str,
        help: str,
        rule: OptionRule | None = None,
        choices: Sequence[str] = (),
        words: Sequence[str] = (),
        panel: str | None = None,
        **declared: Any,
    ) -> None:
        if choices:
            declared |= {
                "type": partial(_one_of, choices),
                "metavar": declared.get("metavar") or f"<{'|'.join(choices)}>",
            }
        super().__init__(param_decls=[*names], help=help, rich_help_panel=panel, **declared)
        self.rule, self.choices, self.words = rule, tuple(choices), tuple(words)

    def add_to_parser(self, parser: Any, ctx: Any) -> None:
        is_multiple, self.multiple = self.multiple, not self.count
        super().add_to_parser(parser, ctx)
        self.multiple = is_multiple

    def value_from_envvar(self, ctx: Any) -> Any:
        text = self.resolve_envvar_value(ctx)
        return text.split(os.pathsep) if text is not None and self.multiple else text

    def consume_value(self, ctx: Any, opts: Mapping[str, Any]) -> Any:
        typed = opts.get(str(self.name))
        return super().consume_value(
            ctx, {str(self.name): typed[-1]} if isinstance(typed, list) and not self.multiple else opts
        )


def flag(*names: str, **declared: Any) -> CommandOption:
    """Declare an option without a value."""
    return CommandOption(*names, **{"is_flag": True, "default": False, **declared})


class CommandArgument(TyperArgument):
    def __init__(
        self,
        name: str,
        *,
        help: str,
        rule: OptionRule | None = None,
        choices: Sequence[str] = (),
        words: Sequence[str] = (),
        **declared: Any,
    ) -> None:
        if choices:
            declared["type"] = partial(_one_of, choices)
        super().__init__(param_decls=[name], help=help, **{"show_default": False, **declared})
        self.rule, self.choices, self.words = rule, tuple(choices), tuple(words)


Parameter = CommandOption | CommandArgument


def _one_of(choices: Sequence[str], text: str) -> str:
    """The choice that is typed, in any case. Raises BadParameter."""
    for choice in choices:
        if choice.lower() == text.lower():
            return choice
    from kubespread.kube.api.unknown_fields import did_you_mean, near_miss

    suggestion = near_miss(text, choices)
    raise typer.BadParameter(
        f"{text!r} is not one of {', '.join(map(repr, choices))}{did_you_mean(suggestion) if suggestion else '.'}"
    )


class Argv:
    """A command line, parsed."""

    def __init__(
        self,
        values: Mapping[str, Any],
        parameters: Sequence[Any] = (),
        before: Mapping[str, Any] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self.values = values
        """By parameter."""
        self.parameters = parameters
        self.before = before
        """The values of the command that this one belongs to: of a fleet, its clusters."""
        self.words = words

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str) -> Any:
        """Value of a parameter; None if the command lacks it."""
        return self.values.get(name)

    @property
    def snapshots(self) -> Sequence[str]:
        """Files of the cluster; none for the kubeconfig's."""
        return self.values.get("snapshot") or ()

    def having(self, **values: Any) -> Argv:
        return Argv({**self.values, **values}, self.parameters, self.before, self.words)


class Command(TyperCommand):
    """A command that honors or refuses each of its options by name."""

    def __init__(
        self,
        name: str,
        run: Callable[[Argv], int],
        parameters: Sequence[Parameter],
        *,
        summary: str,
        codes: str | None = None,
        text: str | None = None,
        never_modelled: Sequence[str] = (),
    ) -> None:
        """``codes`` explains exit codes."""
        is_explained = all(_heading(parameter) in _EXPLAINED for parameter in parameters)
        super().__init__(
            name,
            params=[*parameters, HELP, *([] if is_explained else [_HELP_ALL])],
            add_help_option=False,
            help=inspect.cleandoc(text or run.__doc__ or ""),
            short_help=summary,
            epilog=codes,
            rich_markup_mode=None,
        )
        self.run, self.never_modelled = run, never_modelled

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = (*args,)
        values, rest, typed = self.make_parser(ctx).parse_args([*_as_kubectl_reads(args)])
        is_asked = not (ctx.resilient_parsing or {parameter.name for parameter in typed} & {"help", "help_all"})
        if is_asked:
            refuse_texts(self.params, values)
        for parameter in sorted(self.get_params(ctx), key=lambda parameter: not parameter.is_eager):
            parameter.handle_parse_result(ctx, values, rest)
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"Got unexpected extra argument(s) ({' '.join(rest)})")
        ctx.params[TYPED_ORDER] = tuple(parameter.name for parameter in typed)
        if is_asked:
            refuse_pairs(ctx)
            prefer_typed_cluster(ctx)
        ctx.args = rest
        return rest

    def parse_line(self, ctx: Any) -> Argv:
        before = None if ctx.parent is None else ctx.parent.params
        return Argv(ctx.params, self.params, before, ctx.meta[_WORDS])

    def invoke(self, ctx: Any) -> Any:
        return self.run(self.parse_line(ctx))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the command's summary and examples; the rest only with all options."""
        if ctx.meta.get(_IN_FULL):
            super().format_help_text(ctx, formatter)
            return
        first, *others = (self.help or "").split("\n\n")
        text = "\n\n".join([first, *(paragraph for paragraph in others if paragraph.startswith("\b"))])
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write options under the headings of their panels, which typer's plain help leaves out."""
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


class QuestionGroup(TyperGroup):
    """Commands by name, made on first use."""

    has_files = False
    """True if files may precede a command's name."""

    def __init__(self, names: Callable[[], Sequence[str]], make: Callable[[str], Any], **attributes: Any) -> None:
        parameters = [*attributes.pop("params"), HELP]
        super().__init__(rich_markup_mode=None, params=parameters, add_help_option=False, **attributes)
        self.commands = CommandGroup(names, make)  # type: ignore[assignment]  # a group that is complete only reads it

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands]


class CommandGroup(Mapping[str, Any]):
    def __init__(self, names: Callable[[], Sequence[str]], make: Callable[[str], Any]) -> None:
        self._names, self._make = names, cache(make)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


def in_full(context: Any) -> Any:
    """Make a command's help explain every option, and return its context."""
    context.meta[_IN_FULL] = True
    return context


def _show(context: Any, option: Any, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        emit(f"{(in_full(context) if HELP_ALL in option.opts else context).get_help()}\n")
        raise typer.Exit


def _helping(*names: str, help: str) -> CommandOption:
    return flag(*names, is_eager=True, expose_value=False, callback=_show, help=help)


HELP = _helping("-h", "--help", help="Show this message and exit.")
_HELP_ALL = _helping(HELP_ALL, help="Show this with all options, and exit.")


def _heading(parameter: Any) -> str:
    return parameter.rich_help_panel or ("Arguments" if parameter.param_type_name == "argument" else "Options")


def _of_these(examples: Sequence[str], parameters: Sequence[Any]) -> Iterator[str]:
    """At most two examples, of options that are among ``parameters``."""
    names = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    return islice((example for example in examples if example.split()[0] in names), 2)


def _as_kubectl_reads(args: Sequence[str]) -> Iterator[str]:
    """``-o=json`` as ``-ojson``: the sign between a short option and its value belongs to neither."""
    is_option = True
    for arg in args:
        is_option = is_option and arg != "--"
        yield arg[:2] + arg[3:] if is_option and _SHORT_OPTION_WITH_VALUE.match(arg) else arg


STDIN = "-"
_TYPED = "COMMANDLINE"
_INSTEAD_OF = {
    "snapshot": ("context",),
    "context": ("snapshot",),
    "kubeconfig": ("snapshot", "context"),
    "live": ("snapshot", "context"),
}
"""Parameters not read from the environment where another is typed: a context belongs to one kubeconfig."""
_NOT_UTF_8 = regex("[\ud800-\udfff]")
_FILES = ("FILE", "PATH", "DIRECTORY")
"""Placeholders of file names."""


def prefer_typed_cluster(context: Any) -> None:
    """Prefer a typed cluster to one of the environment. Raises UsageError if the environment names two."""
    parameters, typed = context.params, _typed_in(context)
    for one, others in _INSTEAD_OF.items():
        if one in typed:
            parameters |= {other: None for other in others if other in parameters and other not in typed}
    if parameters.get("snapshot") and parameters.get("context") and typed.keys().isdisjoint(_INSTEAD_OF):
        raise UsageError("KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one")


def _typed_in(context: Any) -> dict[str, Any]:
    """The values that are typed, by parameter."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name: context.params[name] for name, source in sources.items() if source and source.name == _TYPED}


def refuse_texts(parameters: Iterable[Any], values: Mapping[str, Any]) -> None:
    """Raise UsageError for typed values that would be lost, and for empty texts or ones that are not UTF-8.

    An empty path would be the working directory, and the intended value of a script's unset variable is unknown. Only
    files may have names that are not UTF-8.
    """
    for parameter in parameters:
        texts = texts_of(values.get(parameter.name))
        if parameter.param_type_name == "option" and not parameter.multiple and not parameter.count:
            first, *others = dict.fromkeys(texts) or [""]
            if others:
                raise UsageError(f"{spelling(parameter)} is given as {first!r} and as {others[0]!r}: leave one out")
    for parameter in parameters:
        for text in texts_of(values.get(parameter.name)):
            if not text:
                raise UsageError(f"{spelling(parameter)} is empty: give it a value, or leave it out")
            if _NOT_UTF_8.search(text) and parameter.metavar not in _FILES and not Path(text).exists():
                raise UsageError(f"{spelling(parameter)}: {text!r} is not UTF-8")


def refuse_pairs(context: Any) -> None:
    """Raise UsageError for an option that would have no effect beside another."""
    for fault in faults(context.command.params, _typed_in(context), context.params.get("output")):
        raise UsageError(fault)


def faults(parameters: Sequence[Any], typed: Mapping[str, Any], output: str | None) -> Iterator[str]:
    """Yield faults of the typed parameters; ``output`` is the requested format, if any."""
    from kubespread.questions.question import conflicts
    from kubespread.views.formats import FORMATS, chosen_format

    names = {parameter.name: spelling(parameter) for parameter in parameters}
    rules = {parameter.name: parameter.rule for parameter in parameters if parameter.rule is not None}
    yield from conflicts(rules, names, typed)
    for name in typed:
        rule = rules.get(name)
        if rule is None or not rule.shown_in:
            continue
        written = chosen_format(output, is_terminal=stdout_takes_tables()).name
        if written not in rule.shown_in:
            format_ = f"-o {written}" if output else f"{written}, the default,"
            formats = ", ".join(form for form in rule.shown_in if form in FORMATS)
            yield f"{names[name]} and {format_} do not go together: it is for {formats}"
    readers = (
        parameter.name
        for parameter in parameters
        if parameter.metavar in _FILES or parameter.param_type_name == "argument"
    )
    twice = [names[name] for name in readers for text in texts_of(typed.get(name)) if text == STDIN]
    if len(twice) > 1:
        yield f"standard input can be read only once: {twice[0]} and {twice[1]} both ask for it"


def spelling(parameter: Any) -> str:
    """``-S/--snapshot`` for an option, ``POD`` for an argument."""
    if parameter.param_type_name == "option":
        return "/".join(parameter.opts)
    return str(parameter.metavar).strip("[].").split("]")[0]


def texts_of(value: Any) -> list[str]:
    """Texts of a parameter with none, one or several."""
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]
