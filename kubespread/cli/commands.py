"""The commands by name, each imported when it is first asked for: an answer needs only one of them, and importing all
would take longer than everything else ``--version`` does.

The command tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from kubespread import __version__
from kubespread.cli.options.helping import HelpingCommand, HelpingGroup
from kubespread.cli.streams import EPILOG, ExitCode, emit, epilog, say
from kubespread.questions.registry import EVERYDAY, QUESTIONS


def _version(is_asked: bool) -> None:
    if is_asked:
        emit(f"kubespread {__version__}\n")
        raise typer.Exit


class MadeWhenAsked(Mapping[str, Any]):
    """Typer's commands by name."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names, self._made = dict.fromkeys(names), cache(make)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def made_command(
    name: str, function: Callable[..., Any], made_as: type[HelpingCommand], short_help: str, codes: str | None
) -> Any:
    """``function`` as a command; ``codes`` are its exit codes, as its help has them."""
    # A program of one command is that command.
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=made_as, short_help=short_help, epilog=codes)(function)
    return typer.main.get_command(alone)


@dataclass(frozen=True, slots=True)
class _Command:
    """Help for a command, which is the function of the same name in the module ``home``."""

    short_help: str
    """What it does, in what fits on a line of the program's help."""
    yes: str | None = None
    """What its exit code 0 means; None if exit codes need no explanation."""
    no: str | None = None
    """What its exit code 1 means; None where it has none."""
    home: str = "setup"
    has_ordered_options: bool = True
    reads_files: bool = True
    """True if configuration files count for it."""
    group: str = ""
    """The class of the commands that it has; empty for one without."""
    sets_up: bool = True
    """Whether it is no question, but prepares for them."""


# In the order in which people need them; None: everything is taken from the question of that name.
_COMMANDS: dict[str, _Command | None] = {
    **dict.fromkeys(QUESTIONS),
    "fleet": _Command(
        "Ask many clusters any of these questions.",
        "every cluster says yes",
        "one says no",
        home="fleet",
        group="FleetGroup",
        sets_up=False,
    ),
    "snapshot": _Command(
        "Save what scheduling needs from a cluster as one file.", "the file is written", home="snapshot", sets_up=False
    ),
    "serve": _Command(
        "Ask the cluster by hand, in a browser.", "it was ended with Ctrl-C", home="snapshot", sets_up=False
    ),
    "mcp": _Command(
        "Serve the questions to assistants (MCP).", "the client disconnected", home="snapshot", reads_files=False
    ),
    "rbac": _Command("Print the ClusterRole needed to read a running cluster.", has_ordered_options=False),
    "completion": _Command("Print the script that completes commands, options and names.", has_ordered_options=False),
    "demo": _Command("Try explain, simulate and report on a small example cluster.", has_ordered_options=False),
}


_INSTEAD = {
    "version": "kubespread --version",
    "help": "kubespread --help, or kubespread COMMAND --help",
    "rollout": "kubespread plan 'rollout WORKLOAD'",
    "rollback": "kubespread plan 'rollback WORKLOAD'",
    "apply": "kubespread plan -f FILE",
    "diff": "kubespread compare BEFORE AFTER",
    "describe": "kubespread explain POD",
    "why": "kubespread explain POD",
    "get": "kubespread map, or kubespread audit",
    "top": "kubespread map --by load",
    "lint": "kubespread check FILE",
    "validate": "kubespread check FILE",
}


class CommandGroup(HelpingGroup):
    """The program's commands, each built only when it is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = MadeWhenAsked(dict.fromkeys((*_COMMANDS, *QUESTIONS)), _made)  # type: ignore[assignment]  # a group that is complete only reads it

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's own, which is that
        return [*self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The everyday questions a line each, then what else there is."""
        summaries = {name: command.get_short_help_str(formatter.width) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl([(name, summaries[name]) for name in EVERYDAY])
        sets_up = [name for name, command in _COMMANDS.items() if command is not None and command.sets_up]
        more = [name for name in summaries if name not in EVERYDAY and name not in sets_up]
        with formatter.section("More"):
            texts = ((name, summaries[name].removesuffix(".")) for name in more)
            formatter.write_text(", ".join(f"{name} ({text[0].lower()}{text[1:]})" for name, text in texts))
        with formatter.section("Set up"):
            formatter.write_text(", ".join(sets_up))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in self.commands and not ctx.resilient_parsing and (instead := _instead_of(word)) is not None:
            ctx.fail(f"{word} is not a command: {instead}")
        return super().resolve_command(ctx, args)


# Plain help: Rich would cost a third of the start-up time and wrap at the terminal's width.
app = typer.Typer(
    name="kubespread",
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


@app.callback()
def kubespread(
    context: typer.Context,
    _asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """What kube-scheduler would decide for a pod, and the topology spread arithmetic it hides."""
    if context.invoked_subcommand is None:
        for line in context.get_help().split("\n"):
            say(line)
        raise typer.Exit(ExitCode.BAD_INPUT)


def _instead_of(word: str) -> str | None:
    """What to type instead of what people try first: kubectl's verbs, and words of other tools."""
    from kubespread.snapshot.edits.registry import EDITS

    if word in _INSTEAD:
        return f"type {_INSTEAD[word]}"
    if word in EDITS and EDITS[word].form.option:
        return f"a change of the cluster is an option of any question, as in kubespread pending --{word} ..."
    if word in EDITS:
        return f"type kubespread plan '{word} ...'"
    return None


def _made(name: str) -> Any:
    from kubespread.cli.options.grouped import OrderedCommand

    command = _COMMANDS.get(name)
    if command is None:
        from kubespread.cli.asking import command_of
        from kubespread.questions.registry import question

        cls = question(name)
        made = made_command(name, command_of(cls), OrderedCommand, cls.summary, epilog(cls.yes, cls.no))
        made.never_modelled = cls.never_modelled
        return made
    module = import_module(f"kubespread.cli.{command.home}")
    codes = epilog(command.yes, command.no) if command.yes is not None else None
    if command.group:
        group = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        group.callback(cls=getattr(module, command.group), short_help=command.short_help, epilog=codes)(
            getattr(module, name)
        )
        made = typer.main.get_command(group)
        made.name = name
        return made
    made_as = OrderedCommand if command.has_ordered_options else HelpingCommand
    made = made_command(name, getattr(module, name), made_as, command.short_help, codes)
    made.reads_files = command.reads_files
    return made
