"""What bars a pod that fits nowhere, as one sentence, if it is one thing.

One thing bars the pod when it rejects every node, or when it is a constraint without which some node would fit: then
the domains it leaves, and what is wrong with their nodes, are the whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.unknown_fields import did_you_mean
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import CORDON_TAINT_KEY
from kubespread.questions.causes.near_keys import near_key
from kubespread.questions.causes.node_bars import SELECTION, complaint, listed, named, selected_nowhere, selection
from kubespread.reports.parts import letter
from kubespread.reports.reason_words import ReasonWords, words_of
from kubespread.scheduler.cluster.labels import Mask, distinct
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.scheduler.plugins.taint_toleration import TaintToleration
from kubespread.wording import short_key

_MAX_DOMAINS = 3
_MAX_CAUSES = 3
_UNLISTED = "node(s) didn't satisfy plugin(s)"


class Barring(Struct, frozen=True, eq=False):
    """A hard constraint, and the nodes it rejects."""

    letter: str
    position: int
    """Among the constraints that the pod declares."""
    counted: HardConstraint
    rejected: Mask

    @property
    def limit(self) -> str:
        """``zone ≤ 1``."""
        return f"{short_key(self.counted.constraint.topology_key)} ≤ {self.counted.constraint.max_skew}"

    def said_of(self, count: int, nodes: str) -> str:
        return f"{self.letter} rejects {nodes}"

    def complaint(self, node: int) -> str:
        """What is wrong with one node."""
        if not self.counted.column.present[node]:
            return f"has no {short_key(self.counted.constraint.topology_key)} label"
        return f"is over {self.limit}"


class Failing(Struct, frozen=True, eq=False):
    """A reason besides the constraints, and the nodes it rejects."""

    words: ReasonWords
    rejected: Mask

    def said_of(self, count: int, nodes: str) -> str:
        return f"{nodes} {self.words.said_of(count)}"


BarringReason = Barring | Failing


def bars(evaluation: Evaluation) -> str | None:
    """``A lets it only into eu-west-1b; there all 4 nodes are cordoned``, constraints by their letter.

    None for a pod that fits somewhere, and where different things bar it on different nodes.
    """
    if not len(evaluation.cluster) or evaluation.error or evaluation.rejection or evaluation.feasible.any():
        return None
    constraints = barring_constraints(evaluation)
    reasons: list[BarringReason] = [*constraints, *failings(evaluation)]
    if everywhere := [reason for reason in reasons if reason.rejected.all()]:
        return _everywhere(evaluation, everywhere, reasons)
    confined = _confined(evaluation, constraints, reasons)
    selecting = selection_of(reasons)
    if selecting is None or (confined is not None and confined.nodes < _left(selecting)):
        return None if confined is None else confined.sentence
    return left_by_selection(evaluation, reasons, selecting)


def selection_of(reasons: Sequence[BarringReason]) -> Failing | None:
    """The nodes that the pod's node selector and node affinity exclude, if any."""
    return next((reason for reason in reasons if isinstance(reason, Failing) and reason.words is SELECTION), None)


def _left(reason: BarringReason) -> int:
    return int(np.count_nonzero(~reason.rejected))


def _everywhere(evaluation: Evaluation, everywhere: Sequence[BarringReason], reasons: Sequence[BarringReason]) -> str:
    """``no node has disk=ssd (nodeSelector)``, ``both nodes have too little cpu``; and what else is wrong where
    each node has further faults.
    """
    parts = [_nowhere(reason, evaluation.cluster.nodes) for reason in everywhere if isinstance(reason, Barring)]
    count, nodes = _nodes(everywhere[0].rejected, everywhere=True)
    failing = [reason.words for reason in everywhere if isinstance(reason, Failing)]
    if SELECTION in failing:
        parts.append(selected_nowhere(evaluation))
    if others := [words.said_of(count) for words in failing if words is not SELECTION]:
        parts.append(f"{nodes} {listed(others)}")
    if not rejected_only_by(reasons, everywhere).any():
        parts.append(_wrong([reason for reason in reasons if reason not in everywhere], everywhere[0].rejected))
    return "; ".join(parts)


