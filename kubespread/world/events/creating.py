"""Workloads that are new to a cluster."""

from __future__ import annotations

from itertools import repeat

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.daemonset import pinned_to, should_run
from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.controllers.statefulset import REVISION_LABEL, Revisions
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from kubespread.kube.owners import WorkloadName, controller_of, static_notes
from kubespread.world.events.replicas import create_copies
from kubespread.world.events.world import World
from kubespread.world.store import pod_states as states
from kubespread.world.store.owners import Rollout, StatefulSetRollout
from kubespread.world.store.pod_book import key_of


class AppliedWorkload(Struct, frozen=True):
    """A workload that is applied or rolled out."""

    pod: Pod
    """The next one that it would make, admitted."""
    name: WorkloadName | None = None
    """None for a bare pod."""
    object: ApiObject | None = None
    """With the template; None for a kind that is not known."""
    replicas: int | None = None
    """None where the manifest sets none: a running workload keeps its number, a new one gets 1."""
    is_other_template: bool = True
    """Whether the template schedules differently from the running one, or the workload is restarted."""
    count: int = 1
    """How many pods run at once for a kind whose controller is not modeled."""


def create(world: World, applied: AppliedWorkload) -> None:
    """What is new is there, and its pods wait for nodes or will be made by its controller."""
    name, obj = applied.name, applied.object
    if name is None:
        _create_pod(world, applied)
        return
    if obj is not None and type(obj) in KEPT:
        world.add_objects([_with_replicas(obj, applied)])
    match obj:
        case Deployment():
            new_hash = applied.pod.metadata.labels.get(TEMPLATE_HASH, "")
            deployment = world.workloads.deployments[name]
            world.rollouts[name] = Rollout(deployment, (), applied.pod, new_hash)
            world.dirty[name] = None
        case StatefulSet():
            revision = applied.pod.metadata.labels.get(REVISION_LABEL, "")
            template = {revision: states.as_template(applied.pod)}
            stateful_set = world.workloads.stateful_sets[name]
            world.stateful_sets[name] = StatefulSetRollout(stateful_set, Revisions(revision, revision), template)
            world.owner(name).replicas = _replicas(applied)
            world.dirty[name] = None
        case ReplicaSet() | ReplicationController():
            owner = world.owner(name)
            owner.template, owner.replicas = states.as_template(applied.pod), _replicas(applied)
            world.dirty[name] = None
        case DaemonSet():
            _create_daemons(world, name, applied)
        case Job() if obj.spec.suspend:
            world.happenings.note(f"Job/{name.name} is suspended: it makes no pods until it is resumed")
        case CronJob() | PodTemplate():
            world.happenings.note(f"{name.kind}/{name.name} makes no pods by itself: none is created")
        case _:
            _create_copies(world, name, applied)


def _create_pod(world: World, applied: AppliedWorkload) -> None:
    namespace, name = key_of(applied.pod)
    if (namespace, name) in world.book:
        world.happenings.note(f"pod {namespace}/{name} is there already: nothing is changed")
    else:
        for note in static_notes(applied.pod):
            world.happenings.note(note)
        pod = states.copy_of(applied.pod, name, world.timestamp)
        world.create(pod, applied.pod)


def _create_daemons(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    template, owner = states.as_template(applied.pod), world.owner(name)
    nodes = [node.metadata.name for node in world.living.nodes.objects if should_run(template, node)]
    create_copies(world, owner, (pinned_to(template, node) for node in nodes))


def _create_copies(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """As many pods as a Job, or something whose controller is not known, runs at once."""
    template, owner = states.as_template(applied.pod), world.owner(name)
    owner.replicas = applied.count
    if applied.object is None and controller_of(applied.pod) is not None:
        keep_as_replica_set(world, name, applied)
    else:
        create_copies(world, owner, repeat(template, applied.count))


def keep_as_replica_set(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """What its controller would do is not known: it is taken to have as many pods as it says, all alike."""
    owner = world.owner(name)
    owner.template, owner.replicas, owner.is_foreign = states.as_template(applied.pod), applied.count, True
    world.happenings.note(
        f"{name.kind}/{name.name} is not a controller that is modeled: its pods are kept as those of a ReplicaSet are"
    )
    world.dirty[name] = None


def _replicas(applied: AppliedWorkload) -> int:
    return 1 if applied.replicas is None else applied.replicas


def _with_replicas(obj: ApiObject, applied: AppliedWorkload) -> ApiObject:
    if not isinstance(obj, Deployment | StatefulSet | ReplicaSet | ReplicationController):
        return obj
    return replace(obj, spec=replace(obj.spec, replicas=_replicas(applied)))
