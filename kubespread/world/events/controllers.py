"""Controllers and kube-scheduler at work in a world, one pass at a time.

ReplicaSets and ReplicationControllers keep the desired number of pods; Jobs recreate lost pods, with their completion
indexes; DaemonSets run one pod on each eligible node; Deployments scale their ReplicaSets; StatefulSets create their
pods by ordinal, one after another unless they are Parallel. New pods get numbers in place of Kubernetes' random
letters. Waiting pods get nodes, and preempt others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, repeat, takewhile

from msgspec.structs import replace

from kubespread.controllers import statefulset
from kubespread.controllers.daemonset import pinned_to, should_continue, should_run
from kubespread.controllers.deployment import new_replica_set
from kubespread.controllers.deployment import reconcile as deployment_pass
from kubespread.controllers.job import MAX_PODS_PER_PASS, Surplus, backoff_limit, for_index, not_modeled
from kubespread.controllers.job import reconcile as job_pass
from kubespread.controllers.outage import evicted_after
from kubespread.controllers.registry import another
from kubespread.controllers.replicaset import pods_to_delete
from kubespread.controllers.statefulset import reconcile as stateful_set_pass
from kubespread.deadline import check
from kubespread.errors import KubespreadError
from kubespread.kube.admission.defaulting import relabel
from kubespread.kube.api import workloads as api
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.owners import WorkloadName, controller_of, is_active, is_ready
from kubespread.kube.selector import from_label_selector
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.scheduler.placing import Choice
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.wording import some_of
from kubespread.world.store.happenings import DELETED, PREEMPTED, REPLACED, SCALED_DOWN, UNSELECTED
from kubespread.world.store.owners import OngoingRollout, Owner, StatefulSetRollout, name_of
from kubespread.world.store.pod_book import PodKey, as_template, copy_of, key_of, on_node, reuse_if_alike, running_since
from kubespread.world.store.store import Store
from kubespread.world.store.waiting import Applicant, CurrentBudgets, Waiting

_MAX_NAMED = 3


def reconcile_stateful_set(world: Store, name: WorkloadName) -> bool:
    """Run one pass of the StatefulSet controller; True if it created or deleted anything."""
    rollout = rollout_of_stateful_set(world, name)
    owner = world.owner(name)
    world.api_server.take_refused(name)
    for pod in owner.pods_to_recreate:
        _remember(rollout, name, pod)
    owner.pods_to_recreate.clear()
    pods = {pod.metadata.name: pod for pod in world.book.pods_of(name)}
    # Ready pods are available: no time passes between.
    spec = replace(rollout.stateful_set.spec, replicas=owner.replicas, min_ready_seconds=0)
    stateful_set = replace(rollout.stateful_set, spec=spec)
    rules = statefulset.UpdateRules.from_version(world.settings.version)
    start = statefulset.first_ordinal(stateful_set)
    sync = stateful_set_pass(stateful_set, list(pods.values()), rollout.revisions, world.time, rules)
    rollout.stateful_set = replace(stateful_set, status=sync.status)
    current = sync.status.current_revision or rollout.revisions.current
    rollout.revisions = statefulset.Revisions(current, rollout.revisions.update)
    has_acted = is_refused = False
    for action in sync.actions:
        if isinstance(action, statefulset.Create):
            template = _stateful_pod(world, rollout, name, action)
            if template is None:
                break
            is_created = world.create(copy_of(template, action.pod, world.timestamp), template)
            has_acted |= is_created
            is_refused |= not is_created
        elif is_refused and pods[action.pod].status.phase not in ENDED_PHASES:
            break  # A pass ends with the errors of its creations, before the next of its parts.
        else:
            has_acted = True
            beyond = statefulset.ordinal_of(pods[action.pod], name.name) not in range(start, start + owner.replicas)
            world.delete([pods[action.pod]], SCALED_DOWN if beyond else REPLACED)
    return has_acted


def rollout_of_stateful_set(world: Store, name: WorkloadName) -> StatefulSetRollout:
    """Rollout of the StatefulSet, as recorded, else inferred from its pods."""
    rollout = world.stateful_sets.get(name)
    if rollout is None:
        stateful_set = world.workloads.stateful_sets.get(name) or _of_pods(world, name)
        pods = [*world.book.pods_of(name), *world.owner(name).pods_to_recreate]
        running = {pod.metadata.labels.get(statefulset.REVISION_LABEL, "") for pod in pods}
        update = stateful_set.status.update_revision or max(running, default="")
        current = stateful_set.status.current_revision or update
        rollout = world.stateful_sets[name] = StatefulSetRollout(stateful_set, statefulset.Revisions(current, update))
        for pod in pods:
            _remember(rollout, name, pod)
    return rollout


def _remember(rollout: StatefulSetRollout, name: WorkloadName, pod: Pod) -> None:
    template = as_template(pod)
    rollout.templates.setdefault(pod.metadata.labels.get(statefulset.REVISION_LABEL, ""), template)
    ordinal = statefulset.ordinal_of(pod, name.name)
    if ordinal is not None:
        rollout.by_ordinal[ordinal] = template


def _stateful_pod(
    world: Store, rollout: StatefulSetRollout, name: WorkloadName, action: statefulset.Create
) -> Pod | None:
    """Pod of an ordinal: its last one if of this revision, else a copy of another; None if the API refuses it."""
    last = rollout.by_ordinal.get(action.ordinal)
    if last is not None and last.metadata.labels.get(statefulset.REVISION_LABEL, "") == action.revision:
        return last
    template = rollout.templates.get(action.revision)
    if template is None:
        pod_copy = world.make(name, action.pod)
        if pod_copy is None:
            return None
        world.add_missing(pod_copy.companions)
        template = rollout.templates[action.revision] = _of_revision(as_template(pod_copy.pod), action.revision)
    world.create_claims(statefulset.claims_of(rollout.stateful_set, action.ordinal))
    return statefulset.for_ordinal(template, rollout.stateful_set, action.ordinal)


def _of_revision(pod: Pod, revision: str) -> Pod:
    """``pod`` with the cluster's name of the revision: the hash computed here differs."""
    others = {key: value for key, value in pod.metadata.labels.items() if key != statefulset.REVISION_LABEL}
    labels = {**others, statefulset.REVISION_LABEL: revision} if revision else others
    return relabel(pod, labels)


