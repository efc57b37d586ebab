"""Why a waiting pod has no node, in one line that pods with the same cause share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from kubespread.kube.owners import NamespacedName
from kubespread.kube.quantity import rounded
from kubespread.questions.causes.bars import (
    SELECTION,
    TAINT,
    Barring,
    BarringReason,
    Failing,
    barring_constraints,
    failings,
    fitting_without,
    in_brief,
    left_by_selection,
    listed,
    rejected_only_by,
    selected_nowhere,
    selection_of,
)
from kubespread.questions.pending.report import PendingFor
from kubespread.questions.room import free
from kubespread.scheduler.cluster.columns import Mask, canonical, requested
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError
from kubespread.wording import count_of, short_key
from kubespread.world.events.world import World
from kubespread.world.store.waiting import Waiting

_MAX_DOMAINS, _MAX_WRONG, _MAX_NODES, _MAX_REASONS = 2, 2, 2, 4
_INSUFFICIENT = "Insufficient "
_GATED = "Scheduling is blocked due to non-empty scheduling gates"
"""The message of the condition PodScheduled of a pod with gates, as the API server writes it."""


class Waits(Struct, frozen=True):
    """What a pod waits for."""

    cause: PendingFor
    why: str
    """``zone ≤ 1: min 0 in zone c (2 tainted)``."""
    message: str = ""
    """kube-scheduler's, where it says something."""
    evaluation: Evaluation | None = None
    """Where nodes were judged and none fits."""
    victims: tuple[NamespacedName, ...] = ()
    """The pods preempted for it."""


def cause_of(world: World, waiting: Waiting) -> Waits:
    """The cause in the cluster as it is, with nothing placed since."""
    pod = waiting.pod
    if pod.spec.scheduling_gates:
        names = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        return Waits("gated", f"scheduling gate {names}", _GATED)
    scheduled = world.surroundings.scheduler_of(pod)
    if scheduled is None:
        return Waits("otherScheduler", f'scheduler "{pod.spec.scheduler_name}", which is not modeled')
    try:
        evaluation = evaluate(scheduled[1], world.cluster, waiting.template)
    except SchedulingError as error:
        return Waits("refused", str(error), str(error))
    message = evaluation.message or ""
    if not message:
        fitting = int(evaluation.feasible.sum())
        return Waits("fits", f"fits {count_of(fitting, 'node')}, not tried yet")
    if pod.status.nominated_node_name:
        return Waits("nominated", f"nominated to {pod.status.nominated_node_name}, waits for room there", message)
    if evaluation.rejection is not None:
        return Waits("refused", ", ".join(evaluation.rejection.reasons), message)
    if evaluation.error is not None or not len(evaluation.cluster):
        return Waits("refused", message, message)
    return Waits("filtered", _decisive(evaluation), message, evaluation)


def _decisive(evaluation: Evaluation) -> str:
    """What rules out all nodes; else what alone rules out most, and what is wrong with the others."""
    reasons: list[BarringReason] = [*barring_constraints(evaluation), *failings(evaluation)]
    if everywhere := [reason for reason in reasons if reason.rejected.all()]:
        return _everywhere(evaluation, everywhere, reasons)
    selecting = selection_of(reasons)
    alone = [int(np.count_nonzero(fitting_without(evaluation, reasons, reason))) for reason in reasons]
    most = [int(np.count_nonzero(reason.rejected)) for reason in reasons]
    place = max(range(len(reasons)), key=lambda place: (alone[place], most[place], -place))
    decisive = reasons[place]
    if selecting is not None and (decisive is selecting or not alone[place]):
        return left_by_selection(evaluation, reasons, selecting)
    if not alone[place]:
        every_node = np.ones(len(evaluation.cluster), dtype=np.bool_)
        return f"each node for several reasons: {_wrong(every_node, reasons, _MAX_REASONS)}"
    others = [reason for reason in reasons if reason is not decisive]
    if isinstance(decisive, Barring):
        return _of_constraint(decisive, others)
    return _of_nodes(decisive, others, evaluation)


def _everywhere(evaluation: Evaluation, everywhere: Sequence[BarringReason], reasons: Sequence[BarringReason]) -> str:
    """All of the reasons that hold everywhere, since none alone is the cause."""
    parts = [_of_constraint(reason, []) for reason in everywhere if isinstance(reason, Barring)]
    failing = [reason for reason in everywhere if isinstance(reason, Failing)]
    if any(reason.words is SELECTION for reason in failing):
        parts.append(selected_nowhere(evaluation))
    others = [reason for reason in reasons if reason not in everywhere]
    resources = [reason for reason in failing if _is_resource(reason, evaluation)]
    parts += (_of_resource(resource.words.short, others, evaluation) for resource in resources)
    rest = [reason for reason in failing if reason.words is not SELECTION and reason not in resources]
    if rest:
        count = len(evaluation.cluster)
        parts.append(f"{_all_nodes(count)} {listed([_adjective(reason, count) for reason in rest])}")
    every_node = np.ones(len(evaluation.cluster), dtype=np.bool_)
    if not rejected_only_by(reasons, everywhere).any():
        parts.append(_wrong(every_node, others, _MAX_REASONS))
    return "; ".join(parts)


def _all_nodes(count: int) -> str:
    return {1: "the only node", 2: "both nodes"}.get(count, f"all {count:,} nodes")


