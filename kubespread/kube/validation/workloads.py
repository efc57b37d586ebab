"""Validation of what holds a pod template; its pods are validated on their own once they are made.

Source: pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec, ValidateReplicaSetSpec, ValidateDaemonSetSpec
Source: pkg/apis/apps/validation/validation.go, ValidateStatefulSetSpec
Source: pkg/apis/batch/validation/validation.go, ValidateJobSpec
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import LabelSelectingWorkload, StatefulSet
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.validation.faults import FieldFault, invalid, required
from kubespread.kube.validation.pods import template_faults
from kubespread.kube.versions import KubeVersion


def workload_faults(workload: ApiObject, template: Pod, path: str, version: KubeVersion) -> list[FieldFault]:
    """What the API server would refuse ``workload`` for; its ``template``, standing at ``path``, is defaulted."""
    faults = [] if workload.metadata.name else [required("metadata.name", "name or generateName is required")]
    faults += _replicas_faults(workload)
    if isinstance(workload, LabelSelectingWorkload):
        faults += _selector_faults(workload.spec.selector, template, path)
    replaced = tuple(_replaced(workload, template, path))
    return faults + [fault for fault in template_faults(template, path, version) if not fault.path.startswith(replaced)]


def _replaced(workload: ApiObject, template: Pod, path: str) -> Iterator[str]:
    """The paths of volumes that a StatefulSet replaces with its own claims; their faults do not count."""
    claims = workload.spec.volume_claim_templates if isinstance(workload, StatefulSet) else ()
    names = {claim.metadata.name for claim in claims}
    for position, volume in enumerate(template.spec.volumes):
        if volume.name in names:
            yield f"{path}.spec.volumes[{position}]."


def _replicas_faults(workload: ApiObject) -> list[FieldFault]:
    row = KEPT.get(type(workload))
    replicas = workload.spec.replicas if row is not None and row.has_replicas else None  # type: ignore[attr-defined]  # those have a spec
    if replicas is None or replicas >= 0:
        return []
    return [invalid("spec.replicas", replicas, "must be greater than or equal to 0")]


def _selector_faults(selector: LabelSelector | None, template: Pod, path: str) -> list[FieldFault]:
    """A controller's selector must be there and match its own template."""
    labels_path = f"{path}.metadata.labels"
    mismatch = invalid(labels_path, template.metadata.labels, "`selector` does not match template `labels`")
    if selector is None:
        return [required("spec.selector"), mismatch]
    try:
        matches = from_label_selector(selector).matches(template.metadata.labels)
    except SelectorError as error:
        return [FieldFault("spec.selector", f"Invalid value: {error}")]
    return [] if matches else [mismatch]
