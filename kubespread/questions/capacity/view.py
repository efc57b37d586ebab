"""Capacity: resources and their stranded amounts, then domains, then the fullest nodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.kube.quantity import NANO, parse, rounded
from kubespread.questions.capacity.report import (
    CapacityReport,
    DomainCapacity,
    NodeCapacity,
    ResourceAmounts,
    ResourceCapacity,
    Stranded,
    request_text,
)
from kubespread.reports.columns import Fit, Readers
from kubespread.views.lines import width_of
from kubespread.views.look import Line, Look, Tone
from kubespread.views.sheet import Column, Drawn, Sheet, count
from kubespread.views.terminal import GAP, aim, folded, room_beside_columns
from kubespread.views.view import Metric, NodeFacts, Tile, View, about, some
from kubespread.wording import EMPTY, count_of, short_key

_ALWAYS = ("cpu", "memory")
_MAX_NODES = 20
_MAX_DOMAINS = 12
_LEAST_NAME, _LEAST_WHY = 20, 8
_ALMOST_FULL = 90
_NARROW = 72
"""Narrower terminals omit what the other columns nearly tell."""

_Place = DomainCapacity | NodeCapacity


def _of(resources: Iterable[ResourceAmounts], name: str) -> ResourceAmounts:
    """The amounts of one resource."""
    return next(resource for resource in resources if resource.resource == name)


def _share(amounts: ResourceAmounts) -> str:
    """``42%``; ``-`` where there is nothing to share."""
    # Rounded down, as kubectl and the map do: what is not quite full must not be called so.
    return "-" if amounts.utilization is None else f"{int(amounts.utilization)}%"


def _fullness(amounts: ResourceAmounts) -> Tone:
    return Tone.BAD if (amounts.utilization or 0) >= _ALMOST_FULL else Tone.PLAIN


def _bar(amounts: ResourceAmounts) -> Drawn | None:
    return None if amounts.utilization is None else Drawn(min(100, int(amounts.utilization)), _fullness(amounts))


def _stranded_text(stranded: Stranded, request: Mapping[str, str] | None) -> str:
    """``4 on 2 cordoned nodes``; what pods can tolerate is reserved for those that do."""
    amount, nodes = rounded(stranded.amount), count_of(stranded.nodes, "node")
    if stranded.tolerable:
        return f"reserved by taint {stranded.detail}: {amount} on {nodes}"
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
            return f"{amount} on {nodes} in pieces too small for one more pod"
        case _:
            return f"{amount} on {nodes}: {stranded.detail}"


def _resource_columns(report: CapacityReport, *, is_narrow: bool = False) -> Iterator[Column[ResourceCapacity]]:
    yield Column("RESOURCE", lambda row: row.resource)
    if not is_narrow:
        yield Column("ALLOCATABLE", lambda row: rounded(row.allocatable), is_number=True)
    yield Column("REQUESTED", lambda row: rounded(row.requested, up=True), is_number=True)
    yield Column("USED", _share, is_number=True, tone=_fullness, drawn=_bar)
    yield Column("FREE", lambda row: rounded(row.free), is_number=True)
    yield Column(
        "USABLE",
        lambda row: rounded(row.usable),
        is_number=True,
        tone=lambda row: Tone.BAD if row.usable == "0" else Tone.PLAIN,
    )
    yield Column(
        "STRANDED",
        lambda row: "; ".join(_stranded_text(part, report.request) for part in row.stranded),
        readers=Readers.RECORDS,
    )


def _shown(report: CapacityReport) -> list[str]:
    """The resources that get columns: cpu and memory, what the request names, and what else is asked for somewhere."""
    requested = [row.resource for row in report.resources if row.requested != "0" and row.resource != "pods"]
    return list(dict.fromkeys((*_ALWAYS, *(report.request or ()), *(name for name in requested if "/" in name))))


def _fits(report: CapacityReport) -> list[Column[_Place]]:
    if report.request is None:
        return []
    return [
        Column("FITS", lambda row: row.fits or 0, is_number=True, tone=lambda row: Tone.GOOD if row.fits else Tone.BAD)
    ]


def _used(name: str, readers: Readers) -> Column[_Place]:
    return Column(
        f"{name.upper()}-USED",
        lambda row: _share(_of(row.resources, name)),
        is_number=True,
        tone=lambda row: _fullness(_of(row.resources, name)),
        short=short_key(name).upper(),
        readers=readers,
        title=f"{name} used",
        drawn=lambda row: _bar(_of(row.resources, name)),
    )


def _amounts(name: str, *, used: Readers, free: Readers) -> list[Column[_Place]]:
    """How much of a resource is taken and how much is left."""
    return [
        Column(
            f"{name.upper()}-REQUESTED",
            lambda row: rounded(_of(row.resources, name).requested, up=True),
            is_number=True,
            readers=used & Readers.PIPES,
            title=f"{name} requested",
        ),
        _used(name, used),
        Column(
            f"{name.upper()}-FREE",
            lambda row: rounded(_of(row.resources, name).free),
            is_number=True,
            short="FREE",
            readers=free,
            title=f"{name} free",
        ),
    ]


def _domain(report: CapacityReport, readers: Readers = Readers.ALL) -> Column[_Place]:
    """The domain's value, which may be empty, or that it has none."""
    return Column(
        "DOMAIN",
        lambda row: None if row.domain is None else row.domain or EMPTY,
        readers=readers,
        short=short_key(report.topology_key or "").upper(),
    )


