"""Why a pod finds no room on a node, put shortly: what the node lacks, or what else holds pods off it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.planner.capacity.room import PODS
from kubespread.planner.details import details_of
from kubespread.planner.reports.capacity import StrandedBy
from kubespread.planner.reports.details import CordonDetail, Detail, PodCountDetail, ResourceDetail, TaintDetail
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import Status
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit

_RESOURCES = (PodCountDetail, ResourceDetail)


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
    details = details_of(evaluation)
    found: dict[int, Obstacle] = {}
    for node in np.flatnonzero(~evaluation.feasible).tolist():
        status = evaluation.verdict(node)
        obstacle = _obstacle(status, details.get(status.plugin, {}).get(node, ()))
        if not obstacle.resources and (short := _short(details.get(NodeResourcesFit.name, {}).get(node, ()))):
            obstacle = Obstacle("resource", resources=short, closed=obstacle.texts[0])
        found[node] = obstacle
    return found


def _obstacle(status: Status, details: Sequence[Detail]) -> Obstacle:
    match details:
        case [CordonDetail(), *_]:
            return Obstacle("cordoned")
        case [TaintDetail() as taint, *_]:
            return Obstacle("tainted", taint.short.removeprefix("taint "))
        case [PodCountDetail() | ResourceDetail(), *_]:
            return Obstacle("resource", resources=_short(details))
        case _:
            return Obstacle("rejected", ", ".join(status.reasons))


def _short(details: Sequence[Detail]) -> tuple[str, ...]:
    return tuple(
        PODS if isinstance(each, PodCountDetail) else each.resource for each in details if isinstance(each, _RESOURCES)
    )
