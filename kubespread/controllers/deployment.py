"""Deployments, and the ReplicaSets that are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.controllers.made_up_names import template_hash
from kubespread.controllers.pod_creator import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.kube.api.annotations import REVISION
from kubespread.kube.api.core import PodAffinityTerm, PodSpec, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector, ObjectMeta
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkloadSpec, ReplicaSet
from kubespread.kube.owners import WorkloadName

TEMPLATE_HASH = "pod-template-hash"
_REVISION = re.compile(r"[0-9]{1,18}")
_MAX_NAME = 253


def new_pod(deployment: PodCreator[Deployment]) -> NewPod:
    """A pod of the ReplicaSet that the Deployment would create for its template."""
    digest = template_hash(deployment.template_text)
    name = f"{deployment.name[: _MAX_NAME - 1 - len(digest)]}-{digest}"
    label = {TEMPLATE_HASH: digest}
    selector = deployment.object.spec.selector
    if selector is not None:
        selector = replace(selector, match_labels={**selector.match_labels, **label})
    replica_set = ReplicaSet(
        metadata=ObjectMeta(name=name, namespace=deployment.namespace),
        spec=LabelSelectingWorkloadSpec(selector=selector),
    )
    pod = pod_of_template(deployment, controlled_by(ReplicaSet, name), labels=label)
    note = f"{TEMPLATE_HASH} {digest} is computed by kubespread; the cluster's own hash for this template will differ"
    return NewPod(pod, (replica_set,), (note,) if _counts_by_hash(pod.spec) else ())


def _counts_by_hash(spec: PodSpec) -> bool:
    """Whether the hash decides which pods are counted. Default constraints take it from the ReplicaSet's selector."""
    constraints = spec.topology_spread_constraints
    terms = spec.affinity.pod_terms if spec.affinity is not None else []
    counting: list[TopologySpreadConstraint | PodAffinityTerm] = [*constraints, *terms]
    keys = [key for each in counting for key in (*each.match_label_keys, *_keys(each.label_selector))]
    keys += [key for term in terms for key in term.mismatch_label_keys]
    return not constraints or TEMPLATE_HASH in keys


def _keys(selector: LabelSelector | None) -> list[str]:
    if selector is None:
        return []
    return [*selector.match_labels, *(requirement.key for requirement in selector.match_expressions)]


def replica_sets_of(deployment: WorkloadName, replica_sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """The ReplicaSets of all revisions of ``deployment``."""
    return [
        replica_set
        for replica_set in replica_sets
        if replica_set.metadata.namespace == deployment.namespace
        and any(
            (owner.kind, owner.name) == (deployment.kind, deployment.name)
            for owner in replica_set.metadata.owner_references
        )
    ]


def newest_replica_set(deployment: WorkloadName, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the newest revision."""
    return max(replica_sets_of(deployment, replica_sets), key=_revision, default=None)


def current_replica_set(deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The newest ReplicaSet, if it has the Deployment's template: its hash is the real one."""
    meta = deployment.metadata
    newest = newest_replica_set(WorkloadName("Deployment", meta.namespace, meta.name), replica_sets)
    return newest if newest is not None and _template(newest) == _template(deployment) else None


def _revision(replica_set: ReplicaSet) -> int:
    revision = replica_set.metadata.annotations.get(REVISION, "")
    return int(revision) if _REVISION.fullmatch(revision) else 0


def _template(workload: Deployment | ReplicaSet) -> Any:
    """The template without the hash, which only the ReplicaSet's has."""
    plain = msgspec.to_builtins(workload.spec.template)
    if plain is not None:
        plain["metadata"].get("labels", {}).pop(TEMPLATE_HASH, None)
    return plain
