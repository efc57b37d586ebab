"""Workloads that are applied: new ones are created, existing ones get another template or number of replicas."""

from __future__ import annotations

from collections.abc import Collection
from itertools import repeat

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.daemonset import pinned_to, should_run
from kubespread.controllers.deployment import TEMPLATE_HASH, new_replica_set, revision, without_hash
from kubespread.controllers.statefulset import REVISION_LABEL, Revisions
from kubespread.errors import UsageError
from kubespread.kube.api import workloads as api
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.gotext import quote
from kubespread.kube.owners import WorkloadName, controller_of, is_active, static_notes
from kubespread.reports.rollout import RolloutReport
from kubespread.world.events import controllers
from kubespread.world.events.editing import exists, rollout_of, scale
from kubespread.world.events.rollouts import NewTemplate, roll_out_deployment, roll_out_stateful_set
from kubespread.world.events.world import World
from kubespread.world.store.happenings import REPLACED
from kubespread.world.store.owners import OngoingRollout, StatefulSetRollout, name_of
from kubespread.world.store.pod_book import as_template, copy_of, key_of


class AppliedWorkload(Struct, frozen=True):
    """A workload to apply or roll out."""

    pod: Pod
    """The next pod that it would create, admitted."""
    name: WorkloadName | None = None
    """None for a bare pod."""
    object: ApiObject | None = None
    """Object with the template; None for an unknown kind."""
    replicas: int | None = None
    """None if the manifest sets none: a running workload keeps its number, a new one gets 1."""
    changes_template: bool = True
    """True if the template differs from the running one, or the workload is restarted."""
    count: int = 1
    """Number of pods at once, for a kind with an unmodeled controller."""


def create(world: World, applied: AppliedWorkload) -> None:
    """Create a new workload; its pods wait for nodes or are created by its controller."""
    name, obj = applied.name, applied.object
    if name is None:
        _create_pod(world, applied)
        return
    replicas = 1 if applied.replicas is None else applied.replicas
    if isinstance(obj, api.Deployment | api.StatefulSet | api.ReplicaSet | api.ReplicationController):
        world.add_objects([replace(obj, spec=replace(obj.spec, replicas=replicas))])
    elif obj is not None and type(obj) in KIND_OF:
        world.add_objects([obj])
    match obj:
        case api.Deployment():
            new_hash = applied.pod.metadata.labels.get(TEMPLATE_HASH, "")
            deployment = world.workloads.deployments[name]
            world.rollouts[name] = OngoingRollout(deployment, (), applied.pod, new_hash)
            world.dirty[name] = None
        case api.StatefulSet():
            revision = applied.pod.metadata.labels.get(REVISION_LABEL, "")
            templates = {revision: as_template(applied.pod)}
            stateful_set = world.workloads.stateful_sets[name]
            world.stateful_sets[name] = StatefulSetRollout(stateful_set, Revisions(revision, revision), templates)
            world.owner(name).replicas = replicas
            world.dirty[name] = None
        case api.ReplicaSet() | api.ReplicationController():
            owner = world.owner(name)
            owner.template, owner.replicas = as_template(applied.pod), replicas
            world.dirty[name] = None
        case api.DaemonSet():
            _create_daemons(world, name, as_template(applied.pod))
        case api.Job():
            _create_job(world, name, obj, applied)
        case api.CronJob() | api.PodTemplate():
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
        pod = copy_of(applied.pod, name, world.timestamp)
        world.create(pod, applied.pod)


def _create_job(world: World, name: WorkloadName, job: api.Job, applied: AppliedWorkload) -> None:
    if job.spec.suspend:
        world.happenings.note(f"Job/{name.name} is suspended: it makes no pods until it is resumed")
    world.owner(name).template = as_template(applied.pod)
    controllers.sync_job(world, name)


