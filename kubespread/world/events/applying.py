"""Workloads that are applied: new ones are created, those that run get another template or number of replicas."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, new_replica_set, revision, without_hash
from kubespread.errors import UsageError
from kubespread.kube.api.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubespread.kube.gotext import quote
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.reports.rollout import RolloutReport
from kubespread.world.events import rolling_daemon_sets, rolling_stateful_sets, stateful_sets
from kubespread.world.events.creating import AppliedWorkload, create, keep_as_replica_set
from kubespread.world.events.deployments import name_of, rollout_of_cluster
from kubespread.world.events.editing import exists, rollout_of, scale
from kubespread.world.events.jobs import bring_to_number
from kubespread.world.events.replicas import template_of
from kubespread.world.events.rolling_deployments import NewTemplate, roll_out
from kubespread.world.events.world import World
from kubespread.world.store import pod_states as states
from kubespread.world.store.owners import Rollout

_PAUSED = "cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
_ROLLED_OUT = (Deployment, StatefulSet, DaemonSet)
_MUTABLE_OF_JOB = ("parallelism", "suspend", "completions", "template")


def apply_workload(world: World, applied: AppliedWorkload) -> RolloutReport | None:
    """Apply a workload and let the world settle; a report if pods are replaced on the way."""
    name = applied.name
    if name is None or not exists(world, name):
        create(world, applied)
        world.settle()
        return None
    if isinstance(applied.object, Job) and (job := world.workloads.jobs.get(name)) is not None:
        _job(world, name, job, applied.object, applied)
        return None
    if applied.object is None and world.owners_below(name) == [name] and controller_of(applied.pod) is not None:
        keep_as_replica_set(world, name, applied)
        world.settle()
        return None
    if name.kind in ("Job", "Pod") or applied.object is None:
        world.happenings.note(f"{name.kind}/{name.name} is there already: nothing is changed")
        return None
    if applied.is_other_template:
        return _revised(world, name, applied)
    _same_template(world, name, applied)
    return None


def _job(world: World, name: WorkloadName, current: Job, job: Job, applied: AppliedWorkload) -> None:
    """A Job gets the fields that may change; what the manifest leaves out stays."""
    changed = {field: value for field in _MUTABLE_OF_JOB if (value := getattr(job.spec, field)) is not None}
    world.add_objects([replace(current, spec=replace(current.spec, **changed))])
    owner = world.owner(name)
    if owner.template is None or current.spec.suspend:
        owner.template = states.as_template(applied.pod)
    bring_to_number(world, name)
    world.settle()


def rolled_back(world: World, name: WorkloadName) -> RolloutReport:
    """Give a Deployment the template of the revision before its own.

    That is what ``kubectl rollout undo`` does. Raises UsageError where there is none.

    Source: staging/src/k8s.io/kubectl/pkg/polymorphichelpers/rollback.go, Rollback
    """
    rollout = rollout_of(world, name)
    if rollout.deployment.spec.paused:
        raise UsageError(_PAUSED)
    by_revision = sorted(rollout.replica_sets, key=lambda replica_set: -_revision(replica_set))
    own = new_replica_set(rollout.deployment, rollout.replica_sets)
    before = next(
        (replica_set for replica_set in by_revision if replica_set != own and replica_set.spec.template is not None),
        None,
    )
    if before is None:
        missing = "it has no ReplicaSet of another template"
        raise UsageError(f"no rollout history found for deployment {quote(name.name)}: {missing}")
    spec = replace(rollout.deployment.spec, template=without_hash(before.spec.template))
    deployment = replace(rollout.deployment, spec=spec)
    return roll_out(world, name, _of_replica_set(world, deployment, before))


def _revised(world: World, name: WorkloadName, applied: AppliedWorkload) -> RolloutReport | None:
    match applied.object:
        case Deployment():
            return _deployment(world, name, applied.object, applied)
        case StatefulSet():
            world.resize(name, _replicas(world, name, applied))
            return rolling_stateful_sets.roll_out(world, name, applied.object, applied.pod)
        case DaemonSet():
            return rolling_daemon_sets.roll_out(world, name, applied.object, applied.pod)
    # A ReplicaSet or ReplicationController leaves the pods that it has as they are.
    world.owner(name).template = states.as_template(applied.pod)
    world.happenings.note(f"{name.kind}/{name.name}: only new pods get the new template")
    _same_template(world, name, applied)
    return None


def _deployment(
    world: World, name: WorkloadName, applied_deployment: Deployment, applied: AppliedWorkload
) -> RolloutReport:
    rollout = world.rollouts.get(name) or rollout_of_cluster(world, name)
    replicas = rollout.deployment.spec.replicas if applied.replicas is None else applied.replicas
    deployment = replace(
        applied_deployment,
        metadata=rollout.deployment.metadata,
        status=rollout.deployment.status,
        spec=replace(applied_deployment.spec, replicas=replicas),
    )
    again = new_replica_set(deployment, rollout.replica_sets)
    if again is not None:
        return roll_out(world, name, _of_replica_set(world, deployment, again))
    return roll_out(
        world, name, NewTemplate(deployment, applied.pod, applied.pod.metadata.labels.get(TEMPLATE_HASH, ""))
    )


def _of_replica_set(world: World, deployment: Deployment, replica_set: ReplicaSet) -> NewTemplate:
    """A template that the Deployment had before: its ReplicaSet knows the hash of the cluster. Raises UsageError for
    one whose pods the API server refuses.
    """
    owner = world.owner(name_of(replica_set))
    pod = template_of(world, owner)
    if pod is None:
        raise UsageError(world.api_server.refused[owner.name].message)
    return NewTemplate(deployment, pod, replica_set.metadata.labels.get(TEMPLATE_HASH, ""))


def _revision(replica_set: ReplicaSet) -> int:
    return revision(replica_set) or 0


def _same_template(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """Only what is not the template may differ."""
    if isinstance(applied.object, _ROLLED_OUT):
        world.happenings.note(
            f"{name.kind}/{name.name}: its pods are scheduled by the template that it runs with: no rollout"
        )
    if isinstance(applied.object, Deployment):
        rollout = rollout_of(world, name)
        spec = rollout.deployment.spec
        new_spec = replace(applied.object.spec, template=spec.template, replicas=spec.replicas, selector=spec.selector)
        world.rollouts[name] = Rollout(
            replace(rollout.deployment, spec=new_spec), rollout.replica_sets, rollout.template, rollout.new_hash
        )
        world.add_objects([world.rollouts[name].deployment])
    if isinstance(applied.object, StatefulSet):
        stateful = stateful_sets.rollout_of(world, name)
        template, replicas = stateful.stateful_set.spec.template, world.owner(name).replicas
        spec = replace(applied.object.spec, template=template, replicas=replicas)
        stateful.stateful_set = replace(stateful.stateful_set, spec=spec)
        world.add_objects([stateful.stateful_set])
        world.dirty[name] = None
    if applied.replicas is not None and not isinstance(applied.object, DaemonSet):
        scale(world, name, applied.replicas)
    world.settle()


def _replicas(world: World, name: WorkloadName, applied: AppliedWorkload) -> int:
    return world.owner(name).replicas if applied.replicas is None else applied.replicas
