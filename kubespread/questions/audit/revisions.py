"""Which of a workload's pods are of its newest revision, and what its next pod is made of.

The workloads of a world with their pods, and pods without a controller that look like one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from msgspec import Struct, field

from kubespread.controllers.deployment import TEMPLATE_HASH, new_replica_set, replicas_of, revision
from kubespread.controllers.statefulset import REVISION_LABEL, ordinal_of
from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName, is_ready, is_terminating
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.world.events.controllers import rollout_of_cluster
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import AskedWorkloads, desired_replicas
from kubespread.world.store.owners import Rollout, in_order, name_of
from kubespread.world.store.pod_book import as_template


class Group(Struct):
    """A workload, or pods by themselves that share their labels."""

    name: WorkloadName
    pods: list[Pod] = field(default_factory=list)
    """Those that have neither ended nor are terminating."""
    terminating: list[Pod] = field(default_factory=list)
    owners: dict[WorkloadName, None] = field(default_factory=dict)
    """Whose the pods are directly."""

    @property
    def waiting(self) -> Sequence[Pod]:
        return [pod for pod in self.pods if not pod.spec.node_name]

    @property
    def ready(self) -> int:
        return sum(map(is_ready, self.pods))

    def replicas(self, world: World) -> int:
        """Desired pods; of pods without a controller as many as there are."""
        return len(self.pods) if self.name.kind == "Pod" else desired_replicas(world, self.name)


def groups(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[Group]:
    """Workloads that have pods or should have some, without DaemonSets and static pods, of which every node has its
    own.
    """
    by_key: dict[Hashable, Group] = {}
    workloads = AskedWorkloads(world, is_asked)
    for pod in world.book:
        name = workloads.of(pod) if pod.status.phase not in ENDED_PHASES else None
        if name is None:
            continue
        owner = world.book.owner_of(pod)
        key = name if owner is not None or not pod.metadata.labels else _alike(pod)
        group = by_key.setdefault(key, Group(name))
        (group.terminating if is_terminating(pod) else group.pods).append(pod)
        if owner is not None:
            group.owners[owner] = None
    for name in _without_pods(world, is_asked):
        by_key.setdefault(name, Group(name))
    yield from (
        group for group in by_key.values() if group.pods or (group.name.kind != "Pod" and group.replicas(world))
    )


def _without_pods(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[WorkloadName]:
    """Workloads that may have no pods although they should."""
    workloads = world.workloads
    by_themselves = (
        name
        for name in (*workloads.replica_sets, *workloads.replication_controllers)
        if workloads.above(name) == name and workloads.replicas(name)
    )
    yield from filter(is_asked, (*workloads.deployments, *workloads.stateful_sets, *by_themselves))


def _alike(pod: Pod) -> Hashable:
    """What makes pods by themselves one group: the same labels."""
    return pod.metadata.namespace, tuple(sorted(pod.metadata.labels.items()))


class Revisions(Struct, frozen=True):
    """A workload's pods by revision."""

    template: Pod | None
    """The template of its next pod; None where neither a pod nor an object has it."""
    is_old: Callable[[Pod], bool] = lambda _: False
    """Whether a pod is of an old revision, and so will be deleted."""
    is_rolling: bool = False
    """Whether a rollout is under way: pods of an old revision exist, or should."""


