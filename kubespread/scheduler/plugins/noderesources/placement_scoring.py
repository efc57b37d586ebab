"""How NodeResourcesFit scores a placement, the nodes that a group's pods share: by how much of them is taken.

It is always MostAllocated, with the resources and weights of the plugin's own strategy, over what all nodes of the
placement have and hold together.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, ScorePlacement
Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, scorePlacement
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kubespread.kube.resource_names import is_scalar
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Counts, LabelColumn
from kubespread.scheduler.plugins.noderesources.scoring import Scoring, Share, most_allocated


def allocation_of_domains(
    scoring: Scoring, cluster: Cluster, column: LabelColumn, requested: Mapping[str, Counts]
) -> Counts:
    """0..100 for each value of ``column``, by its code.

    ``requested`` is what the group's pods ask for in each domain, by resource, counted as scores count it. A named
    resource that they do not request does not count.
    """
    size, has_domain = len(column.values), column.present
    held = Holdings(cluster)

    def of_domains(amounts: Counts) -> Counts:
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, column.codes[has_domain], amounts[has_domain])
        return total

    shares = []
    for resource in scoring.resources:
        if resource.name not in requested and is_scalar(resource.name):
            continue
        used = of_domains(held.non_zero_requested(resource.name))
        allocatable = of_domains(held.allocatable(resource.name))
        shares.append(Share(resource.weight, allocatable, used, used + requested.get(resource.name, 0)))
    return np.asarray(most_allocated(shares, size), dtype=np.int64)
