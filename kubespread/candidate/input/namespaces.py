"""Errors for a namespace, or workloads, that the cluster does not have."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.errors import UsageError
from kubespread.kube.api.core import Namespace
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

_ALWAYS_THERE = "default"
_MAX_NAMED = 3


def no_workloads(snapshot: Snapshot, namespace: str | None, labels: str = "") -> UsageError:
    """The error if ``namespace`` (None: all) holds no workload with the requested ``labels``.

    A namespace that is known to be missing is reported in the API server's words.
    """
    subject = f"no workloads{f' with the labels {labels}' if labels else ''} in"
    if namespace is None:
        return UsageError(f"{subject} the cluster")
    if missing := missing_namespace(snapshot, namespace):
        return UsageError(missing)
    namespaces = _namespace_names(snapshot)
    hint = (
        alternatives(namespace, namespaces) if namespace not in namespaces else "" if labels else _elsewhere(snapshot)
    )
    return UsageError(f"{subject} namespace {namespace}{hint}")


def _elsewhere(snapshot: Snapshot) -> str:
    """That other namespaces have workloads, if they do."""
    made = (obj.metadata.namespace for row in POD_CREATORS.values() for obj in snapshot.objects.of(row.cls))
    namespaces = sorted({*made, *(pod.metadata.namespace for pod in snapshot.pods)})
    return f"; there are some in {some_of(namespaces, _MAX_NAMED)}: -A asks about all" if namespaces else ""


def namespace_notes(snapshot: Snapshot, namespace: str) -> Iterator[str]:
    """That the API server would refuse a new pod in ``namespace``, which may well be made before the pod is."""
    if missing := missing_namespace(snapshot, namespace):
        yield f"{missing}; the answer is for once it is there"


def missing_namespace(snapshot: Snapshot, namespace: str) -> str:
    """In the API server's words; empty if the namespace exists, or if namespaces were not listed."""
    objects = snapshot.objects
    if not objects.knows(Namespace) or objects.named(Namespace, namespace) is not None:
        return ""
    # Few are asked about that are no objects; then all that the cluster has is looked through.
    namespaces = _namespace_names(snapshot)
    if namespace in namespaces:
        return ""
    return f"namespaces {quote(namespace)} not found{alternatives(namespace, namespaces)}"


def _namespace_names(snapshot: Snapshot) -> set[str]:
    return {_ALWAYS_THERE, *_namespaces(snapshot)}


def _namespaces(snapshot: Snapshot) -> Iterator[str]:
    """Those that objects are in, and those that are objects themselves."""
    objects = snapshot.objects
    yield from (namespace.metadata.name for namespace in objects.of(Namespace))
    yield from (pod.metadata.namespace for pod in snapshot.pods)
    for group in objects.by_type.values():
        yield from (obj.metadata.namespace for obj in group if obj.metadata.namespace)
