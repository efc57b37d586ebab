"""Pods that kubelets run from files of their own, which kube-scheduler is never asked about."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.annotations import CONFIG_SOURCE, MIRROR_POD
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controller_of

_API = "api"


def static_notes(pod: Pod) -> Iterator[str]:
    """That the pod is one of them, where it is."""
    annotations, owner = pod.metadata.annotations, controller_of(pod)
    is_owned_by_node = owner is not None and owner.kind == "Node"
    if MIRROR_POD in annotations or annotations.get(CONFIG_SOURCE, _API) != _API or is_owned_by_node:
        yield (
            f"Pod/{pod.metadata.name} is a static pod: the kubelet of its node runs it whatever kube-scheduler would "
            "say; it is judged as if it were any other pod"
        )