def _stateful_set(world: Store, name: WorkloadName) -> api.StatefulSet:
    stateful_set = world.workloads.stateful_sets.get(name)
    if stateful_set is None or name in world.stateful_sets:
        return rollout_of_stateful_set(world, name).stateful_set
    return stateful_set


def ordinals_of(world: Store, name: WorkloadName, replicas: int) -> range:
    """Ordinals of a StatefulSet with so many replicas."""
    start = statefulset.first_ordinal(_stateful_set(world, name))
    return range(start, start + replicas)


def is_ordered_ready(world: Store, name: WorkloadName) -> bool:
    """True if a pod is created only once all earlier ones are ready."""
    return _stateful_set(world, name).spec.pod_management_policy != "Parallel"


def _of_pods(world: Store, name: WorkloadName) -> api.StatefulSet:
    pods = [*world.book.pods_of(name), *world.owner(name).pods_to_recreate]
    ordinals = [ordinal for pod in pods if (ordinal := statefulset.ordinal_of(pod, name.name)) is not None]
    world.happenings.note(f"StatefulSet/{name.name} is known only by its pods: it is taken to be OrderedReady")
    return api.StatefulSet(
        metadata=ObjectMeta(name=name.name, namespace=name.namespace),
        spec=api.LabelSelectingWorkloadSpec(ordinals=api.StatefulSetOrdinals(start=min(ordinals, default=0))),
    )


