"""StatefulSets: pods by ordinal, each with its own claims.

Source: pkg/controller/statefulset/stateful_set_utils.go, newStatefulSetPod, newVersionedStatefulSetPod, initIdentity,
    updateStorage
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template, template_hash
from kubespread.kube.api.core import Pod
from kubespread.kube.api.storage import PersistentVolumeClaim
from kubespread.kube.api.volumes import PersistentVolumeClaimVolumeSource, Volume
from kubespread.kube.api.workloads import StatefulSet, StatefulSetOrdinals

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


def new_pod(stateful_set: PodCreator[StatefulSet]) -> NewPod:
    """The pod of the first ordinal."""
    spec = stateful_set.object.spec
    ordinal = first_ordinal(stateful_set.object)
    name = f"{stateful_set.name}-{ordinal}"
    labels = {
        POD_NAME_LABEL: name,
        POD_INDEX_LABEL: str(ordinal),
        "controller-revision-hash": f"{stateful_set.name}-{template_hash(stateful_set.template_text)}",
    }
    owner = controlled_by(StatefulSet, stateful_set.name)
    pod = pod_of_template(stateful_set, owner, labels=labels, name=name)
    templates = [claim.metadata.name for claim in spec.volume_claim_templates]
    if templates:
        claimed = [
            Volume(
                name=template,
                persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=_claim_name(template, name)),
            )
            for template in templates
        ]
        others = [volume for volume in pod.spec.volumes if volume.name not in templates]
        pod.spec = replace(pod.spec, volumes=[*claimed, *others])
    claims = [_claim(template, name, stateful_set.namespace) for template in spec.volume_claim_templates]
    return NewPod(pod, (stateful_set.object, *claims), ("controller-revision-hash is computed by kubespread",))


def ordinal_of(pod: Pod, stateful_set: str) -> int | None:
    """The ordinal in the name of a pod that is called like one of ``stateful_set``'s."""
    parent, _, ordinal = pod.metadata.name.rpartition("-")
    return int(ordinal) if parent == stateful_set and ordinal.isdecimal() else None


def creates_one_by_one(creator: PodCreator[Any]) -> bool:
    """Whether the next pod is only created once the last one runs; namesakes of other groups do the same."""
    return creator.kind == "StatefulSet" and creator.object.spec.pod_management_policy != "Parallel"


def from_free_ordinal(stateful_set: StatefulSet, pods: Iterable[Pod]) -> StatefulSet:
    """The same, its first ordinal the lowest that none of ``pods`` has yet."""
    meta = stateful_set.metadata
    taken = {pod.metadata.name for pod in pods if pod.metadata.namespace == meta.namespace}
    ordinal = first_ordinal(stateful_set)
    while f"{meta.name}-{ordinal}" in taken:
        ordinal += 1
    return replace(stateful_set, spec=replace(stateful_set.spec, ordinals=StatefulSetOrdinals(start=ordinal)))


def for_ordinal(pod: Pod, stateful_set: StatefulSet, ordinal: int) -> Pod:
    """``pod``, one of the StatefulSet's, as it would be under another ordinal: name, labels and claims."""
    before, name = pod.metadata.name, f"{stateful_set.metadata.name}-{ordinal}"
    labels = {**pod.metadata.labels, POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal)}
    volumes = [_with_claim_of(volume, before, name) for volume in pod.spec.volumes]
    return replace(
        pod, metadata=replace(pod.metadata, name=name, labels=labels), spec=replace(pod.spec, volumes=volumes)
    )


def claims_of(stateful_set: StatefulSet, ordinal: int) -> list[PersistentVolumeClaim]:
    """The claims that belong to the pod of an ordinal."""
    meta = stateful_set.metadata
    return [
        _claim(template, f"{meta.name}-{ordinal}", meta.namespace)
        for template in stateful_set.spec.volume_claim_templates
    ]


def _with_claim_of(volume: Volume, before: str, name: str) -> Volume:
    source = volume.persistent_volume_claim
    if source is None or not source.claim_name.endswith(f"-{before}"):
        return volume
    claim = f"{source.claim_name.removesuffix(before)}{name}"
    return replace(volume, persistent_volume_claim=replace(source, claim_name=claim))


def first_ordinal(stateful_set: StatefulSet) -> int:
    """The ordinal that a StatefulSet's pods are counted from."""
    ordinals = stateful_set.spec.ordinals
    return ordinals.start if ordinals is not None else 0


def _claim_name(template: str, pod: str) -> str:
    return f"{template}-{pod}"


def _claim(template: PersistentVolumeClaim, pod: str, namespace: str) -> PersistentVolumeClaim:
    metadata = replace(template.metadata, name=_claim_name(template.metadata.name, pod), namespace=namespace)
    return PersistentVolumeClaim(metadata=metadata, spec=replace(template.spec))
