"""How many replicas there can be at most, told without placing any."""

from __future__ import annotations

import sys

import numpy as np

from kubespread.kube.pod_requests import pod_requests
from kubespread.planner.posed import Question
from kubespread.planner.room import PODS, free
from kubespread.scheduler.cluster.amounts import scheduler_amounts
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit


def most_running(cluster: Cluster, question: Question) -> int:
    """More replicas than that cannot have a node, whatever else keeps them off: those that run, and as many more as
    cpu, memory and the number of pods leave room for.
    """
    if question.played is not None or NodeResourcesFit.name not in question.profile.filters:
        return sys.maxsize
    requests = scheduler_amounts(pod_requests(question.pod))
    room = free(cluster, PODS)
    for resource in ("cpu", "memory"):
        if requested := requests.get(resource, 0):
            room = np.minimum(room, free(cluster, resource) // requested)
    return len(question.present) + int(room.sum())
