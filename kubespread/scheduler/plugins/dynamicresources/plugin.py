"""DynamicResources: nodes that have devices for all of the pod's claims, and how well they suit.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, DynamicResources, Filter, Score,
    NormalizeScore
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.durations import SECOND, in_json, nanoseconds
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.amounts import requested_by_name
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import Fixed, SchedulingError, State, Status
from kubespread.scheduler.plugins.dynamicresources.rules import Rules
from kubespread.scheduler.preemption import Budgets, PostFilterPlugin
from kubespread.scheduler.specification import (
    FILTER,
    JUDGES,
    POST_FILTER,
    PRE_BIND,
    PRE_ENQUEUE,
    RESERVE,
    SCORE,
    Args,
    Setting,
    Specification,
    Unprepared,
)

NO_CLAIMS, STILL_NOT = "no new claims to deallocate", "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"
NOT_REACHED = "not found"
"""What PostFilter says when its own PreFilter was never reached."""


class DynamicResourcesArgs(Args):
    filter_timeout: str | None = None
    binding_timeout: str | None = None

    @property
    def durations(self) -> Mapping[str, str | None]:
        return {"filterTimeout": self.filter_timeout, "bindingTimeout": self.binding_timeout}

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.filter_timeout is not None:
            if not version.has("DRASchedulerFilterTimeout"):
                yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
            elif nanoseconds(self.filter_timeout) < 0:
                yield invalid(f"{path}.filterTimeout", in_json(self.filter_timeout), "must be zero or positive")
        if self.binding_timeout is not None:
            # The other gate of the text is on wherever this one can be.
            if not version.has("DRADeviceBindingConditions"):
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                yield forbidden(f"{path}.bindingTimeout", detail)
            elif nanoseconds(self.binding_timeout) < SECOND:
                yield invalid(f"{path}.bindingTimeout", in_json(self.binding_timeout), "must be at least 1 second")


@dataclass(frozen=True)
class DynamicResources(PostFilterPlugin):
    name: ClassVar[str] = "DynamicResources"

    rules: Rules = Rules()
    is_filtering: bool = True
    """Where Filter does not run, Score finds no allocation and gives 0."""
    names_claims: bool = False
    """Up to 1.36: whether a claim should be allocated again elsewhere."""

    def signs(self, cluster: Cluster, pod: Pod) -> bool:
        return not pod.spec.resource_claims

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if _may_need_devices(pod):
            from kubespread.scheduler.plugins.dynamicresources.gaps import claim_gaps

            yield from claim_gaps(cluster, pod, self.rules)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if _may_need_devices(pod):
            from kubespread.scheduler.plugins.dynamicresources.gaps import not_evaluated

            yield from not_evaluated(cluster, pod, self.rules)

    def signature(self, pod: Pod) -> Hashable:
        return None if _may_need_devices(pod) else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        if not _may_need_devices(pod):
            return NoClaims(len(cluster))
        from kubespread.scheduler.plugins.dynamicresources.claims import RefusedError
        from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState

        try:
            state = DynamicResourcesState(cluster, pod, self.rules, is_scored=self.is_filtering)
        except RefusedError as refused:
            return refused.status
        return NoClaims(len(cluster)) if state.has_no_claims else state

    def post_filter(self, evaluation: Evaluation, budgets: Budgets) -> str:
        if not evaluation.prepared.framework.reaches(self.name, evaluation.rejection):
            raise SchedulingError(NOT_REACHED)
        return self._deallocation(evaluation) if self.names_claims else ""

    def _deallocation(self, evaluation: Evaluation) -> str:
        """A pod that its own PreFilter rejects has no claims for it yet."""
        if evaluation.rejection is not None and evaluation.rejection.plugin == self.name:
            return NO_CLAIMS
        if not _may_need_devices(evaluation.pod):
            return NO_CLAIMS
        from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState

        state = evaluation.states.get(self.name)
        if isinstance(state, DynamicResourcesState):
            return DEALLOCATED if state.frees_a_claim(evaluation.reached(self.name)) else STILL_NOT
        return STILL_NOT if evaluation.pod.spec.resource_claims else NO_CLAIMS


def _may_need_devices(pod: Pod) -> bool:
    """Whether anything that knows devices has to be asked, and imported: it takes long, and most pods need none."""
    return bool(pod.spec.resource_claims or requested_by_name(pod))


@dataclass
class NoClaims(Fixed):
    """A pod without claims is scored all the same."""

    nodes: int

    def score(self) -> Counts:
        return np.zeros(self.nodes, dtype=np.int64)


def _make(setting: Setting) -> DynamicResources:
    version = setting.version
    return DynamicResources(
        Rules.of(version), is_filtering=FILTER in setting.points, names_claims=not version.since(37)
    )


SPECIFICATION = Specification(
    name=DynamicResources.name,
    points=JUDGES | {PRE_ENQUEUE, POST_FILTER, SCORE, RESERVE, PRE_BIND},
    make=_make,
    args=DynamicResourcesArgs,
    weight=2,
    gate="DynamicResourceAllocation",
    scores_since=35,
    unprepared=Unprepared(filter="not found", score_without_pre_filter="not found", reserve="not found"),
)
