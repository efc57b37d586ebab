"""DaemonSets: one pod on every node that should have one, as nodes change and pods go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from kubespread.controllers.daemonset import pinned_to, should_continue, should_run
from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.replicas import create_copies
from kubespread.world.events.scheduling import schedule
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import UNSELECTED
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.store import Store


def reconcile(world: Store, name: WorkloadName) -> bool:
    """Make again what is gone from nodes where it still belongs."""
    owner = world.owner(name)
    gone, owner.gone = owner.gone, []
    missed = [pod for pod in gone if world.wants_daemon(pod) and not _runs_on(world, name, pod.spec.node_name)]
    pinned = [pinned_to(states.as_template(pod), pod.spec.node_name) for pod in missed]
    pinned += (template for pod, template in world.api_server.take_refused(name) if world.wants_daemon(pod))
    return create_copies(world, owner, pinned) > 0


def follow(world: Store, change: NodeChange, before: Mapping[str, Node]) -> None:
    """Make daemon pods for nodes that were added or have become eligible, and delete those of nodes that are no longer
    selected.

    ``before`` are the changed nodes before the change; anything already wrong then is left alone. A new node gets its
    daemon pods before any other pods: they tolerate it while it is not ready.
    """
    if not change.added and not change.replaced:
        return
    before_it = len(world.happenings.created)
    for name, template in daemon_templates(world):
        owner = world.owner(name)
        eligible = [new.metadata.name for new in change.added if should_run(template, new)]
        for node, new in change.replaced.items():
            if should_continue(template, before[node]) and not should_continue(template, new):
                world.delete([pod for pod in world.book.on(node) if world.book.owner_of(pod) == name], UNSELECTED)
            elif should_run(template, new) and not should_run(template, before[node]):
                eligible += [] if _runs_on(world, name, node) else [node]
        create_copies(world, owner, (pinned_to(template, node) for node in eligible))
    schedule(world, [key_of(pod) for pod in world.happenings.created[before_it:]])


def _runs_on(world: Store, name: WorkloadName, node: str) -> bool:
    return any(world.book.owner_of(pod) == name and is_active(pod) for pod in world.book.on(node))


def daemon_templates(world: Store) -> Iterator[tuple[WorkloadName, Pod]]:
    """Each DaemonSet's pod without its pin; one of its own pods where the DaemonSet itself is not in the cluster."""
    world.assume(world.workloads.objects.gap(DaemonSet, "only those that have pods are known, by their pods"))
    names = {*world.workloads.daemon_sets, *(name for name in world.book.owners if name.kind == "DaemonSet")}
    for name in sorted(names, key=lambda daemon_set: (daemon_set.namespace, daemon_set.name)):
        running = [pod for pod in world.book.of(name) if is_active(pod)]
        if name in world.workloads.daemon_sets:
            try:
                made = world.surroundings.making(name, world.workloads.objects)
            except KubespreadError as error:
                # A question about something else is not to fail for that.
                world.happenings.note(f"DaemonSet/{name.name} makes no pods: {error}")
                continue
            world.add_missing(made.companions)
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
