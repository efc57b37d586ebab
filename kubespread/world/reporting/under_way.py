"""What is under way in a snapshot: rollouts, StatefulSets being scaled and pods on their way out go on first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from kubespread.controllers.deployment import new_replica_set, replicas_of
from kubespread.controllers.outage import is_silent
from kubespread.controllers.statefulset import REVISION_LABEL, first_ordinal, ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet, StatefulSet, UpdateStrategy
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.wording import count_of, some_of
from kubespread.world.events.deployments import name_of, rollout_of_cluster, sized
from kubespread.world.events.jobs import bring_to_number
from kubespread.world.events.world import World
from kubespread.world.store.happenings import DELETED
from kubespread.world.store.owners import Rollout, in_order

_MAX_NAMED = 3


def resume(world: World) -> None:
    """Let terminating pods end, and controllers with unfinished work go on. Whether an unready pod becomes ready cannot
    be known: it is taken to stay unready, like new pods of the same template, and a note says so.
    """
    stuck = world.surroundings.stuck | set(_never_ready(world))
    world.surroundings = replace(world.surroundings, stuck=stuck)
    ending = [pod for pod in world.book if pod.metadata.deletion_timestamp is not None and world.ends(pod)]
    world.remove(ending, DELETED)
    for name, rollout in _rollouts(world):
        world.rollouts[name] = rollout
        world.dirty[name] = None
        unready = [pod for pod in _pods(world, rollout) if pod.spec.node_name and is_active(pod) and not is_ready(pod)]
        unready_note = f", {count_of(len(unready), 'pod')} of it not ready, and taken to stay so" if unready else ""
        world.happenings.note(
            f"{name.kind}/{name.name}: its rollout is under way in the snapshot and goes on{unready_note}"
        )
    world.dirty.update(dict.fromkeys(_stateful_sets(world)))
    for name in sorted(world.workloads.jobs, key=in_order):
        bring_to_number(world, name)


def judged_as_it_stands(world: World, is_asked: Callable[[WorkloadName], bool] = lambda _: True) -> tuple[str, ...]:
    """A note on rollouts and scalings that are under way and are not continued, among the workloads asked about."""
    names = [*(name for name, _ in _rollouts(world)), *_stateful_sets(world)]
    named = sorted(filter(is_asked, names), key=in_order)
    return (f"under way in the snapshot, and judged as it stands: {some_of(named, _MAX_NAMED)}",) if named else ()


def _never_ready(world: World) -> Iterator[WorkloadName]:
    """ReplicaSets of Deployments with pods on working nodes, none of which is ready."""
    silent = {"", *(node.metadata.name for node in world.living.nodes.objects if is_silent(node))}
    for name in world.workloads.replica_sets:
        if world.workloads.above(name).kind == "Deployment":
            pods = [pod for pod in world.book.of(name) if is_active(pod) and pod.spec.node_name not in silent]
            if pods and not any(map(is_ready, pods)):
                yield name


def _pods(world: World, rollout: Rollout) -> list[Pod]:
    return [pod for replica_set in rollout.replica_sets for pod in world.book.of(name_of(replica_set))]


def _rollouts(world: World) -> Iterator[tuple[WorkloadName, Rollout]]:
    """The Deployments with pods of an older template, or whose ReplicaSets do not have the desired number of replicas.

    Only Deployments that are known completely count: one of their ReplicaSets has their own template.
    """
    below: dict[WorkloadName, list[ReplicaSet]] = {}
    for name, replica_set in world.workloads.replica_sets.items():
        below.setdefault(world.workloads.above(name), []).append(replica_set)
    for name, deployment in world.workloads.deployments.items():
        own = [sized(world, replica_set) for replica_set in below.get(name, ())]
        new = new_replica_set(deployment, own)
        if deployment.spec.paused or new is None:
            continue
        others = [replica_set for replica_set in own if replica_set is not new]
        if any(map(replicas_of, others)) or replicas_of(new) != replicas_of(deployment):
            yield name, rollout_of_cluster(world, name)


def _stateful_sets(world: World) -> Iterator[WorkloadName]:
    """Those that have another number of pods than they are to have, or pods of an older revision."""
    for name, stateful_set in world.workloads.stateful_sets.items():
        pods = [pod for pod in world.book.of(name) if is_active(pod)]
        is_older = any(_is_outdated(stateful_set, pod) for pod in pods)
        if pods and (is_older or len(pods) != world.owner(name).replicas):
            yield name


def _is_outdated(stateful_set: StatefulSet, pod: Pod) -> bool:
    """Whether the controller is to replace a pod for one of the newer revision."""
    strategy, update = stateful_set.spec.update_strategy or UpdateStrategy(), stateful_set.status.update_revision
    partition = (strategy.rolling_update.partition if strategy.rolling_update is not None else None) or 0
    ordinal = ordinal_of(pod, stateful_set.metadata.name)
    is_reached = ordinal is not None and ordinal - first_ordinal(stateful_set) >= partition
    is_older = bool(update) and pod.metadata.labels.get(REVISION_LABEL, update) != update
    return is_older and is_reached and strategy.type != "OnDelete"