def reconcile_deployment(world: Store, name: WorkloadName) -> bool:
    """Run one pass of the Deployment controller; True if it wrote a ReplicaSet."""
    rollout = world.rollouts[name]
    before = [_with_status(world, replica_set) for replica_set in rollout.replica_sets]
    pods = [pod for replica_set in before for pod in world.book.pods_of(name_of(replica_set))]
    after = deployment_pass(rollout.deployment, before, pods, new_hash=rollout.new_hash, now=world.time)
    rollout.deployment, rollout.replica_sets = after.deployment, after.replica_sets
    if after.created is not None:
        world.add_objects([after.created])
        if rollout.template is not None:
            owner = world.owner(name_of(after.created))
            owner.template = owned_by(rollout.template, after.created)
    for replica_set in after.replica_sets:
        owner_name = name_of(replica_set)
        world.watchers[owner_name], world.dirty[owner_name] = name, None
        replicas = replica_set.spec.replicas
        world.owner(owner_name).replicas = 1 if replicas is None else replicas
    has_written = list(after.replica_sets) != before
    if has_written:
        # What its ReplicaSets report calls it again, even where no pod finds a node.
        world.dirty[name] = None
    return has_written


def rollout_of_cluster(world: Store, name: WorkloadName) -> OngoingRollout:
    """The Deployment as in the cluster; a missing one is assumed to have no pods yet.

    If none of its ReplicaSets has its template, the cluster's source was incomplete or the controller has not seen a
    change yet: the one with the most pods is then assumed to have it.
    """
    deployment = world.workloads.deployments.get(name)
    if deployment is None:
        deployment = api.Deployment(metadata=ObjectMeta(name=name.name, namespace=name.namespace))
    stored = world.workloads.replica_sets
    below = dict.fromkeys(
        (*(owner for owner in stored if world.workloads.top_owner(owner) == name), *world.owners_below(name))
    )
    own = [
        stored.get(owner) or api.ReplicaSet(metadata=ObjectMeta(name=owner.name, namespace=owner.namespace))
        for owner in below
    ]
    replica_sets = [with_replicas(world, replica_set) for replica_set in own]
    if replica_sets and new_replica_set(deployment, replica_sets) is None:
        most = max(replica_sets, key=lambda replica_set: replica_set.spec.replicas or 0)
        template = replace(most, spec=replace(most.spec, template=deployment.spec.template))
        replica_sets[replica_sets.index(most)] = template
    return OngoingRollout(deployment, replica_sets)


def with_replicas(world: Store, replica_set: api.ReplicaSet) -> api.ReplicaSet:
    """The ReplicaSet with ``replicas``, by default as many as it has active pods."""
    if replica_set.spec.replicas is not None:
        return replica_set
    active = sum(map(is_active, world.book.pods_of(name_of(replica_set))))
    return replace(replica_set, spec=replace(replica_set.spec, replicas=active))


def owned_by(template: Pod, replica_set: api.ReplicaSet) -> Pod:
    """The pod as ``replica_set`` creates it; its template may name another owner."""
    owner = controller_of(template)
    if owner is None or owner.name == replica_set.metadata.name:
        return template
    references = [replace(owner, name=replica_set.metadata.name, uid=replica_set.metadata.uid)]
    labels = {
        **template.metadata.labels,
        **(replica_set.spec.selector.match_labels if replica_set.spec.selector else {}),
    }
    return replace(template, metadata=replace(template.metadata, labels=labels, owner_references=references))


def _with_status(world: Store, replica_set: api.ReplicaSet) -> api.ReplicaSet:
    """``replica_set`` with the status that its controller would write; ready pods are available, as no time passes."""
    pods = [pod for pod in world.book.pods_of(name_of(replica_set)) if is_active(pod)]
    ready = sum(map(is_ready, pods))
    status = replace(replica_set.status, replicas=len(pods), ready_replicas=ready, available_replicas=ready)
    return replace(replica_set, status=status)


