"""What DynamicResources says once no node is left: whether a claim is to be allocated anew somewhere else.

Source of the rules: kube-scheduler 1.36, dynamicresources/dynamicresources.go (PostFilter).
"""

from __future__ import annotations

from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState

NO_CLAIMS, STILL_NOT = "no new claims to deallocate", "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"
_NAME = "DynamicResources"


def post_filter_text(evaluation: Evaluation) -> str:
    """The text it adds to the message; a pod that its own PreFilter rejects has no claims for it yet."""
    if evaluation.rejection is not None and evaluation.rejection.plugin == _NAME:
        return NO_CLAIMS
    state = evaluation.states.get(_NAME)
    if isinstance(state, DynamicResourcesState):
        return DEALLOCATED if state.frees_a_claim(evaluation.reached(_NAME)) else STILL_NOT
    return STILL_NOT if evaluation.pod.spec.resource_claims else NO_CLAIMS
