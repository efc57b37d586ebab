"""Deployments: pods that their ReplicaSet of the newest revision makes.

Source: pkg/controller/deployment/sync.go, getNewReplicaSet
Source: pkg/controller/controller_utils.go, GetPodFromTemplate
"""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template, template_hash
from kubespread.kube.api.core import PodAffinityTerm, PodSpec, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector, ObjectMeta
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkloadSpec, ReplicaSet

TEMPLATE_HASH = "pod-template-hash"
_MAX_NAME = 253


def new_pod(deployment: PodCreator[Deployment]) -> NewPod:
    """A pod of the ReplicaSet that the Deployment would create for its template."""
    digest = template_hash(deployment.template_text)
    name = replica_set_name(deployment.name, digest)
    replica_set = ReplicaSet(
        metadata=ObjectMeta(name=name, namespace=deployment.namespace),
        spec=LabelSelectingWorkloadSpec(selector=selector_with_hash(deployment.object.spec.selector, digest)),
    )
    pod = pod_of_template(deployment, controlled_by(ReplicaSet, name), labels={TEMPLATE_HASH: digest})
    note = f"{TEMPLATE_HASH} {digest} is computed by kubespread; the cluster's own hash for this template will differ"
    return NewPod(pod, (replica_set,), (note,) if _counts_by_hash(pod.spec) else ())


def replica_set_name(deployment: str, digest: str) -> str:
    """What the ReplicaSet of a Deployment's template is called, ``digest`` being the template's hash."""
    return f"{deployment[: _MAX_NAME - 1 - len(digest)]}-{digest}"


def selector_with_hash(selector: LabelSelector | None, digest: str) -> LabelSelector | None:
    """The selector of a Deployment narrowed to the pods of one template."""
    if selector is None:
        return None
    return replace(selector, match_labels={**selector.match_labels, TEMPLATE_HASH: digest})


def _counts_by_hash(spec: PodSpec) -> bool:
    """Whether the hash decides which pods are counted. Default constraints take it from the ReplicaSet's selector."""
    constraints = spec.topology_spread_constraints
    terms = spec.affinity.pod_terms if spec.affinity is not None else []
    counting: list[TopologySpreadConstraint | PodAffinityTerm] = [*constraints, *terms]
    keys = [key for constraint in counting for key in (*constraint.match_label_keys, *_keys(constraint.label_selector))]
    keys += [key for term in terms for key in term.mismatch_label_keys]
    return not constraints or TEMPLATE_HASH in keys


def _keys(selector: LabelSelector | None) -> list[str]:
    if selector is None:
        return []
    return [*selector.match_labels, *(requirement.key for requirement in selector.match_expressions)]
