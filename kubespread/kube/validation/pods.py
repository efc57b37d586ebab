"""Validation of a pod or a pod template, in the order of the API server's checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Pod, PodSchedulingGate, PodSpec, Toleration
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.quantity import QuantityError
from kubespread.kube.taint import COMPARING_OPERATORS, COMPARISON_GATE, EFFECTS, comparable
from kubespread.kube.validation.affinity import affinity_faults
from kubespread.kube.validation.claims import claim_faults
from kubespread.kube.validation.containers import container_faults, host_network_faults
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
    unsupported,
)
from kubespread.kube.validation.labels import labels_faults
from kubespread.kube.validation.resources import overhead_faults, pod_level_faults
from kubespread.kube.validation.spread import spread_faults
from kubespread.kube.validation.volumes import volume_faults
from kubespread.kube.versions import KubeVersion

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_OPERATING_SYSTEMS = ("linux", "windows")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_INT32_MAX = 2**31 - 1
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def pod_faults(pod: Pod, version: KubeVersion) -> list[FieldFault]:
    """Everything the API server would refuse a Pod for, after defaulting and the merge of label keys."""
    return _distinct(_pod_faults(pod, version))


def template_faults(template: Pod, path: str, version: KubeVersion) -> list[FieldFault]:
    """The same for a defaulted pod template at ``path``: label keys are not merged, and pods have no name yet."""
    return _distinct(_template_faults(template, path, version))


def _distinct(faults: Iterator[FieldFault]) -> list[FieldFault]:
    try:
        return list(dict.fromkeys(faults))
    except QuantityError as error:
        return [FieldFault("spec", str(error))]


def _pod_faults(pod: Pod, version: KubeVersion) -> Iterator[FieldFault]:
    meta = pod.metadata
    if meta.generate_name:
        # The dash it commonly ends with stands before the characters that are to come.
        yield from invalid_each(
            "metadata.generateName", meta.generate_name, subdomain_faults(_masked(meta.generate_name))
        )
    if not meta.name and not meta.generate_name:
        yield required("metadata.name", "name or generateName is required")
    elif meta.name:
        yield from invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from invalid_each("metadata.namespace", meta.namespace, dns_label_faults(meta.namespace))
    yield from labels_faults(meta.labels, "metadata.labels")
    yield from _annotation_faults(meta, "metadata.annotations")
    yield from _spec_faults(pod, "spec", version, pod_name=meta.name, is_pod=True)


def _template_faults(template: Pod, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    yield from labels_faults(template.metadata.labels, f"{path}.labels")
    yield from _annotation_faults(template.metadata, f"{path}.annotations")
    yield from _spec_faults(template, f"{path}.spec", version, pod_name="", is_pod=False)


def _masked(prefix: str) -> str:
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _annotation_faults(meta: ObjectMeta, path: str) -> Iterator[FieldFault]:
    for key in sorted(meta.annotations):
        yield from invalid_each(path, key, label_key_faults(key.lower()))
    cost = meta.annotations.get(_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def _spec_faults(pod: Pod, path: str, version: KubeVersion, *, pod_name: str, is_pod: bool) -> Iterator[FieldFault]:
    spec = pod.spec
    yield from volume_faults(spec.volumes, pod_name, f"{path}.volumes", is_pod=is_pod)
    yield from claim_faults(spec.resource_claims, pod_name, f"{path}.resourceClaims")
    yield from container_faults(spec, path, version)
    yield from pod_level_faults(pod, f"{path}.resources")
    yield from host_network_faults(spec, path)
    if spec.restart_policy not in _RESTART_POLICIES:
        yield unsupported(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from labels_faults(spec.node_selector, f"{path}.nodeSelector")
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    yield from _gate_faults(spec.scheduling_gates, f"{path}.schedulingGates")
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    yield from _host_user_faults(spec, path, version)
    if spec.node_name:
        yield from invalid_each(f"{path}.nodeName", spec.node_name, subdomain_faults(spec.node_name))
        if spec.scheduling_gates:
            yield forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
    if spec.active_deadline_seconds is not None and not 1 <= spec.active_deadline_seconds <= _INT32_MAX:
        yield invalid(
            f"{path}.activeDeadlineSeconds",
            spec.active_deadline_seconds,
            f"must be between 1 and {_INT32_MAX}, inclusive",
        )
    compares = version.has(COMPARISON_GATE)
    for position, toleration in enumerate(spec.tolerations):
        yield from toleration_faults(toleration, f"{path}.tolerations[{position}]", compares=compares)
    yield from _scalar_faults(spec, path)


def _host_user_faults(spec: PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """A user namespace of the pod's own does not go with namespaces of the host."""
    if spec.host_users is not False:
        return
    detail = "when `hostUsers` is false"
    if spec.host_network and not version.has("UserNamespacesHostNetworkSupport"):
        yield forbidden(f"{path}.hostNetwork", detail)
    # These two paths begin like Go's fields.
    if spec.host_pid:
        yield forbidden(f"{path}.HostPID", detail)
    if spec.host_ipc:
        yield forbidden(f"{path}.HostIPC", detail)


def _scalar_faults(spec: PodSpec, path: str) -> Iterator[FieldFault]:
    if spec.priority_class_name:
        yield from invalid_each(
            f"{path}.priorityClassName", spec.priority_class_name, subdomain_faults(spec.priority_class_name)
        )
    if spec.runtime_class_name is not None:
        yield from invalid_each(
            f"{path}.runtimeClassName", spec.runtime_class_name, subdomain_faults(spec.runtime_class_name)
        )
    if spec.preemption_policy is not None and spec.preemption_policy not in _PREEMPTION_POLICIES:
        yield unsupported(f"{path}.preemptionPolicy", spec.preemption_policy, _PREEMPTION_POLICIES)
    yield from overhead_faults(spec.overhead, f"{path}.overhead")
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


_OPERATORS = ("Equal", "Exists")


def toleration_faults(toleration: Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    """One toleration; ``compares`` is whether the gate TaintTolerationComparisonOperators is on."""
    if toleration.key:
        yield from invalid_each(f"{path}.key", toleration.key, label_key_faults(toleration.key))
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _operator_faults(toleration, path, compares=compares)
    if toleration.effect and toleration.effect not in EFFECTS:
        yield unsupported(f"{path}.effect", toleration.effect, EFFECTS)


def _operator_faults(toleration: Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    operator, value = toleration.operator, toleration.value
    if operator in ("", "Equal"):
        if details := label_value_faults(value):
            yield invalid(f"{path}.operator", value, ";".join(details))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator not in COMPARING_OPERATORS:
        yield unsupported(f"{path}.operator", operator, _OPERATORS)
    elif not compares:
        # Known to the API and switched off by default, hence a list that names what it refuses.
        yield unsupported(f"{path}.operator", operator, (*_OPERATORS, *COMPARING_OPERATORS))
    elif comparable(value) is None:
        yield invalid(
            f"{path}.value",
            value,
            "must be a valid decimal integer in canonical form" if value else "must be non-empty",
        )
