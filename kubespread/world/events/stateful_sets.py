"""StatefulSets: pods by ordinal, one after another where they are not Parallel."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.statefulset import (
    REVISION_LABEL,
    Create,
    Revisions,
    UpdateRules,
    claims_of,
    first_ordinal,
    for_ordinal,
    ordinal_of,
)
from kubespread.controllers.statefulset import reconcile as controller_pass
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import LabelSelectingWorkloadSpec, StatefulSet, StatefulSetOrdinals
from kubespread.kube.owners import WorkloadName
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import REPLACED, SCALED_DOWN
from kubespread.world.store.owners import StatefulSetRollout
from kubespread.world.store.store import Store


def reconcile(world: Store, name: WorkloadName) -> bool:
    """One pass of the StatefulSet controller; whether it created or deleted anything."""
    rollout = rollout_of(world, name)
    owner = world.owner(name)
    world.api_server.take_refused(name)
    for pod in owner.gone:
        _remember(rollout, name, pod)
    owner.gone.clear()
    pods = {pod.metadata.name: pod for pod in world.book.of(name)}
    # Whoever is ready is available: no time passes between.
    spec = replace(rollout.stateful_set.spec, replicas=owner.replicas, min_ready_seconds=0)
    stateful_set = replace(rollout.stateful_set, spec=spec)
    rules = UpdateRules.of(world.surroundings.version)
    made = controller_pass(stateful_set, list(pods.values()), rollout.revisions, world.time, rules)
    rollout.stateful_set = replace(stateful_set, status=made.status)
    rollout.revisions = replace_current(rollout.revisions, made.status.current_revision)
    has_acted = False
    for action in made.actions:
        if isinstance(action, Create):
            template = _pod(world, rollout, name, action)
            if template is None:
                break
            has_acted |= world.create(states.copy_of(template, action.pod, world.timestamp), template)
        else:
            has_acted = True
            beyond = ordinal_of(pods[action.pod], name.name) not in _ordinals(stateful_set)
            world.delete([pods[action.pod]], SCALED_DOWN if beyond else REPLACED)
    return has_acted


def rollout_of(world: Store, name: WorkloadName) -> StatefulSetRollout:
    """What is known of the StatefulSet; of one that is not in the cluster's objects it is what its pods tell."""
    rollout = world.stateful_sets.get(name)
    if rollout is None:
        stateful_set = world.workloads.stateful_sets.get(name) or _of_pods(world, name)
        pods = [*world.book.of(name), *world.owner(name).gone]
        running = {pod.metadata.labels.get(REVISION_LABEL, "") for pod in pods}
        update = stateful_set.status.update_revision or max(running, default="")
        current = stateful_set.status.current_revision or update
        rollout = world.stateful_sets[name] = StatefulSetRollout(stateful_set, Revisions(current, update))
        for pod in pods:
            _remember(rollout, name, pod)
    return rollout


def replace_current(revisions: Revisions, current: str) -> Revisions:
    return Revisions(current or revisions.current, revisions.update)


def _remember(rollout: StatefulSetRollout, name: WorkloadName, pod: Pod) -> None:
    template = states.as_template(pod)
    rollout.templates.setdefault(pod.metadata.labels.get(REVISION_LABEL, ""), template)
    ordinal = ordinal_of(pod, name.name)
    if ordinal is not None:
        rollout.by_ordinal[ordinal] = template


def _pod(world: Store, rollout: StatefulSetRollout, name: WorkloadName, action: Create) -> Pod | None:
    """The pod of an ordinal: unchanged if it had this revision before, else a copy of another pod of the revision. None
    where the API server refuses it.
    """
    last = rollout.by_ordinal.get(action.ordinal)
    if last is not None and last.metadata.labels.get(REVISION_LABEL, "") == action.revision:
        return last
    template = rollout.templates.get(action.revision)
    if template is None:
        made = world.make(name, action.pod)
        if made is None:
            return None
        world.add_missing(made.companions)
        template = rollout.templates[action.revision] = _of_revision(states.as_template(made.pod), action.revision)
    world.create_claims(claims_of(rollout.stateful_set, action.ordinal))
    return for_ordinal(template, rollout.stateful_set, action.ordinal)


def _of_revision(pod: Pod, revision: str) -> Pod:
    """With the name that the cluster gave the revision: the hash of a pod that is made up here is another."""
    others = {key: value for key, value in pod.metadata.labels.items() if key != REVISION_LABEL}
    labels = {**others, REVISION_LABEL: revision} if revision else others
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def _ordinals(stateful_set: StatefulSet) -> range:
    start = first_ordinal(stateful_set)
    return range(start, start + (stateful_set.spec.replicas or 0))


def _stateful_set(world: Store, name: WorkloadName) -> StatefulSet:
    stateful_set = world.workloads.stateful_sets.get(name)
    if stateful_set is None or name in world.stateful_sets:
        return rollout_of(world, name).stateful_set
    return stateful_set


def ordinals_of(world: Store, name: WorkloadName, replicas: int) -> range:
    """The ordinals of a StatefulSet with this many replicas."""
    start = first_ordinal(_stateful_set(world, name))
    return range(start, start + replicas)


def is_one_by_one(world: Store, name: WorkloadName) -> bool:
    """Whether a pod is made only once those before it are ready."""
    return _stateful_set(world, name).spec.pod_management_policy != "Parallel"


def _of_pods(world: Store, name: WorkloadName) -> StatefulSet:
    pods = [*world.book.of(name), *world.owner(name).gone]
    ordinals = [ordinal for pod in pods if (ordinal := ordinal_of(pod, name.name)) is not None]
    world.happenings.note(f"StatefulSet/{name.name} is known only by its pods: it is taken to be OrderedReady")
    return StatefulSet(
        metadata=ObjectMeta(name=name.name, namespace=name.namespace),
        spec=LabelSelectingWorkloadSpec(ordinals=StatefulSetOrdinals(start=min(ordinals, default=0))),
    )
