"""The command tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

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

_Command = Callable[..., Any]

# Plain help: Rich would cost a third of the start-up time and wrap at the terminal's width.
app = typer.Typer(
    name="kubespread",
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
        for line in context.get_help().splitlines():
            say(line)
        raise typer.Exit(ExitCode.BAD_INPUT)


def _ask(short_help: str, yes: str, no: str | None, name: str | None = None) -> Callable[[_Command], _Command]:
    """A command that answers: what it does in half a line, and what its exit codes 0 and 1 mean."""
    return app.command(name, cls=OrderedCommand, short_help=short_help, epilog=epilog(yes, no))


# In the order in which people come to ask.
_ask("Show which nodes a pod fits and why the others fail.", "some node fits", "none does")(explain)
_ask(
    "Find the smallest changes that make a pod fit.",
    "it fits, or a change is found that makes it fit", "no change is found",
)(advise)  # fmt: skip
_ask(
    "Place replicas as kube-scheduler would; show what stops them.",
    "all replicas are placed and requirements hold", "some are not, or a requirement fails",
)(simulate)  # fmt: skip
_ask(
    "Play a scenario step by step.",
    "all steps are done and no pod is pending", "one is blocked or pods are pending (--fail-on)",
)(play)  # fmt: skip
_ask("Show pods without a node, by cause, and what frees them.", "nothing is pending", "something is")(pending)
_ask(
    "Show how every workload is spread, and why unevenly.",
    "nothing is at the level of --fail-on", "something is",
)(audit)  # fmt: skip
_ask(
    "Find in manifests what will go wrong, before it does.",
    "no finding at the level of --fail-on", "some finding is",
)(check)  # fmt: skip
_ask("Show what a change of manifest, cluster or release changes.", "nothing differs", "something does")(compare)
_ask(
    "Lose each zone in turn, and show which pods stay pending.",
    "the question is answered", "what --fail-on names happens",
)(survive)  # fmt: skip
_ask(
    "Replace the nodes of a pool as far as budgets allow.",
    "all are replaced", "it is blocked or pods stay pending",
)(upgrade)  # fmt: skip
_ask("Draw the topology of a cluster, its load or its skew.", "the map is drawn", None, "map")(map_)
_ask(
    "Find the fewest evictions after which constraints hold.", "all constraints hold or can", "no plan found"
)(rebalance)  # fmt: skip
_ask(
    "Show what nodes have free, and how many pods fit.", "some pod fits, or none is asked about", "none fits"
)(capacity)  # fmt: skip
_ask("Find the nodes that can be drained and deleted.", "some node can go", "none can")(removable)
_ask("Save what scheduling needs of a cluster as one file.", "the file is written", None)(snapshot)
app.command(short_help="Serve the questions to assistants (MCP).", epilog=epilog("the assistant hung up", None))(mcp)
app.command(short_help="Show what the environment and configuration files set.")(config)
app.command(short_help="Print the ClusterRole that reading a running cluster takes.")(rbac)
app.command(short_help="Print the script that completes commands, options and names.")(completion)
app.command(short_help="Explain and simulate on a small cluster, to see the answers.")(demo)
