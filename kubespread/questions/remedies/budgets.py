"""Changes of disruption budgets that block evictions: of several for the same pod one remains, and lets one pod go at a
time.

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


def looser(world: World, question_edits: Sequence[Edit], *refused: Sequence[Pod]) -> tuple[Change, ...]:
    """Changes of budgets that refuse evictions: for the first of ``refused``, then larger ones for the next, which has
    more pods.

    Empty if no budget is in the way, or edits of the question set it.
    """
    fixed = {name for edit in question_edits if isinstance(edit, SetBudget) for name in _budgets_of(world, edit)}
    sizes = dict.fromkeys(edits for pods in refused for edits in _for_pods(world, pods) if edits)
    sizes = {edits: None for edits in sizes if fixed.isdisjoint((edit.namespace, edit.name) for edit in edits)}
    return tuple(
        Change(BUDGET, " ".join(f"--{edit}" for edit in edits), 10 * len(edits), edits=edits) for edits in sizes
    )


def _budgets_of(world: World, edit: SetBudget) -> Iterator[tuple[str | None, str]]:
    """Yield namespaces and names of the budgets that an edit sets."""
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
    remaining = _one_for_each_pod(budgets, [*world.book, *pods])
    removed = [SetBudget(name.name, namespace=name.namespace) for name in budgets if name not in remaining]
    # Where one of several lets a pod go, it is enough to remove the others.
    for edits in ((), _one_unavailable(remaining), _one_more_unavailable(world, remaining)):
        yield tuple(sorted((*removed, *edits), key=str))


def _one_for_each_pod(budgets: _Budgets, pods: Sequence[Pod]) -> _Budgets:
    """Budgets that share no pod: the ones of most pods, as few then lose all protection; of equal ones the strictest
    that lets a pod go.
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

    remaining: list[NamespacedName] = []
    for name in sorted(budgets, key=order):
        if all(keys[name].isdisjoint(keys[other]) for other in remaining):
            remaining.append(name)
    return {name: budgets[name] for name in remaining}


def _one_unavailable(budgets: _Budgets) -> Iterator[SetBudget]:
    """Yield budgets that ask for all pods, changed so that one may be unavailable."""
    for name, budget in budgets.items():
        if budget.status.expected_pods <= budget.status.desired_healthy:
            yield SetBudget(name.name, "", MAX_UNAVAILABLE, 1, name.namespace)


def _one_more_unavailable(world: World, budgets: _Budgets) -> Iterator[SetBudget]:
    """Yield budgets that allow no disruption, changed to require one healthy pod fewer than there are.

    Other pods are unhealthy, or their controller has no scale, which maxUnavailable needs.
    """
    for name, budget in budgets.items():
        if budget.status.disruptions_allowed == 0:
            healthy = sum(protects(budget, pod) and is_active(pod) and is_ready(pod) for pod in world.book)
            yield SetBudget(name.name, "", MIN_AVAILABLE, max(0, healthy - 1), name.namespace)
