"""Pods that wait for a node, and kube-scheduler's queue over them.

They are tried by priority, then in the order they came; a pod that fits nowhere is tried again once something has
changed, and preempts pods of lower priority where kube-scheduler would. What the topology spread constraints of a pod
count in a world, now or at any moment of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.reports.judged_nodes import constraint_reports
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.building import post_filters
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import ABSENT
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Choice, Tiebreaker, first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.preemption import PreemptionCandidate, has_lower, preempt
from kubespread.scheduler.profile.profile import Profile
from kubespread.world.store.living_cluster import Applicant, LivingCluster
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.pod_states import alike


def constraints_on(cluster: Cluster, pod: Pod, scheduler_of: SchedulerOf) -> list[ConstraintReport]:
    """The constraints in force for ``pod``, with what they count on ``cluster``; only their plugin is run."""
    scheduled = scheduler_of(pod)
    plugins = scheduled[1].running if scheduled is not None else []
    plugin = next((candidate for candidate in plugins if isinstance(candidate, PodTopologySpread)), None)
    if plugin is None:
        return []
    try:
        state = plugin.prepare(cluster, pod)
    except SchedulingError:
        return []
    everywhere = np.ones(len(cluster), dtype=np.bool_)
    return constraint_reports({plugin.name: state}, everywhere)


def per_domain(cluster: Cluster, key: str, pods: Iterable[Pod]) -> Mapping[str, int]:
    """How many of ``pods`` are in each domain of ``key``; those on no node, or on one without the label, nowhere."""
    column = cluster.nodes.label(key)
    positions = (cluster.nodes.index.get(pod.spec.node_name) for pod in pods)
    codes = (int(column.codes[position]) for position in positions if position is not None)
    counts = Counter(code for code in codes if code != ABSENT)
    return {column.values[code]: count for code, count in counts.items()}


_MAX_COLUMN_CELLS = 1_000_000
"""How many applicants are kept, times how many nodes there are: each holds on to columns over all of them."""

Scheduled = tuple[Profile, Framework]
SchedulerOf = Callable[[Pod], Scheduled | None]
"""The profile that schedules a pod, None where another scheduler does."""


@dataclass(slots=True)
class Waiting:
    """A pod without a node."""

    pod: Pod
    template: Pod
    """Pods of one template are copies: what is true of one is true of all."""


class Queue:
    """The pods that wait, over one living cluster after another."""

    def __init__(self, scheduler_of: SchedulerOf, *, preempts: bool = True) -> None:
        self._scheduler_of = scheduler_of
        self._preempts = preempts
        self.waiting: dict[PodKey, Waiting] = {}
        self._applicants: dict[int, Applicant] = {}
        self._stuck: set[int] = set()
        """The templates that fitted nowhere when they were tried last."""
        self._helpless: dict[int, int] = {}
        """The templates that preemption did not help, and how much had happened in the living cluster by then."""

    def fork(self) -> Queue:
        other = Queue(self._scheduler_of, preempts=self._preempts)
        other.waiting = dict(self.waiting)
        return other

    def add(self, pod: Pod, template: Pod) -> None:
        self.waiting[key_of(pod)] = Waiting(pod, template)

    def add_all(self, pods: Iterable[Pod]) -> None:
        """Pods that waited before anything happened, in the order they came: those that are alike share a template."""
        templates: dict[tuple[str, int], Pod] = {}
        for pod in pods:
            # Pods of one template share their labels.
            key = pod.metadata.namespace, id(pod.metadata.labels)
            template = templates[key] = alike(pod, templates.get(key))
            self.add(pod, template)

    def remove(self, pod: Pod) -> None:
        self.waiting.pop(key_of(pod), None)

    def start_anew(self) -> None:
        """Nodes have changed: everything about them is worked out again."""
        self._applicants.clear()
        self._stuck.clear()
        self._helpless.clear()

    def in_order(self, only: Sequence[PodKey] | None = None) -> list[Waiting]:
        """The order in which pods (all, or only some, which are given as they came) are tried, without those that have
        scheduling gates.
        """
        among = self.waiting.values() if only is None else (self.waiting[key] for key in only if key in self.waiting)
        ready = [pod for pod in among if not pod.pod.spec.scheduling_gates]
        return sorted(ready, key=lambda pod: -priority_of(pod.pod))

    def choose(
        self, waiting: Waiting, living: LivingCluster, break_tie: Tiebreaker = first_in_heap
    ) -> tuple[Applicant, Choice] | None:
        """Where kube-scheduler would put the pod now, None when it fits nowhere or another scheduler has it."""
        applicant = self._applicant(waiting, living)
        if applicant is None:
            return None
        template = id(waiting.template)
        if template in self._stuck and not applicant.is_outdated:
            return None
        try:
            choice = applicant.placing().choose(break_tie)
        except SchedulingError:
            choice = None
        if choice is None:
            self._stuck.add(template)
            return None
        self._stuck.discard(template)
        return applicant, choice

    def victims(
        self, waiting: Waiting, living: LivingCluster, budgets: Callable[[], Sequence[PodDisruptionBudget]]
    ) -> PreemptionCandidate | None:
        """The node that kube-scheduler would free for a pod that fits nowhere, and which pods it would evict there."""
        template = id(waiting.template)
        if not self._preempts or self._helpless.get(template) == living.length:
            return None
        candidate = self._candidate(waiting, living, budgets)
        if candidate is None:
            self._helpless[template] = living.length
        return candidate

    def _candidate(
        self, waiting: Waiting, living: LivingCluster, budgets: Callable[[], Sequence[PodDisruptionBudget]]
    ) -> PreemptionCandidate | None:
        if not has_lower(living.cluster, waiting.pod):
            return None
        evaluation = self.evaluation(waiting, living)
        scheduled = self._scheduler_of(waiting.pod)
        if evaluation is None or scheduled is None or not len(evaluation.cluster):
            return None
        profile, _ = scheduled
        return preempt(evaluation, post_filters(profile), budgets=budgets()).candidate

    def applicant_on(self, waiting: Waiting, living: LivingCluster, node: int) -> tuple[Applicant, Choice] | None:
        """The pod on one node, which was freed for it."""
        applicant = self._applicant(waiting, living)
        choice = applicant.placing().choose_on(node) if applicant is not None else None
        if applicant is None or choice is None:
            return None
        self._stuck.discard(id(waiting.template))
        return applicant, choice

    def evaluation(self, waiting: Waiting, living: LivingCluster) -> Evaluation | None:
        """What every plugin says of the pod now; None if another scheduler has it or scheduling fails."""
        applicant = self._applicant(waiting, living)
        try:
            return applicant.placing().evaluation() if applicant is not None else None
        except SchedulingError:
            return None

    def message(self, waiting: Waiting, living: LivingCluster) -> str:
        """Why the pod has no node, in kube-scheduler's words where it is kube-scheduler that says so."""
        if waiting.pod.spec.scheduling_gates:
            names = ", ".join(gate.name for gate in waiting.pod.spec.scheduling_gates)
            return f"waits behind scheduling gates: {names}"
        applicant = self._applicant(waiting, living)
        if applicant is None:
            return f'scheduled by "{waiting.pod.spec.scheduler_name}", which is not modeled'
        try:
            return applicant.placing().evaluation().message or "fits, but is not placed yet"
        except SchedulingError as error:
            return str(error)

    def _applicant(self, waiting: Waiting, living: LivingCluster) -> Applicant | None:
        template = id(waiting.template)
        cached = self._applicants.pop(template, None)
        if cached is None:
            scheduled = self._scheduler_of(waiting.pod)
            if scheduled is None:
                return None
            cached = Applicant(living, waiting.template, scheduled[1])
        if len(self._applicants) * len(living.nodes) >= _MAX_COLUMN_CELLS:
            # The one asked longest ago; asked again it is prepared from scratch.
            oldest = next(iter(self._applicants))
            del self._applicants[oldest]
            self._stuck.discard(oldest)
            self._helpless.pop(oldest, None)
        self._applicants[template] = cached
        return cached
