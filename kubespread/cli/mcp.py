"""``kubespread mcp``: the questions as tools for assistants."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.groups import ClusterOptions, SchedulerOptions, parse_duration
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.questions.fleet.clusters import Member

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class AssistantsClusterOptions(ClusterOptions):
    """The files that are named, or with --live the running cluster; nothing else is ever read."""

    live: Annotated[
        bool, typer.Option("--live", help="Read the kubeconfig's running cluster (default: contact no cluster).")
    ] = False
    fleet: Annotated[
        list[str] | None,
        typer.Option(
            "--fleet", metavar="PATTERN", show_default=False,
            help="Clusters that the tool fleet asks: files, directories and archives whose names match. Repeatable.",
        ),
    ] = None  # fmt: skip
    contexts: Annotated[
        list[str] | None,
        typer.Option(
            "--contexts", metavar="PATTERN", show_default=False,
            help="Running clusters that it asks: contexts of the kubeconfig whose names match. Repeatable.",
        ),
    ] = None  # fmt: skip
    max_age: Annotated[
        str,
        typer.Option(
            "--max-age", metavar="TIME", help="Read the running cluster again when its data is older than this."
        ),
    ] = "1m"

    def members(self) -> list[Member]:
        """The clusters of the fleet. Raises UsageError and ManifestError."""
        if not (self.fleet or self.contexts):
            return []
        from kubespread.questions.fleet.clusters import members_of

        return members_of(self.fleet or (), self.contexts or (), self.access(), os.environ)

    def seconds(self) -> float | None:
        """How long the cluster may be known, None forever. Raises UsageError for options that do not go together."""
        if self.live and self.sources:
            raise UsageError("--live and -S/--snapshot (or KUBESPREAD_SNAPSHOT) both name the cluster: leave one out")
        if _STDIN in self.sources:
            raise UsageError("standard input is where the assistant asks: name a file with -S/--snapshot")
        if self.live:
            return parse_duration(self.max_age)
        if not self.sources:
            named = any((self.context, self.kubeconfig, self.cluster, self.user))
            raise UsageError(
                "a running cluster is only read with --live: add it"
                if named
                else "no cluster given: name a file or directory with -S/--snapshot, or read a running one with --live"
            )
        return None


@grouped
def mcp(*, scheduling: SchedulerOptions, source: AssistantsClusterOptions) -> int:
    """Serve kubespread to assistants as Model Context Protocol tools, over standard input and output.

    Requires the extra kubespread[mcp]. Each command that answers a question is a tool of the same name, and returns
    what -o json prints. Tools change nothing, and read only the -S files, once, or with --live the running cluster;
    manifests are passed as text. With --fleet or --contexts, a tool asks the question of another one of many clusters,
    which are read each time. Configuration files are not read: only these options choose the cluster.

    \b
    Examples:
      kubespread mcp -S cluster.json.gz
      kubespread mcp --live --context staging
      kubespread mcp -S cluster.json.gz --fleet 'fleet/*.json.gz'
    """
    from kubespread.assistants.server import Cluster, serve

    cluster = Cluster(partial(open_cluster, source, quiet=True), source.seconds())
    serve(cluster, scheduling.scheduler(), source.members())
    return ExitCode.YES
