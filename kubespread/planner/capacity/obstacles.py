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

_RESOURCES = (PodCountDetail, ResourceDetail)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What holds a pod off a node."""

    cause: StrandedBy
    """``resource`` where it is what the node has too little of, pods among that."""
    detail: str = ""
    resources: tuple[str, ...] = ()
    """What is short."""

    @property
    def texts(self) -> tuple[str, ...]:
        """In words; each resource by itself."""
        return self.resources or (f"taint {self.detail}" if self.cause == "tainted" else self.detail or self.cause,)


def obstacles(evaluation: Evaluation) -> Mapping[int, Obstacle]:
    """By node where the pod does not fit, what the first filter in profile order has against it."""
    if evaluation.rejection is not None or evaluation.error is not None:
        # Whatever it is, it is about the pod and not about a node.
        return dict.fromkeys(range(len(evaluation.cluster)), Obstacle("rejected", evaluation.message or ""))
    details = details_of(evaluation)
    found: dict[int, Obstacle] = {}
    for node in np.flatnonzero(~evaluation.feasible).tolist():
        status = evaluation.verdict(node)
        found[node] = _obstacle(status, details.get(status.plugin, {}).get(node, ()))
    return found


def _obstacle(status: Status, details: Sequence[Detail]) -> Obstacle:
    match details:
        case [CordonDetail(), *_]:
            return Obstacle("cordoned")
        case [TaintDetail() as taint, *_]:
            return Obstacle("tainted", taint.short.removeprefix("taint "))
        case [PodCountDetail() | ResourceDetail(), *_]:
            short = [
                PODS if isinstance(each, PodCountDetail) else each.resource
                for each in details
                if isinstance(each, _RESOURCES)
            ]
            return Obstacle("resource", resources=tuple(short))
        case _:
            return Obstacle("rejected", ", ".join(status.reasons))
