"""How many copies of a pod fit on each node when as many as possible are placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.planner.entries import MAX_REPLICAS, Entry
from kubespread.planner.queue import run
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing, first_in_heap


@dataclass(frozen=True, slots=True)
class Filled:
    """A cluster that holds as many copies of a pod as fit."""

    cluster: Cluster
    copies: Counts
    """Per node."""


def filled(plugins: Framework, cluster: Cluster, pod: Pod) -> Filled:
    """``cluster`` with copies of ``pod`` until none fits any more. Raises SchedulingError when a PreFilter fails.

    Where every node is judged by itself, the order of the copies does not matter and all nodes are filled at once.
    Otherwise they are placed one after another, as kube-scheduler would.
    """
    copies = _each_by_itself(plugins, cluster, pod)
    if copies is not None:
        come = [(pod, node) for node in np.repeat(np.arange(len(cluster)), copies).tolist()]
        return Filled(cluster.after(Change(come=come)), copies)
    (outcome,), full = run(cluster, [Entry(pod, plugins, None)], first_in_heap)
    nodes = np.array([choice.node for choice in outcome.choices], dtype=np.intp)
    return Filled(full, np.bincount(nodes, minlength=len(cluster)))


def _each_by_itself(plugins: Framework, cluster: Cluster, pod: Pod) -> Counts | None:
    """How many fit on each node; None where copies matter beyond their nodes, or an error may end it all."""
    prepared = plugins.prepare(cluster, pod)
    if prepared.rejection is not None or prepared.nominated or prepared.evaluation().error is not None:
        return None
    placing = Placing(prepared)
    if placing.order_matters:
        return None
    copies = placing.room(MAX_REPLICAS)
    return None if placing.answers.may_fail or placing.answers.out_of_range else copies
