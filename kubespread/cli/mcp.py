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
    """Let assistants ask: the questions as tools of the Model Context Protocol, over standard input and output.

    Needs the extra kubespread[mcp]. Each command that asks a question is a tool of that name, and answers with what -o
    json prints. Tools change nothing, and read nothing but the files of -S, once, or with --live the running cluster:
    manifests come as text. Configuration files are not read: what may be asked about is said here.

    \b
    Examples:
      kubespread mcp -S cluster.json.gz
      kubespread mcp --live --context staging
    """
    from kubespread.assistants.cluster import Cluster
    from kubespread.assistants.server import serve

    serve(Cluster(partial(open_cluster, source, quiet=True), source.seconds()), scheduling.scheduler())
    return ExitCode.YES