def create_copy(world: Store, owner: Owner, template: Pod) -> bool:
    """Create another pod of ``owner``; True if the API server accepts it."""
    last = owner.number
    if world.create(copy_of(template, _free_name(world, owner), world.timestamp), template):
        return True
    owner.number = last
    return False


def create_copies(world: Store, owner: Owner, templates: Iterable[Pod]) -> int:
    """Create a pod of each template; the number that the API server accepts."""
    return sum(create_copy(world, owner, template) for template in templates)


def _free_name(world: Store, owner: Owner) -> str:
    """A free name for another pod of ``owner``, which no StatefulSet of the same name will need either."""
    namespace, base = owner.name.namespace, owner.name.name
    namesake = WorkloadName("StatefulSet", namespace, base)
    if namesake in world.workloads.stateful_sets or namesake in world.book.owners:
        base += "-new"
    for number in count(owner.number + 1):
        if (namespace, name := f"{base}-{number}") not in world.book:
            owner.number = number
            return name
    raise AssertionError  # numbers do not end


def reconcile_replicas(world: Store, name: WorkloadName) -> bool:
    """Create missing pods or delete surplus ones; True if any was created or deleted."""
    owner = world.owner(name)
    owner.pods_to_recreate.clear()
    world.api_server.take_refused(name)
    missing = owner.replicas - world.book.count(name).active
    if missing > 0:
        if (template := template_of(world, owner)) is None:
            return False
        # If one pod is refused, so are all others like it.
        return sum(takewhile(bool, (create_copy(world, owner, template) for _ in range(missing)))) > 0
    if missing < 0:
        active = [pod for pod in world.book.pods_of(name) if is_active(pod)]
        chosen = pods_to_delete(active, -missing, related_pods(world, name), world.time, world.settings.chance.pick)
        if chosen.arbitrary:
            world.happenings.by_chance = True
            above = world.workloads.top_owner(name, active)
            world.happenings.note(
                f"{above.kind}/{above.name}: among equal pods the controller's choice is arbitrary", owner=above
            )
        world.delete(chosen.pods, SCALED_DOWN)
    return missing != 0


def template_of(world: Store, owner: Owner) -> Pod | None:
    """Template of the owner's pods, taken from its object if it has none yet; None if the API server refuses them."""
    if owner.template is None:
        pod_copy = world.make(owner.name, f"{owner.name.name}-")
        if pod_copy is None:
            return None
        world.add_missing(pod_copy.companions)
        owner.template = as_template(pod_copy.pod)
    return owner.template


def related_pods(world: Store, name: WorkloadName) -> list[Pod]:
    """Active pods that crowd a ReplicaSet's nodes: selected by ReplicaSets of its controller or owned by unlisted ones.

    A ReplicaSet without a controller has none. Source: pkg/controller/replicaset/replica_set.go,
    getIndirectlyRelatedPods
    """
    pods, listed = world.book.pods_of(name), world.workloads.replica_sets
    above = world.workloads.top_owner(name, pods)
    if above == name:
        return []
    siblings = (replica_set for own, replica_set in listed.items() if world.workloads.top_owner(own) == above)
    selectors = [from_label_selector(replica_set.spec.selector) for replica_set in siblings]
    unlisted = {*world.owners_below(above)} - listed.keys()
    return [
        pod
        for node in {pod.spec.node_name for pod in pods}
        for pod in world.book.pods_on(node)
        if pod.metadata.namespace == name.namespace and is_active(pod)
        if world.book.owner_of(pod) in unlisted or any(selector.matches(pod.metadata.labels) for selector in selectors)
    ]


def schedule(world: Store, only: Sequence[PodKey] | None = None) -> bool:
    """Try waiting pods, all or ``only`` some, in rounds until one changes nothing; True if any round did."""
    has_acted = False
    # One cycle follows another within milliseconds: what becomes of budgets is seen once controllers have worked.
    budgets = cache(lambda: world.budgets.current(world.time))
    while sum(_try(world, waiting, budgets) for waiting in world.queue.in_order(only)):
        has_acted = True
    return has_acted