_NODE: Column[NodeCapacity] = Column("NODE", lambda row: row.node)
_WHY: Column[NodeCapacity] = Column("WHY", lambda row: ", ".join(row.why))
_DOMAIN_NODES: Column[DomainCapacity] = count("NODES", lambda row: row.nodes)


def view(report: CapacityReport) -> View:
    """Resources, domains and nodes; what holds blanks comes last in its row."""
    names, fits = [*_shown(report), "pods"], _fits(report)
    of_domains = [amount for name in names for amount in _amounts(name, used=Readers.RECORDS, free=Readers.RECORDS)]
    of_nodes = [
        amount
        for name in names
        for amount in _amounts(name, used=Readers.PIPES, free=Readers.PIPES if name == "pods" else Readers.RECORDS)
    ]
    nodes = Sheet(
        title="Nodes",
        columns=[_NODE, _domain(report, Readers.PIPES), *fits, *of_nodes, _WHY],
        rows=report.node_rows,
        readers=Readers.PIPES,
        is_answer=True,
        tone=_tone,
    )
    is_asked = report.request is not None
    return View(
        **about(report),
        metrics=partial(_metrics, report),
        title=f"Capacity of {count_of(report.nodes, 'node')}{_whose(report)}",
        sheets=[
            *_room(report),
            Sheet(title="Resources", columns=list(_resource_columns(report)), rows=report.resources),
            Sheet(title="Domains", columns=[_domain(report), _DOMAIN_NODES, *fits, *of_domains], rows=report.domains),
            nodes,
            *([] if is_asked else [_on_page(report)]),
        ],
        tiles=[*_tiles(report)],
        nodes=NodeFacts.of(
            replace(nodes, rows=_fullest_first(report)),
            lambda row: f"{count_of(row.fits or 0, 'more pod')} fit",
            {Tone.GOOD: "has room for the pod", Tone.BAD: "has none"},
        )
        if is_asked
        else None,
        names=[
            row.node
            for row in sorted(report.node_rows, key=lambda row: (-(row.fits or 0), _fullest(row), row.node))
            if (not row.why if row.fits is None else row.fits)
        ],
        parts=lambda look: _parts(report, look),
        remarks="above",
    )


