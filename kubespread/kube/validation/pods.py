"""Validation of a pod or a pod template, in the order of the API server's checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubespread.kube.meta import ObjectMeta
from kubespread.kube.names import label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.objects import Pod, PodSchedulingGate, PodSpec, Toleration
from kubespread.kube.pod_requests import amounts
from kubespread.kube.validation.affinity import affinity_faults
from kubespread.kube.validation.containers import container_faults, host_network_faults
from kubespread.kube.validation.faults import FieldFault, duplicate, forbidden, invalid, invalid_each, required, unsupported
from kubespread.kube.validation.labels import labels_faults
from kubespread.kube.validation.resources import pod_level_faults
from kubespread.kube.validation.spread import spread_faults

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATING_SYSTEMS = ("linux", "windows")
_PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def pod_faults(pod: Pod) -> Iterator[FieldFault]:
    """Everything the API server would refuse a Pod for, after defaulting and the merge of label keys."""
    meta = pod.metadata
    if not meta.name and not meta.generate_name:
        yield required("metadata.name", "name or generateName is required")
    elif meta.name:
        yield from invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from labels_faults(meta.labels, "metadata.labels")
    yield from _annotation_faults(meta, "metadata.annotations")
    yield from _spec_faults(pod, "spec")


def template_faults(template: Pod, path: str) -> Iterator[FieldFault]:
    """The same for a pod template standing at ``path``, whose label keys are not merged."""
    yield from labels_faults(template.metadata.labels, f"{path}.labels")
    yield from _annotation_faults(template.metadata, f"{path}.annotations")
    yield from _spec_faults(template, f"{path}.spec")


def _annotation_faults(meta: ObjectMeta, path: str) -> Iterator[FieldFault]:
    for key in sorted(meta.annotations):
        yield from invalid_each(path, key, label_key_faults(key.lower()))
    cost = meta.annotations.get(_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def _spec_faults(pod: Pod, path: str) -> Iterator[FieldFault]:
    spec = pod.spec
    yield from container_faults(spec, path)
    yield from pod_level_faults(pod, f"{path}.resources")
    yield from host_network_faults(spec, path)
    if spec.restart_policy not in _RESTART_POLICIES:
        yield unsupported(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from labels_faults(spec.node_selector, f"{path}.nodeSelector")
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    yield from _gate_faults(spec.scheduling_gates, f"{path}.schedulingGates")
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    if spec.node_name:
        yield from invalid_each(f"{path}.nodeName", spec.node_name, subdomain_faults(spec.node_name))
        if spec.scheduling_gates:
            yield forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
    for position, toleration in enumerate(spec.tolerations):
        yield from _toleration_faults(toleration, f"{path}.tolerations[{position}]")
    yield from _scalar_faults(spec, path)


def _scalar_faults(spec: PodSpec, path: str) -> Iterator[FieldFault]:
    if spec.priority_class_name:
        yield from invalid_each(f"{path}.priorityClassName", spec.priority_class_name, subdomain_faults(spec.priority_class_name))
    if spec.runtime_class_name is not None:
        yield from invalid_each(f"{path}.runtimeClassName", spec.runtime_class_name, subdomain_faults(spec.runtime_class_name))
    if spec.preemption_policy is not None and spec.preemption_policy not in _PREEMPTION_POLICIES:
        yield unsupported(f"{path}.preemptionPolicy", spec.preemption_policy, _PREEMPTION_POLICIES)
    for name, overhead in sorted(amounts(spec.overhead).items()):
        if overhead.nano < 0:
            yield invalid(f"{path}.overhead[{name}]", str(overhead), "must be greater than or equal to 0")
    if spec.os is not None:
        if not spec.os.name:
            yield required(f"{path}.os.name")
        elif spec.os.name not in _OPERATING_SYSTEMS:
            yield unsupported(f"{path}.os", spec.os.name, _OPERATING_SYSTEMS)


def _gate_faults(gates: Sequence[PodSchedulingGate], path: str) -> Iterator[FieldFault]:
    seen: set[str] = set()
    for position, gate in enumerate(gates):
        yield from invalid_each(f"{path}[{position}]", gate.name, label_key_faults(gate.name))
        if gate.name in seen:
            yield duplicate(f"{path}[{position}]", gate.name)
        seen.add(gate.name)


def _toleration_faults(toleration: Toleration, path: str) -> Iterator[FieldFault]:
    if toleration.key:
        yield from invalid_each(f"{path}.key", toleration.key, label_key_faults(toleration.key))
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    match toleration.operator:
        case "" | "Equal":
            if details := label_value_faults(toleration.value):
                yield invalid(f"{path}.operator", toleration.value, ";".join(details))
        case "Exists":
            if toleration.value:
                yield invalid(f"{path}.operator", toleration.value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt":
            # Known to the API and switched off by default, hence a list that names what it refuses.
            yield unsupported(f"{path}.operator", toleration.operator, ("Equal", "Exists", "Lt", "Gt"))
        case _:
            yield unsupported(f"{path}.operator", toleration.operator, ("Equal", "Exists"))
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield unsupported(f"{path}.effect", toleration.effect, _EFFECTS)
