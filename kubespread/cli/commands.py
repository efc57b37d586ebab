"""The commands by name, each imported on first use: an answer needs only one of them, and importing all would take
longer than everything else ``--version`` does.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from kubespread import __version__
from kubespread.cli.command import QuestionGroup, flag
from kubespread.cli.streams import EPILOG, ExitCode, emit, say
from kubespread.questions.registry import EVERYDAY, QUESTIONS

_HOMES = {
    "fleet": "fleet",
    **dict.fromkeys(("snapshot", "serve", "mcp"), "snapshot"),
    **dict.fromkeys(("rbac", "completion", "demo"), "setup"),
}
"""The modules of the commands that are no questions, in the order in which people need them."""
_SET_UP = ("mcp", "rbac", "completion", "demo")
"""Commands that prepare for questions."""


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
    "top": "kubespread map",
    "lint": "kubespread check FILE",
    "validate": "kubespread check FILE",
}


class Program(QuestionGroup):
    """The program's commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write everyday questions on a line each, then the other commands."""
        summaries = {name: command.get_short_help_str(formatter.width) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl([(name, summaries[name]) for name in EVERYDAY])
        more = [name for name in summaries if name not in EVERYDAY and name not in _SET_UP]
        with formatter.section("More"):
            texts = ((name, summaries[name].removesuffix(".")) for name in more)
            formatter.write_text(", ".join(f"{name} ({text[0].lower()}{text[1:]})" for name, text in texts))
        with formatter.section("Set up"):
            formatter.write_text(", ".join(_SET_UP))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in self.commands and not ctx.resilient_parsing and (instead := _instead_of(word)) is not None:
            ctx.fail(f"{word} is not a command: {instead}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        if not ctx._protected_args:
            for line in ctx.get_help().split("\n"):
                say(line)
            raise typer.Exit(ExitCode.BAD_INPUT)
        return super().invoke(ctx)


def _instead_of(word: str) -> str | None:
    """Suggestion for words that people try first: kubectl's verbs, and words of other tools."""
    from kubespread.snapshot.edits.registry import EDITS

    if word in _INSTEAD:
        return f"type {_INSTEAD[word]}"
    if word in EDITS and EDITS[word].form.option:
        return f"a change of the cluster is an option of any question, as in kubespread pending --{word} ..."
    if word in EDITS:
        return f"type kubespread plan '{word} ...'"
    return None


def _make(name: str) -> Any:
    if name in _HOMES:
        return import_module(f"kubespread.cli.{_HOMES[name]}").COMMANDS[name]
    from kubespread.cli.asking import command_of
    from kubespread.questions.registry import question

    return command_of(question(name))


def _show_version(_context: Any, _option: Any, is_asked: bool) -> None:
    if is_asked:
        emit(f"kubespread {__version__}\n")
        raise typer.Exit


app = Program(
    lambda: (*QUESTIONS, *_HOMES),
    _make,
    name="kubespread",
    params=[
        flag("--version", expose_value=False, callback=_show_version, is_eager=True, help="Print the version and exit.")
    ],
    help="What kube-scheduler would decide for a pod, and the topology spread arithmetic it hides.",
    epilog=EPILOG,
)