_HOLES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""From how many free CPUs of a node on a column of its own begins."""


def _room(report: CapacityReport) -> Iterator[Sheet[_Room]]:
    """How many nodes of each domain have how much cpu left, as a page shows where there is room, and for what size."""
    by_domain: dict[str | None, list[float]] = {}
    for node in report.node_rows:
        if not (node.why if node.fits is None else not node.fits):
            by_domain.setdefault(node.domain, []).append(parse(_of(node.resources, "cpu").free).nano / NANO)
    whole = Counter(node.domain for node in report.node_rows)
    rows = [_Room(domain, whole[domain], tuple(by_domain.get(domain, ()))) for domain in whole]
    used = [least for least in _HOLES if any(row.from_to(least) for row in rows)]
    yield Sheet(
        title="Nodes with room, by free CPUs of a node",
        rows=sorted(rows, key=lambda row: row.domain or ""),
        readers=Readers.PAGES,
        is_first=True,
        legend="nodes that take pods, by how many CPUs are free on each: a pod that requests more fits none of them",
        columns=[
            Column(
                "DOMAIN",
                lambda row: "-" if row.domain is None else row.domain or EMPTY,
                title=short_key(report.topology_key or "domain"),
            ),
            *(
                Column(
                    f"{least:g}",
                    partial(_Room.from_to, least=least),
                    is_number=True,
                    title=_hole(least),
                    drawn=partial(_Room.drawn, least=least),
                )
                for least in used
            ),
            count("NODES", lambda row: row.nodes),
            count("CLOSED", lambda row: row.nodes - len(row.free), hides_empty=True),
        ],
    )


def _hole(least: float) -> str:
    """``4 to 8 free``."""
    most = next((hole for hole in _HOLES if hole > least), None)
    return f"{least:g} or more free" if most is None else f"{least:g} to {most:g} free"


class _Room(Struct, frozen=True):
    """A domain, and the free CPUs of each of its nodes that takes pods."""

    domain: str | None
    nodes: int
    free: Sequence[float]

    def from_to(self, least: float) -> int:
        most = next((hole for hole in _HOLES if hole > least), math.inf)
        return sum(least <= free < most for free in self.free)

    def drawn(self, least: float) -> Drawn | None:
        nodes = self.from_to(least)
        return Drawn(100 * nodes // self.nodes) if nodes else None


def _tiles(report: CapacityReport) -> Iterator[Tile]:
    if report.fits is not None:
        roomy = sum(bool(row.fits) for row in report.node_rows)
        yield Tile("pods fit", f"{report.fits:,}", Tone.GOOD if report.fits else Tone.BAD)
        yield some("nodes have room", roomy, report.nodes)
    for resource in report.resources:
        if resource.resource in _ALWAYS:
            yield Tile(f"of {resource.resource} requested", _share(resource), _fullness(resource))


def _tone(node: NodeCapacity) -> Tone:
    return Tone.PLAIN if node.fits is None else Tone.GOOD if node.fits else Tone.BAD


def _whose(report: CapacityReport) -> str:
    """`` for pods of cpu 2 tolerating gpu``; nothing for totals alone."""
    if report.pod is not None:
        return f" for pods like {report.pod.namespace}/{report.pod.name} ({request_text(report.request or {})})"
    request = "" if report.request is None else f" of {request_text(report.request)}"
    if report.tolerated:
        request += f" tolerating {', '.join(report.tolerated)}"
    return request and f" for pods{request}"


def _parts(report: CapacityReport, look: Look) -> Iterator[Sheet[Any] | Line]:
    is_narrow = aim(look) < _NARROW
    resources = [row for row in report.resources if row.allocatable != "0" or row.resource in (report.request or ())]
    yield Sheet(title="", columns=list(_resource_columns(report, is_narrow=is_narrow)), rows=resources)
    reserved: dict[tuple[str, int], list[str]] = {}
    # Where pod slots are left over, the shortage is told already.
    for resource in (row for row in report.resources if row.resource != "pods"):
        for part in (part for part in resource.stranded if part.tolerable):
            amount = f"{resource.resource} {rounded(part.amount)}"
            reserved.setdefault((part.detail, part.nodes), []).append(amount)
        if stranded := [_stranded_text(part, report.request) for part in resource.stranded if not part.tolerable]:
            yield folded(f"{resource.resource} stranded: {', '.join(stranded)}")
    for (taint, nodes), parts in reserved.items():
        on = f"on {count_of(nodes, 'node')}, usable by pods that tolerate it"
        yield folded(f"reserved by taint {taint}: {', '.join(parts)} {on}")
    domain = replace(_domain(report), fit=Fit.NAMES, least=_LEAST_NAME)
    amounts = [amount for name in _shown(report) for amount in _amounts(name, used=Readers.ALL, free=Readers.ALL)]
    yield Sheet(
        title="",
        rows=report.domains,
        most=_MAX_DOMAINS,
        noun=short_key(report.topology_key or ""),
        columns=[domain, *_fits(report), *([] if is_narrow else [_DOMAIN_NODES]), *amounts],
        tone=lambda row: Tone.BAD if row.fits == 0 else Tone.PLAIN,
    )
    yield _nodes(report, look, is_narrow=is_narrow)


def _nodes(report: CapacityReport, look: Look, *, is_narrow: bool) -> Sheet[NodeCapacity]:
    """The fullest first; with their domain where it has room."""
    columns: list[Column[NodeCapacity]] = [*_fits(report), *(_used(name, Readers.ALL) for name in _shown(report))]
    if not is_narrow:
        columns.append(Column("PODS", _pods, is_number=True))
    columns.append(
        Column(
            "WHY-NOT" if report.request is None else "NO-MORE-FOR",
            lambda row: ", ".join(row.why),
            nothing="",
            fit=Fit.END,
            least=_LEAST_WHY,
            hides_empty=True,
        )
    )
    node = replace(_NODE, fit=Fit.NAMES, least=_LEAST_NAME)
    sheet = Sheet(title="", columns=[node, *columns], rows=_fullest_first(report), most=_MAX_NODES, noun="node")
    shown, domain = sheet.on_screen(look), _domain(report)
    names = max((width_of(escaped(row.node)) for row in shown), default=0)
    if report.topology_key is not None and names + GAP <= room_beside_columns([domain, *columns], shown, look):
        return replace(sheet, columns=[node, domain, *columns])
    return sheet


def _on_page(report: CapacityReport) -> Sheet[NodeCapacity]:
    """The fullest nodes first, where no picture has them."""
    amounts = [amount for name in _shown(report) for amount in _amounts(name, used=Readers.ALL, free=Readers.ALL)]
    return Sheet(
        title="Nodes",
        columns=[_NODE, _domain(report), *amounts, Column("PODS", _pods, is_number=True), _WHY],
        rows=_fullest_first(report),
        readers=Readers.PAGES,
        is_detail=True,
    )


def _pods(node: NodeCapacity) -> str:
    pods = _of(node.resources, "pods")
    return f"{pods.requested}/{pods.allocatable}"


def _fullest_first(report: CapacityReport) -> list[NodeCapacity]:
    return sorted(report.node_rows, key=lambda row: (-_fullest(row), row.node))


def _fullest(node: NodeCapacity) -> float:
    """Percent requested of the node's scarcest resource."""
    return max((resource.utilization or 0 for resource in node.resources), default=0)


