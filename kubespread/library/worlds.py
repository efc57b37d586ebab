"""From a snapshot to a world in which things happen, and back."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from kubespread.candidate.autoscaling import autoscaling_notes
from kubespread.candidate.candidate import Surroundings as CandidateSurroundings
from kubespread.candidate.references import Reference
from kubespread.candidate.stored import from_cluster
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_groups import group_name, has_gangs
from kubespread.kube.proposals import told as told_of_proposals
from kubespread.kube.timestamps import instant
from kubespread.library.deciding import Scheduler
from kubespread.planner.world.editing import apply
from kubespread.planner.world.objects import objects_now
from kubespread.planner.world.owners import Made
from kubespread.planner.world.telling import NO_TIME, told
from kubespread.planner.world.waiting import Scheduled
from kubespread.planner.world.world import Surroundings, World
from kubespread.scheduler.building import framework
from kubespread.scheduler.plugins.dynamicresources.writing_back import written_back
from kubespread.snapshot.edits.types import Edit, Scale
from kubespread.snapshot.snapshot import Snapshot

_LONG_AGO = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


def world_of(snapshot: Snapshot, scheduler: Scheduler, *, preempts: bool = True) -> World:
    """The cluster of ``snapshot`` as it stands, its own edits not made."""
    version = scheduler.release(snapshot.origin.server_version)
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

    def making(name: WorkloadName, objects: ClusterObjects) -> Made:
        surroundings = CandidateSurroundings(
            objects, version, namespace=name.namespace, admission=scheduler.admission_plugins()
        )
        source = replace(snapshot, objects=objects)
        made = from_cluster(Reference(POD_CREATORS[name.kind], name.name, name.namespace), source, surroundings)
        return Made(made.pod, made.companions)

    pods = as_counted(snapshot.pods, version)
    surroundings = Surroundings(scheduler_of, making, _time(snapshot), version, preempts)
    world = World(snapshot.nodes, pods, snapshot.objects, surroundings)
    if has_gangs(version) and any(group_name(pod, version) is not None for pod in pods):
        world.assume(["pods of a group are placed one at a time, not all or none of the group"])
    return world


def edited(snapshot: Snapshot, scheduler: Scheduler, namespace: str | None = None) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster after the edits of ``snapshot``, and what to say whatever is asked of it: which proposed semantics it
    goes by, and what the edits came to. Raises UsageError.
    """
    proposals = tuple(told_of_proposals(scheduler.release(snapshot.origin.server_version).proposed))
    if not snapshot.edits:
        return snapshot, proposals
    world = world_of(snapshot, scheduler)
    default = namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    notes: list[str] = [*proposals]
    has_happened = False
    for edit in snapshot.edits:
        waited = set(world.queue.waiting)
        apply(world, edit, default)
        notes += (*told(str(edit), world, waited), *_beyond(edit, world, default))
        step = world.next_step()
        has_happened |= bool(step.gone or step.placed)
    if has_happened:
        notes.append(NO_TIME)
    after = as_snapshot(world, snapshot)
    made = "; ".join(map(str, snapshot.edits))
    known = snapshot.origin
    # Nobody is to take it for the cluster as it was.
    origin = msgspec.structs.replace(
        known,
        source=f"{known.source}, after {made}" if known.source else f"after {made}",
        gaps=tuple(dict.fromkeys((*known.gaps, *(world.assumed if has_happened else ())))),
    )
    return replace(after, origin=origin), tuple(notes)


def _beyond(edit: Edit, world: World, namespace: str) -> Iterator[str]:
    """Who else has a say in a number of replicas."""
    if not isinstance(edit, Scale):
        return
    where, objects = edit.namespace or namespace, world.workloads.objects
    for note in autoscaling_notes(WorkloadName(edit.kind.kind, where, edit.name), objects):
        yield f"{edit}: {note}"
    quotas = [each.metadata.name for each in objects.resource_quotas if each.metadata.namespace == where]
    if quotas and world.happenings.placed:
        yield f"{edit}: ResourceQuota {', '.join(quotas)} of namespace {where} is not asked"


def as_snapshot(world: World, snapshot: Snapshot) -> Snapshot:
    """The world as a snapshot of its own, which comes from where ``snapshot`` does."""
    objects, pods = written_back(world.cluster, objects_now(world), tuple(world.book))
    return replace(snapshot, nodes=tuple(world.living.nodes.objects), pods=pods, objects=objects, edits=())


def _time(snapshot: Snapshot) -> datetime.datetime:
    """When the cluster was read; else when the last of its pods came to be, so that none is of the future."""
    known = instant(snapshot.origin.time)
    if known is not None:
        return known
    times = (time for pod in snapshot.pods for time in _times(pod))
    return max((found for text in times if (found := instant(text)) is not None), default=_LONG_AGO)


def _times(pod: Pod) -> Iterable[str]:
    return (pod.metadata.creation_timestamp, *(each.last_transition_time for each in pod.status.conditions))
