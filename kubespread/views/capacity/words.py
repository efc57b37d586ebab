"""Amounts, shares and reasons, as every format of a capacity writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubespread.planner.reports.capacity import CapacityReport, ResourceAmounts, Stranded, request_text
from kubespread.planner.reports.details import rounded
from kubespread.wording import count_of

_ALWAYS = ("cpu", "memory")


def whose(report: CapacityReport) -> str:
    """`` for pods of cpu 2 tolerating gpu``; nothing where only totals are asked about."""
    if report.pod is not None:
        return f" for pods like {report.pod.namespace}/{report.pod.name} ({request_text(report.request or {})})"
    said = "" if report.request is None else f" of {request_text(report.request)}"
    if report.tolerated:
        said += f" tolerating {', '.join(report.tolerated)}"
    if report.node_selector:
        said += f" on nodes with {', '.join(f'{key}={value}' for key, value in report.node_selector.items())}"
    return said and f" for pods{said}"


def shown(report: CapacityReport) -> list[str]:
    """The resources that get columns: cpu and memory, what the request names, and what else is asked for somewhere."""
    asked = [each.resource for each in report.resources if each.requested != "0" and each.resource != "pods"]
    return list(dict.fromkeys((*_ALWAYS, *(report.request or ()), *(name for name in asked if "/" in name))))


def of(resources: Iterable[ResourceAmounts], name: str) -> ResourceAmounts:
    """The amounts of one resource."""
    return next(each for each in resources if each.resource == name)


def share(amounts: ResourceAmounts) -> str:
    """``42%``; ``-`` where there is nothing to share."""
    # Rounded down, as kubectl and the map do: what is not quite full must not be called so.
    return "-" if amounts.utilization is None else f"{int(amounts.utilization)}%"


def stranded_text(stranded: Stranded, request: Mapping[str, str] | None) -> str:
    """``4 on 2 cordoned nodes``."""
    amount, nodes = rounded(stranded.amount), count_of(stranded.nodes, "node")
    match stranded.cause:
        case "cordoned":
            return f"{amount} on {count_of(stranded.nodes, 'cordoned node')}"
        case "tainted":
            return f"{amount} on {nodes} tainted {stranded.detail}"
        case "pods":
            return f"{amount} on {nodes} without a free pod slot"
        case "resource":
            lacking = f"no {stranded.detail} left" if request is None else f"too little {stranded.detail} left"
            return f"{amount} on {nodes} with {lacking}"
        case "remainder":
            return f"{amount} on {nodes} in pieces too small for one pod more"
        case _:
            return f"{amount} on {nodes}: {stranded.detail}"
