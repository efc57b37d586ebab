"""Capacity: what is left of each resource, in each domain and on each node."""

from __future__ import annotations

from kubespread.planner.reports.capacity import CapacityReport, NodeCapacity
from kubespread.views.accounts.rows import table_of
from kubespread.views.capacity.plain import domain_header, domain_rows, resource_header, resource_rows
from kubespread.views.capacity.words import whose
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Tone
from kubespread.views.view import NodeFacts, View, beside, source
from kubespread.wording import count_of


def account(report: CapacityReport) -> View:
    return View(
        title=f"Capacity of {count_of(report.nodes, 'node')}{whose(report)}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version),
        answer=report.answer,
        tone=Tone.BAD if report.fits == 0 else Tone.GOOD,
        tables=[
            table_of("Resources", resource_header(), resource_rows(report)),
            table_of("Domains", domain_header(report), domain_rows(report)),
        ],
        nodes=_nodes(report),
        beside=beside([report]),
    )


def _nodes(report: CapacityReport) -> NodeFacts:
    is_asked = report.request is not None
    header = (*(("Fits",) if is_asked else ()), *(f"{each.resource} free" for each in report.resources), "Why no more")
    rows = {each.node: Row(_cells(report, each), _tone(each)) for each in report.node_rows}
    said = {each.node: f"{count_of(each.fits, 'more pod')} fit" for each in report.node_rows if each.fits is not None}
    return NodeFacts(header, rows, said, "green has room for the pod, red has none" if is_asked else "")


def _tone(node: NodeCapacity) -> Tone:
    return Tone.PLAIN if node.fits is None else Tone.GOOD if node.fits else Tone.BAD


def _cells(report: CapacityReport, node: NodeCapacity) -> list[str]:
    free = {each.resource: each.free for each in node.resources}
    fits = [] if node.fits is None else [str(node.fits)]
    return [*fits, *(free.get(each.resource, "") for each in report.resources), ", ".join(node.why)]
