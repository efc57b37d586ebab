"""A map: its domains, and how even and how full it is."""

from __future__ import annotations

from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.views.accounts.spread import asked_bars
from kubespread.views.aligned import NONE
from kubespread.views.arithmetic import letter
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import NodeFacts, View, beside, source
from kubespread.wording import EMPTY, count_of, short_key


def account(report: TopologyMap) -> View:
    nodes = count_of(len(report.nodes), "node")
    whose = report.workload and f"{report.workload} in {report.namespace}: {count_of(report.marked, 'pod')} on {nodes}"
    limits = zip(report.skew, report.constraints, strict=True)
    return View(
        title=whose or f"{nodes}, {count_of(report.pods, 'pod')}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version),
        answer=report.answer,
        tone=Tone.WARN if any(skew > each.max_skew for skew, each in limits) else Tone.GOOD,
        bars=[asked_bars(each, place, one_more=False) for place, each in enumerate(report.constraints)],
        tables=[_domains(report)] if report.domains else [],
        nodes=_nodes(report),
        beside=beside([report]),
    )


def _domains(report: TopologyMap) -> Table:
    marked = ["Marked"] if report.workload is not None else []
    rows = [
        Row(
            [
                *(NONE if value is None else value or EMPTY for value in domain.path),
                *[""] * (len(report.keys) - len(domain.path)),
                *map(str, (domain.nodes, domain.pods, *([domain.marked] if marked else []))),
                *("" if each.percent is None else f"{each.percent}%" for each in domain.load),
            ]
        )
        for domain in report.domains
    ]
    loads = (f"{each} requested" for each in report.resources)
    return Table("Domains", [*map(short_key, report.keys), "Nodes", "Pods", *marked, *loads], rows)


def _nodes(report: TopologyMap) -> NodeFacts:
    """The skew of each node's domain; how full it is every map shows."""
    skews = [f"Skew {letter(place)} {short_key(each.topology_key)}" for place, each in enumerate(report.constraints)]
    rows = {
        node.name: Row([NONE if skew is None else str(skew) for skew in node.skew], Tone.PLAIN) for node in report.nodes
    }
    return NodeFacts(skews, rows if skews else {})
