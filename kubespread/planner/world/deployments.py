"""Deployments while they are scaled or rolled out: ReplicaSets that grow and shrink, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubespread.controllers.rollout import reconcile as controller_pass
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.pod_status import is_active, is_ready

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


@dataclass(slots=True)
class Rollout:
    """A Deployment that was changed, with its ReplicaSets."""

    deployment: Deployment
    replica_sets: Sequence[ReplicaSet]
    template: Pod | None = None
    """What the ReplicaSet of its template makes copies of, where that is new."""
    new_hash: str = ""

    def fork(self) -> Rollout:
        return Rollout(self.deployment, self.replica_sets, self.template, self.new_hash)


def name_of(obj: Deployment | ReplicaSet) -> WorkloadName:
    return WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)


def reconcile(world: World, name: WorkloadName) -> bool:
    """One pass of the Deployment controller; whether it wrote anything."""
    rollout = world.rollouts[name]
    before = [_with_status(world, each) for each in rollout.replica_sets]
    pods = [pod for each in before for pod in world.book.of(name_of(each))]
    after = controller_pass(rollout.deployment, before, pods, new_hash=rollout.new_hash, now=world.time)
    rollout.deployment, rollout.replica_sets = after.deployment, after.replica_sets
    if after.created is not None:
        world.add_objects([after.created])
        if rollout.template is not None:
            owner = world.owner(name_of(after.created))
            owner.template = owned_by(rollout.template, after.created)
    for replica_set in after.replica_sets:
        _resize(world, replica_set, name)
    return list(after.replica_sets) != before


def rollout_of_cluster(world: World, name: WorkloadName) -> Rollout:
    """The Deployment as it is in the cluster; of one that is not there, one that has no pods yet."""
    replica_sets = world.workloads.objects.replica_sets
    own = [each for each in replica_sets if world.workloads.above(name_of(each)) == name]
    deployment = world.workloads.deployments.get(name)
    if deployment is None:
        deployment = Deployment(metadata=ObjectMeta(name=name.name, namespace=name.namespace))
    return Rollout(deployment, own)


def owned_by(template: Pod, replica_set: ReplicaSet) -> Pod:
    """The pod that ``replica_set`` makes: a template knows its owner by another name until it is there."""
    owner = controller_of(template)
    if owner is None or owner.name == replica_set.metadata.name:
        return template
    references = [replace(owner, name=replica_set.metadata.name, uid=replica_set.metadata.uid)]
    labels = {
        **template.metadata.labels,
        **(replica_set.spec.selector.match_labels if replica_set.spec.selector else {}),
    }
    return replace(template, metadata=replace(template.metadata, labels=labels, owner_references=references))


def _resize(world: World, replica_set: ReplicaSet, deployment: WorkloadName) -> None:
    name = name_of(replica_set)
    world.watchers[name] = deployment
    owner = world.owner(name)
    replicas = 1 if replica_set.spec.replicas is None else replica_set.spec.replicas
    owner.replicas = replicas
    world.dirty[name] = None


def _with_status(world: World, replica_set: ReplicaSet) -> ReplicaSet:
    """With the status that the ReplicaSet's own controller would have written. Whoever is ready is available: no time
    passes between.
    """
    pods = [pod for pod in world.book.of(name_of(replica_set)) if is_active(pod)]
    ready = sum(map(is_ready, pods))
    status = replace(replica_set.status, replicas=len(pods), ready_replicas=ready, available_replicas=ready)
    return replace(replica_set, status=status)
