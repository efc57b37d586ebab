"""What keeps pods from being evicted before any node is drained: budgets, and what kubectl and autoscalers of nodes
refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName
from kubespread.kube.taint import DrainFlags
from kubespread.kube.well_known import DO_NOT_DISRUPT, SAFE_TO_EVICT
from kubespread.questions.removable.report import LeftBy
from kubespread.reports.outcome import TroubleKind
from kubespread.world.events.draining import drain_plan
from kubespread.world.events.world import World
from kubespread.world.reporting.outcomes import refusals
from kubespread.world.reporting.tight_budgets import WorkloadOf, refused_pods

Cause = TroubleKind | LeftBy
KEPT: Mapping[Cause, tuple[Literal["warning", "notice"], str]] = {
    "localStorage": ("notice", "with data in emptyDir volumes, which a drain deletes"),
    "noController": (
        "warning",
        "cannot be drained: kubectl drain refuses without --force, for pods that nothing makes again",
    ),
    "daemonSet": ("warning", "cannot be drained: kubectl drain refuses, for pods of a DaemonSet that is gone"),
    "blocked": ("warning", "cannot be drained: a budget refuses an eviction now"),
    "safeToEvict": ("notice", f"not removed by cluster-autoscaler, for pods annotated {SAFE_TO_EVICT}: false"),
    "doNotDisrupt": ("notice", f"not removed by Karpenter, for {DO_NOT_DISRUPT}: true"),
}
"""How bad each cause is for a cluster, and what follows a number of nodes."""
_ASKING = DrainFlags(delete_emptydir_data=False)
"""kubectl drain as it has to be typed: it refuses to delete data in emptyDir, and pods without a controller."""


class KeptNode(Struct, frozen=True):
    """One reason why a node is not drained, of one node."""

    cause: Cause
    node: str
    pods: tuple[NamespacedName, ...]
    """Those that are the reason; none where it is the node itself."""


def kept_nodes(world: World, workload: WorkloadOf) -> Iterator[KeptNode]:
    """Every node with each reason, in the cluster's order."""
    for node in world.living.nodes.objects:
        name = node.metadata.name
        pods = {NamespacedName.of(pod): pod for pod in world.book.on(name) if workload(pod) is not None}
        refused: dict[Cause, list[NamespacedName]] = {}
        for trouble in refusals(drain_plan(world, name, _ASKING)):
            if trouble.subject in pods:
                refused.setdefault(trouble.kind, []).append(trouble.subject)
        refused["blocked"] = [NamespacedName.of(pod) for pod in refused_pods(world, workload, name)]
        yield from (KeptNode(cause, name, tuple(held)) for cause, held in refused.items() if held)
        yield from _kept_by_autoscalers(node, pods)


def kept_by_autoscalers(world: World, workload: WorkloadOf, names: Collection[str]) -> Iterator[KeptNode]:
    """Those of the named nodes that autoscalers of nodes leave alone since annotations say so; kubectl does not ask."""
    for node in world.living.nodes.objects:
        if (name := node.metadata.name) in names:
            pods = {NamespacedName.of(pod): pod for pod in world.book.on(name) if workload(pod) is not None}
            yield from _kept_by_autoscalers(node, pods)


def _kept_by_autoscalers(node: Node, pods: dict[NamespacedName, Pod]) -> Iterator[KeptNode]:
    if unsafe := _annotated(pods, SAFE_TO_EVICT, "false"):
        yield KeptNode("safeToEvict", node.metadata.name, unsafe)
    undisturbed = _annotated(pods, DO_NOT_DISRUPT, "true")
    if undisturbed or node.metadata.annotations.get(DO_NOT_DISRUPT) == "true":
        yield KeptNode("doNotDisrupt", node.metadata.name, undisturbed)


def _annotated(pods: dict[NamespacedName, Pod], annotation: str, value: str) -> tuple[NamespacedName, ...]:
    return tuple(key for key, pod in pods.items() if pod.metadata.annotations.get(annotation) == value)
