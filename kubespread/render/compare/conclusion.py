"""What comes of a comparison, in one line."""

from __future__ import annotations

from collections import Counter

from kubespread.planner.reports.compare import CompareReport, NodeChange

_OF_ONE = {
    NodeChange.GONE: "is gone",
    NodeChange.NEW: "is new",
    NodeChange.STOPS: "no longer fits",
    NodeChange.STARTS: "fits now",
    NodeChange.REASONS: "fails for other reasons",
    NodeChange.SCORE: "scores differently",
}
_OF_MANY = {
    NodeChange.GONE: "are gone",
    NodeChange.NEW: "are new",
    NodeChange.STOPS: "no longer fit",
    NodeChange.STARTS: "fit now",
    NodeChange.REASONS: "fail for other reasons",
    NodeChange.SCORE: "score differently",
}


def conclusion(report: CompareReport) -> str:
    """``different: 4 nodes no longer fit, 3 replicas go elsewhere``."""
    return f"same: {_alike(report)}" if report.same else f"different: {', '.join(_differences(report))}"


def _alike(report: CompareReport) -> str:
    side = report.after
    fit = (
        f"{side.fitting:,} of {side.nodes:,} node{'' if side.nodes == 1 else 's'} fit{'s' if side.fitting == 1 else ''}"
    )
    return fit if side.replicas is None else f"{fit}, {side.running:,} of {side.replicas:,} replicas placed"


def _differences(report: CompareReport) -> list[str]:
    said = _nodes(report)
    before, after = report.before, report.after
    if not said and before.first and after.first and before.first != after.first:
        said.append("another node is the first choice")
    said += _replicas(report)
    if not said and any(constraint.is_outcome for constraint in report.constraints):
        said.append("matching pods are spread differently")
    if not said and (before.message, before.stopped) != (after.message, after.stopped):
        said.append("kube-scheduler says something else")
    return said


def _nodes(report: CompareReport) -> list[str]:
    counts = Counter(node.change for node in report.nodes)
    said = list[str]()
    for change in NodeChange:
        if number := counts[change]:
            nodes = "node" if number == 1 else "nodes"
            said.append(f"{number:,} {'' if said else f'{nodes} '}{(_OF_ONE if number == 1 else _OF_MANY)[change]}")
    return said


def _replicas(report: CompareReport) -> list[str]:
    before, after = report.before, report.after
    said = list[str]()
    if before.replicas is None or after.replicas is None:
        return said
    if before.running != after.running:
        of = "" if before.replicas == after.replicas else f" of {before.replicas:,}"
        said.append(f"{after.running:,} of {after.replicas:,} replicas placed instead of {before.running:,}{of}")
    elif before.pending != after.pending:
        said.append(f"{after.pending:,} pending instead of {before.pending:,}")
    gone = sum(max(0, node.before - node.after) for node in report.replicas_on_nodes)
    come = sum(max(0, node.after - node.before) for node in report.replicas_on_nodes)
    if elsewhere := min(gone, come):
        said.append(f"{elsewhere} replica{' goes' if elsewhere == 1 else 's go'} elsewhere")
    elif report.replicas and not report.replicas_on_nodes:
        said.append("replicas go to the same nodes in another order")
    return said
