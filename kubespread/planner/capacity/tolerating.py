"""What taints alone keep off nodes: how many copies of a pod would fit if it tolerated them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kubespread.kube.api.core import Taint
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.taint_text import taint_text
from kubespread.planner.capacity.fitting import Copies, copies_fitting
from kubespread.planner.reports.capacity import IfTolerated
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.edits.new_nodes import is_state_taint


def if_tolerated(cluster: Cluster, asked: Copies, fits: Counts, *, compares: bool) -> IfTolerated | None:
    """What tolerations would add to the copies that ``fits`` counts on each node, None where they add nothing.

    A taint that says in what state a node is stays: nothing should tolerate it to find room. The number is that of
    copies that tolerate the taints that are named and no others. ``compares``: as of `kube.taint.tolerates`.
    """
    lists = _unwelcome(cluster, asked, compares=compares)
    every = {text: taint for taints in lists.values() for text, taint in taints.items()}
    then = _copies(cluster, asked, every)
    if then is None or then.sum() <= fits.sum():
        return None
    used = {text: every[text] for node in np.flatnonzero(then).tolist() for text in lists.get(node, ())}
    if len(used) < len(every):
        then = _copies(cluster, asked, used)
        if then is None or then.sum() <= fits.sum():
            return None
    return IfTolerated(fits=int(then.sum()), nodes=int((then > fits).sum()), taints=tuple(used))


def _copies(cluster: Cluster, asked: Copies, taints: Mapping[str, Taint]) -> Counts | None:
    try:
        return copies_fitting(cluster, asked.tolerating(taints.values())) if taints else None
    except SchedulingError:
        return None


def _unwelcome(cluster: Cluster, asked: Copies, *, compares: bool) -> dict[int, dict[str, Taint]]:
    """By node the taints that keep the pods off it, by their text, of nodes where all of these can be tolerated."""
    tolerations, found = asked.pod.spec.tolerations, {}
    for node, each in enumerate(cluster.nodes.objects):
        taints = untolerated(each.spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares)
        if taints and not any(map(is_state_taint, taints)):
            found[node] = {taint_text(taint): taint for taint in taints}
    return found
