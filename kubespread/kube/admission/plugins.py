"""Admission with the objects of the snapshot: what it changes in a pod, what it refuses, and what it cannot know.

Source: plugin/pkg/admission/limitranger/admission.go, Admit, Validate
Source: plugin/pkg/admission/podnodeselector/admission.go, Admit, Validate
Source: plugin/pkg/admission/priority/admission.go, admitPod
Source: plugin/pkg/admission/runtimeclass/admission.go, Admit, setOverhead, validateOverhead
Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/admission.go, Validate
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from msgspec import Struct

from kubespread.kube.admission.added_tolerations import merged, tolerate_extended_resources, tolerate_for_a_while
from kubespread.kube.admission.limit_ranges import fill, refusal
from kubespread.kube.admission.quota import allowance
from kubespread.kube.api.annotations import NODE_SELECTOR
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import LimitRange, Namespace, Pod, ResourceQuota, RuntimeClass, Toleration
from kubespread.kube.api.meta import ApiObject, ResourceList
from kubespread.kube.api.scheduling import PriorityClass
from kubespread.kube.pod_requests import amounts
from kubespread.kube.versions import KubeVersion

_PREEMPTING = "PreemptLowerPriority"
_BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class AdmissionPlugins(Struct, frozen=True):
    """Which of the API server's admission plugins a pod goes through when it is created."""

    enabled: bool = True
    """False: none of them."""
    default_toleration_seconds: bool = True
    """On in every cluster unless it is switched off."""
    pod_node_selector: bool = False
    """Off in every cluster unless it is switched on."""
    extended_resource_toleration: bool = False
    """Off unless it is switched on, as GKE does."""
    resource_quota: bool = True
    """False if the caller counts the pods."""


class ForbiddenError(Exception):
    """An admission plugin refuses the pod; the text is its own."""


