"""A workload tried on the cluster: whatever a rule says in numbers is run by the engine, and run once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from kubespread.kube.api.core import Pod, PodSpec, TopologySpreadConstraint
from kubespread.kube.api.workloads import Deployment
from kubespread.lint.subject import Subject
from kubespread.planner.claims import Replica
from kubespread.planner.entries import Entry, Outcome
from kubespread.planner.explain import counted_constraints
from kubespread.planner.queue import place
from kubespread.planner.rehearsal import rehearse
from kubespread.planner.reports.rollout import RolloutReport
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint

_MAX_REHEARSED = 100_000
"""Replicas times nodes of the largest rollout that is rehearsed, which takes less than 0.1 s."""

PodChange = Callable[[Pod], Pod]


def _unchanged(pod: Pod) -> Pod:
    return pod


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of all replicas of the workload, placed one after another."""

    wanted: int
    nodes: Sequence[int]
    """Positions, in the order they were taken."""
    message: str | None
    """kube-scheduler's, for the first replica without a node."""
    cluster: Cluster

    @property
    def count(self) -> int:
        return len(self.nodes)

    @property
    def is_complete(self) -> bool:
        return self.count == self.wanted

    def by_domain(self, key: str) -> Mapping[str, int]:
        """Replicas in each domain of a topology key that nodes are in, 0 where there are none, by name."""
        column = self.cluster.nodes.label(key)
        counted = Counter(column.values[column.codes[node]] for node in self.nodes if column.present[node])
        return {value: counted[value] for value in column.sorted_values}

    @property
    def text(self) -> str:
        """``2 of 6 replicas fit``."""
        return f"{self.count} of {self.wanted} {'replica fits' if self.wanted == 1 else 'replicas fit'}"


@dataclass(frozen=True, slots=True)
class Mended:
    """A change of the pod that would mend something, and what comes of it."""

    change: PodChange
    placed: Placed


