"""Effects of a workload's own pods on it: constraints with selectors that miss these pods, and the labels they were to
select; pods of an older revision that leave no node for the new one; and its volumes that keep it from nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from kubespread.controllers.deployment import TEMPLATE_HASH, newest_replica_set, replica_sets_of
from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.selector import Selector
from kubespread.kube.well_known import HOSTNAME
from kubespread.reports.reason_words import words_of
from kubespread.scheduler.causes import VolumeNodeDetail, VolumeZoneDetail
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.dynamicresources.plugin import DynamicResources
from kubespread.scheduler.plugins.volumes.binding import NODE_CONFLICT, VolumeBinding
from kubespread.scheduler.plugins.volumes.filters import NO_ZONE, VolumeRestrictions, VolumeZone
from kubespread.wording import count_of, verb_of


def is_intended(written: TopologySpreadConstraint, others: Sequence[Pod], *, counts_own: bool) -> bool:
    """True if a constraint counts ``others`` on purpose, not as a copy of theirs; ``counts_own`` if another one counts
    its own pods.
    """
    return bool(others) and (counts_own or all(written not in pod.spec.topology_spread_constraints for pod in others))


def mismatch_of(selector: Selector, labels: Mapping[str, str]) -> str:
    """Phrase for how a selector misses the pod's labels: ``the selector app=web misses the pod's own labels (app is
    api)``, or ``no label tier``.
    """
    if selector.nothing:
        return "no labelSelector"
    key = _difference(selector, labels)
    own = f"{key} is {labels[key]}" if key in labels else f"no label {key}"
    return f"the selector {selector} misses the pod's own labels ({own})"


def nearest(selector: Selector, labels: Mapping[str, str]) -> str:
    """Label of the pod that a selector probably meant: ``app=api``; empty if none is similar."""
    if selector.nothing:
        return next((f"{key}={value}" for key, value in labels.items() if key != TEMPLATE_HASH), "")
    key = _difference(selector, labels)
    key = key if key in labels else near_miss(key, labels)
    return f"{key}={labels[key]}" if key else ""


def _difference(selector: Selector, labels: Mapping[str, str]) -> str:
    return next(requirement.key for requirement in selector.requirements if not requirement.matches(labels))


class OlderRevision(Struct, frozen=True):
    """Old pods of a Deployment without which its new pod, which fits nowhere, would fit some node."""

    deployment: WorkloadName
    replica_sets: Sequence[str]
    pods: int

    def __str__(self) -> str:
        """``3 pods of its own old revision web-5f5f are in the way``."""
        revisions = "revision" if len(self.replica_sets) == 1 else "revisions"
        names = ", ".join(self.replica_sets)
        return f"{count_of(self.pods, 'pod')} of its own old {revisions} {names} {verb_of(self.pods, 'are')} in the way"


def older_revision(evaluation: Evaluation) -> OlderRevision | None:
    """The old pods of a Deployment that keep its newest pod off all nodes; None if others do."""
    pod, cluster = evaluation.pod, evaluation.cluster
    namespace, replica_sets = pod.metadata.namespace, cluster.objects.get(ReplicaSet)
    owner = controller_of(pod)
    own = cluster.objects.find(ReplicaSet, owner.name, namespace) if owner and owner.kind == "ReplicaSet" else None
    above = controller_of(own) if own is not None else None
    if above is None or above.kind != "Deployment":
        return None
    deployment = WorkloadName(above.kind, namespace, above.name)
    if newest_replica_set(deployment, replica_sets) is not own:
        return None
    older = {other.metadata.name for other in replica_sets_of(deployment, replica_sets) if other is not own}
    in_the_way = [
        (running, node)
        for running, node in zip(cluster.running.pods, cluster.running.node.tolist(), strict=True)
        if running.metadata.namespace == namespace
        and (controller := controller_of(running)) is not None
        and controller.name in older
    ]
    try:
        without = evaluate(
            evaluation.prepared.framework, cluster.apply(ClusterChange(removed_pods=in_the_way)), pod, is_scored=False
        )
    except SchedulingError:
        return None
    if not in_the_way or not without.feasible.any():
        return None
    names = {controller.name for running, _ in in_the_way if (controller := controller_of(running)) is not None}
    return OlderRevision(deployment, sorted(names), len(in_the_way))


OF_VOLUMES = (words_of(NODE_CONFLICT), words_of(NO_ZONE.reasons[0]))
"""Reasons of nodes that cannot reach a volume."""


_OF_CLAIMS = frozenset({VolumeRestrictions.name, VolumeBinding.name, VolumeZone.name, DynamicResources.name})


def claims_at_fault(evaluation: Evaluation) -> str:
    """``PersistentVolumeClaim gone has to be created`` if the pod's claims keep it from all nodes, else empty."""
    rejection, pod, storage = evaluation.rejection, evaluation.pod, evaluation.cluster.storage
    if rejection is None or rejection.plugin not in _OF_CLAIMS:
        return ""
    claims = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    missing = {
        claim.claim_name for claim in claims if claim is not None and storage.claim(pod, claim.claim_name) is None
    }
    if missing:
        plural, verb = ("", "has") if len(missing) == 1 else ("s", "have")
        return f"PersistentVolumeClaim{plural} {', '.join(sorted(missing))} {verb} to be created"
    return "its claims are at fault: no change of nodes, of other pods or of constraints helps"


class PlacedVolume(Struct, frozen=True):
    """A bound volume that only nodes with certain label values can reach."""

    claim: str
    key: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        """``volume data-kafka-0 is in us-east-2a``."""
        return f"volume {self.claim} is {'on' if self.key == HOSTNAME else 'in'} {' or '.join(self.values)}"


def placed_volumes(evaluation: Evaluation) -> Iterator[PlacedVolume]:
    """Yield the volumes that keep the pod off some node."""
    volumes = dict[PlacedVolume, None]()
    for plugin in (VolumeBinding.name, VolumeZone.name):
        verdicts, state = evaluation.verdicts.get(plugin), evaluation.states.get(plugin)
        if verdicts is None or state is None:
            continue
        for causes in state.causes(evaluation.cluster, np.flatnonzero(~verdicts.passes)):
            for cause in causes:
                if isinstance(cause, VolumeZoneDetail) or (
                    isinstance(cause, VolumeNodeDetail) and cause.operator == "In"
                ):
                    volumes[PlacedVolume(cause.claim.partition("/")[2], cause.key, cause.values)] = None
    yield from volumes
