"""Validation of the fields that scheduling reads of pods and templates, in the API server's words and order.

Source: pkg/apis/core/validation/validation.go, ValidatePodCreate, validatePodMetadataAndSpec, ValidatePodSpec,
    ValidatePodTemplateSpec, ValidateTolerations, validateSchedulingGates, validateSchedulingGroup, validateAffinity,
    validateNodeAffinity, ValidateNodeSelectorTerm, ValidatePreferredSchedulingTerms, validatePodAffinity,
    validatePodAntiAffinity, validatePodAffinityTerm, ValidatePodAffinityTermSelector,
    validateTopologySpreadConstraints, validateMinDomains, ValidateTopologyKey, ValidateWhenUnsatisfiable,
    ValidateSpreadConstraintNotRepeat, validateNodeInclusionPolicy, ValidateMatchLabelKeysAndMismatchLabelKeys,
    ValidateMatchLabelKeysInTopologySpread, validateContainers, validateInitContainers, validateContainerCommon,
    validateContainerPorts, checkHostPortConflicts, validateContainerRestartPolicy, validateInitContainerRestartPolicy,
    ValidatePodTemplateSpecForRC, ValidateNode, validateNodeTaints
Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsValidPortName
Source: pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec, ValidateReplicaSetSpec, ValidateDaemonSetSpec,
    ValidateStatefulSetSpec, ValidatePodTemplateSpecForReplicaSet
Source: pkg/apis/batch/validation/validation.go, ValidateJobSpec, ValidateJobTemplateSpec
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kubespread.kube.api import core
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject, LabelSelector, ObjectMeta
from kubespread.kube.api.workloads import CronJob, Job, LabelSelectingWorkload, StatefulSet
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.quantity import QuantityError
from kubespread.kube.selector import NODE_NAME_FIELD, SelectorError, from_label_selector
from kubespread.kube.taint import COMPARING_OPERATORS, COMPARISON_GATE, EFFECTS, comparable
from kubespread.kube.validation import faults
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.fields import Data, field_faults
from kubespread.kube.validation.resources import overhead_faults, pod_claim_faults, pod_level_faults, resource_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, SELECTOR_MERGE_GATE
from kubespread.regex import regex

ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
MIN_DOMAINS_IF_HARD = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}"
_POSITIVE = "must be greater than zero"
_NODE_POLICIES = ("Honor", "Ignore")


def spread_faults(
    constraints: Sequence[core.TopologySpreadConstraint], path: str, *, merges: bool = True
) -> Iterator[FieldFault]:
    """Yield faults of the list at ``path``; of two constraints with one key and action the earlier is the duplicate.

    ``merges`` is whether the gate MatchLabelKeysInPodTopologySpreadSelectorMerge is on.
    """
    pairs = [(constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints]
    for position, constraint in enumerate(constraints):
        field, action = f"{path}[{position}]", constraint.when_unsatisfiable
        if constraint.max_skew <= 0:
            yield faults.invalid(f"{field}.maxSkew", constraint.max_skew, _POSITIVE)
        if not constraint.topology_key:
            yield faults.required(f"{field}.topologyKey", "can not be empty")
        yield from faults.one_of(f"{field}.whenUnsatisfiable", action, ACTIONS)
        if pairs[position] in pairs[position + 1 :]:
            yield faults.duplicate(
                f"{field}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {action}}}"
            )
        if constraint.min_domains is not None:
            if constraint.min_domains <= 0:
                yield faults.invalid(f"{field}.minDomains", constraint.min_domains, _POSITIVE)
            if action != DO_NOT_SCHEDULE:
                detail = f"{MIN_DOMAINS_IF_HARD}, not {action}"
                yield faults.invalid(f"{field}.minDomains", constraint.min_domains, detail)
        yield from faults.one_of(f"{field}.nodeAffinityPolicy", constraint.node_affinity_policy, _NODE_POLICIES)
        yield from faults.one_of(f"{field}.nodeTaintsPolicy", constraint.node_taints_policy, _NODE_POLICIES)
        yield from _match_label_keys_faults(constraint, field, merges=merges)
        yield from faults.selector_faults(constraint.label_selector, f"{field}.labelSelector")


def _match_label_keys_faults(
    constraint: core.TopologySpreadConstraint, path: str, *, merges: bool
) -> Iterator[FieldFault]:
    """Yield faults of matchLabelKeys; keys that are not merged into the selector may not be in it, and are checked even
    without one.
    """
    selector, keys = constraint.label_selector, constraint.match_label_keys
    if keys and selector is None:
        yield faults.forbidden(f"{path}.matchLabelKeys", "must not be specified when labelSelector is not set")
        if merges:
            return
    selector_keys = set() if merges or selector is None else {*selector.match_labels, *_keys_of(selector)}
    for position, key in enumerate(keys):
        field = f"{path}.matchLabelKeys[{position}]"
        yield from faults.invalid_each(field, key, label_key_faults(key))
        if key in selector_keys:
            yield faults.invalid(field, key, faults.IN_BOTH)
    if merges:
        yield from faults.merged_key_faults(selector, keys, path)


def _keys_of(selector: LabelSelector) -> Iterator[str]:
    return (expression.key for expression in selector.match_expressions)


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
            yield faults.required(terms_path, "must have at least one node selector term")
        for position, term in enumerate(required_terms.node_selector_terms):
            yield from _term_faults(term, f"{terms_path}[{position}]", check_values=True)
    for position, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        preferred_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= preferred.weight <= 100:
            yield faults.invalid(f"{preferred_path}.weight", preferred.weight, _WEIGHT_RANGE)
        # The values of preferred terms are not checked; the scheduler may stumble over them later.
        yield from _term_faults(preferred.preference, f"{preferred_path}.preference", check_values=False)


def _term_faults(term: core.NodeSelectorTerm, path: str, *, check_values: bool) -> Iterator[FieldFault]:
    for position, expression in enumerate(term.match_expressions):
        yield from faults.requirement_faults(
            expression, f"{path}.matchExpressions[{position}]", check_values=check_values
        )
    for position, expression in enumerate(term.match_fields):
        yield from _field_requirement_faults(expression, f"{path}.matchFields[{position}]")


def _field_requirement_faults(expression: core.NodeSelectorRequirement, path: str) -> Iterator[FieldFault]:
    if expression.operator not in ("In", "NotIn"):
        yield faults.invalid(f"{path}.operator", expression.operator, faults.BAD_OPERATOR)
    elif len(expression.values) != 1:
        yield faults.required(
            f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if expression.key != NODE_NAME_FIELD:
        yield faults.invalid(f"{path}.key", expression.key, "not a valid field selector key")
        return
    for position, value in enumerate(expression.values):
        yield from faults.invalid_each(f"{path}.values[{position}]", value, subdomain_faults(value))


def _pod_affinity_faults(affinity: core.PodAffinity, path: str) -> Iterator[FieldFault]:
    for position, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term_faults(term, f"{path}.{_REQUIRED}[{position}]")
    for position, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        weighted_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= weighted.weight <= 100:
            yield faults.invalid(f"{weighted_path}.weight", weighted.weight, _WEIGHT_RANGE)
        yield from _pod_term_faults(weighted.pod_affinity_term, f"{weighted_path}.podAffinityTerm")


def _pod_term_faults(term: core.PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    yield from faults.selector_faults(term.label_selector, f"{path}.labelSelector")
    yield from faults.selector_faults(term.namespace_selector, f"{path}.namespaceSelector")
    for namespace in term.namespaces:
        yield from faults.invalid_each(f"{path}.namespace", namespace, dns_label_faults(namespace))
    yield from _label_keys_faults(term, path)
    if not term.topology_key:
        yield faults.required(f"{path}.topologyKey", "can not be empty")
    yield from faults.invalid_each(f"{path}.topologyKey", term.topology_key, label_key_faults(term.topology_key))


def _label_keys_faults(term: core.PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    for field, keys in (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys)):
        if keys and term.label_selector is None:
            yield faults.forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
            continue
        for position, key in enumerate(keys):
            yield from faults.invalid_each(f"{path}.{field}[{position}]", key, label_key_faults(key))
    yield from faults.merged_key_faults(term.label_selector, term.match_label_keys, path)
    for position, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield faults.invalid(f"{path}.matchLabelKeys[{position}]", key, detail)


def pod_faults(pod: core.Pod, version: KubeVersion) -> list[FieldFault]:
    """Faults for which the API server would refuse a Pod in fields that scheduling reads, after defaulting and merged
    label keys.
    """
    return _until_unreadable(_pod_faults(pod, version))


def template_faults(template: core.Pod, path: str, version: KubeVersion, *, with_spec: bool = True) -> list[FieldFault]:
    """Faults for which it would refuse a defaulted pod template at ``path``: label keys are not merged, pods have no
    name.
    """
    labels = faults.labels_faults(template.metadata.labels, f"{path}.labels")
    of_spec = _spec_faults(template, f"{path}.spec", version, is_pod=False) if with_spec else ()
    return _until_unreadable(chain(labels, of_spec))


def _until_unreadable(checks: Iterator[FieldFault]) -> list[FieldFault]:
    try:
        return list(checks)
    except QuantityError as error:
        return [FieldFault("spec", str(error))]


def _pod_faults(pod: core.Pod, version: KubeVersion) -> Iterator[FieldFault]:
    yield from _metadata_faults(pod.metadata, "metadata")
    yield from _spec_faults(pod, "spec", version, is_pod=True)
    if pod.spec.node_name and pod.spec.scheduling_gates:
        yield faults.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def _metadata_faults(meta: ObjectMeta, path: str) -> Iterator[FieldFault]:
    if prefix := meta.generate_name:
        # It commonly ends with a dash, which precedes the generated characters.
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        yield from faults.invalid_each(f"{path}.generateName", prefix, subdomain_faults(masked))
    if not meta.name and not meta.generate_name:
        yield faults.required(f"{path}.name", "name or generateName is required")
    elif meta.name:
        yield from faults.invalid_each(f"{path}.name", meta.name, subdomain_faults(meta.name))
    yield from faults.invalid_each(f"{path}.namespace", meta.namespace, dns_label_faults(meta.namespace))
    yield from faults.labels_faults(meta.labels, f"{path}.labels")


def _spec_faults(pod: core.Pod, path: str, version: KubeVersion, *, is_pod: bool) -> Iterator[FieldFault]:
    spec = pod.spec
    yield from pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    yield from containers_faults(spec, path, version)
    yield from pod_level_faults(pod, f"{path}.resources", version)
    yield from _host_network_faults(spec, path, is_pod=is_pod)
    yield from faults.labels_faults(spec.node_selector, f"{path}.nodeSelector")
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    yield from _gate_faults(spec.scheduling_gates, f"{path}.schedulingGates")
    merges = version.has(SELECTOR_MERGE_GATE)
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints", merges=merges)
    compares = version.has(COMPARISON_GATE)
    for position, toleration in enumerate(spec.tolerations):
        yield from _toleration_faults(toleration, f"{path}.tolerations[{position}]", compares=compares)
    yield from overhead_faults(spec.overhead, f"{path}.overhead", version)


def _gate_faults(gates: Sequence[core.PodSchedulingGate], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, gate in enumerate(gates):
        yield from faults.invalid_each(f"{path}[{position}]", gate.name, label_key_faults(gate.name))
        if gate.name in names:
            yield faults.duplicate(f"{path}[{position}]", gate.name)
        names.add(gate.name)


_OPERATORS = ("Equal", "Exists")


def _toleration_faults(toleration: core.Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    """One toleration; ``compares`` is whether the gate TaintTolerationComparisonOperators is on."""
    if toleration.key:
        yield from faults.invalid_each(f"{path}.key", toleration.key, label_key_faults(toleration.key))
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield faults.invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield faults.invalid(
            f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
    yield from _operator_faults(toleration, path, compares=compares)
    yield from faults.one_of(f"{path}.effect", toleration.effect or None, EFFECTS)


def _operator_faults(toleration: core.Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    operator, value = toleration.operator, toleration.value
    if operator in ("", "Equal"):
        if details := label_value_faults(value):
            yield faults.invalid(f"{path}.operator", value, ";".join(details))
    elif operator == "Exists":
        if value:
            yield faults.invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator not in COMPARING_OPERATORS:
        yield faults.not_supported(f"{path}.operator", operator, _OPERATORS)
    elif not compares:
        # Known to the API and switched off by default, hence a list that names what it refuses.
        yield faults.not_supported(f"{path}.operator", operator, (*_OPERATORS, *COMPARING_OPERATORS))
    elif comparable(value) is None:
        detail = "must be a valid decimal integer in canonical form" if value else "must be non-empty"
        yield faults.invalid(f"{path}.value", value, detail)


def _host_network_faults(spec: core.PodSpec, path: str, *, is_pod: bool) -> Iterator[FieldFault]:
    """Yield faults of host ports; a template may leave them out, as its pods are defaulted."""
    for position, container in enumerate(spec.containers if spec.host_network else ()):
        for index, port in enumerate(container.ports):
            if port.host_port != port.container_port and (is_pod or port.host_port):
                field = f"{path}.containers[{position}].ports[{index}].hostPort"
                yield faults.invalid(field, port.host_port, "must match `containerPort` when `hostNetwork` is true")


# Containers: names, ports, resources, and whether they start again.

ALWAYS = "Always"


def containers_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Yield faults of containers, then of init containers; no name may be used twice."""
    names = set[str]()
    if not spec.containers:
        yield faults.required(f"{path}.containers")
    for position, container in enumerate(spec.containers):
        field = f"{path}.containers[{position}]"
        yield from _common_faults(container, spec, field, version)
        yield from _duplicate_name_faults(container, names, field)
        if version.has(_RESTART_RULES):
            yield from _restart_faults(container, field)
        elif container.restart_policy is not None and not version.lacks(_RESTART_RULES):
            yield faults.forbidden(f"{field}.restartPolicy", "may not be set for non-init containers")
    yield from _host_port_faults(spec.containers, f"{path}.containers")
    for position, container in enumerate(spec.init_containers):
        field = f"{path}.initContainers[{position}]"
        yield from _common_faults(container, spec, field, version)
        if version.has(_RESTART_RULES):
            yield from _restart_faults(container, field)
        else:
            yield from faults.one_of(f"{field}.restartPolicy", container.restart_policy, (ALWAYS,))
        yield from _duplicate_name_faults(container, names, field)
        # Init containers run one by one, so each is alone with its ports, and the API server counts it as the first.
        yield from _host_port_faults([container], f"{path}.initContainers")


