"""Why a pod that waits has no node, in one line that pods which wait for the same thing share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.planner.bars import Barring, BarringReason, Failing, barring_constraints, failings, rejected_only_by
from kubespread.planner.capacity.room import free
from kubespread.planner.details import canonical
from kubespread.planner.reports.details import rounded
from kubespread.planner.reports.pending import PendingFor
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.amounts import requested
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import SchedulingError

_MAX_DOMAINS, _MAX_WRONG = 2, 2
_INSUFFICIENT = "Insufficient "


@dataclass(frozen=True, slots=True)
class Waits:
    """What a pod waits for."""

    cause: PendingFor
    why: str
    """``zone ≤ 1: min 0 in zone c (2 tainted)``."""
    message: str = ""
    """kube-scheduler's, where it says something."""
    evaluation: Evaluation | None = None
    """Where nodes were judged and none fits."""


def cause_of(world: World, waiting: Waiting) -> Waits:
    """Asked of the cluster as it is, with nothing placed since."""
    pod = waiting.pod
    if pod.spec.scheduling_gates:
        names = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        return Waits("gated", f"scheduling gate {names}")
    scheduled = world.surroundings.scheduler_of(pod)
    if scheduled is None:
        return Waits("otherScheduler", f'scheduler "{pod.spec.scheduler_name}", which is not modeled')
    try:
        evaluation = scheduled[1].evaluate(world.cluster, waiting.template)
    except SchedulingError as error:
        return Waits("refused", str(error), str(error))
    message = evaluation.message or ""
    if not message:
        fitting = int(evaluation.feasible.sum())
        nodes = f"{fitting} node{'' if fitting == 1 else 's'}"
        return Waits("fits", f"fits {nodes}, not tried yet")
    if pod.status.nominated_node_name:
        return Waits("nominated", f"nominated to {pod.status.nominated_node_name}, waits for room there", message)
    if evaluation.rejection is not None:
        return Waits("refused", ", ".join(evaluation.rejection.reasons), message)
    if evaluation.error is not None or not len(evaluation.cluster):
        return Waits("refused", message, message)
    return Waits("filtered", _decisive(evaluation), message, evaluation)


def _decisive(evaluation: Evaluation) -> str:
    """What keeps most nodes away by itself; where nothing does so alone, what rejects most of them."""
    reasons: list[BarringReason] = [*barring_constraints(evaluation), *failings(evaluation)]
    alone = [int(np.count_nonzero(rejected_only_by(reasons, each))) for each in reasons]
    most = [int(np.count_nonzero(each.rejected)) for each in reasons]
    place = max(range(len(reasons)), key=lambda place: (alone[place], most[place], -place))
    decisive = reasons[place]
    others = [each for each in reasons if each is not decisive]
    if isinstance(decisive, Barring):
        return _of_constraint(decisive, others)
    return _of_nodes(decisive, others, evaluation)


def _of_constraint(barring: Barring, others: Sequence[BarringReason]) -> str:
    """``zone ≤ 1: min 0 in zone c (2 tainted)``."""
    counted = barring.counted
    constraint, column = counted.constraint, counted.column
    key = constraint.topology_key.rpartition("/")[2]
    limit = f"{key} ≤ {constraint.max_skew}"
    if not column.present.any():
        return f"{limit}: no node has the label {constraint.topology_key}"
    domains = int(np.count_nonzero(counted.is_domain))
    if constraint.min_domains is not None and domains < constraint.min_domains:
        return f"{limit}: {domains} {key}{'' if domains == 1 else 's'}, minDomains {constraint.min_domains}"
    if not domains:
        return f"{limit}: no {key} counts"
    minimum = counted.global_minimum
    emptiest = counted.is_domain & (counted.counts == minimum)
    names = sorted(column.values[code] or '""' for code in np.flatnonzero(emptiest))
    listed = ", ".join(names[:_MAX_DOMAINS]) if len(names) <= _MAX_DOMAINS else f"{len(names)} {key}s"
    where = f"{key} {listed}" if len(names) <= _MAX_DOMAINS else listed
    there: Mask = column.present & np.isin(column.codes, np.flatnonzero(emptiest))
    wrong = _wrong(there, others)
    return f"{limit}: min {minimum} in {where}{f' ({wrong})' if wrong else ''}"


def _wrong(there: Mask, others: Sequence[BarringReason]) -> str:
    """What is wrong with nodes, most of them first."""
    counts = [(int(np.count_nonzero(each.rejected & there)), each) for each in others]
    said = [f"{count} {_adjective(each, count)}" for count, each in sorted(counts, key=lambda pair: -pair[0]) if count]
    return ", ".join(said[:_MAX_WRONG])


def _adjective(reason: BarringReason, count: int) -> str:
    if isinstance(reason, Barring):
        constraint = reason.counted.constraint
        return f"over {constraint.topology_key.rpartition('/')[2]} ≤ {constraint.max_skew}"
    said = reason.words.said_of(count)
    return "tainted" if reason.words.short == "taint" else said.removeprefix("are ").removeprefix("is ")


def _of_nodes(failing: Failing, others: Sequence[BarringReason], evaluation: Evaluation) -> str:
    """``memory: largest hole 3.1Gi < 4Gi``; of anything else how many nodes it keeps away."""
    resource = failing.words.short
    if f"{_INSUFFICIENT}{resource}" in _reasons(evaluation):
        return _of_resource(resource, others, evaluation)
    count, total = int(np.count_nonzero(failing.rejected)), len(evaluation.cluster)
    wrong = _wrong(~failing.rejected, others)
    nodes = f"{count} of {total} nodes" if count < total else "the only node" if total == 1 else f"all {total} nodes"
    said = f"{nodes} {_adjective(failing, count)}"
    return f"{said}; {wrong}" if wrong else said


def _reasons(evaluation: Evaluation) -> set[str]:
    return {reason for judged in evaluation.verdicts.values() for status in judged.table for reason in status.reasons}


def _of_resource(resource: str, others: Sequence[BarringReason], evaluation: Evaluation) -> str:
    """The largest room on a node that nothing else rejects, or on any where there is none."""
    cluster = evaluation.cluster
    open_to_it = np.ones(len(cluster), dtype=np.bool_)
    for each in others:
        open_to_it &= ~each.rejected
    left = free(cluster, resource)
    hole = int((left[open_to_it] if open_to_it.any() else left).max())
    asked = requested(evaluation.pod)[0].get(resource, 0)
    has = rounded(canonical(resource, hole))
    return f"{resource}: largest hole {has} < {rounded(canonical(resource, asked), up=True)}"
