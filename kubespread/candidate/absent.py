"""What is said where a question is about workloads of a cluster, and none is there."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import FIELDS, Namespace
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.snapshot.snapshot import Snapshot

_ALWAYS_THERE = "default"


def no_workloads(snapshot: Snapshot, namespace: str | None, labels: str = "") -> UsageError:
    """The error where ``namespace``, None for all, holds no workload with the ``labels`` asked for.

    A namespace that is known not to be there is told in the API server's words.
    """
    asked = f"no workloads{f' with the labels {labels}' if labels else ''} in"
    if namespace is None:
        return UsageError(f"{asked} the cluster")
    known = {_ALWAYS_THERE, *_namespaces(snapshot)}
    if namespace in known:
        return UsageError(f"{asked} namespace {namespace}")
    others = alternatives(namespace, known)
    if snapshot.objects.knows(Namespace):
        return UsageError(f"namespaces {quote(namespace)} not found{others}")
    return UsageError(f"{asked} namespace {namespace}{others}")


def _namespaces(snapshot: Snapshot) -> Iterator[str]:
    """Those that objects are in, and those that are objects themselves."""
    objects = snapshot.objects
    yield from (each.metadata.name for each in objects.namespaces)
    yield from (pod.metadata.namespace for pod in snapshot.pods)
    for name in FIELDS.values():
        yield from (each.metadata.namespace for each in getattr(objects, name) if each.metadata.namespace)