def _try(world: Store, waiting: Waiting, budgets: CurrentBudgets) -> bool:
    """Run one scheduling cycle of a pod; True if it changed anything."""
    check()
    chosen = world.queue.choose(waiting, world.living, world.settings.chance.tiebreaker)
    if chosen is None:
        return _preempts(world, waiting, budgets)
    _bind(world, waiting, *chosen)
    return True


def _preempts(world: Store, waiting: Waiting, budgets: CurrentBudgets) -> bool:
    """True if a pod preempts others; it is nominated to their node and waits until they have left.

    Without victims its nomination ends, unless pods are still terminating.
    """
    candidate = world.queue.preemption_candidate(waiting, world.living, budgets, world.settings.chance.order)
    if candidate is None:
        return not world.leaving and world.end_nomination(waiting)
    victims = list(filter(is_active, candidate.victims))
    if not victims and waiting.pod.status.nominated_node_name == candidate.node:
        # All victims are terminating already, on a node with a silent kubelet.
        return False
    happenings = world.happenings
    happenings.by_chance |= bool(candidate.tied or candidate.equal_nodes)
    if candidate.tied:
        names = ["/".join(key_of(pod)) for pod in (*candidate.victims, *candidate.tied)]
        tie = f"who is preempted on {candidate.node} is a tie, broken by name: {some_of(names, _MAX_NAMED)}"
        happenings.ties.append(tie)
        happenings.note(tie)
    if candidate.equal_nodes:
        happenings.note("on which of several equal nodes pods are preempted is arbitrary")
    for victim in victims:
        protecting = world.budgets.protecting(victim, world.time)
        broken = [budget.metadata.name for budget in protecting if budget.status.disruptions_allowed <= 0]
        world.delete([victim], PREEMPTED)
        departure = happenings.departures.pop()
        happenings.departures.append(replace(departure, made_room_for=waiting.pod, broken_budgets=tuple(broken)))
    world.nominate(waiting, candidate.node)
    return True


def _bind(world: Store, waiting: Waiting, applicant: Applicant, choice: Choice) -> None:
    pod = waiting.pod
    owner = world.book.owner_of(pod)
    ready = owner is None or _becomes_ready(world, owner, pod)
    node = world.living.nodes.names[choice.node]
    seconds = evicted_after(
        pod.spec.tolerations, world.living.nodes.objects[choice.node].spec.taints, compares=world.compares
    )
    if seconds is not None:
        above = world.workloads.top_owner(owner, [pod]) if owner is not None else WorkloadName("Pod", *key_of(pod))
        again = f"a pod is placed on {node}, which a NoExecute taint deletes after {seconds:g} s, again and again"
        world.happenings.note(f"{above.kind}/{above.name} does not settle: {again}", owner=above)
    placed = on_node(pod, node, running_since(world.timestamp, ready=ready))
    applicant.take(choice, placed)
    world.note_placed(pod, placed, choice)


def _becomes_ready(world: Store, owner: WorkloadName, pod: Pod) -> bool:
    above, stuck = world.workloads.top_owner(owner, [pod]), world.settings.stuck
    if owner != above and owner in stuck:
        note = "its new pods are taken not to become ready, like those of their template in the snapshot"
        world.happenings.note(f"{above.kind}/{above.name}: {note}", owner=above)
    return above not in stuck and owner not in stuck


