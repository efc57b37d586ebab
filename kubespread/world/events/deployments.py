"""Deployments while they are scaled or rolled out: ReplicaSets that grow and shrink, pass by pass."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.deployment import new_replica_set
from kubespread.controllers.deployment import reconcile as controller_pass
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName, controller_of, is_active, is_ready
from kubespread.world.store.owners import Rollout
from kubespread.world.store.store import Store


def name_of(workload: Deployment | ReplicaSet) -> WorkloadName:
    return WorkloadName(type(workload).__name__, workload.metadata.namespace, workload.metadata.name)


def reconcile(world: Store, name: WorkloadName) -> bool:
    """One pass of the Deployment controller; whether it wrote anything."""
    rollout = world.rollouts[name]
    before = [_with_status(world, replica_set) for replica_set in rollout.replica_sets]
    pods = [pod for replica_set in before for pod in world.book.of(name_of(replica_set))]
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


def rollout_of_cluster(world: Store, name: WorkloadName) -> Rollout:
    """The Deployment as it is in the cluster; a missing one is taken to have no pods yet.

    If none of its ReplicaSets has its template, the cluster's source was incomplete or the controller has not seen a
    change yet: the ReplicaSet with the most pods is then taken to have it.
    """
    deployment = world.workloads.deployments.get(name)
    if deployment is None:
        deployment = Deployment(metadata=ObjectMeta(name=name.name, namespace=name.namespace))
    stored = world.workloads.replica_sets
    below = dict.fromkeys(
        (*(owner for owner in stored if world.workloads.above(owner) == name), *world.owners_below(name))
    )
    own = [
        stored.get(owner) or ReplicaSet(metadata=ObjectMeta(name=owner.name, namespace=owner.namespace))
        for owner in below
    ]
    replica_sets = [sized(world, replica_set) for replica_set in own]
    if replica_sets and new_replica_set(deployment, replica_sets) is None:
        most = max(replica_sets, key=lambda replica_set: replica_set.spec.replicas or 0)
        template = replace(most, spec=replace(most.spec, template=deployment.spec.template))
        replica_sets[replica_sets.index(most)] = template
    return Rollout(deployment, replica_sets)


def sized(world: Store, replica_set: ReplicaSet) -> ReplicaSet:
    """A ReplicaSet without ``replicas`` is taken to want as many pods as it runs."""
    if replica_set.spec.replicas is not None:
        return replica_set
    active = sum(map(is_active, world.book.of(name_of(replica_set))))
    return replace(replica_set, spec=replace(replica_set.spec, replicas=active))


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


def _resize(world: Store, replica_set: ReplicaSet, deployment: WorkloadName) -> None:
    name = name_of(replica_set)
    world.watchers[name] = deployment
    owner = world.owner(name)
    replicas = 1 if replica_set.spec.replicas is None else replica_set.spec.replicas
    owner.replicas = replicas
    world.dirty[name] = None


def _with_status(world: Store, replica_set: ReplicaSet) -> ReplicaSet:
    """With the status that the ReplicaSet's own controller would have written. Whoever is ready is available: no time
    passes between.
    """
    pods = [pod for pod in world.book.of(name_of(replica_set)) if is_active(pod)]
    ready = sum(map(is_ready, pods))
    status = replace(replica_set.status, replicas=len(pods), ready_replicas=ready, available_replicas=ready)
    return replace(replica_set, status=status)
