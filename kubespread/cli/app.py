"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from kubespread import __version__
from kubespread.cli.commands import CommandGroup
from kubespread.cli.exitcodes import EPILOG, ExitCode
from kubespread.cli.stderr import say
from kubespread.cli.stdout import emit

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


def _version(is_asked: bool) -> None:
    if is_asked:
        emit(f"kubespread {__version__}\n")
        raise typer.Exit


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
