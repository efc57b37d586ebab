"""What bars a pod that fits nowhere, where one constraint leaves it a single domain."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState


def bars(evaluation: Evaluation) -> str | None:
    """One sentence, or None where no constraint confines the pod to one domain."""
    state = evaluation.states.get(PodTopologySpread.name)
    if evaluation.error is not None or evaluation.feasible.any() or not isinstance(state, SpreadState):
        return None
    hard = iter(state.hard)
    for position, constraint in enumerate(state.declared.constraints):
        if constraint.is_hard:
            sentence = _confined(evaluation, chr(ord("A") + position), next(hard))
            if sentence is not None:
                return sentence
    return None


def _confined(evaluation: Evaluation, letter: str, counted: HardConstraint) -> str | None:
    column, constraint = counted.column, counted.constraint
    skew = counted.matching() + constraint.self_match - counted.global_minimum
    allowed = column.present & (skew <= constraint.max_skew)
    domains = {column.values[code] for code in column.codes[allowed].tolist()}
    if len(domains) != 1 or len(column.values) == 1:
        return None
    reasons: Counter[str] = Counter()
    for node in np.flatnonzero(allowed).tolist():
        reasons.update({reason for status in evaluation.rejections(node) for reason in status.reasons})
    there = ", ".join(f"{count} of {int(allowed.sum())} nodes: {reason}" for reason, count in reasons.most_common())
    return f"{letter} lets it only into {domains.pop()}; there {there}"
