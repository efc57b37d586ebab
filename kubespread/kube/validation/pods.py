"""Validation of a pod or a pod template, its containers and its resource claims, in the order of the API server's
checks.

Validation of node affinity, pod affinity and pod anti-affinity. Validation of topologySpreadConstraints.

Source: pkg/apis/core/validation/validation.go, ValidatePodCreate, validatePodMetadataAndSpec, ValidatePodSpec,
    validateContainers, validateInitContainers
Source: pkg/apis/core/validation/validation.go, validateContainerCommon, validatePodResourceClaims,
    ValidateTolerations, validateSchedulingGates
Source: pkg/apis/core/validation/validation.go, validateAffinity, validateNodeAffinity, ValidateNodeSelectorTerm,
    ValidatePreferredSchedulingTerms
Source: pkg/apis/core/validation/validation.go, validatePodAffinity, validatePodAntiAffinity, validatePodAffinityTerm,
    ValidatePodAffinityTermSelector
Source: pkg/apis/core/validation/validation.go, validateTopologySpreadConstraints, validateMinDomains,
    ValidateTopologyKey, ValidateWhenUnsatisfiable
Source: pkg/apis/core/validation/validation.go, ValidateSpreadConstraintNotRepeat, validateNodeInclusionPolicy,
    ValidateMatchLabelKeysInTopologySpread
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kubespread.kube.api import core
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.quantity import QuantityError
from kubespread.kube.selector import NODE_NAME_FIELD
from kubespread.kube.taint import COMPARING_OPERATORS, COMPARISON_GATE, EFFECTS, comparable
from kubespread.kube.validation.faults import (
    BAD_OPERATOR,
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    labels_faults,
    merged_key_faults,
    not_found,
    one_of,
    required,
    requirement_faults,
    selector_faults,
    unsupported,
)
from kubespread.kube.validation.resources import overhead_faults, pod_level_faults, resource_faults
from kubespread.kube.validation.volumes import volume_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, POD_DELETION_COST, SCHEDULE_ANYWAY

ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
POLICIES = ("Honor", "Ignore")
MIN_DOMAINS_IF_HARD = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}"
_POSITIVE = "must be greater than zero"


def spread_faults(constraints: Sequence[core.TopologySpreadConstraint], path: str) -> Iterator[FieldFault]:
    """Every fault of the list at ``path``; of two constraints with one key and action the earlier is the duplicate."""
    pairs = [(constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints]
    for position, constraint in enumerate(constraints):
        yield from _constraint_faults(
            constraint, f"{path}[{position}]", is_duplicate=pairs[position] in pairs[position + 1 :]
        )


def _constraint_faults(
    constraint: core.TopologySpreadConstraint, path: str, *, is_duplicate: bool
) -> Iterator[FieldFault]:
    action = constraint.when_unsatisfiable
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, _POSITIVE)
    if not constraint.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from one_of(f"{path}.whenUnsatisfiable", action, ACTIONS)
    if is_duplicate:
        yield duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {action}}}")
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            yield invalid(f"{path}.minDomains", constraint.min_domains, _POSITIVE)
        if action != DO_NOT_SCHEDULE:
            detail = f"{MIN_DOMAINS_IF_HARD}, not {action}"
            yield invalid(f"{path}.minDomains", constraint.min_domains, detail)
    yield from one_of(f"{path}.nodeAffinityPolicy", constraint.node_affinity_policy, POLICIES)
    yield from one_of(f"{path}.nodeTaintsPolicy", constraint.node_taints_policy, POLICIES)
    yield from _match_label_keys_faults(constraint, path)
    yield from selector_faults(constraint.label_selector, f"{path}.labelSelector")


def _match_label_keys_faults(constraint: core.TopologySpreadConstraint, path: str) -> Iterator[FieldFault]:
    keys = constraint.match_label_keys
    if keys and constraint.label_selector is None:
        yield forbidden(f"{path}.matchLabelKeys", "must not be specified when labelSelector is not set")
        return
    for position, key in enumerate(keys):
        yield from invalid_each(f"{path}.matchLabelKeys[{position}]", key, label_key_faults(key))
    yield from merged_key_faults(constraint.label_selector, keys, path)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT_RANGE = "must be in the range 1-100"


def affinity_faults(affinity: core.Affinity | None, path: str) -> Iterator[FieldFault]:
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity_faults(affinity.node_affinity, f"{path}.nodeAffinity")
    if affinity.pod_affinity is not None:
        yield from _pod_affinity_faults(affinity.pod_affinity, f"{path}.podAffinity")
    if affinity.pod_anti_affinity is not None:
        yield from _pod_affinity_faults(affinity.pod_anti_affinity, f"{path}.podAntiAffinity")


def _node_affinity_faults(affinity: core.NodeAffinity, path: str) -> Iterator[FieldFault]:
    required_terms = affinity.required_during_scheduling_ignored_during_execution
    if required_terms is not None:
        terms_path = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not required_terms.node_selector_terms:
            yield required(terms_path, "must have at least one node selector term")
        for position, term in enumerate(required_terms.node_selector_terms):
            yield from _term_faults(term, f"{terms_path}[{position}]", check_values=True)
    for position, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        preferred_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= preferred.weight <= 100:
            yield invalid(f"{preferred_path}.weight", preferred.weight, _WEIGHT_RANGE)
        # The values of preferred terms are not checked; the scheduler may stumble over them later.
        yield from _term_faults(preferred.preference, f"{preferred_path}.preference", check_values=False)


def _term_faults(term: core.NodeSelectorTerm, path: str, *, check_values: bool) -> Iterator[FieldFault]:
    for position, expression in enumerate(term.match_expressions):
        yield from requirement_faults(expression, f"{path}.matchExpressions[{position}]", check_values=check_values)
    for position, expression in enumerate(term.match_fields):
        yield from _field_requirement_faults(expression, f"{path}.matchFields[{position}]")


def _field_requirement_faults(expression: core.NodeSelectorRequirement, path: str) -> Iterator[FieldFault]:
    if expression.operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", expression.operator, BAD_OPERATOR)
    elif len(expression.values) != 1:
        yield required(
            f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if expression.key != NODE_NAME_FIELD:
        yield invalid(f"{path}.key", expression.key, "not a valid field selector key")
        return
    for position, value in enumerate(expression.values):
        yield from invalid_each(f"{path}.values[{position}]", value, subdomain_faults(value))


def _pod_affinity_faults(affinity: core.PodAffinity, path: str) -> Iterator[FieldFault]:
    for position, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term_faults(term, f"{path}.{_REQUIRED}[{position}]")
    for position, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        weighted_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= weighted.weight <= 100:
            yield invalid(f"{weighted_path}.weight", weighted.weight, _WEIGHT_RANGE)
        yield from _pod_term_faults(weighted.pod_affinity_term, f"{weighted_path}.podAffinityTerm")


def _pod_term_faults(term: core.PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    yield from selector_faults(term.label_selector, f"{path}.labelSelector")
    yield from selector_faults(term.namespace_selector, f"{path}.namespaceSelector")
    for namespace in term.namespaces:
        yield from invalid_each(f"{path}.namespace", namespace, dns_label_faults(namespace))
    yield from _label_keys_faults(term, path)
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from invalid_each(f"{path}.topologyKey", term.topology_key, label_key_faults(term.topology_key))


def _label_keys_faults(term: core.PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    lists = (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys))
    for field, keys in lists:
        if keys and term.label_selector is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
    if term.label_selector is None:
        return
    for field, keys in lists:
        for position, key in enumerate(keys):
            yield from invalid_each(f"{path}.{field}[{position}]", key, label_key_faults(key))
    for position, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            yield invalid(
                f"{path}.matchLabelKeys[{position}]", key, "exists in both matchLabelKeys and mismatchLabelKeys"
            )
    yield from merged_key_faults(term.label_selector, term.match_label_keys, path)


_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_OPERATING_SYSTEMS = ("linux", "windows")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_INT32_MAX = 2**31 - 1
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_CONTAINER_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")


def pod_faults(pod: core.Pod, version: KubeVersion) -> list[FieldFault]:
    """Everything the API server would refuse a Pod for, after defaulting and the merge of label keys."""
    return _distinct(_pod_faults(pod, version))


def template_faults(template: core.Pod, path: str, version: KubeVersion) -> list[FieldFault]:
    """What it would refuse a defaulted pod template at ``path`` for: label keys are not merged, pods have no name."""
    return _distinct(_template_faults(template, path, version))


def _distinct(faults: Iterator[FieldFault]) -> list[FieldFault]:
    try:
        return list(dict.fromkeys(faults))
    except QuantityError as error:
        return [FieldFault("spec", str(error))]


def _pod_faults(pod: core.Pod, version: KubeVersion) -> Iterator[FieldFault]:
    meta = pod.metadata
    if prefix := meta.generate_name:
        # It commonly ends with a dash, which precedes the generated characters.
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        yield from invalid_each("metadata.generateName", prefix, subdomain_faults(masked))
    if not meta.name and not meta.generate_name:
        yield required("metadata.name", "name or generateName is required")
    elif meta.name:
        yield from invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from invalid_each("metadata.namespace", meta.namespace, dns_label_faults(meta.namespace))
    yield from labels_faults(meta.labels, "metadata.labels")
    yield from _annotation_faults(meta, "metadata.annotations")
    yield from _spec_faults(pod, "spec", version, pod_name=meta.name, is_pod=True)


def _template_faults(template: core.Pod, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    yield from labels_faults(template.metadata.labels, f"{path}.labels")
    yield from _annotation_faults(template.metadata, f"{path}.annotations")
    yield from _spec_faults(template, f"{path}.spec", version, pod_name="", is_pod=False)


def _annotation_faults(meta: ObjectMeta, path: str) -> Iterator[FieldFault]:
    for key in sorted(meta.annotations):
        yield from invalid_each(path, key, label_key_faults(key.lower()))
    cost = meta.annotations.get(POD_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{POD_DELETION_COST}]", cost, "must be a 32bit integer")


def _spec_faults(
    pod: core.Pod, path: str, version: KubeVersion, *, pod_name: str, is_pod: bool
) -> Iterator[FieldFault]:
    spec = pod.spec
    yield from volume_faults(spec.volumes, pod_name, f"{path}.volumes", is_pod=is_pod)
    yield from _claim_faults(spec.resource_claims, pod_name, f"{path}.resourceClaims")
    yield from _containers_faults(spec, path, version)
    yield from pod_level_faults(pod, f"{path}.resources", version)
    yield from _host_network_faults(spec, path)
    yield from one_of(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from labels_faults(spec.node_selector, f"{path}.nodeSelector")
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    yield from _gate_faults(spec.scheduling_gates, f"{path}.schedulingGates")
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    yield from _host_user_faults(spec, path, version)
    if spec.node_name:
        yield from invalid_each(f"{path}.nodeName", spec.node_name, subdomain_faults(spec.node_name))
        if spec.scheduling_gates:
            yield forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= _INT32_MAX:
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, f"must be between 1 and {_INT32_MAX}, inclusive")
    compares = version.has(COMPARISON_GATE)
    for position, toleration in enumerate(spec.tolerations):
        yield from _toleration_faults(toleration, f"{path}.tolerations[{position}]", compares=compares)
    yield from _scalar_faults(spec, path, version)


def _host_user_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
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


def _scalar_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    names = (("priorityClassName", spec.priority_class_name or None), ("runtimeClassName", spec.runtime_class_name))
    for field, name in names:
        if name is not None:
            yield from invalid_each(f"{path}.{field}", name, subdomain_faults(name))
    yield from one_of(f"{path}.preemptionPolicy", spec.preemption_policy, _PREEMPTION_POLICIES)
    yield from overhead_faults(spec.overhead, f"{path}.overhead", version)
    if spec.os is not None:
        if not spec.os.name:
            yield required(f"{path}.os.name")
        yield from one_of(f"{path}.os", spec.os.name or None, _OPERATING_SYSTEMS)


def _gate_faults(gates: Sequence[core.PodSchedulingGate], path: str) -> Iterator[FieldFault]:
    seen: set[str] = set()
    for position, gate in enumerate(gates):
        yield from invalid_each(f"{path}[{position}]", gate.name, label_key_faults(gate.name))
        if gate.name in seen:
            yield duplicate(f"{path}[{position}]", gate.name)
        seen.add(gate.name)


_OPERATORS = ("Equal", "Exists")


def _toleration_faults(toleration: core.Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    """One toleration; ``compares`` is whether the gate TaintTolerationComparisonOperators is on."""
    if toleration.key:
        yield from invalid_each(f"{path}.key", toleration.key, label_key_faults(toleration.key))
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _operator_faults(toleration, path, compares=compares)
    yield from one_of(f"{path}.effect", toleration.effect or None, EFFECTS)


def _operator_faults(toleration: core.Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
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
        detail = "must be a valid decimal integer in canonical form" if value else "must be non-empty"
        yield invalid(f"{path}.value", value, detail)


def _containers_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Containers, then init containers; a name may be used once among both."""
    if not spec.containers:
        yield required(f"{path}.containers")
    names: set[str] = set()
    claims = [claim.name for claim in spec.resource_claims]
    for position, container in enumerate(spec.containers):
        field = f"{path}.containers[{position}]"
        yield from _container_faults(container, field, names, version)
        yield from _reference_faults(container.resources.claims, claims, f"{field}.resources.claims")
    yield from _host_port_faults(spec.containers, f"{path}.containers")
    for position, container in enumerate(spec.init_containers):
        field = f"{path}.initContainers[{position}]"
        yield from _container_faults(container, field, names, version)
        yield from _reference_faults(container.resources.claims, claims, f"{field}.resources.claims")
        # Init containers run one by one, so each is alone with its ports, and the API server counts it as the first.
        yield from _host_port_faults([container], f"{path}.initContainers")


