"""One pod in its cluster: the effect of changes to the pod or the cluster, and the report of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.kube.priority import priority_of
from kubespread.questions.advise.report import AdviseReport
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.remedies.advice import advice
from kubespread.questions.remedies.candidates import FAMILIES
from kubespread.questions.remedies.change import Answer, Asker, Change, Revise
from kubespread.questions.remedies.edited_worlds import Edited, EditedWorlds
from kubespread.questions.remedies.stuck import Stuck
from kubespread.reports.constraint_counts import constraint_reports
from kubespread.reports.parts import PodReference
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

NOT_TRIED = (
    "requests other than cpu and memory, host ports, volumes and labels that say what a machine is, such as its zone, "
    "are left as they are",
    "combinations are tried up to a few hundred, those of small changes first",
)
_PER_QUESTION, _NODES_PER_MILLISECOND = 2, 400


@dataclass(frozen=True, slots=True)
class Advised:
    """The answer, and the change of each suggestion."""

    report: AdviseReport
    changes: Sequence[Change] = ()


def advise_pod(cluster: Cluster, pod: Pod, plugins: Framework, profile: Profile, asker: OnePod) -> Advised:
    """About one pod, admitted already. ``asker`` asks about the same pod and cluster."""
    report = blank(cluster, pod, plugins, profile)
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        # Without a judgment nothing suggests what to change.
        return Advised(msgspec.structs.replace(report, message=str(error)))
    fitting = int(evaluation.feasible.sum())
    if fitting and evaluation.error is None:
        return Advised(msgspec.structs.replace(report, fitting=fitting))
    report = msgspec.structs.replace(report, message=evaluation.message)
    if evaluation.error is None and (placed := asker.by_preemption(pod)) is not None:
        return Advised(msgspec.structs.replace(report, victims=placed.victims))
    return advised(report, Stuck(evaluation, profile.version), asker)


def blank(cluster: Cluster, pod: Pod, plugins: Framework, profile: Profile) -> AdviseReport:
    """A report without advice yet."""
    return AdviseReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        nodes=len(cluster),
        not_modelled=tuple(not_modelled(pod, plugins, cluster, profile)),
    )


def advised(report: AdviseReport, stuck: Stuck, asker: Asker) -> Advised:
    """The report with the advice from everything tried."""
    result, changes = advice(stuck, FAMILIES, asker)
    evaluation = stuck.evaluation
    report = msgspec.structs.replace(
        report,
        conclusion=bars(evaluation),
        constraints=tuple(constraint_reports(evaluation.states, evaluation.feasible)),
        advice=result,
        not_modelled=(*report.not_modelled, *NOT_TRIED),
    )
    return Advised(report, changes)


@dataclass
class OnePod:
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
