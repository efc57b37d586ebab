"""A comparison: what differs between before and after."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.compare import CompareReport, NodeChange, NodeDifference, NodeSide, SideReport
from kubespread.views.compare.heading import asked_otherwise
from kubespread.views.compare.reasons import said_of
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import Bar, Bars, NodeFacts, View, beside
from kubespread.wording import EMPTY, short_key

_TONES = {
    NodeChange.STOPS: Tone.BAD,
    NodeChange.GONE: Tone.BAD,
    NodeChange.STARTS: Tone.GOOD,
    NodeChange.NEW: Tone.GOOD,
}


def account(report: CompareReport) -> View:
    before, after = report.before, report.after
    subject = before.subject if before.subject == after.subject else f"{before.subject} → {after.subject}"
    where = " → ".join(dict.fromkeys([cluster_phrase(before.cluster), cluster_phrase(after.cluster)]))
    releases = " → ".join(dict.fromkeys([f"v{before.kube_version}", f"v{after.kube_version}"]))
    return View(
        title=f"{subject} in {after.pod.namespace}, before → after",
        provenance=" · ".join(part for part in (where, f"kube-scheduler {releases}", report.manner) if part),
        answer=[*report.answer, *asked_otherwise(report)],
        tone=Tone.GOOD if report.same else Tone.WARN,
        bars=list(_bars(report)),
        tables=[_sides(report), *_replicas(report)],
        nodes=_nodes(report),
        beside=beside([before, after]),
    )


def _bars(report: CompareReport) -> Iterator[Bars]:
    for each in report.constraints:
        if each.domains:
            skews = " → ".join("none" if side is None else str(side.skew) for side in (each.before, each.after))
            bars = [
                Bar(domain.value or EMPTY, domain.before or 0, domain.after or 0, _change(domain.before, domain.after))
                for domain in each.domains
            ]
            yield Bars(f"{short_key(each.topology_key)} · skew {skews} · domains that differ", bars)


def _change(before: int | None, after: int | None) -> str:
    return " → ".join("none" if number is None else str(number) for number in (before, after))


def _sides(report: CompareReport) -> Table:
    header = ("Side", "Nodes", "Fitting", "First choice", "Replicas", "Running", "Pending", "Message")
    return Table("Sides", header, [_side("before", report.before), _side("after", report.after)])


def _side(when: str, side: SideReport) -> Row:
    figures = ["" if side.replicas is None else str(each) for each in (side.replicas, side.running, side.pending)]
    message = side.message or side.stopped or ""
    return Row([when, str(side.nodes), str(side.fitting), ", ".join(side.first[:3]), *figures, message])


def _replicas(report: CompareReport) -> Iterator[Table]:
    rows = [Row([str(each.replica), each.before or "", each.after or ""]) for each in report.replicas]
    if rows:
        yield Table("Replicas that go elsewhere", ("Replica", "Before", "After"), rows, is_detail=True)


def _nodes(report: CompareReport) -> NodeFacts:
    held = {each.name: each for each in report.replicas_on_nodes}
    differ = {each.name: each for each in report.nodes}
    rows = {
        name: Row(
            [
                *(_judged(differ[name]) if name in differ else ("", "", "")),
                _change(held[name].before, held[name].after) if name in held else "",
            ],
            _TONES.get(differ[name].change, Tone.WARN) if name in differ else Tone.PLAIN,
        )
        for name in dict.fromkeys([*differ, *held])
    }
    verdicts = {name: f"{each.change}: {said_of(each, numbers=True)}" for name, each in differ.items()}
    colors = "green fits now or is new, red no longer fits or is gone, yellow differs otherwise"
    return NodeFacts(("Change", "Score", "How", "Replicas"), rows, verdicts, colors)


def _judged(node: NodeDifference) -> tuple[str, str, str]:
    totals = [_total(side) for side in (node.before, node.after)]
    return str(node.change), "" if totals[0] == totals[1] else " → ".join(totals), said_of(node, numbers=True)


def _total(side: NodeSide | None) -> str:
    return "none" if side is None or side.total is None else str(side.total)
