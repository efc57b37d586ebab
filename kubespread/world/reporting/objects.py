"""The workload objects of a world as their controllers have left them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.owners import WorkloadName
from kubespread.world.events.deployments import name_of
from kubespread.world.events.world import World

Resizable = TypeVar("Resizable", ReplicaSet, ReplicationController, StatefulSet)


def objects_now(world: World) -> ClusterObjects:
    """The objects besides nodes and pods, every number of replicas as it is now."""
    objects = world.objects
    deployments: dict[WorkloadName, Deployment] = {name: rollout.deployment for name, rollout in world.rollouts.items()}
    gone = {
        name_of(each)
        for each in objects.of(ReplicaSet)
        if world.watchers.get(name_of(each)) is not None and name_of(each) not in set(_of_rollouts(world))
    }
    left = (each for each in objects.of(ReplicaSet) if name_of(each) not in gone)
    return (
        objects.with_all(Deployment, (deployments.get(name_of(each), each) for each in objects.of(Deployment)))
        .with_all(ReplicaSet, (_resized(world, each) for each in left))
        .with_all(ReplicationController, (_resized(world, each) for each in objects.of(ReplicationController)))
        .with_all(StatefulSet, (_resized(world, each) for each in objects.of(StatefulSet)))
    )


def _of_rollouts(world: World) -> Iterator[WorkloadName]:
    return (name_of(each) for rollout in world.rollouts.values() for each in rollout.replica_sets)


def _resized(world: World, obj: Resizable) -> Resizable:
    name = WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)
    owner = world.owners.get(name)
    if owner is None or obj.spec.replicas == owner.replicas:
        return obj
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, replicas=owner.replicas))
