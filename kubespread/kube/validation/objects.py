"""Validation of nodes, and of what holds a pod template; its pods are validated on their own once they are made.

Source: pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec, ValidateReplicaSetSpec, ValidateDaemonSetSpec,
    ValidateStatefulSetSpec, ValidatePodTemplateSpecForReplicaSet
Source: pkg/apis/batch/validation/validation.go, ValidateJobSpec, ValidateJobTemplateSpec
Source: pkg/apis/core/validation/validation.go, ValidatePodTemplateSpecForRC
Source: pkg/apis/core/validation/validation.go, ValidateNode, validateNodeTaints, ValidateNodeResources
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Node, Pod, Taint
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import CronJob, Job, LabelSelectingWorkload, StatefulSet
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.taint import EFFECTS
from kubespread.kube.validation.faults import (
    FieldFault,
    forbidden,
    invalid,
    invalid_each,
    labels_faults,
    one_of,
    required,
)
from kubespread.kube.validation.fields import Data, field_faults
from kubespread.kube.validation.pods import template_faults
from kubespread.kube.versions import KubeVersion


def node_faults(node: Node) -> list[FieldFault]:
    """What the API server would refuse ``node`` for: its name, its labels and its taints."""
    return list(_node_faults(node))


def _node_faults(node: Node) -> Iterator[FieldFault]:
    meta = node.metadata
    if not meta.name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from labels_faults(meta.labels, "metadata.labels")
    yield from _taints_faults(node.spec.taints, "spec.taints")


def _taints_faults(taints: Sequence[Taint], path: str) -> Iterator[FieldFault]:
    seen: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        place = f"{path}[{position}]"
        yield from invalid_each(f"{place}.key", taint.key, label_key_faults(taint.key))
        if faults := label_value_faults(taint.value):
            yield invalid(f"{place}.value", taint.value, ";".join(faults))
        if not taint.effect:
            yield required(f"{place}.effect")
        yield from one_of(f"{place}.effect", taint.effect or None, EFFECTS)
        if (taint.key, taint.effect) in seen:
            # An internal struct, printed with Go's field names in the order they stand.
            fields = {"Key": taint.key, "Value": taint.value, "Effect": taint.effect}
            printed = ",".join(f"{quote(name)}:{quote(value)}" for name, value in fields.items())
            detail = "taints must be unique by key and effect pair"
            yield FieldFault(place, f'Duplicate value: {{{printed},"TimeAdded":null}}: {detail}')
        seen.add((taint.key, taint.effect))


def workload_faults(
    workload: ApiObject, template: Pod, plain: Data, path: str, version: KubeVersion
) -> list[FieldFault]:
    """What the API server would refuse ``workload`` for; its ``template``, ``plain`` as data, stands at ``path`` and is
    defaulted.
    """
    faults = [] if workload.metadata.name else [required("metadata.name", "name or generateName is required")]
    faults += _replicas_faults(workload)
    if isinstance(workload, LabelSelectingWorkload):
        faults += _selector_faults(workload.spec.selector, template, path)
    # Claims of a StatefulSet become volumes of its pods, so that the API server leaves the spec to those.
    whole = not isinstance(workload, StatefulSet)
    faults += template_faults(template, path, version, with_spec=whole)
    faults += field_faults(plain, template, path, version, is_pod=False) if whole else []
    return faults + list(_life_faults(workload, template, f"{path}.spec"))


_ENDLESS = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "ReplicationController")
"""Whose pods do not end."""


def _life_faults(workload: ApiObject, template: Pod, path: str) -> Iterator[FieldFault]:
    policy, field = template.spec.restart_policy, f"{path}.restartPolicy"
    kind = type(workload).__name__
    if kind in _ENDLESS:
        yield from one_of(field, policy, ("Always",))
        if template.spec.active_deadline_seconds is not None:
            called = "ReplicaSet" if kind == "Deployment" else kind
            yield forbidden(f"{path}.activeDeadlineSeconds", f"activeDeadlineSeconds in {called} is not Supported")
    elif isinstance(workload, Job | CronJob):
        # The default is no choice of the author's.
        if policy == "Always":
            yield required(field, 'valid values: "OnFailure", "Never"')
        else:
            yield from one_of(field, policy, ("OnFailure", "Never"))


def _replicas_faults(workload: ApiObject) -> list[FieldFault]:
    row = KEPT.get(type(workload))
    replicas = workload.spec.replicas if row is not None and row.has_replicas else None  # type: ignore[attr-defined]  # those have a spec
    if replicas is None or replicas >= 0:
        return []
    return [invalid("spec.replicas", replicas, "must be greater than or equal to 0")]


def _selector_faults(selector: LabelSelector | None, template: Pod, path: str) -> list[FieldFault]:
    """A controller's selector must be there and match its own template."""
    labels_path = f"{path}.metadata.labels"
    labels = dict(sorted(template.metadata.labels.items()))
    mismatch = invalid(labels_path, labels, "`selector` does not match template `labels`")
    if selector is None:
        return [required("spec.selector"), mismatch]
    try:
        matches = from_label_selector(selector).matches(template.metadata.labels)
    except SelectorError as error:
        return [FieldFault("spec.selector", f"Invalid value: {error}")]
    return [] if matches else [mismatch]