def left_by_selection(evaluation: Evaluation, reasons: Sequence[BarringReason], selecting: Failing) -> str:
    """``nodeSelector pool=mem leaves only n04, which has no rack label and runs 8 of 8 pods``."""
    selected, others = ~selecting.rejected, [reason for reason in reasons if reason is not selecting]
    names, count = named(evaluation, selected), _left(selecting)
    what = selection(evaluation.pod)
    if count == 1:
        (node,) = np.flatnonzero(selected).tolist()
        wrong = (_complaint(evaluation, other, node) for other in others if other.rejected[node])
        return f"{what} leaves only {names}, which {listed(list(wrong))}"
    where = f"only {names}" if names is not None else f"{count:,} of {len(evaluation.cluster):,} nodes"
    return f"{what} leaves {where}; there {_wrong(others, selected)}"


def _complaint(evaluation: Evaluation, reason: BarringReason, node: int) -> str:
    if isinstance(reason, Barring):
        return reason.complaint(node)
    return complaint(evaluation, reason.words, node)


def barring_constraints(evaluation: Evaluation) -> list[Barring]:
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState) or PodTopologySpread.name not in evaluation.verdicts:
        return []
    positions = (place for place, constraint in enumerate(state.declared.constraints) if constraint.is_hard)
    return [
        Barring(letter(position), position, counted, counted.judged(None) != 0)
        for position, counted in zip(positions, state.hard, strict=True)
    ]


def failings(evaluation: Evaluation) -> list[Failing]:
    """Every reason besides the constraints, with all nodes that any plugin rejects for it."""
    rejected: dict[ReasonWords, Mask] = {}
    if not evaluation.included.all():
        rejected[words_of(_UNLISTED)] = ~evaluation.included
    for plugin, verdicts in evaluation.verdicts.items():
        if plugin == PodTopologySpread.name:
            continue
        of_cordon = _of_cordon(evaluation) if plugin == TaintToleration.name else None
        for code, status in enumerate(verdicts.table, start=1):
            nodes = verdicts.rows == code
            if of_cordon is not None:
                nodes &= ~of_cordon
            for words in dict.fromkeys(map(words_of, status.reasons)) if nodes.any() else ():
                rejected[words] = rejected[words] | nodes if words in rejected else nodes
    return [Failing(words, nodes) for words, nodes in rejected.items()]


def _of_cordon(evaluation: Evaluation) -> Mask | None:
    """Nodes whose only untolerated taints are those of the cordon that rejects them anyway."""
    cordoned = evaluation.verdicts.get(NodeUnschedulable.name)
    if cordoned is None:
        return None
    tolerations = evaluation.pod.spec.tolerations
    nodes = evaluation.cluster.nodes
    foreign = [
        sum(taint.key != CORDON_TAINT_KEY for taint in untolerated(taints, tolerations, DO_NOT_SCHEDULE_EFFECTS))
        for taints in nodes.taint_lists
    ]
    is_alone: Mask = nodes.per_taint_list(foreign) == 0
    return is_alone & ~cordoned.passes


class _Confined(Struct, frozen=True):
    """Where a constraint lets the pod, and what is wrong there."""

    sentence: str
    nodes: int
    """How many nodes."""


def _confined(
    evaluation: Evaluation, constraints: Sequence[Barring], reasons: Sequence[BarringReason]
) -> _Confined | None:
    """The constraint without which most nodes would fit, where it lets the pod, and what is wrong there.

    If no constraint is such, one whose remaining nodes are all rejected for one same reason, some for that alone.
    """
    alone = {
        constraint.letter: int(np.count_nonzero(fitting_without(evaluation, reasons, constraint)))
        for constraint in constraints
    }
    confining = max(constraints, key=lambda constraint: alone[constraint.letter], default=None)
    if confining is None:
        return None
    if not alone[confining.letter]:
        confining = next((constraint for constraint in constraints if _leaves_one_thing(reasons, constraint)), None)
    if confining is None:
        return None
    allowed = ~confining.rejected
    sentence = (
        f"{confining.letter} lets it only into {_domains(confining.counted, allowed)}; there {_wrong(reasons, allowed)}"
    )
    return _Confined(sentence, _left(confining))


