"""Edits played in a world, with the reactions of controllers and the scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.controllers.disruption import no_such_pod, protects
from kubespread.controllers.outage import NO_EXECUTE, evicted_after
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import PodDisruptionBudget, PodDisruptionBudgetSpec
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS, owner_kind
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.api.workloads import RollingUpdate, UpdateStrategy
from kubespread.kube.gotext import quote
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.kube.selector import Selector
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.nodes import AddTaint, Drain, Fail, NodeLabel, NodeTaint
from kubespread.snapshot.edits.pods import (
    MAX_UNAVAILABLE,
    MIN_AVAILABLE,
    DeletePods,
    EvictPod,
    Scale,
    SetBudget,
    SetMaxUnavailable,
)
from kubespread.snapshot.edits.verb import Edit, Target, nodes_of_target
from kubespread.wording import Decisive, count_of, some_of, verb_of
from kubespread.world.events.controllers import rollout_of_cluster, update_daemon_pods
from kubespread.world.events.draining import delete_nodes, drain, evict, fail
from kubespread.world.events.world import World
from kubespread.world.store.happenings import DELETED, TAINTED
from kubespread.world.store.owners import OngoingRollout, are_namesakes, in_order
from kubespread.world.store.pod_book import as_template
from kubespread.world.store.store import OPERATOR

_MAX_NAMED = 3
_LIMITS = {MAX_UNAVAILABLE: "max_unavailable", MIN_AVAILABLE: "min_available"}


def apply(world: World, edit: Edit, namespace: str) -> None:
    """Play one edit until nothing changes; ``namespace`` is for names without one.

    Refused and pending pods are in the world's happenings and queue. Raises UsageError for an edit of something that
    does not exist.
    """
    match edit:
        case Drain():
            names = _names(world, edit.target)
            added = [name for name in names if name not in world.first_nodes.index]
            if added and edit.target.selector is not None:
                which = f"{len(added):,} of the {count_of(len(names), 'drained node')}"
                text = f"{which} {verb_of(len(added), 'were')} added before the drain; a name drains a single node"
                world.happenings.note(Decisive(f"{edit}: {text}"), names_edit=True)
            drain(world, names, edit.flags)
        case Fail():
            names = _names(world, edit.target)
            fail(world, names)
            if edit.hard:
                delete_nodes(world, names)
        case DeletePods():
            _delete_pods(world, edit, edit.namespace or namespace)
        case EvictPod():
            _evict(world, edit, edit.namespace or namespace)
        case Scale():
            name = WorkloadName(edit.kind, edit.namespace or namespace, edit.name)
            scale(world, name, edit.replicas)
        case SetMaxUnavailable():
            _set_max_unavailable(world, edit)
        case SetBudget():
            _set_budget(world, edit, edit.namespace or namespace)
        case _:
            _change_nodes(world, edit)
    world.settle()


def _set_max_unavailable(world: World, edit: SetMaxUnavailable) -> None:
    name = WorkloadName("Deployment", edit.namespace, edit.name)
    rollout = rollout_of(world, name)
    spec = rollout.deployment.spec
    strategy = spec.strategy or UpdateStrategy()
    rolling = replace(strategy.rolling_update or RollingUpdate(), max_unavailable=edit.max_unavailable)
    changed = replace(spec, strategy=replace(strategy, rolling_update=rolling))
    rollout.deployment = replace(rollout.deployment, spec=changed)
    world.add_objects([rollout.deployment])
    world.dirty[name] = None


def _set_budget(world: World, edit: SetBudget, namespace: str) -> None:
    budgets = world.objects.get(PodDisruptionBudget)
    if edit.kind:
        template = _template_of(world, WorkloadName(edit.kind, namespace, edit.name))
        matching = [budget for budget in budgets if protects(budget, template)]
    else:
        template, in_namespace = Pod(), [budget for budget in budgets if budget.metadata.namespace == namespace]
        matching = [budget for budget in in_namespace if budget.metadata.name == edit.name]
        if not matching:
            hint = alternatives(edit.name, (budget.metadata.name for budget in in_namespace))
            what = f"poddisruptionbudgets.policy {quote(edit.name)} not found in namespace {namespace}"
            raise UsageError(f"{what}{hint or '; a workload (deploy/web) gets a new one'}")
    if not edit.field:
        if not matching:
            raise UsageError(f"no budget protects the pods of {edit.kind}/{edit.name}")
        world.use_objects(
            world.objects.with_all(PodDisruptionBudget, [budget for budget in budgets if budget not in matching]), ()
        )
        return
    if len(matching) > 1:
        names = some_of([budget.metadata.name for budget in matching], _MAX_NAMED)
        raise UsageError(
            f"budgets {names} protect the pods of {edit.kind}/{edit.name}: name one of them, and remove the others "
            "(NAME:none), as a pod of several is not evicted"
        )
    selector = world.workloads.selector_of(WorkloadName(edit.kind, namespace, edit.name), template)
    new_budget = PodDisruptionBudget(
        metadata=ObjectMeta(name=edit.name, namespace=namespace), spec=PodDisruptionBudgetSpec(selector=selector)
    )
    budget = matching[0] if matching else new_budget
    limits = {"max_unavailable": None, "min_available": None, _LIMITS[edit.field]: edit.value}
    world.add_objects([replace(budget, spec=replace(budget.spec, **limits))])
    # With the status that the disruption controller writes.
    same = (current for current in world.budgets.current(world.time) if are_namesakes(current, budget))
    world.add_objects(list(same))


def _template_of(world: World, name: WorkloadName) -> Pod:
    """A pod of the workload, or one of its template. Raises UsageError for a missing workload."""
    for owner in world.owners_below(name):
        if pods := world.book.pods_of(owner):
            return pods[0]
    row = POD_CREATORS.get(name.kind)
    obj = None if row is None else world.objects.find(row.cls, name.name, name.namespace)
    template = None if row is None or obj is None else row.pod_template(obj)
    if template is None:
        raise not_found(world, name)
    return Pod(metadata=replace(template.metadata, namespace=name.namespace), spec=template.spec)


def _change_nodes(world: World, edit: Edit) -> None:
    nodes = world.living.nodes
    change = edit.change(nodes.objects)
    before = {name: nodes[name] for name in change.replaced}
    for note in change.notes:
        world.happenings.note(note, names_edit=True)
    world.change_nodes(change)
    if isinstance(edit, AddTaint) and edit.taint.effect == NO_EXECUTE:
        _evict_by_taint(world, list(change.replaced))
    # A cordon is nothing to a DaemonSet.
    if isinstance(edit, AddNode | NodeTaint | NodeLabel):
        update_daemon_pods(world, change, before)


def scale(world: World, name: WorkloadName, replicas: int) -> None:
    """Change the replicas of a workload. Raises UsageError for a missing one.

    A ReplicaSet's own number is changed too if its Deployment is not in the cluster.
    """
    name = world.resolve_name(name)
    scaled, below = name, world.owners_below(name)
    if name not in world.workloads.deployments and len(below) == 1 and below[0].kind == "ReplicaSet":
        # A Deployment that is known only by its ReplicaSet, or an Argo Rollout.
        name = below[0]
    if name.kind == "Deployment":
        rollout = rollout_of(world, name)
        _note_no_change(world, name, replicas, rollout.deployment.spec.replicas)
        spec = replace(rollout.deployment.spec, replicas=replicas)
        rollout.deployment = replace(rollout.deployment, spec=spec)
        world.add_objects([rollout.deployment])
    elif not world.workloads.is_resizable(name) and not any(map(world.book.pods_of, below)):
        raise not_found(world, name)
    elif not world.recreates_pods(name) or world.controller_kind(name) == OPERATOR:
        raise UsageError(f"{name.kind}/{name.name}: which of its pods go or come when it is scaled is not modeled")
    else:
        _note_no_change(world, name, replicas, world.owner(name).replicas)
        above = world.workloads.top_owner(name)
        if above != name and above != scaled:
            world.happenings.note(f"{name.kind}/{name.name} is {above.kind}/{above.name}'s, which would set it back")
        world.resize(name, replicas)
    world.dirty[name] = None
    world.settle()


def _note_no_change(world: World, name: WorkloadName, replicas: int, before: int | None) -> None:
    if replicas == before:
        world.happenings.note(f"{name.kind}/{name.name} has {count_of(replicas, 'replica')} already")


def rollout_of(world: World, name: WorkloadName) -> OngoingRollout:
    """A Deployment of the cluster with its ReplicaSets, to be changed. Raises UsageError for a missing one."""
    rollout = world.rollouts.get(name)
    if rollout is None:
        if name not in world.workloads.deployments:
            raise not_found(world, name)
        rollout = world.rollouts[name] = rollout_of_cluster(world, name)
        if not rollout.replica_sets:
            # It never had a pod: its ReplicaSet does not exist yet.
            pod_copy = world.settings.making(name, world.workloads.objects)
            world.add_missing(pod_copy.companions)
            rollout.template, rollout.new_hash = as_template(pod_copy.pod), pod_copy.pod.metadata.labels[TEMPLATE_HASH]
    return rollout


def not_found(world: World, name: WorkloadName) -> UsageError:
    workloads = {world.workloads.top_owner(owner, world.book.pods_of(owner)) for owner in world.book.owners}
    workloads |= {*world.workloads.deployments, *world.workloads.stateful_sets, *world.workloads.replica_sets}
    alike = [workload for workload in sorted(workloads, key=in_order) if workload.kind == name.kind]
    elsewhere = [workload.namespace for workload in alike if workload.name == name.name]
    in_namespace = [workload.name for workload in alike if workload.namespace == name.namespace]
    hint = f"; there is one in namespace {', '.join(elsewhere)}" if elsewhere else alternatives(name.name, in_namespace)
    if name.kind not in POD_CREATORS and not hint:
        hint = ": no pod there names it as its controller"
    resource = owner_kind(name.kind).resource
    return UsageError(f"{resource} {quote(name.name)} not found in namespace {name.namespace}{hint}")


def _names(world: World, target: Target) -> list[str]:
    return [node.metadata.name for node in nodes_of_target(target, world.living.nodes.objects)]


def _delete_pods(world: World, edit: DeletePods, namespace: str) -> None:
    pods = [pod for pod in world.book if pod.metadata.namespace == namespace]
    chosen = [pod for pod in pods if edit.selector.matches(pod.metadata.labels)]
    if not chosen:
        raise UsageError(f"no pods with labels {edit.text} found in namespace {namespace}{_hint(edit.selector, pods)}")
    world.delete(chosen, DELETED)


def _evict(world: World, edit: EvictPod, namespace: str) -> None:
    key = (namespace, edit.name)
    if key not in world.book:
        names = (pod.metadata.name for pod in world.book if pod.metadata.namespace == namespace)
        raise UsageError(f"{no_such_pod(edit.name).message} in namespace {namespace}{alternatives(edit.name, names)}")
    evict(world, [world.book[key]])


def _hint(selector: Selector, pods: Sequence[Pod]) -> str:
    """Suggestion for the first required label that no pod has."""
    labels = [pod.metadata.labels for pod in pods]
    for requirement in selector.requirements:
        if not any(requirement.matches(label) for label in labels):
            values = {label[requirement.key] for label in labels if requirement.key in label}
            if values and requirement.values:
                return alternatives(requirement.values[0], values)
            return alternatives(requirement.key, (key for label in labels for key in label))
    return ""


def _evict_by_taint(world: World, nodes: Sequence[str]) -> None:
    """Delete the pods that do not tolerate a NoExecute taint forever; disruption budgets do not apply."""
    doomed: list[Pod] = []
    for name in nodes:
        taints = world.living.nodes[name].spec.taints
        doomed += (
            pod
            for pod in world.book.pods_on(name)
            if is_active(pod) and evicted_after(pod.spec.tolerations, taints, compares=world.compares) is not None
        )
    world.delete(doomed, TAINTED)


def exists(world: World, name: WorkloadName) -> bool:
    """True if the cluster has the workload, even if only its pods show it."""
    workloads = world.workloads
    by_name = (workloads.deployments, workloads.daemon_sets)
    return (
        workloads.is_resizable(name)
        or any(name in objects for objects in by_name)
        or any(map(world.book.pods_of, world.owners_below(name)))
    )
