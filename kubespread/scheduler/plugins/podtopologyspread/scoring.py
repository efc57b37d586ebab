"""The soft constraints: fewer matching pods in a node's domains score higher, weighted by how many domains there are.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, initPreScoreState, Score, scoreForCount,
    topologyNormalizingWeight, NormalizeScore
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import HOSTNAME
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.integers import round_half_away
from kubespread.scheduler.plugin import MAX_NODE_SCORE, Extent
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    CountedConstraint,
    NodeInclusion,
    has_all_keys,
)

Shares = NDArray[np.float64]


class SoftConstraint(CountedConstraint):
    """One ScheduleAnyway constraint and the pods it counts."""

    def __init__(self, cluster: Cluster, constraint: Constraint, eligible: Mask, namespace: str) -> None:
        column = cluster.nodes.label(constraint.topology_key)
        self.is_hostname = constraint.topology_key == HOSTNAME
        # A node without the label belongs to the domain "", which only matters where such nodes are scored at all.
        self._value_of_node = column.absent_as_empty
        # For kubernetes.io/hostname every node is its own domain, regardless of labels, and the policies do not apply.
        super().__init__(
            cluster,
            constraint,
            namespace,
            eligible=eligible,
            counts_on=np.ones_like(eligible) if self.is_hostname else eligible,
            domain=np.arange(len(column.codes), dtype=np.int32) if self.is_hostname else self._value_of_node,
            domains=len(column.codes) if self.is_hostname else len(column.values) + 1,
        )

    def around(self, nodes: Positions | None = None) -> Counts:
        """As the score counts them: 0 where the node lacks the key."""
        if self.is_hostname and nodes is None:
            around = self.counts
        else:
            around = super().around(nodes)
        if self.column.is_everywhere:
            return around
        return np.where(self.column.absent if nodes is None else self.column.absent[nodes], 0, around)

    def size(self, scored: Mask) -> int:
        """How many domains the scored nodes make up."""
        if self.is_hostname:
            return int(np.count_nonzero(scored))
        return int(np.count_nonzero(np.bincount(self._value_of_node[scored], minlength=1)))

    def share(self, scored: Mask) -> Shares:
        """What the constraint adds to each node's raw score; nothing where the node lacks the key."""
        weight = math.log(self.size(scored) + 2)
        share = self.around().astype(np.float64) * weight + float(self.constraint.max_skew - 1)
        return share if self.column.is_everywhere else np.where(self.column.absent, 0.0, share)


class SoftConstraints:
    """The soft group of one pod."""

    def __init__(
        self, cluster: Cluster, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, *, strict: bool
    ) -> None:
        all_keys = has_all_keys(cluster.nodes, constraints)
        self._compared = all_keys if strict else np.ones(len(cluster), dtype=np.bool_)
        """Nodes that are compared with one another where they fit; the others get 0."""
        self._compares_all = bool(self._compared.all())
        self.counted = [
            SoftConstraint(
                cluster,
                constraint,
                inclusion.of(constraint) & all_keys if strict else inclusion.of(constraint),
                pod.metadata.namespace,
            )
            for constraint in constraints
        ]

    def fork(self) -> SoftConstraints:
        """The same counts, to be updated apart from these."""
        fork = copy(self)
        fork.counted = [counted.fork() for counted in self.counted]
        return fork

    def scored(self, feasible: Mask) -> Mask:
        """The feasible nodes that are compared with one another."""
        return feasible if self._compares_all else feasible & self._compared

    def shares(self, feasible: Mask) -> list[Shares]:
        """Each constraint's part of the raw score."""
        scored = self.scored(feasible)
        return [counted.share(scored) for counted in self.counted]

    def score(self, feasible: Mask) -> Counts:
        """Raw scores, smaller is better."""
        first, *others = self.shares(feasible)
        for share in others:
            first = first + share
        return round_half_away(first)

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        counted = raw[self.scored(feasible)]
        return (max(0, int(counted.max())), int(counted.min())) if counted.size else (0, 0)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """From 100 for the least raw score of the scored nodes downwards; 0 for nodes that are left out."""
        highest, lowest = extent
        score = MAX_NODE_SCORE * (highest + lowest - raw) // highest if highest else np.full_like(raw, MAX_NODE_SCORE)
        return score if self._compares_all else np.where(self._compared, score, 0)
