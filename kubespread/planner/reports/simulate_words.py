"""What placing replicas comes to, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kubespread.planner.reports.autoscaling import autoscaler_sentence
from kubespread.planner.reports.gang import gang_outcome, gang_sentences
from kubespread.planner.reports.parts import preempted_pods
from kubespread.planner.reports.rollout import rollout_sentence
from kubespread.planner.reports.runs import runs_sentence
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.planner.reports.simulate import LookAhead, SimulateReport

_MAX_NODES = _MAX_PODS = 3


def sentences_of(report: SimulateReport) -> Iterator[str]:
    """How many found a node, what else could come of it, and last what stopped the others."""
    if report.deleted:
        yield f"{len(report.deleted):,} deleted, {report.running:,} left"
        yield from deleted(report)
        return
    if report.rollout is not None:
        yield f"rolled out: {rollout_sentence(report.rollout)}"
    already = f", {report.present:,} already running" if report.present else ""
    if report.gang is not None:
        yield gang_outcome(report.gang, report.running, report.replicas)
    elif report.replicas is None:
        yield f"{report.placed:,} fit{already}"
    elif said := nothing_to_place(report):
        yield said
    else:
        asked_for = max(0, report.replicas - report.present)
        yield f"{report.placed:,} of {asked_for:,} placed{already}{beside_placed(report)}"
    yield from alternatives(report)
    yield from cause(report)
    if report.autoscaling is not None:
        yield autoscaler_sentence(report.autoscaling)


def beside_placed(report: SimulateReport) -> str:
    """What is to be said beside how many are placed: who was preempted, and which replicas do not exist."""
    unmade = {"not created": report.not_created, "not made yet": report.not_made_yet}
    said = [f"{count:,} {what}" for what, count in unmade.items() if count]
    if report.preempted:
        said.append(f"preempting {preempted_pods(report.preempted, _MAX_PODS)}")
    return "".join(f", {part}" for part in said)


def totals(reports: Sequence[SimulateReport]) -> str:
    """What several workloads come to together."""
    kinds = {
        "placed": [report.placed for report in reports],
        "pending": [report.pending for report in reports],
        "not created": [report.not_created for report in reports],
        "not made yet": [report.not_made_yet for report in reports],
    }
    sums = {what: sum(counts) for what, counts in kinds.items()}
    said = [f"{count:,} {what}" for what, count in sums.items() if count or what in ("placed", "pending")]
    if preempted := [pod for report in reports for pod in report.preempted]:
        said.append(f"preempting {preempted_pods(preempted, _MAX_PODS)}")
    return f"{len(reports):,} workloads: {', '.join(said)}"


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
        yield f"deleted first: {', '.join(named)}{more}"


def alternatives(report: SimulateReport) -> Iterator[str]:
    """Other runs, another order, preemption, as far as they were asked for."""
    if report.runs is not None:
        yield runs_sentence(report.constraints, report.runs)
    if report.look_ahead is not None:
        yield _look_ahead(report.look_ahead)
    if report.preemption is not None and not report.preempted:
        yield report.preemption.sentence


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
