"""Validation of a pod or a pod template, in the order of the API server's checks.

Source: pkg/apis/core/validation/validation.go, ValidatePodCreate, validatePodMetadataAndSpec, ValidatePodSpec,
    ValidatePodTemplateSpec, ValidatePodSpecificAnnotations
Source: staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessor,
    ValidateOwnerReferences, ValidateFinalizers
Source: pkg/apis/core/validation/validation.go, validatePodDNSConfig, ValidateHostAliases,
    validatePodHostName, validateFileKeyRefVolumes, ValidateTolerations, validateSchedulingGates,
    validateSchedulingGroup
Source: pkg/apis/core/validation/validation.go, validateAffinity, validateNodeAffinity, ValidateNodeSelectorTerm,
    ValidatePreferredSchedulingTerms
Source: pkg/apis/core/validation/validation.go, validatePodAffinity, validatePodAntiAffinity, validatePodAffinityTerm,
    ValidatePodAffinityTermSelector
Source: pkg/apis/core/validation/validation.go, validateTopologySpreadConstraints, validateMinDomains,
    ValidateTopologyKey, ValidateWhenUnsatisfiable
Source: pkg/apis/core/validation/validation.go, ValidateSpreadConstraintNotRepeat, validateNodeInclusionPolicy,
    ValidateMatchLabelKeysAndMismatchLabelKeys, ValidateMatchLabelKeysInTopologySpread
Source: staging/src/k8s.io/apimachinery/pkg/util/validation/ip.go, IsValidIPForLegacyField
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from itertools import chain

import msgspec

from kubespread.kube.api import core, full
from kubespread.kube.api.meta import LabelSelector, ObjectMeta
from kubespread.kube.name_rules import (
    dns_label_faults,
    label_key_faults,
    label_value_faults,
    search_domain_faults,
    subdomain_faults,
)
from kubespread.kube.quantity import QuantityError
from kubespread.kube.selector import NODE_NAME_FIELD
from kubespread.kube.taint import COMPARING_OPERATORS, COMPARISON_GATE, EFFECTS, comparable
from kubespread.kube.validation.checks import all_of, among, between, named, not_negative, on
from kubespread.kube.validation.containers import ALWAYS, Surrounding, containers_faults, image_faults
from kubespread.kube.validation.faults import (
    BAD_OPERATOR,
    IN_BOTH,
    FieldFault,
    annotations_faults,
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
    too_long,
    unsupported,
)
from kubespread.kube.validation.resources import overhead_faults, pod_claim_faults, pod_level_faults
from kubespread.kube.validation.security import (
    containers_of,
    host_process_faults,
    host_user_faults,
    mismatched_annotation_faults,
    pod_context_faults,
    security_annotation_faults,
    system_faults,
)
from kubespread.kube.validation.volumes import kinds_of, volume_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import (
    DO_NOT_SCHEDULE,
    MIRROR_POD,
    POD_DELETION_COST,
    SCHEDULE_ANYWAY,
    SELECTOR_MERGE_GATE,
)

ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
MIN_DOMAINS_IF_HARD = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}"
_POSITIVE = "must be greater than zero"


def spread_faults(
    constraints: Sequence[core.TopologySpreadConstraint], path: str, *, merges: bool = True
) -> Iterator[FieldFault]:
    """Every fault of the list at ``path``; of two constraints with one key and action the earlier is the duplicate.

    ``merges`` is whether the gate MatchLabelKeysInPodTopologySpreadSelectorMerge is on.
    """
    pairs = [(constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints]
    for position, constraint in enumerate(constraints):
        field, action = f"{path}[{position}]", constraint.when_unsatisfiable
        if constraint.max_skew <= 0:
            yield invalid(f"{field}.maxSkew", constraint.max_skew, _POSITIVE)
        if not constraint.topology_key:
            yield required(f"{field}.topologyKey", "can not be empty")
        yield from one_of(f"{field}.whenUnsatisfiable", action, ACTIONS)
        if pairs[position] in pairs[position + 1 :]:
            yield duplicate(f"{field}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {action}}}")
        if constraint.min_domains is not None:
            if constraint.min_domains <= 0:
                yield invalid(f"{field}.minDomains", constraint.min_domains, _POSITIVE)
            if action != DO_NOT_SCHEDULE:
                detail = f"{MIN_DOMAINS_IF_HARD}, not {action}"
                yield invalid(f"{field}.minDomains", constraint.min_domains, detail)
        yield from all_of(_POLICIES_OF_NODES, constraint, field)
        yield from _match_label_keys_faults(constraint, field, merges=merges)
        yield from selector_faults(constraint.label_selector, f"{field}.labelSelector")


def _match_label_keys_faults(
    constraint: core.TopologySpreadConstraint, path: str, *, merges: bool
) -> Iterator[FieldFault]:
    """Where the keys are not merged into the selector, each that it names is told of, also beside no selector."""
    selector, keys = constraint.label_selector, constraint.match_label_keys
    if keys and selector is None:
        yield forbidden(f"{path}.matchLabelKeys", "must not be specified when labelSelector is not set")
        if merges:
            return
    taken = set() if merges or selector is None else {*selector.match_labels, *_keys_of(selector)}
    for position, key in enumerate(keys):
        field = f"{path}.matchLabelKeys[{position}]"
        yield from invalid_each(field, key, label_key_faults(key))
        if key in taken:
            yield invalid(field, key, IN_BOTH)
    if merges:
        yield from merged_key_faults(selector, keys, path)


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
    for field, keys in (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys)):
        if keys and term.label_selector is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
            continue
        for position, key in enumerate(keys):
            yield from invalid_each(f"{path}.{field}[{position}]", key, label_key_faults(key))
    yield from merged_key_faults(term.label_selector, term.match_label_keys, path)
    for position, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{position}]", key, detail)


_RESTART_POLICIES = (ALWAYS, "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_INT32_MAX = 2**31 - 1
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def pod_faults(pod: core.Pod, version: KubeVersion) -> list[FieldFault]:
    """Everything the API server would refuse a Pod for, after defaulting and the merge of label keys."""
    return _until_unreadable(_pod_faults(pod, version))


def template_faults(template: core.Pod, path: str, version: KubeVersion, *, with_spec: bool = True) -> list[FieldFault]:
    """What it would refuse a defaulted pod template at ``path`` for: label keys are not merged, pods have no name."""
    of_spec = _template_spec_faults(template, path, version) if with_spec else ()
    return _until_unreadable(chain(_template_faults(template, path), of_spec))


def _until_unreadable(faults: Iterator[FieldFault]) -> list[FieldFault]:
    try:
        return list(faults)
    except QuantityError as error:
        return [FieldFault("spec", str(error))]


def _pod_faults(pod: core.Pod, version: KubeVersion) -> Iterator[FieldFault]:
    meta, spec = pod.metadata, pod.spec
    # A pod that is stored is asked about off its node, and with what it was given there.
    is_stored = bool(meta.uid)
    yield from _metadata_faults(meta, "metadata")
    yield from _annotation_faults(meta.annotations, spec, "metadata.annotations", has_node=is_stored)
    yield from _spec_faults(pod, "spec", version, pod_name=meta.name, is_pod=True)
    yield from image_faults(spec, "spec")
    if isinstance(spec, full.PodSpec) and spec.ephemeral_containers and not is_stored:
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.node_name and spec.scheduling_gates:
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    if isinstance(spec, full.PodSpec):
        yield from mismatched_annotation_faults(meta.annotations, spec, "spec")


def _template_faults(template: core.Pod, path: str) -> Iterator[FieldFault]:
    meta = template.metadata
    yield from labels_faults(meta.labels, f"{path}.labels")
    yield from annotations_faults(meta.annotations, f"{path}.annotations")
    yield from _annotation_faults(meta.annotations, template.spec, f"{path}.annotations")


def _template_spec_faults(template: core.Pod, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    meta, spec = template.metadata, template.spec
    yield from _spec_faults(template, f"{path}.spec", version, pod_name="", is_pod=False)
    if isinstance(spec, full.PodSpec):
        yield from mismatched_annotation_faults(meta.annotations, spec, f"{path}.spec")
        if spec.ephemeral_containers:
            detail = "ephemeral containers not allowed in pod template"
            yield forbidden(f"{path}.spec.ephemeralContainers", detail)


def _metadata_faults(meta: ObjectMeta, path: str) -> Iterator[FieldFault]:
    if prefix := meta.generate_name:
        # It commonly ends with a dash, which precedes the generated characters.
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        yield from invalid_each(f"{path}.generateName", prefix, subdomain_faults(masked))
    if not meta.name and not meta.generate_name:
        yield required(f"{path}.name", "name or generateName is required")
    elif meta.name:
        yield from invalid_each(f"{path}.name", meta.name, subdomain_faults(meta.name))
    yield from invalid_each(f"{path}.namespace", meta.namespace, dns_label_faults(meta.namespace))
    yield from not_negative(meta.generation, f"{path}.generation")
    yield from labels_faults(meta.labels, f"{path}.labels")
    yield from annotations_faults(meta.annotations, f"{path}.annotations")
    if isinstance(meta, full.ObjectMeta):
        yield from _owner_faults(meta.owner_references, f"{path}.ownerReferences")
        yield from _finalizer_faults(meta.finalizers, f"{path}.finalizers")


def _owner_faults(owners: Sequence[full.OwnerReference], path: str) -> Iterator[FieldFault]:
    """Their paths do not say which owner is meant."""
    first = ""
    for owner in owners:
        if not owner.api_version.rpartition("/")[2]:
            yield invalid(f"{path}.apiVersion", owner.api_version, "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not getattr(owner, name):
                yield invalid(f"{path}.{name}", "", "must not be empty")
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield invalid(path, _printed_owner(owner), "/v1, Kind=Event is disallowed from being an owner")
        if owner.controller:
            named_so = f"{owner.kind}/{owner.name}"
            if first:
                detail = 'Only one reference can have Controller set to true. Found "true" in references for'
                yield invalid(path, [*map(_printed_owner, owners)], f"{detail} {first} and {named_so}")
            first = first or named_so


def _printed_owner(owner: full.OwnerReference) -> Mapping[str, object]:
    """What identifies it is printed also where it is empty."""
    return {"apiVersion": "", "kind": "", "name": "", "uid": "", **msgspec.to_builtins(owner)}


_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_FINALIZERS = ("kubernetes", _ORPHAN, _FOREGROUND)


def _finalizer_faults(finalizers: Sequence[str], path: str) -> Iterator[FieldFault]:
    for finalizer in finalizers:
        yield from invalid_each(path, finalizer, label_key_faults(finalizer))
    if {_ORPHAN, _FOREGROUND}.issubset(finalizers):
        yield invalid(path, list(finalizers), f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set")
    for position, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"{path}[{position}]", finalizer, detail)


def _annotation_faults(
    annotations: Mapping[str, str], spec: core.PodSpec, path: str, *, has_node: bool = False
) -> Iterator[FieldFault]:
    """Of annotations that mean something to Kubernetes."""
    if MIRROR_POD in annotations and not (has_node or spec.node_name):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR_POD}]", annotations[MIRROR_POD], detail)
    cost = annotations.get(POD_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{POD_DELETION_COST}]", cost, "must be a 32bit integer")
    yield from security_annotation_faults(annotations, spec, path)


def _spec_faults(
    pod: core.Pod, path: str, version: KubeVersion, *, pod_name: str, is_pod: bool
) -> Iterator[FieldFault]:
    spec = pod.spec
    in_full = spec if isinstance(spec, full.PodSpec) else full.PodSpec()
    volumes: dict[str, core.Volume] = {}
    yield from volume_faults(spec.volumes, volumes, pod_name, f"{path}.volumes", version, is_pod=is_pod)
    yield from pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    yield from containers_faults(Surrounding(spec, volumes, version), path)
    yield from pod_level_faults(pod, f"{path}.resources", version)
    yield from _host_network_faults(spec, path, is_pod=is_pod)
    yield from one_of(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from one_of(f"{path}.dnsPolicy", in_full.dns_policy or None, _DNS_POLICIES)
    yield from labels_faults(spec.node_selector, f"{path}.nodeSelector")
    yield from pod_context_faults(spec, path, version)
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    yield from _dns_faults(in_full, f"{path}.dnsConfig", version)
    for position, gate in enumerate(in_full.readiness_gates):
        field = f"{path}.readinessGates[{position}].conditionType"
        yield from invalid_each(field, gate.condition_type, label_key_faults(gate.condition_type))
    yield from _gate_faults(spec.scheduling_gates, f"{path}.schedulingGates")
    merges = version.has(SELECTOR_MERGE_GATE)
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints", merges=merges)
    yield from host_process_faults(spec, path)
    yield from host_user_faults(spec, path, version)
    yield from _host_name_faults(in_full, f"{path}.hostnameOverride", version)
    yield from on("serviceAccountName", _SUBDOMAIN)(in_full, path)
    yield from on("nodeName", _SUBDOMAIN)(spec, path)
    yield from on("activeDeadlineSeconds", between(1, _INT32_MAX))(spec, path)
    yield from all_of(_HOST_NAMES, in_full, path)
    compares = version.has(COMPARISON_GATE)
    for position, toleration in enumerate(spec.tolerations):
        yield from _toleration_faults(toleration, f"{path}.tolerations[{position}]", compares=compares)
    for position, alias in enumerate(in_full.host_aliases):
        field = f"{path}.hostAliases[{position}]"
        yield from _ip_faults(alias.ip, f"{field}.ip", version)
        yield from on("hostnames", _SUBDOMAIN)(alias, field)
    yield from _class_faults(spec, path, version)
    if spec.os is not None and not spec.os.name:
        yield required(f"{path}.os.name")
    elif spec.os is not None:
        yield from one_of(f"{path}.os", spec.os.name, ("linux", "windows"))
        yield from system_faults(in_full, path)
    if spec.scheduling_group is not None and version.has("GenericWorkload"):
        yield from _group_faults(spec.scheduling_group, f"{path}.schedulingGroup.podGroupName")
    yield from _file_key_faults(in_full, path)


def _class_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    yield from on("priorityClassName", _SUBDOMAIN)(spec, path)
    if spec.runtime_class_name is not None:
        name = spec.runtime_class_name
        yield from invalid_each(f"{path}.runtimeClassName", name, subdomain_faults(name))
    if spec.preemption_policy == "":
        yield required(f"{path}.preemptionPolicy")
    else:
        supported = ("PreemptLowerPriority", "Never")
        yield from one_of(f"{path}.preemptionPolicy", spec.preemption_policy, supported)
    yield from overhead_faults(spec.overhead, f"{path}.overhead", version)


_SUBDOMAIN = named(subdomain_faults)
_POLICIES_OF_NODES = tuple(on(name, among("Honor", "Ignore")) for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"))
_HOST_NAMES = tuple(on(name, named(dns_label_faults)) for name in ("hostname", "subdomain"))


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


def _host_network_faults(spec: core.PodSpec, path: str, *, is_pod: bool) -> Iterator[FieldFault]:
    """In a template a port of the host may be left out, as its pods are defaulted."""
    for position, container in enumerate(spec.containers if spec.host_network else ()):
        for index, port in enumerate(container.ports):
            if port.host_port != port.container_port and (is_pod or port.host_port):
                field = f"{path}.containers[{position}].ports[{index}].hostPort"
                yield invalid(field, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _dns_faults(spec: full.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    config = spec.dns_config
    if spec.dns_policy == "None" and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
    elif spec.dns_policy == "None" and config is not None and not config.nameservers:
        detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield required(f"{path}.nameservers", detail)
    elif config is not None:
        if len(config.nameservers) > 3:
            yield invalid(f"{path}.nameservers", config.nameservers, "must not have more than 3 nameservers")
        for position, server in enumerate(config.nameservers):
            yield from _ip_faults(server, f"{path}.nameservers[{position}]", version)
        yield from _search_faults(config.searches, f"{path}.searches")
        unnamed = (position for position, option in enumerate(config.options) if not option.name)
        yield from (required(f"{path}.options[{position}]", "must not be empty") for position in unnamed)


def _search_faults(searches: Sequence[str], path: str) -> Iterator[FieldFault]:
    if len(searches) > 32:
        yield invalid(path, searches, "must not have more than 32 search paths")
    if len(" ".join(searches).encode()) > 2048:
        detail = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid(path, searches, detail)
    for position, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            yield from invalid_each(f"{path}[{position}]", name, search_domain_faults(name))


def _ip_faults(text: str, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Go's old parser, which Kubernetes keeps, skips zeros that a part of an IPv4 address begins with."""
    plain = text if ":" in text else ".".join(part.lstrip("0") or part[:1] for part in text.split("."))
    try:
        address = ip_address(plain)
    except ValueError:
        address = None
    if address is None or "%" in text:
        yield invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
    elif version.has("StrictIPCIDRValidation"):
        if plain != text:
            yield invalid(path, text, "must not have leading 0s")
        elif address.version == 6 and address.ipv4_mapped is not None:
            yield invalid(path, text, "must not be an IPv4-mapped IPv6 address")


