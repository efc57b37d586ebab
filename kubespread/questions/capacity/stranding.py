"""Why a pod finds no room on a node, put shortly, and what is free there that no pod can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What holds a pod off a node."""

    cause: StrandedBy
    """``resource`` where it is what the node has too little of, pods among that."""
    detail: str = ""
    resources: tuple[str, ...] = ()
    """What is short."""
    closed: str = ""
    """What else holds pods off a node that has too little of something."""

    @property
    def texts(self) -> tuple[str, ...]:
        """In words; each resource by itself."""
        if self.resources:
            return (*self.resources, self.closed) if self.closed else self.resources
        return (f"taint {self.detail}" if self.cause == "tainted" else self.detail or self.cause,)


def obstacles(evaluation: Evaluation) -> Mapping[int, Obstacle]:
    """By node where the pod does not fit, what the first filter in profile order has against it; but what the node has
    too little of comes first: opening it would not help the pod.
    """
    if evaluation.rejection is not None or evaluation.error is not None:
        # Whatever it is, it is about the pod and not about a node.
        return dict.fromkeys(range(len(evaluation.cluster)), Obstacle("rejected", evaluation.message or ""))
    details = evaluation.causes()
    found: dict[int, Obstacle] = {}
    for node in np.flatnonzero(~evaluation.feasible).tolist():
        status = evaluation.verdict(node)
        obstacle = _obstacle(status, details.get(status.plugin, {}).get(node, ()))
        if not obstacle.resources and (short := _short(details.get(NodeResourcesFit.name, {}).get(node, ()))):
            obstacle = Obstacle("resource", resources=short, closed=obstacle.texts[0])
        found[node] = obstacle
    return found


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
    """The nodes that have no cpu or no memory left for pods that ask for some, besides ``nodes``, which have worse."""
    found = dict(nodes)
    for name in _SHARED:
        for node in np.flatnonzero(free(cluster, name) == 0).tolist():
            obstacle = found.get(node)
            if obstacle is None:
                found[node] = Obstacle("resource", resources=(name,))
            elif obstacle.cause == "resource" and obstacle.resources == _SHARED[:1]:
                found[node] = Obstacle("resource", resources=_SHARED)
    return found


def stranded(cluster: Cluster, resource: str, nodes: Mapping[int, Obstacle]) -> tuple[Stranded, ...]:
    """What is free of a resource on ``nodes``, by why no pod can have it; the largest amount first."""
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
    """Of a node with too little of several resources, the first that is not this one; where it is this one itself, the
    others need not be short.
    """
    if obstacle.cause != "resource":
        return obstacle.cause, obstacle.detail
    if resource in obstacle.resources:
        return "remainder", ""
    first = obstacle.resources[0]
    return ("pods", "") if first == PODS else ("resource", first)
