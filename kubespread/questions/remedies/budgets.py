"""Changes of disruption budgets that keep pods from being evicted: of several that protect the same pod one is kept,
and what is kept lets one pod go at a time.

Source: pkg/registry/core/pod/storage/eviction.go, Create
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubespread.controllers.disruption import protects
from kubespread.errors import KubespreadError
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, full_name, is_active, is_ready
from kubespread.questions.remedies.change import Change
from kubespread.snapshot.edits.pods import MAX_UNAVAILABLE, MIN_AVAILABLE, SetBudget
from kubespread.snapshot.edits.verb import Edit
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.pod_book import key_of

BUDGET = "budget"
_Budgets = Mapping[NamespacedName, PodDisruptionBudget]


def looser(world: World, asked: Sequence[Edit], *refused: Sequence[Pod]) -> tuple[Change, ...]:
    """Changes of the budgets that refuse evictions, each a larger one: for the first of ``refused``, then for the next,
    which has more pods.

    Empty if no budget is in the way, or the edits ``asked`` set them.
    """
    kept = {name for edit in asked if isinstance(edit, SetBudget) for name in _budgets_meant(world, edit)}
    sizes = dict.fromkeys(edits for pods in refused for edits in _for_pods(world, pods) if edits)
    sizes = {edits: None for edits in sizes if kept.isdisjoint((edit.namespace, edit.name) for edit in edits)}
    return tuple(
        Change(BUDGET, " ".join(f"--{edit}" for edit in edits), 10 * len(edits), edits=edits) for edits in sizes
    )


def _budgets_meant(world: World, edit: SetBudget) -> Iterator[tuple[str | None, str]]:
    """The budgets that an edit sets, by namespace and name."""
    for budget in world.objects.get(PodDisruptionBudget):
        meta = budget.metadata
        if edit.namespace not in (None, meta.namespace):
            continue
        owners = (workload_of(world, pod) for pod in world.book if edit.kind and protects(budget, pod))
        named = ((own.kind, own.name) for own in owners) if edit.kind else iter((("", meta.name),))
        if (edit.kind, edit.name) in named:
            yield meta.namespace, meta.name


def settled_after(world: World, change: Change) -> Baseline | None:
    """The settled cluster after the edits of ``change``; None if one is refused. ``world`` is not changed."""
    edited = world.fork()
    try:
        for edit in change.edits:
            apply(edited, edit, "")
    except KubespreadError:
        return None
    return Baseline.settle(edited)


def _for_pods(world: World, pods: Sequence[Pod]) -> Iterator[tuple[SetBudget, ...]]:
    budgets = {full_name(budget): budget for pod in pods for budget in world.budgets.protecting(pod, world.time)}
    kept = _one_for_each_pod(budgets, [*world.book, *pods])
    removed = [SetBudget(name.name, namespace=name.namespace) for name in budgets if name not in kept]
    # Where one of several lets a pod go, it is enough to remove the others.
    for edits in ((), _one_unavailable(kept), _one_more_unavailable(world, kept)):
        yield tuple(sorted((*removed, *edits), key=str))


def _one_for_each_pod(budgets: _Budgets, pods: Sequence[Pod]) -> _Budgets:
    """Budgets of which no two protect the same pod: first those of most pods, as few then lose all protection; of equal
    ones the strictest that lets a pod go.
    """
    if len(budgets) < 2:
        return budgets
    keys: dict[NamespacedName, set[tuple[str, str]]] = {name: set() for name in budgets}
    for pod in pods:
        for name, budget in budgets.items():
            if protects(budget, pod):
                keys[name].add(key_of(pod))

    def order(name: NamespacedName) -> tuple[int, bool, int, str]:
        allowed = budgets[name].status.disruptions_allowed
        return -len(keys[name]), allowed == 0, allowed, name

    kept: list[NamespacedName] = []
    for name in sorted(budgets, key=order):
        if all(keys[name].isdisjoint(keys[other]) for other in kept):
            kept.append(name)
    return {name: budgets[name] for name in kept}


def _one_unavailable(budgets: _Budgets) -> Iterator[SetBudget]:
    """Yield budgets that ask for all pods, changed so that one may be unavailable."""
    for name, budget in budgets.items():
        if budget.status.expected_pods <= budget.status.desired_healthy:
            yield SetBudget(name.name, "", MAX_UNAVAILABLE, 1, name.namespace)


def _one_more_unavailable(world: World, budgets: _Budgets) -> Iterator[SetBudget]:
    """Yield budgets that let none go now, changed to ask for one healthy pod less than there are: some are not healthy,
    or what controls them has no scale, which maxUnavailable needs.
    """
    for name, budget in budgets.items():
        if budget.status.disruptions_allowed == 0:
            healthy = sum(protects(budget, pod) and is_active(pod) and is_ready(pod) for pod in world.book)
            yield SetBudget(name.name, "", MIN_AVAILABLE, max(0, healthy - 1), name.namespace)