def reconcile_job(world: Store, name: WorkloadName) -> bool:
    """Recreate lost pods, or give up: every lost pod counts as a failure of the Job.

    Losing an active pod does not change how many the Job still needs; its back-off is not simulated.
    """
    owner = world.owner(name)
    lost_pods, owner.pods_to_recreate = owner.pods_to_recreate, []
    owner.failures += len(lost_pods)
    refused = world.api_server.take_refused(name)
    if lost_pods and _fails(world, owner):
        owner.has_ended = True
        world.happenings.note(f"Job/{name.name} fails: it lost more pods than its backoffLimit allows", owner=name)
        world.delete([pod for pod in world.book.pods_of(name) if is_active(pod)], DELETED)
        return True
    templates = [template for _, template in refused]
    for pod in lost_pods:
        owner.template = reuse_if_alike(as_template(pod), owner.template)
        templates.append(owner.template)
    return create_copies(world, owner, templates) > 0


def reconcile_operator_pods(world: Store, name: WorkloadName) -> bool:
    """Recreate an operator's lost pods as they were, with their names and claims if the operator keeps them."""
    owner, operator = world.owner(name), world.operator(name)
    lost_pods, owner.pods_to_recreate = owner.pods_to_recreate, []
    if lost_pods and operator is not None:
        world.happenings.note(f"{name.kind}/{name.name}: {operator}", owner=name)
    again = [(pod.metadata.name, template) for pod, template in world.api_server.take_refused(name)]
    for pod in lost_pods:
        if operator is None or operator.keeps_volumes:
            owner.template = reuse_if_alike(as_template(pod), owner.template)
            keeps_name = operator is None or operator.keeps_name
            again.append((pod.metadata.name if keeps_name else _free_name(world, owner), owner.template))
        else:
            again.append(_another(world, owner, pod))
    return sum(world.create(copy_of(pod, pod_name, world.timestamp), pod) for pod_name, pod in again) > 0


def _another(world: Store, owner: Owner, pod: Pod) -> tuple[str, Pod]:
    """Name and template of another pod of an operator, after creating its claims."""
    name = _free_name(world, owner)
    template, claims = another(pod, name, world.objects)
    world.create_claims(claims)
    return name, as_template(template)


def sync_job(world: Store, name: WorkloadName) -> None:
    """Delete a Job's surplus pods or create missing ones, in as many passes as its controller
    needs, without back-off.
    """
    owner, acted = world.owner(name), MAX_PODS_PER_PASS
    while acted == MAX_PODS_PER_PASS:
        job, pods = world.workloads.jobs[name], world.book.pods_of(name)
        going_on = [pod for pod in pods if pod.status.phase not in ENDED_PHASES]
        sync = job_pass(job, [*going_on, *_uncounted_pods(job, pods)], world.time)
        world.delete(_too_many(world, sync.surplus), SCALED_DOWN)
        acted = len(sync.surplus.chosen)
        if sync.create and (template := template_of(world, owner)) is not None:
            indexed = (for_index(template, index) for index in sync.indexes)
            acted = create_copies(world, owner, indexed if sync.indexes else repeat(template, sync.create))


def _too_many(world: Store, surplus: Surplus) -> Sequence[Pod]:
    """Pods of a Job to delete; chance decides among equal ones."""
    if not surplus.sometimes:
        return surplus.chosen
    world.happenings.by_chance = True
    drawn = len(surplus.chosen) - len(surplus.always)
    return *surplus.always, *world.settings.chance.pick(surplus.sometimes, drawn)


def _uncounted_pods(job: api.Job, pods: Iterable[Pod]) -> Iterator[Pod]:
    """Yield ended pods that the Job's status does not count yet."""
    ended = [pod for pod in pods if pod.status.phase == "Succeeded"]
    failed = [pod for pod in pods if pod.status.phase == "Failed"]
    return chain(ended[job.status.succeeded :], failed[job.status.failed :])


def _fails(world: Store, owner: Owner) -> bool:
    """True if a Job exceeds its backoffLimit; backoffLimitPerIndex and podFailurePolicy are not modeled."""
    job = world.workloads.jobs.get(owner.name)
    if job is not None and (fields := not_modeled(job.spec)):
        world.happenings.note(f"Job/{owner.name.name}: {', '.join(fields)} not modeled")
    world.assume(world.workloads.objects.gap(api.Job, "a Job is taken to make every pod again that it loses"))
    if job is None or job.spec.pod_failure_policy is not None or job.spec.backoff_limit_per_index is not None:
        return False
    return job.status.failed + owner.failures > backoff_limit(job.spec)