def _common_faults(
    container: core.Container, spec: core.PodSpec, path: str, version: KubeVersion
) -> Iterator[FieldFault]:
    if container.name:
        yield from faults.invalid_each(f"{path}.name", container.name, dns_label_faults(container.name))
    else:
        yield faults.required(f"{path}.name")
    yield from _port_faults(container.ports, path)
    claims = [claim.name for claim in spec.resource_claims]
    yield from resource_faults(container.resources, f"{path}.resources", claims, version)


def _duplicate_name_faults(container: core.Container, names: set[str], path: str) -> Iterator[FieldFault]:
    if container.name in names:
        yield faults.duplicate(f"{path}.name", container.name)
    names.update(filter(None, [container.name]))


_PORT_NAME = regex(r"[-a-z0-9]+")
_LETTER = regex(r"[a-z]")


def _port_name_rule(name: str) -> Iterator[str]:
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not _LETTER.search(name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def _port_faults(ports: Sequence[core.ContainerPort], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, port in enumerate(ports):
        field = f"{path}.ports[{position}]"
        name_faults = faults.invalid_each(f"{field}.name", port.name, _port_name_rule(port.name)) if port.name else []
        yield from name_faults
        if port.name and not name_faults:
            if port.name in names:
                yield faults.duplicate(f"{field}.name", port.name)
            names.add(port.name)
        if port.container_port == 0:
            yield faults.required(f"{field}.containerPort")
        else:
            yield from faults.range_faults(port.container_port, 1, 65535, f"{field}.containerPort")
        if port.host_port:
            yield from faults.range_faults(port.host_port, 1, 65535, f"{field}.hostPort")
        yield from faults.one_of(f"{field}.protocol", port.protocol or None, ("SCTP", "TCP", "UDP"))


def _host_port_faults(containers: Sequence[core.Container], path: str) -> Iterator[FieldFault]:
    """Yield duplicate host ports of containers; here ``0.0.0.0`` and no address differ."""
    used: set[str] = set()
    for position, container in enumerate(containers):
        for index, port in enumerate(container.ports):
            if port.host_port == 0:
                continue
            claim = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if claim in used:
                yield faults.duplicate(f"{path}[{position}].ports[{index}].hostPort", claim)
            used.add(claim)


_RESTART_RULES = "ContainerRestartRules"


def _restart_faults(container: core.Container, path: str) -> Iterator[FieldFault]:
    if container.restart_policy is None and container.restart_policy_rules:
        yield faults.required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    yield from faults.one_of(f"{path}.restartPolicy", container.restart_policy, (ALWAYS, "Never", "OnFailure"))


# Nodes, and workloads; pods of these are validated on their own once they are created.


def node_faults(node: core.Node) -> Iterator[FieldFault]:
    """Yield faults of a node's name, labels and taints."""
    meta = node.metadata
    if not meta.name:
        yield faults.required("metadata.name", "name or generateName is required")
    else:
        yield from faults.invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from faults.labels_faults(meta.labels, "metadata.labels")
    yield from _taints_faults(node.spec.taints, "spec.taints")


def _taints_faults(taints: Sequence[core.Taint], path: str) -> Iterator[FieldFault]:
    identities: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        place = f"{path}[{position}]"
        yield from faults.invalid_each(f"{place}.key", taint.key, label_key_faults(taint.key))
        if value_faults := label_value_faults(taint.value):
            yield faults.invalid(f"{place}.value", taint.value, ";".join(value_faults))
        if not taint.effect:
            yield faults.required(f"{place}.effect")
        yield from faults.one_of(f"{place}.effect", taint.effect or None, EFFECTS)
        if (taint.key, taint.effect) in identities:
            yield faults.duplicate(place, f"{taint.key}:{taint.effect}")
        identities.add((taint.key, taint.effect))


def workload_faults(
    workload: ApiObject, template: core.Pod, plain: Data, path: str, version: KubeVersion
) -> list[FieldFault]:
    """Faults for which the API server would refuse ``workload``; its defaulted ``template`` is at ``path``, and
    ``plain`` as data.
    """
    violations = (
        [] if workload.metadata.name else [faults.required("metadata.name", "name or generateName is required")]
    )
    violations += _replicas_faults(workload)
    if isinstance(workload, LabelSelectingWorkload):
        violations += _selector_faults(workload.spec.selector, template, path)
    # Claims of a StatefulSet become volumes of its pods, so the API server validates the spec with the pods.
    whole = not isinstance(workload, StatefulSet)
    violations += template_faults(template, path, version, with_spec=whole)
    violations += field_faults(plain, template, path, version, is_pod=False) if whole else []
    return violations + list(_life_faults(workload, template, f"{path}.spec"))


_ENDLESS = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "ReplicationController")
"""Kinds with pods that run forever."""


def _life_faults(workload: ApiObject, template: core.Pod, path: str) -> Iterator[FieldFault]:
    policy, kind = template.spec.restart_policy, type(workload).__name__
    endless = kind in _ENDLESS
    # The default is no choice of the author's.
    if endless and policy != "Always":
        yield FieldFault(f"{path}.restartPolicy", f"expected Always in a {kind}, found {policy}")
    if endless and template.spec.active_deadline_seconds is not None:
        yield FieldFault(f"{path}.activeDeadlineSeconds", f"not allowed in a {kind}")
    if isinstance(workload, Job | CronJob) and policy not in ("OnFailure", "Never"):
        yield FieldFault(f"{path}.restartPolicy", f"expected OnFailure or Never in a {kind}")


def _replicas_faults(workload: ApiObject) -> list[FieldFault]:
    row = KIND_OF.get(type(workload))
    replicas = workload.spec.replicas if row is not None and row.has_replicas else None  # type: ignore[attr-defined]  # those have a spec
    if replicas is None or replicas >= 0:
        return []
    return [faults.invalid("spec.replicas", replicas, "must be greater than or equal to 0")]


def _selector_faults(selector: LabelSelector | None, template: core.Pod, path: str) -> list[FieldFault]:
    """A controller's selector must be there and match its own template."""
    labels_path = f"{path}.metadata.labels"
    labels = dict(sorted(template.metadata.labels.items()))
    mismatch = faults.invalid(labels_path, labels, "`selector` does not match template `labels`")
    if selector is None:
        return [faults.required("spec.selector"), mismatch]
    try:
        matches = from_label_selector(selector).matches(template.metadata.labels)
    except SelectorError as error:
        return [FieldFault("spec.selector", f"Invalid value: {error}")]
    return [] if matches else [mismatch]
