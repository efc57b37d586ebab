"""A plan of evictions, one after another, and what it does to the constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubespread.planner.reports.rebalance import RebalancedConstraint, RebalanceReport
from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.views.accounts.rows import table_of
from kubespread.views.phrases import cluster_phrase
from kubespread.views.rebalance.plain import STEP_HEADER, step_rows
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import Bar, Bars, Frame, View, beside, source
from kubespread.wording import EMPTY, count_of, short_key


def account(report: RebalanceReport) -> View:
    commands = [Row([str(step.number), command]) for step in report.steps for command in step.commands]
    return View(
        title=f"Rebalancing {count_of(report.workloads, 'workload')} on {count_of(report.nodes, 'node')}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=Tone.GOOD if report.holds else Tone.BAD,
        bars=list(map(_bars, report.constraints)),
        tables=[
            table_of("Evictions", STEP_HEADER, step_rows(report)),
            Table("Commands", ("Step", "Command"), commands, is_detail=True),
        ],
        beside=beside([report]),
    )


def frames(report: RebalanceReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One an eviction: a pod fewer where it was, one more where its replacement is."""
    now = Counter({node.name: node.pods for node in drawn.nodes})
    for step in report.steps:
        now[step.node] -= 1
        now[step.lands_on] += 1
        text = f"{step.pod} leaves {step.node}, its replacement is on {step.lands_on}"
        yield Frame(f"step {step.number}", text, {node: max(0, now[node]) for node in (step.node, step.lands_on)})


def _bars(each: RebalancedConstraint) -> Bars:
    limit = f" > {each.max_skew}" if not each.holds_after else f" ≤ {each.max_skew}"
    said = f"{short_key(each.topology_key)} {each.when_unsatisfiable} · {each.selector}"
    bars = [
        Bar(domain.value or EMPTY, domain.before, domain.after, f"{domain.before} → {domain.after}")
        for domain in each.domains
    ]
    return Bars(f"{said} · skew {each.skew_before} → {each.skew_after}{limit}", bars)
