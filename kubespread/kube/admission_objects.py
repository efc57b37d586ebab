"""Admission that changes what a pod asks for, with the objects the snapshot holds: limits, priority, runtime class, node selector.

Source of the rules: the LimitRanger, PodNodeSelector, Priority and RuntimeClass admission plugins of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.kube.annotations import NODE_SELECTOR
from kubespread.kube.cluster_objects import ClusterObjects, LimitRangeItem, PriorityClass, RuntimeClass
from kubespread.kube.meta import ResourceList
from kubespread.kube.objects import Container, Pod, Toleration
from kubespread.kube.pod_requests import amounts

_BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@dataclass(frozen=True, slots=True)
class AdmissionPlugins:
    """Which of the API server's admission plugins a pod goes through when it is created."""

    enabled: bool = True
    """False: none of them."""
    default_toleration_seconds: bool = True
    """On in every cluster unless it is switched off."""
    pod_node_selector: bool = False
    """Off in every cluster unless it is switched on."""


class ForbiddenError(Exception):
    """An admission plugin refuses the pod; the text is its own."""


def admit_with(pod: Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> list[str]:
    """Apply what the cluster's admission would change, in the order of its plugins, and say so. Raises ForbiddenError.

    ``pod`` is defaulted already. A pod that has a uid went through all this when it was stored.
    """
    if pod.metadata.uid or not plugins.enabled:
        return []
    return [
        *_limit_ranges(pod, objects),
        *(_node_selector(pod, objects) if plugins.pod_node_selector else ()),
        *_priority(pod, objects),
        *_runtime_class(pod, objects),
    ]


def _limit_ranges(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    for limit_range in objects.limit_ranges:
        if limit_range.metadata.namespace != pod.metadata.namespace:
            continue
        limits: ResourceList = {}
        requests: ResourceList = {}
        for item in limit_range.spec.limits:
            if item.type == "Container":
                defaults = _item_defaults(item)
                limits |= defaults[0]
                requests |= defaults[1]
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            changed = [*_fill(container, "limits", limits), *_fill(container, "requests", requests)]
            if changed:
                yield f"LimitRange {limit_range.metadata.name}: container {container.name} gets {', '.join(changed)}"


def _item_defaults(item: LimitRangeItem) -> tuple[ResourceList, ResourceList]:
    """API defaulting of an item: a maximum implies a default limit, which implies a default request, as does a minimum."""
    limits = {**item.max, **item.default}
    return limits, {**item.min, **limits, **item.default_request}


def _fill(container: Container, kind: str, defaults: ResourceList) -> list[str]:
    given: ResourceList = getattr(container.resources, kind)
    missing = {name: amount for name, amount in defaults.items() if name not in given}
    if missing:
        setattr(container.resources, kind, {**given, **missing})
    return [f"{kind}.{name} {amount}" for name, amount in sorted(missing.items())]


def _node_selector(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    namespace = next((found for found in objects.namespaces if found.metadata.name == pod.metadata.namespace), None)
    text = namespace.metadata.annotations.get(NODE_SELECTOR) if namespace is not None else None
    if not text:
        return
    wanted = {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(",")) if key.strip()}
    if any(pod.spec.node_selector.get(key, value) != value for key, value in wanted.items()):
        raise ForbiddenError("pod node label selector conflicts with its namespace node label selector")
    added = {key: value for key, value in wanted.items() if key not in pod.spec.node_selector}
    if added:
        pod.spec.node_selector = {**pod.spec.node_selector, **added}
        yield f"Namespace {pod.metadata.namespace}: nodeSelector {', '.join(f'{key}={value}' for key, value in sorted(added.items()))}"


def _priority(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """The class's priority; a class that was not listed leaves the pod as it is, since nothing is known about it."""
    spec = pod.spec
    name = spec.priority_class_name
    if name in _BUILT_IN_PRIORITIES:
        priority, policy = _BUILT_IN_PRIORITIES[name], ""
    else:
        classes = objects.priority_classes
        default = min((found for found in classes if found.global_default), key=lambda found: found.value, default=None)
        found = next((each for each in classes if each.metadata.name == name), None) if name else default
        if found is None:
            if name and objects.knows(PriorityClass):
                raise ForbiddenError(f"no PriorityClass with name {name} was found")
            return
        name, priority, policy = found.metadata.name, found.value, found.preemption_policy
    if spec.priority is not None and spec.priority != priority:
        computed = f"priority admission controller computed {priority} from the given PriorityClass name"
        raise ForbiddenError(f"the integer value of priority ({spec.priority}) must not be provided in pod spec; {computed}")
    if spec.priority is None:
        yield f"PriorityClass {name}: priority {priority}"
    spec.priority_class_name, spec.priority = name, priority
    spec.preemption_policy = spec.preemption_policy or policy or None


def _runtime_class(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    name = pod.spec.runtime_class_name
    if not name or not objects.knows(RuntimeClass):
        return
    found = next((each for each in objects.runtime_classes if each.metadata.name == name), None)
    if found is None:
        raise ForbiddenError(f'pod rejected: RuntimeClass "{name}" not found')
    overhead = found.overhead.pod_fixed if found.overhead is not None else {}
    if pod.spec.overhead and amounts(pod.spec.overhead) != amounts(overhead):
        raise ForbiddenError("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    if overhead:
        pod.spec.overhead = overhead
        yield f"RuntimeClass {name}: overhead {', '.join(f'{key} {value}' for key, value in sorted(overhead.items()))}"
    if found.scheduling is None:
        return
    for key, value in sorted(found.scheduling.node_selector.items()):
        if pod.spec.node_selector.get(key, value) != value:
            theirs = f"pod.spec.nodeSelector[{key}] = {pod.spec.node_selector[key]}"
            raise ForbiddenError(f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; {theirs}")
    if found.scheduling.node_selector:
        pod.spec.node_selector = {**pod.spec.node_selector, **found.scheduling.node_selector}
        yield f"RuntimeClass {name}: nodeSelector {', '.join(f'{k}={v}' for k, v in sorted(found.scheduling.node_selector.items()))}"
    if found.scheduling.tolerations:
        # A superset of what admission keeps: it only drops tolerations that another one covers.
        pod.spec.tolerations = [*pod.spec.tolerations, *found.scheduling.tolerations]
        yield f"RuntimeClass {name}: tolerations {', '.join(map(_toleration, found.scheduling.tolerations))}"


def _toleration(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or '(any)'}{value}:{toleration.effect or '(any)'}"
