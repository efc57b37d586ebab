"""The Recreate strategy: no new pod before the last old one has ended.

Source of the rules: pkg/controller/deployment/recreate.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kubespread.controllers.deployment_pass import DeploymentPass
from kubespread.controllers.replica_counts import replicas_of
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controls
from kubespread.kube.selector import from_label_selector
from kubespread.kube.well_known import ENDED_PHASES


def recreate(rollout: DeploymentPass, pods: Iterable[Pod], digest: str, now: datetime) -> bool:
    """One pass. Returns whether there was nothing to resize or wait for; what is created does not count as resized."""
    if active := rollout.active_old:
        for replica_set in active:
            rollout.scale(replica_set, 0)
        return False
    if _old_pods_are_running(rollout, pods):
        return False
    if rollout.new is None:
        rollout.create(rollout.replicas, digest, now)
    elif replicas_of(rollout.new) != rollout.replicas:
        rollout.scale(rollout.new, rollout.replicas)
        return False
    return True


def _old_pods_are_running(rollout: DeploymentPass, pods: Iterable[Pod]) -> bool:
    """Whether an old pod holds up the new ones: terminating ones do, those that ended do not."""
    old, meta = rollout.old, rollout.deployment.metadata
    if any(each.status.replicas > 0 for each in old):
        return True
    selector = from_label_selector(rollout.deployment.spec.selector)
    return any(
        pod.metadata.namespace == meta.namespace
        and pod.status.phase not in ENDED_PHASES
        and selector.matches(pod.metadata.labels)
        and any(controls(each, pod) for each in old)
        for pod in pods
    )
