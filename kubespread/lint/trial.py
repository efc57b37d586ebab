"""A workload tried on the cluster: whatever a rule says in numbers is run by the engine, and run once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from kubespread.kube.api.core import Pod, PodSpec, TopologySpreadConstraint
from kubespread.lint.subject import Subject
from kubespread.planner.claims import Replica
from kubespread.planner.explain import counted_constraints
from kubespread.planner.queue import Entry, run
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint

PodChange = Callable[[Pod], Pod]


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
        index = self._whole.nodes.index
        gone = [(pod, index[pod.spec.node_name]) for pod in self.subject.running if pod.spec.node_name in index]
        return self._whole.after(Change(gone=gone)) if gone else self._whole

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
        return self.placed_with(lambda pod: pod)

    def placed_after(self, change: Change) -> Placed:
        """The same on the cluster once ``change`` is made to it."""
        return self._placed(lambda pod: pod, self.cluster.after(change))

    def placed_with(self, change: PodChange) -> Placed:
        """The same once ``change`` is made to each of them."""
        return self._placed(change, self.cluster)

    def _placed(self, change: PodChange, cluster: Cluster) -> Placed:
        subject = self.subject
        pod = change(subject.pod)
        claimants = subject.claimants

        def replicas() -> Iterator[Replica]:
            assert claimants is not None
            return (replace(each, pod=change(each.pod)) for each in claimants())

        entry = Entry(
            pod,
            self.plugins,
            None if subject.is_daemon else subject.replicas,
            per_node=subject.is_daemon,
            replicas=None if claimants is None else replicas,
            binds=subject.object is not None,
        )
        (outcome,), _ = run(cluster, [entry], first_in_heap)
        return Placed(outcome.wanted or 0, [choice.node for choice in outcome.choices], outcome.stopped, cluster)

    def mended(self, change: PodChange) -> Mended:
        """The change, tried."""
        return Mended(change, self.placed_with(change))

    def mended_where(self, position: int, **fields: object) -> Mended:
        """``fields`` of one of the pod's own constraints set, and tried."""
        return self.mended(lambda pod: with_constraint(pod, position, **fields))


def with_constraint(pod: Pod, position: int, **fields: object) -> Pod:
    """The pod with ``fields`` of one of its own constraints set."""
    constraints = list(pod.spec.topology_spread_constraints)
    constraints[position] = msgspec.structs.replace(constraints[position], **fields)
    return _with_constraints(pod, constraints)


def with_only(pod: Pod, positions: Sequence[int]) -> Pod:
    """The pod with those of its own constraints and no others."""
    constraints = pod.spec.topology_spread_constraints
    return _with_constraints(pod, [constraints[position] for position in positions])


def _with_constraints(pod: Pod, constraints: list[TopologySpreadConstraint]) -> Pod:
    spec: PodSpec = msgspec.structs.replace(pod.spec, topology_spread_constraints=constraints)
    return msgspec.structs.replace(pod, spec=spec)