class Trial:
    """One subject on the cluster without the pods of it that run already: all its replicas are placed afresh."""

    def __init__(self, subject: Subject, cluster: Cluster, plugins: Framework) -> None:
        self.subject = subject
        self.plugins = plugins
        self._whole = cluster

    @cached_property
    def cluster(self) -> Cluster:
        return _without_running(self._whole, [self.subject])

    @cached_property
    def prepared(self) -> Prepared | None:
        """The first replica's, None where a PreFilter fails."""
        try:
            return self.plugins.prepare(self.cluster, self.subject.pod)
        except SchedulingError:
            return None

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """What every plugin says of the first replica on every node."""
        return None if self.prepared is None else self.prepared.evaluation()

    @cached_property
    def counted(self) -> Sequence[HardConstraint | SoftConstraint]:
        """The constraints in force with their numbers, in the order they are declared."""
        state = None if self.prepared is None else self.prepared.states.get(PodTopologySpread.name)
        return counted_constraints(state) if isinstance(state, SpreadState) else ()

    def hard(self) -> Iterator[tuple[int, HardConstraint]]:
        """The hard ones, each with its position among all."""
        for position, counted in enumerate(self.counted):
            if isinstance(counted, HardConstraint):
                yield position, counted

    @cached_property
    def placed(self) -> Placed:
        """All replicas, as they are declared."""
        return self.placed_with(_unchanged)

    def placed_after(self, change: Change) -> Placed:
        """The same on the cluster once ``change`` is made to it."""
        return self._placed(_unchanged, self.cluster.after(change))

    def placed_with(self, change: PodChange, replicas: int | None = None) -> Placed:
        """The same once ``change`` is made to each of them, or another number of them is asked for."""
        return self._placed(change, self.cluster, replicas)

    def placed_behind(self, others: Sequence[Trial], change: PodChange = _unchanged) -> Sequence[Placed]:
        """The replicas of ``others``, one workload after another, and then its own; none of them runs by then.

        ``change`` is made to its own.
        """
        cluster = _without_running(self._whole, [self.subject, *(other.subject for other in others)])
        entries = [*(other._entry(_unchanged) for other in others), self._entry(change)]
        outcomes = place(cluster, entries, first_in_heap)
        return [_of(each, cluster) for each in outcomes]

    def of(self, subject: Subject) -> Trial:
        """Another subject on the same cluster."""
        is_alike = subject.profile is self.subject.profile
        return Trial(subject, self._whole, self.plugins if is_alike else framework(subject.profile))

    def _placed(self, change: PodChange, cluster: Cluster, replicas: int | None = None) -> Placed:
        (outcome,) = place(cluster, [self._entry(change, replicas)], first_in_heap)
        return _of(outcome, cluster)

    def _entry(self, change: PodChange, replicas: int | None = None) -> Entry:
        subject = self.subject
        claimants = subject.claimants

        def claiming() -> Iterator[Replica]:
            assert claimants is not None
            return (replace(each, pod=change(each.pod)) for each in claimants())

        count = subject.replicas if replicas is None else replicas
        return Entry(
            change(subject.pod),
            self.plugins,
            None if subject.is_daemon else count,
            per_node=subject.is_daemon,
            replicas=None if claimants is None else claiming,
            binds=subject.object is not None,
        )

    @cached_property
    def rollout(self) -> RolloutReport | None:
        """A restart of the Deployment; None for everything else, and where it would take too long to rehearse."""
        deployment, replicas = self.subject.object, self.subject.replicas
        if not isinstance(deployment, Deployment) or not 0 < replicas * len(self.cluster) <= _MAX_REHEARSED:
            return None
        return self.rollout_of(deployment)

    def rollout_of(self, deployment: Deployment) -> RolloutReport:
        """The same of the Deployment with another strategy."""
        return rehearse(self.cluster, deployment, self.subject.pod, (self.subject.profile, self.plugins))

    def mended(self, change: PodChange) -> Mended:
        """The change, tried."""
        return Mended(change, self.placed_with(change))

    def mended_where(self, position: int, **fields: object) -> Mended:
        """``fields`` of one of the pod's own constraints set, and tried."""
        return self.mended(lambda pod: with_constraint(pod, position, **fields))


def _without_running(cluster: Cluster, subjects: Sequence[Subject]) -> Cluster:
    """``cluster`` without the pods that run of ``subjects``, which a Deployment and its ReplicaSet have together."""
    index = cluster.nodes.index
    running = {(pod.metadata.namespace, pod.metadata.name): pod for subject in subjects for pod in subject.running}
    gone = [(pod, index[pod.spec.node_name]) for pod in running.values() if pod.spec.node_name in index]
    return cluster.after(Change(gone=gone)) if gone else cluster


def _of(outcome: Outcome, cluster: Cluster) -> Placed:
    return Placed(outcome.wanted or 0, [choice.node for choice in outcome.choices], outcome.stopped, cluster)


def with_constraint(pod: Pod, position: int, **fields: object) -> Pod:
    """The pod with ``fields`` of one of its own constraints set."""
    constraints = list(pod.spec.topology_spread_constraints)
    constraints[position] = msgspec.structs.replace(constraints[position], **fields)
    return _with_constraints(pod, constraints)


def with_only(pod: Pod, positions: Sequence[int]) -> Pod:
    """The pod with those of its own constraints and no others."""
    constraints = pod.spec.topology_spread_constraints
    return _with_constraints(pod, [constraints[position] for position in positions])


def with_more(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    """The pod with further constraints behind its own."""
    return _with_constraints(pod, [*pod.spec.topology_spread_constraints, *constraints])


def _with_constraints(pod: Pod, constraints: list[TopologySpreadConstraint]) -> Pod:
    spec: PodSpec = msgspec.structs.replace(pod.spec, topology_spread_constraints=constraints)
    return msgspec.structs.replace(pod, spec=spec)
