"""One pod in its cluster, and the effect of changes to the pod or the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.kube.pod_status import priority_of
from kubespread.questions.remedies.change import Answer, Asker, Change, Revise
from kubespread.questions.remedies.edited_worlds import Edited, EditedWorlds
from kubespread.questions.remedies.stuck import Stuck
from kubespread.questions.resolving import Resolved, reviser
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import world_of
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change as ClusterChange
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.edits.verb import Edit
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

_PER_QUESTION, _NODES_PER_MILLISECOND = 2, 400


class Judged(Struct, frozen=True, kw_only=True):
    """A pod, or all replicas of a workload, as judged without any change."""

    pod: Pod
    """One of the replicas."""
    cluster: Cluster
    profile: Profile
    asker: Asker
    workload: str | None
    replicas: int | None = None
    placed: int | None = None
    fitting: int = 0
    message: str | None = None
    victims: tuple[NamespacedName, ...] = ()
    stuck: Stuck | None = None
    """What could be changed; None where nothing has to be, or nothing tells what."""
    notes: Sequence[str]
    admission: Sequence[str]


def judge_pod(resolved: Resolved, scheduler: Scheduler, *, preempts: bool) -> Judged:
    """About one pod."""
    candidate, profile, cluster = resolved.candidates[0], resolved.profiles[0], resolved.cluster
    pod, plugins = candidate.pod, framework(profile)
    worlds = EditedWorlds(
        lambda: world_of(resolved.snapshot, scheduler, preempts=preempts, assumed=cluster.assumed),
        pod.metadata.namespace,
    )
    asker = OnePod(pod, cluster, plugins, reviser(resolved), worlds, preempts)
    judged = partial(
        Judged,
        pod=pod,
        cluster=cluster,
        profile=profile,
        asker=asker,
        workload=None if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}",
        notes=candidate.notes,
        admission=candidate.admission,
    )
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        # Without a judgment nothing suggests what to change.
        return judged(message=str(error))
    fitting = int(evaluation.feasible.sum())
    if fitting and evaluation.error is None:
        return judged(fitting=fitting)
    if evaluation.error is None and (placed := asker.by_preemption(pod)) is not None:
        return judged(message=evaluation.message, victims=placed.victims)
    return judged(message=evaluation.message, stuck=Stuck(evaluation, profile.version))


class OnePod(Struct, dict=True):
    """A pod that needs a node; edits are played in a world, as for ``--uncordon`` and the like."""

    pod: Pod
    cluster: Cluster
    plugins: Framework
    revise: Revise
    worlds: EditedWorlds
    preempts: bool = True
    """Whether pods of lower priority are evicted for it, as kube-scheduler does."""
    _evaluated: int = 0

    def ask(self, change: Change) -> Answer | None:
        return self._ask(change, self.worlds)

    def ask_alone(self, change: Change) -> Answer | None:
        return None if self._alone is None else self._ask(change, self._alone)

    @cached_property
    def _alone(self) -> EditedWorlds | None:
        return self.worlds.if_alone(self._is_own)

    def _ask(self, change: Change, worlds: EditedWorlds) -> Answer | None:
        revised = self.revise(change.settings)
        edited = worlds.after(change.edits) if change.edits else None
        if revised is None or (change.edits and edited is None):
            return None
        self._evaluated += 1
        cluster = self.cluster if edited is None else _without(edited.world, key_of(self.pod))
        try:
            evaluation = evaluate(self.plugins, revised.dressed(cluster), revised.pod)
        except SchedulingError:
            return Answer(0)
        fitting = 0 if evaluation.error is not None else int(evaluation.feasible.sum())
        if not fitting and (placed := self.by_preemption(revised.pod, change.edits, worlds)) is not None:
            fitting, edited = 1, placed
        if edited is None:
            return Answer(fitting)
        return Answer(fitting, 1, worlds.consequences(edited), worlds.harm(edited, self._is_own))

    def by_preemption(
        self, pod: Pod, edits: tuple[Edit, ...] = (), worlds: EditedWorlds | None = None
    ) -> Edited | None:
        """What happens once the pod, which fits nowhere, preempts others; None where it cannot."""
        if not self.preempts or self.cluster.kinds.lowest_priority >= priority_of(pod):
            return None
        edited = (worlds or self.worlds).after(edits)
        assert edited is not None
        world, key = edited.world.fork(), key_of(pod)
        if key not in world.book:
            world.book.add(pod)
        elif key in world.queue.waiting:
            world.book.replace(world.book[key], pod)
        else:
            return None
        others = {pod_key: waiting for pod_key, waiting in world.queue.waiting.items() if pod_key != key}
        world.queue.waiting = {key: Waiting(pod, pod)}
        world.settle()
        if key in world.queue.waiting:
            return None
        world.queue.waiting.update(others)
        return edited.then(world)

    def _is_own(self, pod: Pod) -> bool:
        return key_of(pod) == key_of(self.pod)

    @property
    def effort(self) -> float:
        spent = self.worlds.effort + (self._alone.effort if self._alone is not None else 0)
        return spent + self._evaluated * (_PER_QUESTION + len(self.cluster) / _NODES_PER_MILLISECOND)


def _without(world: World, own: PodKey) -> Cluster:
    """The cluster without the pod itself, which it may hold."""
    cluster = world.cluster
    if own not in world.book:
        return cluster
    stored = world.book[own]
    position = cluster.nodes.index.get(stored.spec.node_name)
    if position is not None:
        cluster = cluster.after(ClusterChange(gone=[(stored, position)]))
    return cluster
