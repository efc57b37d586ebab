"""What comes of it all, below the rows or beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import LookAhead, SimulateReport
from kubespread.render.phrases import count_of, preemption
from kubespread.render.rollouts import rollout_sentence
from kubespread.render.simulate.gangs import gang_outcome, gang_sentences
from kubespread.render.simulate.runs import runs_sentence
from kubespread.render.simulate.scaling import headline

_MAX_NODES = 3


def conclusion(report: SimulateReport) -> Iterator[str]:
    """How many found a node, what else could come of it, and last what stopped the others."""
    if report.deleted:
        yield f"{len(report.deleted):,} deleted, {report.running:,} left"
        yield from deleted(report)
        return
    if report.rollout is not None:
        yield f"rolled out: {rollout_sentence(report.rollout)}"
    already = f", {report.present:,} already running" if report.present else ""
    if report.gang is not None:
        yield gang_outcome(report, report.gang)
    elif report.replicas is None:
        yield f"{report.placed:,} fit{already}"
    elif said := nothing_to_place(report):
        yield said
    else:
        yield f"{report.placed:,} of {max(0, report.replicas - report.present):,} placed{already}"
    yield from alternatives(report)
    yield from cause(report)
    if report.autoscaling is not None:
        yield headline(report.autoscaling)


def nothing_to_place(report: SimulateReport) -> str | None:
    """Where no more replicas are asked for than run."""
    if not report.present or report.present != report.replicas:
        return None
    return f"{report.present:,} of {count_of(report.present, 'replica')} already running, nothing to place"


def deleted(report: SimulateReport) -> Iterator[str]:
    """Which replicas go, where fewer are asked for than run."""
    if report.deleted:
        named = [f"{each.pod} on {each.node}" for each in report.deleted[:_MAX_NODES]]
        rest = len(report.deleted) - len(named)
        more = f" and {rest} more" if rest else ""
        yield f"deleted first: {', '.join(map(escaped, named))}{more}"


def alternatives(report: SimulateReport) -> Iterator[str]:
    """Other runs, another order, preemption, as far as they were asked for."""
    if report.runs is not None:
        yield runs_sentence(report, report.runs)
    if report.look_ahead is not None:
        yield _look_ahead(report.look_ahead)
    if said := preemption(report.preemption):
        yield said


def cause(report: SimulateReport) -> Iterator[str]:
    """kube-scheduler's message, and what bars the next replica where it is one thing."""
    if report.gang is not None:
        yield from gang_sentences(report.gang)
        if report.gang.pod_group is None or not report.gang.fits:
            return
    if report.stopped is not None:
        yield report.stopped
    if report.conclusion is not None:
        whom = "the next one stops" if report.replicas is None else f"{report.pending:,} pending"
        yield f"{whom}: {report.conclusion}"


def _look_ahead(search: LookAhead) -> str:
    if search.nodes is not None:
        copies = Counter(search.nodes)
        most = ", ".join(f"{node} {count:,}" for node, count in copies.most_common(_MAX_NODES))
        more = f" and {count_of(len(copies) - _MAX_NODES, 'more node')}" if len(copies) > _MAX_NODES else ""
        return f"all {len(search.nodes):,} would fit in another order: {most}{more}"
    tried = (
        "no order places them all"
        if search.exhausted
        else f"no order that places them all was found in {search.steps:,} steps"
    )
    without = f"; they would all fit without {' or without '.join(search.blocking)}" if search.blocking else ""
    return f"{tried}{without}"
