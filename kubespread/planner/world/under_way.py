"""What is under way in a snapshot: rollouts, StatefulSets being scaled and pods on their way out go on first."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.controllers.replica_counts import replicas_of
from kubespread.controllers.revisions import new_replica_set
from kubespread.controllers.stateful_set_pass import REVISION_LABEL
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active, is_ready
from kubespread.planner.world.deployments import Rollout, name_of, rollout_of_cluster
from kubespread.planner.world.happenings import DELETED
from kubespread.planner.world.world import World
from kubespread.wording import count_of


def resume(world: World) -> None:
    """Let terminating pods end, and every controller whose object is not at rest go on. What cannot be known, whether
    a pod that is not ready becomes so, is noted: it stays as it is.
    """
    ending = [pod for pod in world.book if pod.metadata.deletion_timestamp is not None and world.ends(pod)]
    world.remove(ending, DELETED)
    for name, rollout in _rollouts(world):
        world.rollouts[name] = rollout
        world.dirty[name] = None
        unready = [pod for pod in _pods(world, rollout) if pod.spec.node_name and is_active(pod) and not is_ready(pod)]
        said = f", {count_of(len(unready), 'pod')} of it not ready, and taken to stay so" if unready else ""
        world.happenings.note(f"{name.kind}/{name.name}: its rollout is under way in the snapshot and goes on{said}")
    world.dirty.update(dict.fromkeys(_stateful_sets(world)))


def _pods(world: World, rollout: Rollout) -> list[Pod]:
    return [pod for replica_set in rollout.replica_sets for pod in world.book.of(name_of(replica_set))]


def _rollouts(world: World) -> Iterator[tuple[WorkloadName, Rollout]]:
    """The Deployments with pods of an older template, or another number of replicas below them than they are to have.

    Only what its source has in full says so: a ReplicaSet with the Deployment's own template among others.
    """
    below: dict[WorkloadName, list[ReplicaSet]] = {}
    for name, replica_set in world.workloads.replica_sets.items():
        below.setdefault(world.workloads.above(name), []).append(replica_set)
    for name, deployment in world.workloads.deployments.items():
        if deployment.spec.paused or new_replica_set(deployment, below.get(name, ())) is None:
            continue
        rollout = rollout_of_cluster(world, name)
        new = new_replica_set(deployment, rollout.replica_sets)
        others = [each for each in rollout.replica_sets if each is not new]
        if new is not None and (any(map(replicas_of, others)) or replicas_of(new) != replicas_of(deployment)):
            yield name, rollout


def _stateful_sets(world: World) -> Iterator[WorkloadName]:
    """Those that have another number of pods than they are to have, or pods of an older revision."""
    for name, stateful_set in world.workloads.stateful_sets.items():
        pods = [pod for pod in world.book.of(name) if is_active(pod)]
        update = stateful_set.status.update_revision
        is_older = update and any(pod.metadata.labels.get(REVISION_LABEL, update) != update for pod in pods)
        if pods and (is_older or len(pods) != world.owner(name).replicas):
            yield name
