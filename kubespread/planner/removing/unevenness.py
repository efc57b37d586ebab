"""Workloads whose hard spread constraints do not hold any more, though nobody placed a pod against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.planner.skew import skew_now
from kubespread.planner.world.owners import in_order
from kubespread.planner.world.reporting import workload_of, workload_text
from kubespread.planner.world.spread import constraints_on
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.cluster import Cluster


def violated(world: World, before: Cluster, placed: Iterable[Pod]) -> tuple[str, ...]:
    """Of the workloads whose pods were ``placed`` since the cluster was ``before``, those that are more uneven now than
    maxSkew allows and than they were: ``NAMESPACE/Kind/name: zone skew 2 exceeds maxSkew 1``.
    """
    pods: dict[WorkloadName, Pod] = {}
    for pod in placed:
        if any(each.when_unsatisfiable == DO_NOT_SCHEDULE for each in pod.spec.topology_spread_constraints):
            pods[workload_of(world, pod)] = pod
    return tuple(_said(world, before, sorted(pods.items(), key=lambda each: in_order(each[0]))))


def _said(world: World, before: Cluster, pods: Iterable[tuple[WorkloadName, Pod]]) -> Iterator[str]:
    scheduler_of = world.surroundings.scheduler_of
    for workload, pod in pods:
        for at, constraint in enumerate(constraints_on(world.cluster, pod, scheduler_of)):
            skew = skew_now(constraint)
            # Few are, and only of those it matters how they were.
            if not constraint.is_hard or skew <= constraint.max_skew:
                continue
            if skew > skew_now(constraints_on(before, pod, scheduler_of)[at]):
                key = constraint.topology_key.rpartition("/")[2]
                yield f"{workload_text(workload)}: {key} skew {skew} exceeds maxSkew {constraint.max_skew}"
