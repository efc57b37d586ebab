"""What admission plugins cannot say of a pod, for want of the objects that they read."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import LimitRange, Namespace, Pod, ResourceQuota, RuntimeClass
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.scheduling import PriorityClass

_CONSEQUENCES: dict[type[ApiObject], str] = {
    LimitRange: "default requests and limits are not added",
    PriorityClass: "none is the default",
    ResourceQuota: "quotas are taken not to be exhausted",
}
"""Of the kinds that pods need whatever they are like."""


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