def _host_network_faults(spec: core.PodSpec, path: str) -> Iterator[FieldFault]:
    if not spec.host_network:
        return
    for position, container in enumerate(spec.containers):
        for index, port in enumerate(container.ports):
            if port.host_port != port.container_port:
                field = f"{path}.containers[{position}].ports[{index}].hostPort"
                yield invalid(field, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _container_faults(
    container: core.Container, path: str, names: set[str], version: KubeVersion
) -> Iterator[FieldFault]:
    if not container.name:
        yield required(f"{path}.name")
    else:
        yield from invalid_each(f"{path}.name", container.name, dns_label_faults(container.name))
        if container.name in names:
            yield duplicate(f"{path}.name", container.name)
        names.add(container.name)
    if not container.image:
        yield required(f"{path}.image")
    yield from _port_faults(container.ports, path)
    yield from resource_faults(container.resources, f"{path}.resources", version)
    yield from one_of(f"{path}.restartPolicy", container.restart_policy, _CONTAINER_RESTART_POLICIES)
    yield from _restart_rule_faults(container, path, version)


def _restart_rule_faults(container: core.Container, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    restarts_all = version.has("RestartAllContainersOnContainerExits")
    actions = ("Restart", "RestartAllContainers") if restarts_all else ("Restart",)
    if container.restart_policy_rules and container.restart_policy is None:
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    for position, rule in enumerate(container.restart_policy_rules):
        yield from one_of(f"{path}.restartPolicyRules[{position}].action", rule.action, actions)


def _port_faults(ports: Sequence[core.ContainerPort], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, port in enumerate(ports):
        field = f"{path}.ports[{position}]"
        if port.name:
            yield from _port_name_faults(port.name, f"{field}.name", names)
        if port.container_port == 0:
            yield required(f"{field}.containerPort")
        elif not 1 <= port.container_port <= 65535:
            yield invalid(f"{field}.containerPort", port.container_port, _PORT_RANGE)
        if port.host_port and not 1 <= port.host_port <= 65535:
            yield invalid(f"{field}.hostPort", port.host_port, _PORT_RANGE)
        yield from one_of(f"{field}.protocol", port.protocol, _PROTOCOLS)


def _port_name_faults(name: str, path: str, names: set[str]) -> Iterator[FieldFault]:
    if len(name) > 15:
        yield invalid(path, name, "must be no more than 15 characters")
    elif not _PORT_NAME.fullmatch(name):
        yield invalid(path, name, "must contain only alphanumeric characters (a-z, 0-9), and hyphens (-)")
    elif not _LETTER.search(name):
        yield invalid(path, name, "must contain at least one letter (a-z)")
    if name in names:
        yield duplicate(path, name)
    names.add(name)


def _host_port_faults(containers: Sequence[core.Container], path: str) -> Iterator[FieldFault]:
    """Containers that run together may not ask for one host port twice; here ``0.0.0.0`` and no address differ."""
    used: set[str] = set()
    for position, container in enumerate(containers):
        for index, port in enumerate(container.ports):
            if port.host_port == 0:
                continue
            claim = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if claim in used:
                yield duplicate(f"{path}[{position}].ports[{index}].hostPort", claim)
            used.add(claim)


def _claim_faults(claims: Sequence[core.PodResourceClaim], pod_name: str, path: str) -> Iterator[FieldFault]:
    """spec.resourceClaims; the names of a template's claims are not checked, as its pods have no names yet."""
    names: set[str] = set()
    for position, claim in enumerate(claims):
        yield from _name_faults(claim, pod_name, names, f"{path}[{position}]")
        yield from _source_faults(claim, f"{path}[{position}]")


def _name_faults(claim: core.PodResourceClaim, pod_name: str, names: set[str], path: str) -> Iterator[FieldFault]:
    if not claim.name:
        yield required(f"{path}.name")
    elif claim.name in names:
        yield duplicate(f"{path}.name", claim.name)
    else:
        names.add(claim.name)
        faults = invalid_each(f"{path}.name", claim.name, dns_label_faults(claim.name))
        yield from faults
        if not faults and pod_name and claim.resource_claim_template_name is not None:
            made = f"{pod_name}-{claim.name}"
            yield from invalid_each(
                f"{path}.name", made, (f"final ResourceClaim name: {fault}" for fault in subdomain_faults(made))
            )


def _source_faults(claim: core.PodResourceClaim, path: str) -> Iterator[FieldFault]:
    sources = (
        ("resourceClaimName", claim.resource_claim_name),
        ("resourceClaimTemplateName", claim.resource_claim_template_name),
    )
    named = [(field, name) for field, name in sources if name is not None]
    if len(named) != 1:
        rule = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        detail = rule if named else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        # The API server prints its own struct, whose fields have Go names.
        yield invalid(
            path, {"Name": claim.name, **{field[0].upper() + field[1:]: name for field, name in sources}}, detail
        )
    for field, name in named:
        yield from invalid_each(f"{path}.{field}", name, subdomain_faults(name))


def _reference_faults(
    references: Sequence[core.ContainerClaim], claims: Iterable[str], path: str
) -> Iterator[FieldFault]:
    """A container's resources.claims, each of which must be one of the pod's."""
    names = sorted(claims)
    rule = "must be one of the names in pod.spec.resourceClaims"
    rule += f": {', '.join(names)}" if names else " which is empty"
    seen: set[tuple[str, str]] = set()
    for position, reference in enumerate(references):
        field = f"{path}[{position}]"
        if not reference.name:
            yield required(field)
            continue
        if (reference.name, reference.request) in seen:
            yield duplicate(field, reference.name)
        seen.add((reference.name, reference.request))
        if reference.name not in names:
            yield not_found(field, reference.name, rule)
