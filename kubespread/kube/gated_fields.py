"""Fields an API server removes when the feature gate they need is off.

Source of the table: the releases' dropDisabledFields (pkg/api/pod/util.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import fields

from kubespread.kube.meta import KubeObject
from kubespread.kube.objects import Pod
from kubespread.kube.versions import KubeVersion

_SPEC = {
    "topologySpreadConstraints": "EvenPodsSpread",
    "schedulingGates": "PodSchedulingReadiness",
    "resources": "PodLevelResources",
    "hostUsers": "UserNamespacesSupport",
}
_CONSTRAINT = {
    "minDomains": "MinDomainsInPodTopologySpread",
    "nodeAffinityPolicy": "NodeInclusionPolicyInPodTopologySpread",
    "nodeTaintsPolicy": "NodeInclusionPolicyInPodTopologySpread",
    "matchLabelKeys": "MatchLabelKeysInPodTopologySpread",
}
_TERM = {
    "matchLabelKeys": "MatchLabelKeysInPodAffinity",
    "mismatchLabelKeys": "MatchLabelKeysInPodAffinity",
    "namespaceSelector": "PodAffinityNamespaceSelector",
}
_INIT_CONTAINER = {"restartPolicy": "SidecarContainers"}


def drop_fields(pod: Pod, version: KubeVersion) -> list[str]:
    """Remove what an API server of this version would not store, and say what that was."""
    return [f"{field} is dropped: {_why(gate, version)}" for field, gate in _drop(pod, version)]


def _why(gate: str, version: KubeVersion) -> str:
    if gate in version.changed_gates:
        return f"feature gate {gate} is off"
    return f"Kubernetes {version} does not have it"


def _drop(pod: Pod, version: KubeVersion) -> Iterator[tuple[str, str]]:
    """Each field dropped, and the gate it needs."""
    spec = pod.spec
    for field in _reset(spec, _SPEC, version):
        yield f"spec.{field}", _SPEC[field]
    for position, constraint in enumerate(spec.topology_spread_constraints):
        for field in _reset(constraint, _CONSTRAINT, version):
            yield f"spec.topologySpreadConstraints[{position}].{field}", _CONSTRAINT[field]
    for term in spec.affinity.pod_terms if spec.affinity is not None else ():
        for field in _reset(term, _TERM, version):
            yield f"{field} of a term for {term.topology_key} in spec.affinity", _TERM[field]
    for position, container in enumerate(spec.init_containers):
        for field in _reset(container, _INIT_CONTAINER, version):
            yield f"spec.initContainers[{position}].{field}", _INIT_CONTAINER[field]


def _reset(target: KubeObject, gates: Mapping[str, str], version: KubeVersion) -> Iterator[str]:
    """Set the fields whose gate is off to what an empty object has, and name those that were not so already."""
    empty = type(target)()
    for field in fields(target):
        gate = gates.get(field.encode_name)
        if gate is None or version.has(gate):
            continue
        unset = getattr(empty, field.name)
        if getattr(target, field.name) != unset:
            setattr(target, field.name, unset)
            yield field.encode_name