class RevisionsOf:
    """Tells the revisions of a world's workloads; the world is not changed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._replica_sets: dict[WorkloadName, list[ReplicaSet]] = {}
        for name, replica_set in world.workloads.replica_sets.items():
            self._replica_sets.setdefault(world.workloads.above(name), []).append(replica_set)

    def __call__(self, group: Group) -> Revisions:
        if group.name.kind == "StatefulSet":
            return self._of_stateful_set(group)
        replica_sets = self._replica_sets.get(group.name, [])
        if not replica_sets and len(group.owners) < 2:
            return Revisions(self._template(group, next(iter(group.owners), group.name), group.pods))
        owner_of, newest = self._world.book.owner_of, self._newest(group, replica_sets)
        if newest is None:
            former = {*map(name_of, replica_sets), *group.owners}
            return Revisions(
                self._template(group, group.name, ()), lambda pod: owner_of(pod) in former, is_rolling=True
            )

        def is_old(pod: Pod) -> bool:
            return owner_of(pod) != newest

        new = [pod for pod in group.pods if not is_old(pod)]
        rolling = any(replicas_of(replica_set) for replica_set in replica_sets if name_of(replica_set) != newest)
        return Revisions(self._template(group, newest, new), is_old, rolling or len(new) < len(group.pods))

    def makers(self, name: WorkloadName) -> list[WorkloadName]:
        """The owners of a workload's pods, even without any: all ReplicaSets of a Deployment."""
        replica_sets = map(name_of, self._replica_sets.get(name, ()))
        return list(dict.fromkeys((*replica_sets, *self._world.owners_below(name)))) or [name]

    def changing(self) -> Iterator[tuple[WorkloadName, Rollout]]:
        """The Deployments whose ReplicaSets are not what their controller wants, as it sees them."""
        for name, deployment in self._world.workloads.deployments.items():
            replica_sets = self._replica_sets.get(name, [])
            sizes = [size for replica_set in replica_sets if (size := replicas_of(replica_set))]
            desired = replicas_of(deployment)
            if self._lacks_newest(deployment, replica_sets):
                made = self._made(name)
                if made is not None and TEMPLATE_HASH in made.metadata.labels:
                    template_hash = made.metadata.labels[TEMPLATE_HASH]
                    yield name, Rollout(deployment, replica_sets, as_template(made), template_hash)
            elif replica_sets and sizes != ([desired] if desired else []):
                yield name, rollout_of_cluster(self._world, name)

    def _newest(self, group: Group, replica_sets: Sequence[ReplicaSet]) -> WorkloadName | None:
        """The ReplicaSet of the newest revision; None where it does not exist yet."""
        deployment = self._world.workloads.deployments.get(group.name)
        if deployment is not None:
            if self._lacks_newest(deployment, replica_sets):
                return None
            if (new := new_replica_set(deployment, replica_sets)) is not None:
                return name_of(new)
        by_name = {name_of(existing): existing for existing in replica_sets}

        def newness(owner: WorkloadName) -> tuple[object, ...]:
            replica_set = by_name.get(owner)
            number = 0 if replica_set is None else revision(replica_set) or 0
            since = "" if replica_set is None else replica_set.metadata.creation_timestamp
            return number, since, sum(self._world.book.owner_of(pod) == owner for pod in group.pods), in_order(owner)

        return max({**by_name, **group.owners}, key=newness)

    def _lacks_newest(self, deployment: Deployment, replica_sets: Sequence[ReplicaSet]) -> bool:
        """Whether the Deployment was changed, and its controller has not made the ReplicaSet of its template yet."""
        templates_known = replica_sets and all(replica_set.spec.template is not None for replica_set in replica_sets)
        return bool(templates_known) and new_replica_set(deployment, replica_sets) is None

    def _of_stateful_set(self, group: Group) -> Revisions:
        stateful_set = self._world.workloads.stateful_sets.get(group.name)
        update = stateful_set.status.update_revision if stateful_set is not None else ""
        if stateful_set is None or not update:
            return Revisions(self._template(group, group.name, group.pods))
        strategy = stateful_set.spec.update_strategy
        rolling = strategy.rolling_update if strategy is not None else None
        partition = (rolling.partition if rolling is not None else None) or 0

        def is_former(pod: Pod) -> bool:
            return pod.metadata.labels.get(REVISION_LABEL, update) != update

        def is_old(pod: Pod) -> bool:
            # Pods below the partition keep their revision.
            return is_former(pod) and (ordinal_of(pod, group.name.name) or 0) >= partition

        new = [pod for pod in group.pods if not is_former(pod)]
        return Revisions(self._template(group, group.name, new), is_old, any(map(is_old, group.pods)))

    def _template(self, group: Group, maker: WorkloadName, pods: Sequence[Pod]) -> Pod | None:
        """The template of one of ``pods``; without any, the template of ``maker``, else of any other pod."""
        made = self._made(maker) if not pods else None
        return next((as_template(pod) for pod in (made, *pods, *group.pods) if pod is not None), None)

    def _made(self, maker: WorkloadName) -> Pod | None:
        if maker.kind not in POD_CREATORS:
            return None
        try:
            return self._world.surroundings.making(maker, self._world.workloads.objects).pod
        except KubespreadError:
            return None
