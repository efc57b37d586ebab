"""DynamicResources: for a pod without resource claims it passes every node, and scores all of them 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.framework import State


class DynamicResources:
    name: ClassVar[str] = "DynamicResources"

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        return _State(len(cluster))


@dataclass
class _State(State):
    nodes: int

    def score(self, feasible: Mask) -> Counts:
        return np.zeros(self.nodes, dtype=np.int64)
