"""Capacity: resources and their stranded amounts, then domains, then the fullest nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kubespread.kube.quantity import parse, shorten
from kubespread.questions.capacity import (
    CapacityReport,
    DomainCapacity,
    NodeCapacity,
    ResourceAmounts,
    ResourceCapacity,
    request_text,
)
from kubespread.reports.columns import Readers, docstring
from kubespread.views.look import Tone
from kubespread.views.sheet import Column, Sheet, columns_of, named_by_key
from kubespread.views.view import Metric, NodeFacts, Tile, View, figures, share_tile, shared_fields
from kubespread.wording import count_of, short_key

_ALWAYS = ("cpu", "memory")
_ALMOST_FULL = 90
_THOUSANDTHS = 1000

_Place = DomainCapacity | NodeCapacity


def view(report: CapacityReport) -> View:
    """Resources, domains and nodes, the fullest first."""
    fits, key = [] if report.request is None else ["fits"], report.topology_key or ""
    shown = "resource", "allocatable", "requested", "utilization", "free", "usable", "why_stranded"
    resources = Sheet(
        title="Resources",
        columns=columns_of(ResourceCapacity, *shown),
        rows=report.resources,
        readers=Readers.ALL & ~Readers.SPREADSHEET,
    )
    domains = Sheet(
        title="Domains",
        columns=[
            *named_by_key(columns_of(DomainCapacity, "domain", *fits, "nodes"), key),
            *_amounts(report, free=Readers.ALL),
        ],
        rows=report.domains,
        readers=Readers.ALL & ~Readers.SPREADSHEET,
        tone=_tone,
        noun=short_key(key),
    )
    nodes = Sheet(
        title="Nodes",
        columns=[
            *named_by_key(columns_of(NodeCapacity, "node", "domain", *fits), key),
            *_amounts(report, free=Readers.RECORDS),
            Column("PODS", _pods, is_number=True),
            *columns_of(NodeCapacity, "why"),
        ],
        rows=sorted(report.node_rows, key=lambda row: (-row.fullness, row.node)),
        readers=Readers.TERMINAL | Readers.PIPES,
        tone=_tone,
        noun="node",
    )
    return View(
        **shared_fields(report),
        metrics=partial(_metrics, report),
        title=f"Capacity of {count_of(report.nodes, 'node')}{_request_text(report)}",
        sheets=[resources, domains, nodes],
        tiles=[*_tiles(report)],
        nodes=NodeFacts.from_sheet(
            nodes,
            (lambda row: f"{count_of(row.fits or 0, 'more pod')} fit") if fits else None,
            {Tone.GOOD: "has room for the pod", Tone.BAD: "has none"} if fits else {},
        ),
        names=[
            row.node
            for row in sorted(report.node_rows, key=lambda row: (-(row.fits or 0), row.fullness, row.node))
            if (not row.why if row.fits is None else row.fits)
        ],
    )


def _amounts_of(resources: Iterable[ResourceAmounts], name: str) -> ResourceAmounts:
    return next(resource for resource in resources if resource.resource == name)


def _share(amounts: ResourceAmounts) -> str:
    """``42%``, rounded down; ``-`` where there is nothing to share."""
    return "-" if amounts.utilization is None else f"{int(amounts.utilization)}%"


def _fullness(amounts: ResourceAmounts) -> Tone:
    return Tone.BAD if (amounts.utilization or 0) >= _ALMOST_FULL else Tone.PLAIN


def _amounts(report: CapacityReport, *, free: Readers) -> Iterator[Column[_Place]]:
    """Yield columns of used and free cpu and memory, resources of the request, and extended resources in use."""
    requested = [row.resource for row in report.resources if row.requested != "0" and "/" in row.resource]
    for name in dict.fromkeys((*_ALWAYS, *(report.request or ()), *requested)):
        yield Column(
            f"{name.upper()}-USED",
            partial(_usage, name),
            is_number=True,
            tone=partial(_tone_of, name),
            short=short_key(name).upper(),
            title=f"{name} used",
        )
        yield Column(
            f"{name.upper()}-FREE",
            partial(_free, name),
            is_number=True,
            short="FREE",
            readers=free,
            title=f"{name} free",
        )


def _usage(name: str, row: _Place) -> str:
    return _share(_amounts_of(row.resources, name))


def _free(name: str, row: _Place) -> str:
    return shorten(_amounts_of(row.resources, name).free)


def _tone_of(name: str, row: _Place) -> Tone:
    return _fullness(_amounts_of(row.resources, name))


def _pods(node: NodeCapacity) -> str:
    pods = _amounts_of(node.resources, "pods")
    return f"{pods.requested}/{pods.allocatable}"


def _tone(row: _Place) -> Tone:
    return Tone.PLAIN if row.fits is None else Tone.GOOD if row.fits else Tone.BAD


def _tiles(report: CapacityReport) -> Iterator[Tile]:
    if report.fits is not None:
        roomy = sum(bool(row.fits) for row in report.node_rows)
        yield Tile("pods fit", f"{report.fits:,}", Tone.GOOD if report.fits else Tone.BAD)
        yield share_tile("nodes have room", roomy, report.nodes)
    for name in _ALWAYS:
        amounts = _amounts_of(report.resources, name)
        yield Tile(f"of {name} requested", _share(amounts), _fullness(amounts))


def _request_text(report: CapacityReport) -> str:
    """`` for pods of cpu 2 tolerating gpu``; nothing for totals alone."""
    request = "" if report.request is None else f" of {request_text(report.request)}"
    if report.tolerated:
        request += f" tolerating {', '.join(report.tolerated)}"
    return request and f" for pods{request}"


def _metrics(report: CapacityReport) -> Iterator[Metric]:
    for name in ("allocatable", "requested", "free", "usable"):
        amounts = {row.resource: parse(getattr(row, name)).milli_value / _THOUSANDTHS for row in report.resources}
        help = docstring(ResourceCapacity, name)
        yield f"capacity_{name}", help, [({"resource": resource}, amount) for resource, amount in amounts.items()]
    if report.fits is not None:
        yield from figures("capacity", CapacityReport, [report])
