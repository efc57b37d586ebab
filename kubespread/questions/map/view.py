"""A map as rows: one per domain and one per node, in the order of the domains; a page draws them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.questions.map.report import NO_PAGE, MapDomain, MapNode, TopologyMap, is_violated
from kubespread.reports.columns import Fit, Readers
from kubespread.reports.parts import letter
from kubespread.views.constraints import asked_bars
from kubespread.views.look import Tone
from kubespread.views.sheet import NONE, Column, Sheet, columns_of
from kubespread.views.view import NodeFacts, Tile, View, about, unwanted
from kubespread.wording import EMPTY, count_of, short_key

_MAX_NODES, _MAX_DOMAINS = 60, 20


def view(report: TopologyMap) -> View:
    """Show one row per domain and node, what keeps pods away last; every map shows how full they are."""

    def is_exceeded(node: MapNode) -> bool:
        return any(map(is_violated, report.constraints, (skew or 0 for skew in node.skew)))

    nodes = Sheet(
        title="Nodes",
        columns=[*_node_columns(report)],
        rows=report.nodes,
        readers=NO_PAGE,
        is_answer=True,
        most=_MAX_NODES,
        noun="node",
        tone=lambda node: Tone.BAD if node.marked and is_exceeded(node) else Tone.PLAIN,
    )
    counted = count_of(len(report.nodes), "node")
    title = f"{counted}, {count_of(report.pods, 'pod')}"
    if report.workload is not None:
        holding = sum(bool(node.marked) for node in report.nodes)
        title = f"{report.workload} in {report.namespace}: {count_of(report.marked, 'pod')} on {holding:,} of {counted}"
    limits = zip(report.skew, report.constraints, strict=True)
    seen = View(
        **about(report),
        title=title,
        sheets=[_domains(report), nodes],
        nodes=NodeFacts.of(nodes, None, {}) if report.constraints else None,
        bars=[asked_bars(constraint, place, one_more=False) for place, constraint in enumerate(report.constraints)],
        names=[node.name for node in report.nodes],
        tiles=[
            Tile("nodes", f"{len(report.nodes):,}"),
            Tile("pods", f"{report.pods:,}"),
            unwanted("pods pending", report.pending),
            *(Tile(f"of {load.resource} requested", f"{load.percent or 0}%") for load in report.load),
        ],
    )
    # Soft constraints do not affect the verdict.
    return replace(
        seen, tone=Tone.WARN if any(skew > constraint.max_skew for skew, constraint in limits) else Tone.GOOD
    )


def _node_columns(report: TopologyMap) -> Iterator[Column[MapNode]]:
    yield from (_label(report, key, place, NO_PAGE) for place, key in enumerate(report.keys))
    marked = [] if report.workload is None else ["marked"]
    yield from columns_of(MapNode, "name", "pods", *marked)
    for place, name in enumerate(report.resources):
        # Beside how many there are, their share is for scripts.
        share = _share(short_key(name), place, Readers.PIPES if name == "pods" else NO_PAGE)
        yield replace(share, gives_way=bool(place and report.constraints))
    yield from (_skew(report, place) for place in range(len(report.constraints)))
    yield from columns_of(MapNode, "closed")


def _domains(report: TopologyMap) -> Sheet[MapDomain]:
    labels = (_label(report, key, place, Readers.ALL) for place, key in enumerate(report.keys))
    marked = [] if report.workload is None else ["marked"]
    shares = (_share(name, place, Readers.ALL) for place, name in enumerate(report.resources) if name != "pods")
    columns = [*labels, *columns_of(MapDomain, "nodes", "pods", *marked), *shares]
    readers = Readers.TERMINAL | Readers.PAGES
    return Sheet(
        title="Domains", columns=columns, rows=report.domains, readers=readers, most=_MAX_DOMAINS, noun="domain"
    )


def _label(report: TopologyMap, key: str, place: int, readers: Readers) -> Column[MapNode | MapDomain]:
    """A domain has none of the keys within its own."""

    def value(row: MapNode | MapDomain) -> str | None:
        return next(("" if value is None else value or EMPTY for value in row.path[place : place + 1]), None)

    def text(row: MapNode | MapDomain) -> str:
        text = value(row)
        return "" if text is None else text or NONE

    name, is_one = short_key(key), len({node.path[place] for node in report.nodes}) < 2
    fit = Fit.WHOLE if is_one else Fit.MIDDLE
    return Column(name.upper(), value, text=text, readers=readers, title=name, fit=fit, gives_way=is_one)


def _share(name: str, place: int, readers: Readers) -> Column[MapNode | MapDomain]:
    def value(row: MapNode | MapDomain) -> str | None:
        percentage = row.load[place].percent
        return None if percentage is None else f"{percentage}%"

    return Column(name.upper(), value, readers, nothing="", is_number=True, title=f"{name} requested")


def _skew(report: TopologyMap, place: int) -> Column[MapNode]:
    """The node's domain above the minimum; red where that exceeds a hard constraint."""
    constraint, mark = report.constraints[place], letter(place)
    key = short_key(constraint.topology_key)
    return Column(
        f"SKEW-{mark}-{key.upper()}",
        lambda node: node.skew[place],
        is_number=True,
        short=mark,
        title=f"Skew {mark} {key}",
        nothing="",
        tone=lambda node: Tone.BAD if is_violated(constraint, node.skew[place] or 0) else Tone.PLAIN,
    )
