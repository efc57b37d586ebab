"""Nodes by domain, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.topology_map import MapNode, TopologyMap
from kubespread.views.aligned import NONE, columns
from kubespread.views.arithmetic import letter
from kubespread.views.look import Look
from kubespread.wording import EMPTY, short_key


def write(report: TopologyMap, look: Look) -> str:
    """One row a node; what keeps pods away comes last."""
    return columns(header(report), node_rows(report), headers=look.headers)


def header(report: TopologyMap) -> list[str]:
    """Of `node_rows`."""
    skews = [f"SKEW-{letter(place)}-{short_key(each.topology_key)}" for place, each in enumerate(report.constraints)]
    columns = [*map(short_key, report.keys), "NODE", "RUNNING", *(["MARKED"] if report.workload is not None else [])]
    return [name.upper() for name in (*columns, *map(short_key, report.resources), *skews, "CLOSED")]


def node_rows(report: TopologyMap) -> Iterator[list[str]]:
    """A row a node, what it lacks as a word."""
    return (_row(report, node) for node in report.nodes)


def _row(report: TopologyMap, node: MapNode) -> list[str]:
    return [
        *(NONE if value is None else value or EMPTY for value in node.path),
        node.name,
        str(node.pods),
        *([str(len(node.marked))] if report.workload is not None else []),
        *(NONE if each.percent is None else f"{each.percent}%" for each in node.load),
        *(NONE if skew is None else str(skew) for skew in node.skew),
        ",".join(part.replace(" ", "-") for part in node.closed) or NONE,
    ]
