"""DaemonSets: a pod on every node that is new, as far as it belongs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubespread.controllers.daemon_nodes import should_run
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.planner.queue import pinned_to
from kubespread.planner.world import pods as states

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


def create_daemons(world: World, nodes: Iterable[str]) -> None:
    """The pods of all DaemonSets for nodes that were added; they wait for the scheduler like any other."""
    added = [world.living.nodes.objects[world.living.nodes.index[name]] for name in nodes]
    for name, template in _templates(world):
        owner = world.owner(name)
        for node in added:
            if should_run(template, node):
                pinned = pinned_to(template, node.metadata.name)
                world.create(states.copy_of(pinned, world.free_name(owner), world.timestamp), pinned)


def _templates(world: World) -> Iterator[tuple[WorkloadName, Pod]]:
    """Each DaemonSet's pod without its pin; of one that is known only by its pods it is one of theirs."""
    names = {*world.workloads.daemon_sets, *(name for name in world.book.owners if name.kind == "DaemonSet")}
    for name in sorted(names, key=lambda each: (each.namespace, each.name)):
        running = [pod for pod in world.book.of(name) if is_active(pod)]
        if name in world.workloads.daemon_sets:
            made = world.make(name)
            world.add_objects(made.companions)
            yield name, states.as_template(made.pod)
        elif running:
            world.happenings.note(f"DaemonSet/{name.name} is known only by its pods: its node selector may be lost")
            yield name, _unpinned(states.as_template(running[0]))


def _unpinned(pod: Pod) -> Pod:
    """Without the node that the controller pinned the pod to, and whatever node affinity its template had."""
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity is not None else None
    if affinity is None or node_affinity is None:
        return pod
    free = replace(node_affinity, required_during_scheduling_ignored_during_execution=None)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=free)))
