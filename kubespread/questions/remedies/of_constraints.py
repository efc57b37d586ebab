"""What `explain` says of a pod that fits nowhere: which of its own constraints, changed alone, lets it in."""

from __future__ import annotations

from kubespread.kube.versions import KubeVersion
from kubespread.questions.remedies.advice import advice
from kubespread.questions.remedies.candidates import OF_CONSTRAINTS
from kubespread.questions.remedies.change import Answer, Change, Revise
from kubespread.questions.remedies.stuck import Stuck
from kubespread.reports.advise import Advice
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError


class _SamePlace:
    """Asks about the pod with other constraints in the same cluster."""

    def __init__(self, evaluation: Evaluation, revise: Revise) -> None:
        self._evaluation, self._revise = evaluation, revise

    def ask(self, change: Change) -> Answer | None:
        revised = self._revise(change.settings)
        if revised is None:
            return None
        plugins, cluster = self._evaluation.prepared.framework, revised.dressed(self._evaluation.cluster)
        try:
            evaluation = evaluate(plugins, cluster, revised.pod)
        except SchedulingError:
            return Answer(0)
        return Answer(0 if evaluation.error is not None else int(evaluation.feasible.sum()))

    def ask_alone(self, change: Change) -> Answer | None:
        """Never: other pods are not considered."""
        return None

    @property
    def effort(self) -> float:
        """Negligible: a few evaluations."""
        return 0


def advice_on_constraints(evaluation: Evaluation, version: KubeVersion, revise: Revise) -> Advice | None:
    """Advice for a pod that fits nowhere; None where it has no hard constraint of its own.

    Neither the rest of the pod nor the cluster is changed, so it takes a few more evaluations at most.
    """
    if evaluation.error is not None or evaluation.feasible.any():
        return None
    stuck = Stuck(evaluation, version)
    if not stuck.own_constraints:
        return None
    result, _ = advice(stuck, OF_CONSTRAINTS, _SamePlace(evaluation, revise), combines=False)
    return result
