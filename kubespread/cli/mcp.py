"""``kubespread mcp``: the questions as tools for assistants."""

from __future__ import annotations

from functools import partial

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.assistants import AssistantsClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions


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