def reconcile_daemons(world: Store, name: WorkloadName) -> bool:
    """Recreate lost pods on nodes where they still belong."""
    owner = world.owner(name)
    lost_pods, owner.pods_to_recreate = owner.pods_to_recreate, []
    missed = [pod for pod in lost_pods if world.needs_daemon_pod(pod) and not _runs_on(world, name, pod.spec.node_name)]
    pinned = [pinned_to(as_template(pod), pod.spec.node_name) for pod in missed]
    pinned += (template for pod, template in world.api_server.take_refused(name) if world.needs_daemon_pod(pod))
    return create_copies(world, owner, pinned) > 0


def update_daemon_pods(world: Store, change: NodeChange, before: Mapping[str, Node]) -> None:
    """Create daemon pods on added or newly eligible nodes, and delete daemon pods on nodes no longer selected.

    ``before`` are the changed nodes before the change; anything already wrong then is left alone. A new node gets its
    daemon pods before any other pods: they tolerate it while it is not ready.
    """
    if not change.added and not change.replaced:
        return
    before_it, compares = len(world.happenings.created), world.compares
    for name, template in daemon_templates(world):
        owner = world.owner(name)
        eligible = [new.metadata.name for new in change.added if should_run(template, new, compares=compares)]
        for node, new in change.replaced.items():
            stayed, stays = (should_continue(template, state, compares=compares) for state in (before[node], new))
            ran, runs = (should_run(template, state, compares=compares) for state in (before[node], new))
            if stayed and not stays:
                world.delete([pod for pod in world.book.pods_on(node) if world.book.owner_of(pod) == name], UNSELECTED)
            elif runs and not ran:
                eligible += [] if _runs_on(world, name, node) else [node]
        create_copies(world, owner, (pinned_to(template, node) for node in eligible))
    schedule(world, [key_of(pod) for pod in world.happenings.created[before_it:]])


def _runs_on(world: Store, name: WorkloadName, node: str) -> bool:
    return any(world.book.owner_of(pod) == name and is_active(pod) for pod in world.book.pods_on(node))


def daemon_templates(world: Store) -> Iterator[tuple[WorkloadName, Pod]]:
    """Yield each DaemonSet's pod before it is pinned; one of its own pods if the DaemonSet is not in the cluster."""
    world.assume(world.workloads.objects.gap(api.DaemonSet, "only those that have pods are known, by their pods"))
    names = {*world.workloads.daemon_sets, *(name for name in world.book.owners if name.kind == "DaemonSet")}
    for name in sorted(names, key=lambda daemon_set: (daemon_set.namespace, daemon_set.name)):
        running = [pod for pod in world.book.pods_of(name) if is_active(pod)]
        if name in world.workloads.daemon_sets:
            try:
                pod_copy = world.settings.making(name, world.workloads.objects)
            except KubespreadError as error:
                # A question about something else is not to fail for that.
                if running:
                    # The API server refuses each.
                    yield name, _unpin(as_template(running[0]))
                else:
                    world.happenings.note(f"DaemonSet/{name.name} makes no pods: {error}")
                continue
            world.add_missing(pod_copy.companions)
            yield name, as_template(pod_copy.pod)
        elif running:
            world.happenings.note(f"DaemonSet/{name.name} is known only by its pods: its node selector may be lost")
            yield name, _unpin(as_template(running[0]))


def _unpin(pod: Pod) -> Pod:
    """``pod`` without required node affinity, which pins it to a node; that of its template is lost, too."""
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity is not None else None
    if affinity is None or node_affinity is None:
        return pod
    free = replace(node_affinity, required_during_scheduling_ignored_during_execution=None)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=free)))