def _create_copies(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """Create the pods of a workload that no modeled controller creates."""
    if controller_of(applied.pod) is not None:
        keep_as_replica_set(world, name, applied)
    else:
        controllers.create_copies(world, world.owner(name), repeat(as_template(applied.pod), applied.count))


def keep_as_replica_set(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """Keep the requested number of equal pods, in place of an unknown controller."""
    owner = world.owner(name)
    owner.template, owner.replicas, owner.is_foreign = as_template(applied.pod), applied.count, True
    world.happenings.note(
        f"{name.kind}/{name.name} is not a controller that is modeled: its pods are kept as those of a ReplicaSet are"
    )
    world.dirty[name] = None


_PAUSED = "cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
_ROLLED_OUT = (api.Deployment, api.StatefulSet, api.DaemonSet)


_MUTABLE_OF_JOB = ("parallelism", "suspend", "completions", "template")


def apply_workload(world: World, applied: AppliedWorkload) -> RolloutReport | None:
    """Apply a workload and let the world settle; a report if a Deployment or StatefulSet rolls out a new template."""
    name = applied.name
    if name is None or not exists(world, name):
        create(world, applied)
        world.settle()
        return None
    if applied.object is None and world.owners_below(name) == [name] and controller_of(applied.pod) is not None:
        keep_as_replica_set(world, name, applied)
        world.settle()
        return None
    if isinstance(applied.object, api.Job) and (job := world.workloads.jobs.get(name)) is not None:
        _job(world, name, job, applied.object, applied)
        return None
    if name.kind in ("Job", "Pod") or applied.object is None:
        world.happenings.note(f"{name.kind}/{name.name} is there already: nothing is changed")
        return None
    if applied.changes_template:
        return _revise(world, name, applied)
    _same_template(world, name, applied)
    return None


def _job(world: World, name: WorkloadName, current: api.Job, job: api.Job, applied: AppliedWorkload) -> None:
    """Give a Job the mutable fields that the manifest sets, and bring its pods to their number."""
    changed = {field: value for field in _MUTABLE_OF_JOB if (value := getattr(job.spec, field)) is not None}
    world.add_objects([replace(current, spec=replace(current.spec, **changed))])
    owner = world.owner(name)
    if owner.template is None or current.spec.suspend:
        owner.template = as_template(applied.pod)
    controllers.sync_job(world, name)
    world.settle()


def roll_back(world: World, name: WorkloadName) -> RolloutReport:
    """Give a Deployment the template of its previous revision, as ``kubectl rollout undo`` does. Raises UsageError
    without one.

    Source: staging/src/k8s.io/kubectl/pkg/polymorphichelpers/rollback.go, Rollback
    """
    rollout = rollout_of(world, name)
    if rollout.deployment.spec.paused:
        raise UsageError(_PAUSED)
    by_revision = sorted(rollout.replica_sets, key=lambda replica_set: -(revision(replica_set) or 0))
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
    return roll_out_deployment(world, name, _of_replica_set(world, deployment, before))


def _revise(world: World, name: WorkloadName, applied: AppliedWorkload) -> RolloutReport | None:
    match applied.object:
        case api.Deployment():
            return _deployment(world, name, applied.object, applied)
        case api.StatefulSet():
            world.resize(name, world.owner(name).replicas if applied.replicas is None else applied.replicas)
            return roll_out_stateful_set(world, name, applied.object, applied.pod)
        case api.DaemonSet():
            _replace_daemons(world, name, applied.object, applied.pod)
            return None
    # A ReplicaSet or ReplicationController leaves the pods that it has as they are.
    world.owner(name).template = as_template(applied.pod)
    world.happenings.note(f"{name.kind}/{name.name}: only new pods get the new template")
    _same_template(world, name, applied)
    return None


def _replace_daemons(world: World, name: WorkloadName, daemon_set: api.DaemonSet, pod: Pod) -> None:
    """Give all nodes a pod of the new template at once."""
    world.add_objects([daemon_set])
    if daemon_set.spec.update_strategy is not None and daemon_set.spec.update_strategy.type == "OnDelete":
        world.happenings.note(
            f"DaemonSet/{name.name}: updateStrategy OnDelete: its pods stay until somebody deletes them"
        )
        return
    world.happenings.note(
        f"DaemonSet/{name.name}: its pods are replaced all at once: that maxSurge and maxUnavailable let a few go at a "
        "time is not modeled"
    )
    world.delete([pod for pod in world.book.pods_of(name) if is_active(pod)], REPLACED)
    world.end_terminating()
    world.owner(name).pods_to_recreate.clear()
    staying = {pod.spec.node_name for pod in world.book.pods_of(name)}
    _create_daemons(world, name, as_template(pod), staying)
    world.settle()


def _create_daemons(world: World, name: WorkloadName, template: Pod, but: Collection[str] = ()) -> None:
    """One pod for each node that should run one."""
    nodes = (
        node.metadata.name
        for node in world.living.nodes.objects
        if node.metadata.name not in but and should_run(template, node, compares=world.compares)
    )
    controllers.create_copies(world, world.owner(name), (pinned_to(template, node) for node in nodes))


def _deployment(
    world: World, name: WorkloadName, applied_deployment: api.Deployment, applied: AppliedWorkload
) -> RolloutReport:
    rollout = world.rollouts.get(name) or controllers.rollout_of_cluster(world, name)
    replicas = rollout.deployment.spec.replicas if applied.replicas is None else applied.replicas
    deployment = replace(
        applied_deployment,
        metadata=rollout.deployment.metadata,
        status=rollout.deployment.status,
        spec=replace(applied_deployment.spec, replicas=replicas),
    )
    again = new_replica_set(deployment, rollout.replica_sets)
    if again is not None:
        return roll_out_deployment(world, name, _of_replica_set(world, deployment, again))
    return roll_out_deployment(
        world, name, NewTemplate(deployment, applied.pod, applied.pod.metadata.labels.get(TEMPLATE_HASH, ""))
    )


def _of_replica_set(world: World, deployment: api.Deployment, replica_set: api.ReplicaSet) -> NewTemplate:
    """An earlier template of the Deployment, with its ReplicaSet's hash. Raises UsageError if its pods are refused."""
    owner = world.owner(name_of(replica_set))
    pod = controllers.template_of(world, owner)
    if pod is None:
        raise UsageError(world.api_server.refused[owner.name].message)
    return NewTemplate(deployment, pod, replica_set.metadata.labels.get(TEMPLATE_HASH, ""))


def _same_template(world: World, name: WorkloadName, applied: AppliedWorkload) -> None:
    """Apply changes of the workload outside of its template."""
    if isinstance(applied.object, _ROLLED_OUT):
        world.happenings.note(f"{name.kind}/{name.name}: its template stays as it is: no rollout")
    if isinstance(applied.object, api.Deployment):
        rollout = rollout_of(world, name)
        spec = rollout.deployment.spec
        new_spec = replace(applied.object.spec, template=spec.template, replicas=spec.replicas, selector=spec.selector)
        world.rollouts[name] = OngoingRollout(
            replace(rollout.deployment, spec=new_spec), rollout.replica_sets, rollout.template, rollout.new_hash
        )
        world.add_objects([world.rollouts[name].deployment])
    if isinstance(applied.object, api.StatefulSet):
        stateful = controllers.rollout_of_stateful_set(world, name)
        template, replicas = stateful.stateful_set.spec.template, world.owner(name).replicas
        spec = replace(applied.object.spec, template=template, replicas=replicas)
        stateful.stateful_set = replace(stateful.stateful_set, spec=spec)
        world.add_objects([stateful.stateful_set])
        world.dirty[name] = None
    if applied.replicas is not None and not isinstance(applied.object, api.DaemonSet):
        scale(world, name, applied.replicas)
    world.settle()
