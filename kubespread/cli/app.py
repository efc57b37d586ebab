"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from kubespread import __version__
from kubespread.cli.advise import advise
from kubespread.cli.audit import audit
from kubespread.cli.capacity import capacity
from kubespread.cli.check import check
from kubespread.cli.compare import compare
from kubespread.cli.completion import completion
from kubespread.cli.config import config
from kubespread.cli.demo import demo
from kubespread.cli.exitcodes import EPILOG, ExitCode, epilog
from kubespread.cli.explain import explain
from kubespread.cli.map import map_
from kubespread.cli.mcp import mcp
from kubespread.cli.options.helping import HelpingCommand, HelpingGroup
from kubespread.cli.options.ordered import OrderedCommand
from kubespread.cli.pending import pending
from kubespread.cli.play import play
from kubespread.cli.rbac import rbac
from kubespread.cli.rebalance import rebalance
from kubespread.cli.removable import removable
from kubespread.cli.simulate import simulate
from kubespread.cli.snapshot import snapshot
from kubespread.cli.stderr import say
from kubespread.cli.stdout import emit
from kubespread.cli.survive import survive
from kubespread.cli.upgrade import upgrade

# Plain help: Rich would cost a third of the start-up time and wrap at the terminal's width.
app = typer.Typer(
    name="kubespread",
    cls=HelpingGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


def _version(asked: bool) -> None:
    if asked:
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


# In the order in which people come to ask.
app.command(cls=OrderedCommand, epilog=EPILOG)(explain)
app.command(cls=OrderedCommand, epilog=epilog("it fits, or a change is found that makes it fit", "no change is found"))(
    advise
)
app.command(cls=OrderedCommand, epilog=EPILOG)(simulate)
app.command(cls=OrderedCommand, epilog=EPILOG)(play)
app.command(cls=OrderedCommand, epilog=epilog("nothing is pending", "something is"))(pending)
app.command(cls=OrderedCommand, epilog=epilog("nothing is at the level of --fail-on", "something is"))(audit)
app.command(cls=OrderedCommand, epilog=epilog("no finding", "some finding at or above --fail-on"))(check)
app.command(cls=OrderedCommand, epilog=epilog("nothing differs", "something does"))(compare)
app.command(cls=OrderedCommand, epilog=epilog("the answer is there", "a requirement fails"))(survive)
app.command(cls=OrderedCommand, epilog=epilog("all are replaced", "it is blocked or pods stay pending"))(upgrade)
app.command("map", cls=OrderedCommand, epilog=epilog("the map is drawn", None))(map_)
app.command(cls=OrderedCommand, epilog=epilog("all constraints hold or can", "no plan found"))(rebalance)
app.command(cls=OrderedCommand, epilog=epilog("some pod fits, or none is asked about", "none fits"))(capacity)
app.command(cls=OrderedCommand, epilog=epilog("some node can go", "none can"))(removable)
app.command(cls=OrderedCommand, epilog=EPILOG)(snapshot)
app.command(cls=HelpingCommand, epilog=epilog("the assistant hung up", None))(mcp)
app.command(cls=HelpingCommand)(config)
app.command(cls=HelpingCommand)(rbac)
app.command(cls=HelpingCommand)(completion)
app.command(cls=HelpingCommand)(demo)