_THOUSANDTHS = 1000


def _metrics(report: CapacityReport) -> Iterator[Metric]:
    amounts: dict[str, tuple[str, Callable[[ResourceCapacity], str]]] = {
        "allocatable": ("What nodes have for pods.", lambda row: row.allocatable),
        "requested": ("What pods on nodes request.", lambda row: row.requested),
        "free": ("What is left on nodes that have any left.", lambda row: row.free),
        "usable": ("What is free and not stranded.", lambda row: row.usable),
    }
    yield "capacity_nodes", "Nodes of the cluster.", [({}, report.nodes)]
    for name, (text, amount) in amounts.items():
        yield f"capacity_{name}", text, [(_unit(row.resource), _number(amount(row))) for row in report.resources]
    stranded: dict[tuple[str, str], float] = {}
    for row in report.resources:
        for part in row.stranded:
            key = row.resource, part.cause
            stranded[key] = stranded.get(key, 0.0) + _number(part.amount)
    yield (
        "capacity_stranded",
        "What is free where pods cannot use it, by cause.",
        [({**_unit(resource), "cause": cause}, amount) for (resource, cause), amount in stranded.items()],
    )
    if report.fits is None:
        return
    yield "capacity_fitting_pods", "Pods of the size in question that fit together.", [({}, report.fits)]
    yield (
        "capacity_domain_fitting_pods",
        "The same by domain of the topology key, empty for nodes in none.",
        [
            ({"topology_key": report.topology_key or "", "domain": row.domain or ""}, row.fits)
            for row in report.domains
            if row.fits is not None
        ],
    )
    if report.quota is not None:
        yield (
            "capacity_quota_allowed_pods",
            "Further ones that the quotas of their namespace allow.",
            [({"namespace": report.quota.namespace}, report.quota.copies)],
        )


def _unit(resource: str) -> dict[str, str]:
    of_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return {"resource": resource, "unit": "core" if resource == "cpu" else "byte" if of_bytes else "integer"}


def _number(quantity: str) -> float:
    return parse(quantity).milli_value / _THOUSANDTHS
