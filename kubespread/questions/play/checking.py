"""Mistakes in a scenario, found before anything of it is played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.errors import UsageError
from kubespread.kube.owners import Named
from kubespread.questions.play.steps import Changes
from kubespread.scenario.types import Scenario, Step
from kubespread.scenario.verbs import Apply, Rollback, Rollout
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.target import nodes_of_target
from kubespread.snapshot.edits.verb import OfNodes, Verb
from kubespread.world.events.editing import exists, not_found
from kubespread.world.events.world import World


def check(world: World, scenario: Scenario, changes: Changes, namespace: str) -> None:
    """Check the nodes, workloads and manifests of the steps, unless an earlier step may bring them.

    ``world`` stays as it is. Raises UsageError with a line for every step that names something missing, and
    ManifestError for the first manifest that the API server would refuse.
    """
    faults: list[str] = []
    for position, step in enumerate(scenario.steps):
        try:
            _check(world, step, scenario.steps[:position], changes, namespace)
        except UsageError as error:
            faults.append(f"step {position + 1} ({step.text}): {error}")
    try:
        _check_workloads(world, scenario.stuck, scenario.steps, namespace)
    except UsageError as error:
        faults.append(f"spec.readiness: {error}")
    if faults:
        raise UsageError(*faults)


def _check(world: World, step: Step, before: Sequence[Step], changes: Changes, namespace: str) -> None:
    action = step.action
    if not any(earlier.action is not None and earlier.action.brings_nodes for earlier in before):
        _check_nodes(world, action)
    _check_workloads(world, [*step.stuck, *step.ready, *_named(action)], before, namespace)
    if isinstance(action, Apply):
        changes.applied(world, action, namespace)
    elif isinstance(action, Rollout) and exists(world, action.workload.within(namespace)):
        changes.rolled_out(world, action, namespace)


def _check_nodes(world: World, action: Verb | None) -> None:
    nodes = world.living.nodes.objects
    if isinstance(action, AddNode):
        action.change(nodes)
    elif isinstance(action, OfNodes):
        nodes_of_target(action.target, nodes)


def _named(action: Verb | None) -> Iterator[Named]:
    if isinstance(action, Rollout | Rollback):
        yield action.workload
    elif isinstance(action, Scale):
        yield Named(action.kind, action.name, action.namespace)


def _check_workloads(world: World, workloads: Sequence[Named], before: Sequence[Step], namespace: str) -> None:
    if any(isinstance(earlier.action, Apply) for earlier in before):
        return
    for workload in workloads:
        name = workload.within(namespace)
        if not exists(world, name):
            raise not_found(world, name)