def _of_constraint(barring: Barring, others: Sequence[BarringReason]) -> str:
    """``zone ≤ 1: min 0 in zone c (2 tainted)``."""
    counted = barring.counted
    constraint, column = counted.constraint, counted.column
    key, limit = short_key(constraint.topology_key), barring.limit
    if not column.present.any():
        return f"{limit}: no node has the label {constraint.topology_key}"
    domains = int(np.count_nonzero(counted.is_domain))
    if constraint.min_domains is not None and domains < constraint.min_domains:
        return f"{limit}: {count_of(domains, key)}, minDomains {constraint.min_domains}"
    if not domains:
        return f"{limit}: no {key} counts"
    minimum = counted.global_minimum
    emptiest = counted.is_domain & (counted.counts == minimum)
    names = sorted(column.values[code] or '""' for code in np.flatnonzero(emptiest))
    where = f"{key} {', '.join(names)}" if len(names) <= _MAX_DOMAINS else f"{len(names)} {key}s"
    emptiest_nodes: Mask = column.present & np.isin(column.codes, np.flatnonzero(emptiest))
    wrong = _wrong(emptiest_nodes, others)
    return f"{limit}: min {minimum} in {where}{f' ({wrong})' if wrong else ''}"


def _wrong(among: Mask, others: Sequence[BarringReason], most: int = _MAX_WRONG) -> str:
    """What is wrong with nodes, most of them first."""
    counts = [(int(np.count_nonzero(nodes & among)), words) for other in others for nodes, words in _adjectives(other)]
    listed = [f"{count} {words(count)}" for count, words in sorted(counts, key=lambda pair: -pair[0]) if count]
    return ", ".join(listed[:most])


def _adjectives(reason: BarringReason) -> Iterator[tuple[Mask, Callable[[int], str]]]:
    """The rejected nodes, by the adjective for them."""
    if isinstance(reason, Failing):
        yield reason.rejected, partial(_adjective, reason)
        return
    present = reason.counted.column.present
    yield reason.rejected & present, lambda _: f"over {reason.limit}"
    yield reason.rejected & ~present, lambda _: f"without a {short_key(reason.counted.constraint.topology_key)} label"


def _adjective(failing: Failing, count: int) -> str:
    return "tainted" if failing.words is TAINT else failing.words.brief_of(count)


def _of_nodes(failing: Failing, others: Sequence[BarringReason], evaluation: Evaluation) -> str:
    """``memory: largest open hole 3.1Gi < 4Gi``; for any other reason how many nodes it rules out."""
    if _is_resource(failing, evaluation):
        return _of_resource(failing.words.short, others, evaluation)
    count, total = int(np.count_nonzero(failing.rejected)), len(evaluation.cluster)
    sentence = f"{count:,} of {total:,} nodes {_adjective(failing, count)}"
    wrong = _wrong(~failing.rejected, others)
    return f"{sentence}; {wrong}" if wrong else sentence


def _is_resource(failing: Failing, evaluation: Evaluation) -> bool:
    return f"{_INSUFFICIENT}{failing.words.short}" in _reasons(evaluation)


def _reasons(evaluation: Evaluation) -> set[str]:
    return {reason for judged in evaluation.verdicts.values() for status in judged.table for reason in status.reasons}


def _of_resource(resource: str, others: Sequence[BarringReason], evaluation: Evaluation) -> str:
    """``cpu: largest open hole 1 < 2; 16 free on c1 (cordoned)``: the most room on a node that nothing else rejects,
    and where there would be enough; or the most on any node, where something else rejects all.
    """
    is_open = ~np.logical_or.reduce(
        [np.zeros(len(evaluation.cluster), dtype=np.bool_), *(other.rejected for other in others)]
    )
    available, request = free(evaluation.cluster, resource), requested(evaluation.pod)[0].get(resource, 0)
    needs = rounded(canonical(resource, request), up=True)
    hole = rounded(canonical(resource, int((available[is_open] if is_open.any() else available).max())))
    if not is_open.any():
        return f"{resource}: at most {hole} free on a node, {needs} asked"
    sentence, elsewhere = f"{resource}: largest open hole {hole} < {needs}", ~is_open & (available >= request)
    if not elsewhere.any():
        return sentence
    most = rounded(canonical(resource, int(available[elsewhere].max())))
    return f"{sentence}; {most} free on {_where(evaluation, elsewhere, others)}"


def _where(evaluation: Evaluation, nodes: Mask, others: Sequence[BarringReason]) -> str:
    """``c1 (cordoned) and g1 (tainted gpu)``, or how many nodes and what is wrong with them."""
    names = evaluation.cluster.nodes.names
    positions = sorted(np.flatnonzero(nodes).tolist(), key=names.__getitem__)
    if len(positions) > _MAX_NODES:
        return f"{len(positions):,} nodes ({_wrong(nodes, others)})"
    by_state: dict[str, list[str]] = {}
    for node in positions:
        by_state.setdefault(_state(evaluation, node, others), []).append(names[node])
    return listed([f"{listed(alike)} ({state})" for state, alike in by_state.items()])


def _state(evaluation: Evaluation, node: int, others: Sequence[BarringReason]) -> str:
    return ", ".join(
        other.complaint(node) if isinstance(other, Barring) else in_brief(evaluation, other.words, node)
        for other in others
        if other.rejected[node]
    )
