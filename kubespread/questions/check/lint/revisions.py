"""Constraints in a rollout: whether they count pods of both revisions, and how unevenly these end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubespread.controllers.deployment.pods import TEMPLATE_HASH
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.lint.case import Case, Declared
from kubespread.questions.check.lint.trial import PodChange, with_constraint
from kubespread.reports.rollout import RolloutReport

BY_REVISION = f"matchLabelKeys: [{TEMPLATE_HASH}]"
_GATE = "MatchLabelKeysInPodTopologySpread"


def counts_by_revision(version: KubeVersion) -> bool:
    """Whether the release has matchLabelKeys."""
    return version.has(_GATE)


def rolled_out(case: Case) -> Deployment | None:
    """The Deployment, where it makes new pods while old ones are there."""
    workload = case.subject.object
    if not isinstance(workload, Deployment):
        return None
    strategy = workload.spec.strategy
    return None if strategy is not None and strategy.type == "Recreate" else workload


def told_apart(positions: Iterable[int]) -> PodChange:
    """The constraints at these positions counting their own revision alone."""

    def change(pod: Pod) -> Pod:
        for position in positions:
            keys = pod.spec.topology_spread_constraints[position].match_label_keys
            pod = with_constraint(pod, position, match_label_keys=[*keys, TEMPLATE_HASH])
        return pod

    return change


def by_revision(constraints: Iterable[Declared]) -> dict[str, Any]:
    """The same as fields of the object."""
    return {
        f"{declared.path}.matchLabelKeys": [*declared.written.match_label_keys, TEMPLATE_HASH]
        for declared in constraints
    }


def excess(rollout: RolloutReport, position: int) -> int:
    """By how much the new pods end beyond maxSkew."""
    final = rollout.final[position]
    return max(0, final.skew - final.max_skew)
