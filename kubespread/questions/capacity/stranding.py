"""Why a pod finds no room on a node, in short, and what is free there that no pod can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct

from kubespread.questions.capacity.report import Stranded, StrandedBy
from kubespread.questions.room import PODS, free
from kubespread.scheduler.causes import Causes, CordonDetail, PodCountDetail, ResourceDetail, TaintDetail
from kubespread.scheduler.cluster.amounts import canonical
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import Status
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit

_RESOURCES = (PodCountDetail, ResourceDetail)
_SHARED = ("cpu", "memory")
"""What every running process needs some of."""


class Obstacle(Struct, frozen=True):
    """What holds a pod off a node."""

    cause: StrandedBy
    """``resource`` where the node has too little of something, pods included."""
    detail: str = ""
    resources: tuple[str, ...] = ()
    """What is short."""
    closed: str = ""
    """What else keeps pods off a node that is short of something."""

    @property
    def texts(self) -> tuple[str, ...]:
        """In words; each resource by itself."""
        if self.resources:
            return (*self.resources, self.closed) if self.closed else self.resources
        return (f"taint {self.detail}" if self.cause == "tainted" else self.detail or self.cause,)


def obstacles(evaluation: Evaluation) -> Mapping[int, Obstacle]:
    """The obstacle on each node where the pod does not fit: the first filter's in profile order, but a shortage comes
    before all others, since opening the node would not help then.
    """
    if evaluation.rejection is not None or evaluation.error is not None:
        # This is about the pod, not about a node.
        return dict.fromkeys(range(len(evaluation.cluster)), Obstacle("rejected", evaluation.message or ""))
    details = evaluation.causes()
    by_node: dict[int, Obstacle] = {}
    for node in np.flatnonzero(~evaluation.feasible).tolist():
        status = evaluation.verdict(node)
        obstacle = _obstacle(status, details.get(status.plugin, {}).get(node, ()))
        if not obstacle.resources and (short := _short(details.get(NodeResourcesFit.name, {}).get(node, ()))):
            obstacle = Obstacle("resource", resources=short, closed=obstacle.texts[0])
        by_node[node] = obstacle
    return by_node


def _obstacle(status: Status, details: Causes) -> Obstacle:
    match details:
        case [CordonDetail(), *_]:
            return Obstacle("cordoned")
        case [TaintDetail() as taint, *_]:
            return Obstacle("tainted", taint.taint)
        case [PodCountDetail() | ResourceDetail(), *_]:
            return Obstacle("resource", resources=_short(details))
        case _:
            return Obstacle("rejected", ", ".join(status.reasons))


def _short(details: Causes) -> tuple[str, ...]:
    return tuple(
        PODS if isinstance(detail, PodCountDetail) else detail.resource
        for detail in details
        if isinstance(detail, _RESOURCES)
    )


def exhausted(cluster: Cluster, nodes: Mapping[int, Obstacle]) -> Mapping[int, Obstacle]:
    """The nodes with no cpu or no memory left, for pods that request some, besides ``nodes``, which have worse
    obstacles.
    """
    by_node = dict(nodes)
    for name in _SHARED:
        for node in np.flatnonzero(free(cluster, name) == 0).tolist():
            obstacle = by_node.get(node)
            if obstacle is None:
                by_node[node] = Obstacle("resource", resources=(name,))
            elif obstacle.cause == "resource" and obstacle.resources == _SHARED[:1]:
                by_node[node] = Obstacle("resource", resources=_SHARED)
    return by_node


def stranded(cluster: Cluster, resource: str, nodes: Mapping[int, Obstacle]) -> tuple[Stranded, ...]:
    """What is free of a resource on ``nodes``, by the reason no pod can use it; the largest amount first."""
    available = free(cluster, resource)
    amounts: dict[tuple[StrandedBy, str], list[int]] = {}
    for node, obstacle in nodes.items():
        if amount := available.item(node):
            amounts.setdefault(_cause(resource, obstacle), []).append(amount)
    return tuple(_sorted(amounts, resource))


def _sorted(amounts: Mapping[tuple[StrandedBy, str], list[int]], resource: str) -> Iterator[Stranded]:
    for (cause, detail), parts in sorted(amounts.items(), key=lambda item: (-sum(item[1]), item[0])):
        yield Stranded(cause=cause, detail=detail, nodes=len(parts), amount=canonical(resource, sum(parts)))


def _cause(resource: str, obstacle: Obstacle) -> tuple[StrandedBy, str]:
    """The reason on a node: of several short resources, the first other than this one; where this one is short itself,
    no other need be.
    """
    if obstacle.cause != "resource":
        return obstacle.cause, obstacle.detail
    if resource in obstacle.resources:
        return "remainder", ""
    first = obstacle.resources[0]
    return ("pods", "") if first == PODS else ("resource", first)