def _wrong(reasons: Sequence[BarringReason], allowed: Mask) -> str:
    """What is wrong with nodes; a fault that all of them share is told alone."""
    wrong = [(reason, nodes) for reason in reasons if (nodes := reason.rejected & allowed).any()]
    of_all = [(reason, nodes) for reason, nodes in wrong if (nodes == allowed).all()]
    return _listed(
        [reason.said_of(*_nodes(nodes, everywhere=bool(of_all))) for reason, nodes in sorted(of_all or wrong, key=_few)]
    )


def fitting_without(evaluation: Evaluation, reasons: Sequence[BarringReason], reason: BarringReason) -> Mask:
    """The nodes that would fit the pod without one reason. A constraint is removed from the pod and the engine asked
    again: which nodes the other constraints count depends on it.
    """
    if not isinstance(reason, Barring) or reason.counted.constraint.source != "pod":
        return rejected_only_by(reasons, [reason])
    spec = evaluation.pod.spec
    constraints = [
        constraint for place, constraint in enumerate(spec.topology_spread_constraints) if place != reason.position
    ]
    pod = replace(evaluation.pod, spec=replace(spec, topology_spread_constraints=constraints))
    try:
        return evaluate(evaluation.prepared.framework, evaluation.cluster, pod).feasible
    except SchedulingError:
        return np.zeros_like(reason.rejected)


def rejected_only_by(reasons: Sequence[BarringReason], some: Sequence[BarringReason]) -> Mask:
    """The nodes rejected only by ``some`` of the reasons."""
    rejected: Mask = np.logical_or.reduce([reason.rejected for reason in some])
    for reason in reasons:
        if reason not in some:
            rejected &= ~reason.rejected
    return rejected


def _leaves_one_thing(reasons: Sequence[BarringReason], confining: Barring) -> bool:
    allowed = ~confining.rejected
    return any(
        reason is not confining
        and bool((reason.rejected | ~allowed).all())
        and bool((rejected_only_by(reasons, [reason]) & allowed).any())
        for reason in reasons
    )


def _few(wrong: tuple[BarringReason, Mask]) -> int:
    """The reason with the most nodes comes first."""
    return -int(np.count_nonzero(wrong[1]))


def _nodes(rejected: Mask, *, everywhere: bool) -> tuple[int, str]:
    """How many nodes, and the words for them."""
    count = int(np.count_nonzero(rejected))
    if everywhere:
        return count, {1: "the only node", 2: "both nodes"}.get(count, f"all {count} nodes")
    return count, f"{count} node{'' if count == 1 else 's'}"


def _listed(causes: Sequence[str]) -> str:
    more = len(causes) - _MAX_CAUSES
    listed = ", ".join(causes[:_MAX_CAUSES])
    return f"{listed}, and {more} more reason{'' if more == 1 else 's'}" if more > 0 else listed


def _domains(counted: HardConstraint, allowed: Mask) -> str:
    column = counted.column
    names = sorted({column.values[code] or '""' for code in distinct(column.codes[allowed])})
    if len(names) > _MAX_DOMAINS:
        return f"{len(names)} of {len(column.values)} domains"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _nowhere(barring: Barring, nodes: Nodes) -> str:
    constraint, column = barring.counted.constraint, barring.counted.column
    if not column.present.any():
        meant = did_you_mean(near_key(constraint.topology_key, nodes))
        return f"{barring.letter} lets it in nowhere: no node has the label {constraint.topology_key}{meant}"
    domains = int(np.count_nonzero(barring.counted.is_domain))
    if constraint.min_domains is not None and domains < constraint.min_domains:
        existing = f"there {'is 1 domain' if domains == 1 else f'are {domains} domains'}"
        return (
            f"{barring.letter} lets it in nowhere: {existing}, fewer than minDomains {constraint.min_domains}, so the "
            "minimum is 0"
        )
    return f"{barring.letter} lets it in nowhere"