def mutate(pod: Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> list[str]:
    """Change the defaulted ``pod`` as the plugins would, in their order, and say so. Raises ForbiddenError."""
    changes = [line for limit_range in _limit_ranges(pod, objects) for line in fill(pod, limit_range)]
    if plugins.pod_node_selector:
        changes += _node_selector(pod, objects)
    changes += _priority(pod, objects)
    if plugins.default_toleration_seconds:
        tolerate_for_a_while(pod)
    if plugins.extended_resource_toleration:
        changes += tolerate_extended_resources(pod)
    changes += _runtime_class(pod, objects)
    return changes


def validate(pod: Pod, version: KubeVersion, objects: ClusterObjects, plugins: AdmissionPlugins) -> None:
    """What admission plugins look at once the API server has found the pod valid. Raises ForbiddenError."""
    for limit_range in _limit_ranges(pod, objects):
        if broken := refusal(pod, limit_range, version):
            raise ForbiddenError(broken)
    name = pod.spec.runtime_class_name
    runtime_class = _runtime_class_named(name, objects) if name else None
    if pod.spec.overhead and (not name or (runtime_class is not None and runtime_class.overhead is None)):
        raise ForbiddenError("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    if plugins.resource_quota and (allowed := allowance(pod, objects.of(ResourceQuota))).copies == 0:
        raise ForbiddenError(allowed.refusal)


def _limit_ranges(pod: Pod, objects: ClusterObjects) -> list[LimitRange]:
    return [
        limit_range
        for limit_range in objects.of(LimitRange)
        if limit_range.metadata.namespace == pod.metadata.namespace
    ]


def admitted_again(pod: Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> Pod:
    """A previously admitted pod with the current defaults and node selector of its namespace, and tolerations for what
    it requests; the pod itself if that adds nothing. Raises ForbiddenError.
    """
    limit_ranges = _limit_ranges(pod, objects)
    if not plugins.enabled or not (limit_ranges or plugins.pod_node_selector or plugins.extended_resource_toleration):
        return pod
    changed = deepcopy(pod)
    changes = [line for limit_range in limit_ranges for line in fill(changed, limit_range)]
    if plugins.pod_node_selector:
        changes += _node_selector(changed, objects)
    if plugins.extended_resource_toleration:
        changes += tolerate_extended_resources(changed)
    return changed if changes else pod


def _node_selector(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    namespace = objects.named(Namespace, pod.metadata.namespace)
    text = namespace.metadata.annotations.get(NODE_SELECTOR) if namespace is not None else None
    if not text:
        return
    required = {
        key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(",")) if key.strip()
    }
    if any(pod.spec.node_selector.get(key, value) != value for key, value in required.items()):
        raise ForbiddenError("pod node label selector conflicts with its namespace node label selector")
    added = {key: value for key, value in required.items() if key not in pod.spec.node_selector}
    if added:
        pod.spec.node_selector = {**pod.spec.node_selector, **added}
        yield (
            f"Namespace {pod.metadata.namespace}: nodeSelector "
            f"{', '.join(f'{key}={value}' for key, value in sorted(added.items()))}"
        )


def _priority(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """The class's priority; a class that was not listed leaves the pod as it is, since nothing is known about it."""
    spec, has_classes = pod.spec, objects.knows(PriorityClass)
    name, priority, policy = spec.priority_class_name, 0, ""
    if name in _BUILT_IN_PRIORITIES:
        priority = _BUILT_IN_PRIORITIES[name]
    else:
        classes = objects.of(PriorityClass)
        default = min(
            (priority_class for priority_class in classes if priority_class.global_default),
            key=lambda priority_class: priority_class.value,
            default=None,
        )
        named = (
            next((priority_class for priority_class in classes if priority_class.metadata.name == name), None)
            if name
            else default
        )
        if named is not None:
            name, priority, policy = named.metadata.name, named.value, named.preemption_policy
        elif not has_classes:
            return
        elif name:
            raise ForbiddenError(f"no PriorityClass with name {name} was found")
    policy = policy or _PREEMPTING
    if spec.priority not in (None, priority):
        computed = f"priority admission controller computed {priority} from the given PriorityClass name"
        raise ForbiddenError(
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; {computed}"
        )
    if spec.preemption_policy not in (None, policy):
        computed = f"priority admission controller computed {policy} from the given PriorityClass name"
        own = f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec"
        raise ForbiddenError(f"{own}; {computed}")
    if spec.priority is None and name:
        yield f"PriorityClass {name}: priority {priority}"
    spec.priority_class_name, spec.priority, spec.preemption_policy = name, priority, policy


def _runtime_class_named(name: str, objects: ClusterObjects) -> RuntimeClass | None:
    """None where nothing is known about it. Raises ForbiddenError where it is known that there is none."""
    runtime_class = objects.named(RuntimeClass, name)
    if runtime_class is None and objects.knows(RuntimeClass):
        raise ForbiddenError(f'pod rejected: RuntimeClass "{name}" not found')
    return runtime_class


def _runtime_class(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    name = pod.spec.runtime_class_name
    runtime_class = _runtime_class_named(name, objects) if name else None
    if runtime_class is None:
        return
    if runtime_class.overhead is not None:
        overhead = runtime_class.overhead.pod_fixed
        if pod.spec.overhead and _nano(pod.spec.overhead) != _nano(overhead):
            raise ForbiddenError("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        pod.spec.overhead = overhead
        yield f"RuntimeClass {name}: overhead {', '.join(f'{key} {value}' for key, value in sorted(overhead.items()))}"
    scheduling = runtime_class.scheduling
    if scheduling is None:
        return
    for key, value in sorted(scheduling.node_selector.items()):
        if pod.spec.node_selector.get(key, value) != value:
            theirs = f"pod.spec.nodeSelector[{key}] = {pod.spec.node_selector[key]}"
            raise ForbiddenError(f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; {theirs}")
    if scheduling.node_selector:
        pod.spec.node_selector = {**pod.spec.node_selector, **scheduling.node_selector}
        yield (
            f"RuntimeClass {name}: nodeSelector "
            f"{', '.join(f'{k}={v}' for k, v in sorted(scheduling.node_selector.items()))}"
        )
    if scheduling.tolerations:
        pod.spec.tolerations = merged(pod.spec.tolerations, scheduling.tolerations)
        yield f"RuntimeClass {name}: tolerations {', '.join(map(_toleration, scheduling.tolerations))}"


def _nano(resources: ResourceList) -> dict[str, int]:
    """Quantities are equal by value, however they are written."""
    return {name: amount.nano for name, amount in amounts(resources).items()}


def _toleration(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or '(any)'}{value}:{toleration.effect or '(any)'}"


_CONSEQUENCES: dict[type[ApiObject], str] = {
    LimitRange: "default requests and limits are not added",
    PriorityClass: "none is the default",
    ResourceQuota: "quotas are taken not to be exhausted",
}
"""What is missed without each kind that every pod depends on."""


def gaps(pod: Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> Iterator[str]:
    """About ``pod``, which is new and was changed by all plugins that had something to say."""
    spec, name = pod.spec, pod.spec.priority_class_name
    is_unknown = spec.priority is None
    yield from _of_any_pod(objects, *([PriorityClass] if is_unknown and not name else []))
    if is_unknown and name:
        yield from objects.gap(PriorityClass, f"the priority of class {name} is not known, and counts as 0")
    if spec.runtime_class_name:
        consequence = f"overhead, node selector and tolerations of class {spec.runtime_class_name} are not added"
        yield from objects.gap(RuntimeClass, consequence)
    yield from _of_namespaces(objects, plugins)


def gaps_again(objects: ClusterObjects, plugins: AdmissionPlugins) -> Iterator[str]:
    """About pods like others that were admitted before."""
    if plugins.enabled:
        yield from _of_any_pod(objects)
        yield from _of_namespaces(objects, plugins)


def _of_any_pod(objects: ClusterObjects, *more: type[ApiObject]) -> Iterator[str]:
    """Kinds that nobody listed in one line: of these many clusters have none."""
    absent: list[str] = []
    kinds: list[type[ApiObject]] = [LimitRange, ResourceQuota, *more]
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        if kind.__name__ in objects.unread:
            yield from objects.gap(kind, _CONSEQUENCES[kind])
        elif not objects.knows(kind):
            absent.append(kind.__name__)
    if absent:
        yield f"no {', '.join(absent)} objects: pods are created as if there were none"


def _of_namespaces(objects: ClusterObjects, plugins: AdmissionPlugins) -> Iterator[str]:
    if plugins.pod_node_selector:
        yield from objects.gap(Namespace, "node selectors of namespaces are not added")
