"""The Model Context Protocol over standard input and output: tools are listed and called, nothing else.

https://modelcontextprotocol.io/specification: an error in a question is returned as a result, which the
assistant can read and correct; only an unknown tool is a protocol error.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from kubespread import Scheduler, __version__
from kubespread.assistants.arguments import schema
from kubespread.assistants.cluster import Cluster
from kubespread.assistants.tools import LEFT_OUT, SCHEMA, Tool, tools
from kubespread.errors import KubespreadError, UsageError
from kubespread.questions.schema import schema as report_schema
from kubespread.redaction import masked
from kubespread.reports.parts import Report
from kubespread.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from mcp import types

    from kubespread.questions.fleet.clusters import Member

_MISSING = "kubespread mcp needs a package that is not installed: pip install 'kubespread[mcp]'"
_INSTRUCTIONS = (
    "What kube-scheduler would decide, exactly, on one cluster that is never modified, and the topology spread "
    "arithmetic behind it. Every answer is a report: 'gaps' names what the cluster's data lacks, 'notModelled' what is "
    "not simulated, 'leftOut' how many items of long lists are not in it. Pass these on with the answer."
)


def serve(cluster: Cluster, scheduler: Scheduler, fleet: Sequence[Member] = ()) -> None:
    """About one cluster and, if there is one, about a fleet: answer until standard input ends.

    Raises UsageError without the package ``mcp``, and SnapshotError for files that cannot be read.
    """
    try:
        import anyio
        from mcp.server.lowlevel import Server
        from mcp.server.stdio import stdio_server
        from mcp.shared.exceptions import MCPError
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio"):
            raise
        raise UsageError(_MISSING) from None
    from mcp import types

    if cluster.is_kept:
        # Faults of a file are reported before the first question.
        cluster.snapshot()
    # This process is long-lived: leftovers of its questions have to be collected.
    gc.enable()
    offered = tools(fleet)
    one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in offered.values()])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = offered.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}; the tools are {', '.join(offered)}")
        # In a thread, so that pings are answered meanwhile.
        return await anyio.to_thread.run_sync(
            partial(_called, tool, cluster, scheduler, params.arguments or {}), limiter=one_at_a_time
        )

    async def run() -> None:
        server = Server(
            "kubespread", version=__version__, instructions=_INSTRUCTIONS,
            on_list_tools=list_tools, on_call_tool=call_tool,
        )  # fmt: skip
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def _listed(tool: Tool) -> types.Tool:
    from mcp import types

    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema(tool.question),
        output_schema=envelope(tool.reports),
        annotations=types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


_ENVELOPE = ("kind", "kubeVersion", "verdict", "answer", "unmet", "gaps", "notModelled", "notes")


def envelope(reports: Sequence[type[Report]]) -> dict[str, Any]:
    """The fields that all reports share, as the first of ``reports`` has them. The rest of a schema is tens of
    kilobytes, which a model would read before any question; docs/schema has the whole schemas.
    """
    described = report_schema(reports[0])["properties"]
    schemas = {name: described[name] for name in _ENVELOPE if name in described}
    if len(reports) > 1:
        schemas["kind"] = {"enum": [report.__name__ for report in reports]}
    return {"type": "object", "properties": {**schemas, LEFT_OUT: SCHEMA}, "required": [*schemas]}


def _called(tool: Tool, cluster: Cluster, scheduler: Scheduler, arguments: dict[str, Any]) -> types.CallToolResult:
    from mcp import types

    try:
        report = tool.call(cluster.snapshot() if tool.reads_cluster else Snapshot(), scheduler, arguments)
    except KubespreadError as error:
        return _failed(str(error))
    except Exception as error:  # noqa: BLE001 - the last resort: a bug ends one answer, not the server
        # Nobody knows what a bug quotes.
        return _failed(masked(f"this is a bug in kubespread: {type(error).__name__}: {' '.join(str(error).split())}"))
    text = msgspec.json.encode(report).decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=report)


def _failed(message: str) -> types.CallToolResult:
    from mcp import types

    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)
