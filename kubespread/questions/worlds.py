"""From a snapshot to a world in which things happen, and back."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import owner_kind
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_groups import group_name, has_gangs
from kubespread.kube.time import instant
from kubespread.kube.versions import KubeVersion
from kubespread.questions.causes.not_modelled import groups_of_others
from kubespread.questions.scheduler import Scheduler
from kubespread.scheduler.profile.profile import framework
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.store.owners import PodCopy, name_of
from kubespread.world.store.store import Start, WorldSettings
from kubespread.world.store.waiting import Scheduled

_LONG_AGO = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


def world_of(
    snapshot: Snapshot, scheduler: Scheduler, *, preempts: bool = True, assumed: dict[str, None] | None = None
) -> World:
    """World of ``snapshot`` without its edits.

    ``assumed`` collects assumptions about it; pass another cluster's to share it in one answer.
    """
    version = scheduler.release(snapshot.origin.release)
    frameworks: dict[str, Scheduled | None] = {}

    def scheduler_of(pod: Pod) -> Scheduled | None:
        name = pod.spec.scheduler_name
        if name not in frameworks:
            try:
                profile = scheduler.profile_for(name, version)
                frameworks[name] = profile, framework(profile)
            except UsageError:
                frameworks[name] = None
        return frameworks[name]

    def making(name: WorkloadName, objects: ClusterObjects) -> PodCopy:
        # Imported on demand: few worlds create pods.
        from kubespread.candidate.candidate import from_cluster
        from kubespread.candidate.sources import Reference
        from kubespread.candidate.sources import Surroundings as CandidateSurroundings

        surroundings = CandidateSurroundings(
            replace(snapshot, objects=objects), version, namespace=name.namespace, admission=scheduler.admission_plugins
        )
        candidate = from_cluster(Reference(owner_kind(name.kind), name.name, name.namespace), surroundings)
        world.assume(candidate.admission_gaps)
        return PodCopy(candidate.pod, candidate.companions)

    start = start_of(snapshot, version)
    surroundings = WorldSettings(
        scheduler_of,
        making,
        snapshot.cache.get_or_make("time", lambda: _time(snapshot)),
        version,
        preempts,
        admission=scheduler.admission_plugins,
        assumed={} if assumed is None else assumed,
    )
    world = World(start, surroundings)
    is_read = has_gangs(version)

    def are_grouped() -> bool:
        return any(groups_of_others(pod) or (is_read and group_name(pod) is not None) for pod in start.pods)

    if snapshot.cache.get_or_make(("groups", str(version)), are_grouped):
        world.assume(["pods of a group are placed one at a time, not all or none of it (simulate --gang N does)"])
    return world


def start_of(snapshot: Snapshot, version: KubeVersion) -> Start:
    """Start of the worlds of ``snapshot``, with pods as a scheduler of this release counts them."""
    return snapshot.cache.get_or_make(
        ("start", str(version)),
        lambda: Start.build(snapshot.nodes, as_counted(snapshot.pods, version), snapshot.objects),
    )


def as_snapshot(world: World, snapshot: Snapshot) -> Snapshot:
    """World as a snapshot with the origin of ``snapshot``."""
    from kubespread.scheduler.plugins.dynamicresources.judging import written_back

    objects, pods = written_back(world.cluster, objects_now(world), tuple(world.book))
    return replace(snapshot, nodes=tuple(world.living.nodes.objects), pods=pods, objects=objects, edits=())


def _time(snapshot: Snapshot) -> datetime.datetime:
    """Time at which the cluster was read; else the latest time of its pods, so that none is in the future."""
    recorded = instant(snapshot.origin.time)
    if recorded is not None:
        return recorded
    times = (time for pod in snapshot.pods for time in _times(pod))
    return max((moment for text in times if (moment := instant(text)) is not None), default=_LONG_AGO)


def _times(pod: Pod) -> Iterable[str]:
    return (pod.metadata.creation_timestamp, *(condition.last_transition_time for condition in pod.status.conditions))


Resizable = TypeVar("Resizable", ReplicaSet, ReplicationController, StatefulSet)


def objects_now(world: World) -> ClusterObjects:
    """Objects besides nodes and pods, with current replicas and the annotations of Deployments' controllers."""
    objects, rollouts = world.objects, world.rollouts
    rolled_out = {name_of(row): row.metadata for rollout in rollouts.values() for row in rollout.replica_sets}
    deployments = (
        rollouts[name].deployment if (name := name_of(deployment)) in rollouts else deployment
        for deployment in objects.get(Deployment)
    )
    remaining = (
        # A Deployment does nothing but scale while one notes another number of desired replicas than its own.
        replace(replica_set, metadata=rolled_out.get(name, replica_set.metadata))
        for replica_set in objects.get(ReplicaSet)
        if (name := name_of(replica_set)) in rolled_out or world.watchers.get(name) is None
    )
    return (
        objects.with_all(Deployment, deployments)
        .with_all(ReplicaSet, (_resize(world, replica_set) for replica_set in remaining))
        .with_all(ReplicationController, (_resize(world, obj) for obj in objects.get(ReplicationController)))
        .with_all(StatefulSet, (_resize(world, obj) for obj in objects.get(StatefulSet)))
    )


def _resize(world: World, obj: Resizable) -> Resizable:
    name = WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)
    owner = world.owners.get(name)
    if owner is None or obj.spec.replicas == owner.replicas:
        return obj
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, replicas=owner.replicas))
