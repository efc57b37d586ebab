"""``kubespread mcp``: the questions as tools for assistants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.cluster import ClusterOptions, parse_duration
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.errors import UsageError

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class AssistantsClusterOptions(ClusterOptions):
    """The files that are named, or with --live the running cluster; nothing else is ever read."""

    live: Annotated[
        bool, typer.Option("--live", help="Read the kubeconfig's running cluster (default: contact no cluster).")
    ] = False
    max_age: Annotated[
        str,
        typer.Option(
            "--max-age", metavar="TIME", help="Read the running cluster again when its data is older than this."
        ),
    ] = "1m"

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
    manifests are passed as text. Configuration files are not read: only these options choose the cluster.

    \b
    Examples:
      kubespread mcp -S cluster.json.gz
      kubespread mcp --live --context staging
    """
    from kubespread.assistants.cluster import Cluster
    from kubespread.assistants.server import serve

    serve(Cluster(partial(open_cluster, source, quiet=True), source.seconds()), scheduling.scheduler())
    return ExitCode.YES
