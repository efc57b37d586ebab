"""Running pods on nodes where kube-scheduler would not put them any more: their own selectors, taints and affinity.

Nobody evicts them for it; but a pod that is made again may not come back, and what it asks for is not what it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import Counted, State, Status
from kubespread.scheduler.plugins.inter_pod_affinity import AFFINITY, ANTI_AFFINITY, InterPodAffinity
from kubespread.scheduler.plugins.node_affinity import CONFLICT, NodeAffinity, NodeAffinityState
from kubespread.scheduler.plugins.node_properties import TaintToleration
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import WorkloadOf

Rule = Literal["nodeAffinity", "taint", "podAffinity", "podAntiAffinity"]
_OF_NODES = "node.kubernetes.io/"
"""Prefix of the taints that say how a node is: cordoned, not ready, under pressure."""


class Stray(Struct, frozen=True):
    """A pod that breaks one rule of its own."""

    pod: NamespacedName
    workload: WorkloadName
    node: str
    rule: Rule
    detail: str = ""
    """The first taint that it does not tolerate."""


def strays(world: World, workload: WorkloadOf) -> Iterator[Stray]:
    """Find strays pod by pod, in the cluster's order; pods of schedulers that are not modeled are not judged."""
    judges: dict[int, _Judge] = {}
    for pod in world.book:
        position = world.living.nodes.index.get(pod.spec.node_name)
        if position is None or (name := workload(pod)) is None:
            continue
        scheduled = world.surroundings.scheduler_of(pod)
        if scheduled is None:
            continue
        plugins = scheduled[1]
        judge = judges.get(id(plugins))
        if judge is None:
            judge = judges[id(plugins)] = _Judge(world, plugins)
        for rule, detail in judge.broken(pod, position):
            yield Stray(NamespacedName.of(pod), name, pod.spec.node_name, rule, detail)


_NOWHERE: Mask = np.zeros(1, dtype=np.bool_)


def _passing(state: State | Status) -> Mask | None:
    """The nodes that a filter lets a pod on, one entry for all where none is; None where all are."""
    if isinstance(state, Status):
        return _NOWHERE if state is CONFLICT else None
    judged = state.filter() if isinstance(state, NodeAffinityState) else None
    return None if judged is None else judged.passes


class _Judge:
    """The filters of one profile that look at a pod's own rules."""

    def __init__(self, world: World, plugins: Framework) -> None:
        self._world = world
        running = plugins.running
        self._node_affinity = next((plugin for plugin in running if isinstance(plugin, NodeAffinity)), None)
        self._taints = next((plugin for plugin in running if isinstance(plugin, TaintToleration)), None)
        self._pod_affinity = next((plugin for plugin in running if isinstance(plugin, InterPodAffinity)), None)
        self._allowed: dict[object, Mask | None] = {}
        self._around: dict[int, Counted | None] = {}

    def broken(self, pod: Pod, position: int) -> Iterator[tuple[Rule, str]]:
        spec = pod.spec
        if self._node_affinity is not None and (spec.node_selector or spec.affinity is not None):
            key = self._node_affinity.signature(pod)
            if key not in self._allowed:
                self._allowed[key] = _passing(self._node_affinity.prepare(self._world.cluster, pod))
            passing = self._allowed[key]
            if passing is not None and not passing[min(position, len(passing) - 1)]:
                yield "nodeAffinity", ""
        if self._taints is not None:
            taints = self._world.living.nodes.objects[position].spec.taints
            lacking = untolerated(taints, spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self._taints.compares)
            lacking = [taint for taint in lacking if not taint.key.startswith(_OF_NODES)]
            if lacking:
                first = lacking[0]
                yield "taint", f"{first.key}{f'={first.value}' if first.value else ''}:{first.effect}"
        if spec.affinity is not None and (reason := self._apart(pod, position)):
            yield reason, ""

    def _apart(self, pod: Pod, position: int) -> Rule | None:
        """Find which of its own terms other pods break, the pod itself not counted."""
        kind = self._world.cluster.kinds.number_of(pod)
        if kind not in self._around:
            plugin = self._pod_affinity
            state = None if plugin is None else plugin.prepare(self._world.cluster, pod)
            self._around[kind] = state if isinstance(state, Counted) else None
        state = self._around[kind]
        if state is None:
            return None
        state.move_one(kind, position, -1)
        judged = state.filter(np.array([position]))
        state.move_one(kind, position, 1)
        if judged is None or not (row := judged.rows.item(0)):
            return None
        status = judged.table[row - 1]
        return "podAffinity" if status is AFFINITY else "podAntiAffinity" if status is ANTI_AFFINITY else None