def _host_name_faults(spec: full.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    name = spec.hostname_override
    if name is None or not version.has("HostnameOverride"):
        return
    if spec.set_hostname_as_fqdn:
        yield forbidden(path, "may not be specified when setHostnameAsFQDN is true")
    if spec.host_network:
        yield forbidden(path, "may not be specified when hostNetwork is true")
    if len(name.encode()) > 64:
        yield too_long(path, 64)
    yield from invalid_each(path, name, subdomain_faults(name))


def _group_faults(group: core.PodSchedulingGroup, path: str) -> Iterator[FieldFault]:
    name = group.pod_group_name
    if name is None:
        yield FieldFault(path, "Invalid value: null: must specify one of: `podGroupName`")
    else:
        yield from invalid_each(path, name, subdomain_faults(name))


def _file_key_faults(spec: full.PodSpec, path: str) -> Iterator[FieldFault]:
    """Variables come from files of emptyDir volumes alone."""
    volumes = {volume.name: volume for volume in spec.volumes}
    for container, field in containers_of(spec, path):
        for position, variable in enumerate(container.env if isinstance(container, full.Container) else ()):
            ref = variable.value_from.file_key_ref if variable.value_from is not None else None
            if ref is None:
                continue
            place = f"{field}.env[{position}].valueFrom.fileKeyRef.volumeName"
            volume = volumes.get(ref.volume_name)
            if volume is None:
                yield not_found(place, ref.volume_name)
            elif kinds_of(volume)[:1] not in ([], ["emptyDir"]):
                yield invalid(place, ref.volume_name, "referenced volume must be of type emptyDir")
