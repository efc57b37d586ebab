"""A workload tried on the cluster: every number in a rule's message comes from running the engine, once.

What is checked: a workload and where it stands, or what kept a manifest from being one. How evenly placed replicas are
spread over a constraint's domains, regardless of what else it counts. Which nodes a pod can go to at all, empty or
full: by its node affinity, its tolerations, and cordons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.errors import Fault
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.admission.quota import allowance, charged
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    ResourceQuota,
    TopologySpreadConstraint,
)
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import WorkloadName
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.pods import pod_faults
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.check.lint.rehearsal import rehearse
from kubespread.questions.queue.queue import Entry, Outcome, place
from kubespread.reports.judged_nodes import counted_constraints
from kubespread.reports.parts import skew_between
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import Evaluation, evaluated
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.world.store.claims import Replica, Replicas
from kubespread.world.store.pod_book import key_of

TAINTED, CORDONED, EXCLUDED = "TaintToleration", "NodeUnschedulable", "NodeAffinity"
_WORDS = {TAINTED: "tainted", CORDONED: "cordoned", EXCLUDED: "excluded by its node affinity"}


def barred(trial: Trial) -> Mapping[str, Mask]:
    """Per plugin the nodes that it keeps the pod from; nothing where nodes are not judged."""
    if trial.evaluation is None:
        return {}
    verdicts = trial.evaluation.verdicts
    return {plugin: ~verdicts[plugin].passes for plugin in _WORDS if plugin in verdicts}


def reachable(trial: Trial) -> Mask:
    """Nodes that all of them let the pod use."""
    open_nodes = np.ones(len(trial.cluster), dtype=np.bool_)
    for mask in barred(trial).values():
        open_nodes &= ~mask
    return open_nodes


def words(plugins: Iterable[str]) -> str:
    """``tainted or cordoned``."""
    return " or ".join(_WORDS[plugin] for plugin in plugins)


def domains(hard: HardConstraint) -> Sequence[str]:
    """The domains that count, by name."""
    return sorted(value for value, is_domain in zip(hard.column.values, hard.is_domain, strict=True) if is_domain)


def domains_of(hard: HardConstraint, nodes: Mask) -> Sequence[str]:
    """The domains, counted or not, that some of ``nodes`` are in, by name."""
    inside = np.zeros(len(hard.column.values), dtype=np.bool_)
    inside[hard.column.codes[nodes & hard.column.present]] = True
    return sorted(value for value, is_in in zip(hard.column.values, inside, strict=True) if is_in)


def matching_of(counted: SoftConstraint) -> Mapping[str, int]:
    """The pods that the constraint counts before the first replica comes, by domains as `own_counts` has them."""
    matching, column = counted.around(), counted.column
    nodes = np.flatnonzero(counted.eligible & column.present)
    counts = dict(zip(column.codes[nodes].tolist(), matching[nodes].tolist(), strict=True))
    return {value: counts[column.index[value]] for value in column.sorted_values if column.index[value] in counts}


def sums(first: Mapping[str, int], second: Mapping[str, int]) -> Mapping[str, int]:
    """Both together, of the same domains."""
    return {value: count + second[value] for value, count in first.items()}


def own_counts(placed: Sequence[Placed], counted: HardConstraint | SoftConstraint) -> Mapping[str, int]:
    """The replicas in each domain that has nodes the constraint counts, by name."""
    column = counted.column
    codes = set(column.codes[counted.eligible & column.present].tolist())
    present = [value for value in column.sorted_values if column.index[value] in codes]
    by_domain = [placement.by_domain(counted.constraint.topology_key) for placement in placed]
    return {value: sum(counts[value] for counts in by_domain) for value in present}


def skew_of(counts: Mapping[str, int]) -> int:
    """Between the fullest domain and the emptiest one."""
    return skew_between([*counts.values()])


Place = tuple[int | None, int | None]
"""Line and column."""


def nowhere(_field: str) -> Place:
    """Where the fields of an object stand that is in no file."""
    return None, None


def unrevised(_settings: Sequence[str]) -> Pod | None:
    """Of what cannot be made again."""
    return None


class Subject(Struct, frozen=True, kw_only=True):
    """A workload or bare pod that the API server accepts."""

    name: WorkloadName
    pod: Pod
    """The next pod of it, admitted."""
    profile: Profile
    replicas: int
    """The desired number of replicas; 1 for a bare pod and for a DaemonSet."""
    is_daemon: bool = False
    object: ApiObject | None = None
    """The workload itself; None for a bare pod."""
    template: Pod | None = None
    """Its pod template as written; None for a bare pod, and for unchanged objects of the cluster."""
    template_path: str = ""
    """The template's path in the object; empty for a bare pod."""
    companions: Sequence[ApiObject] = ()
    """What its controller makes beside the pod."""
    running: Sequence[Pod] = ()
    """Its pods that are in the cluster already, on nodes or waiting for one."""
    claimants: Replicas | None = None
    """Its replicas, if each has its own claims."""
    file: str | None = None
    place: Callable[[str], Place] = nowhere
    """The position of the field at a path, or of the nearest field above it."""
    ignored: Sequence[str] = ()
    """Codes of findings that its annotations silence, or beginnings of codes."""
    revised: Callable[[Sequence[str]], Pod | None] = unrevised
    """The pod made again with fields set as ``--set`` has them; None where that is refused."""

    def field(self, path: str) -> str:
        """The path from the object on of what is at ``path`` of the pod (``spec.affinity``)."""
        return f"{self.template_path}.{path}" if self.template_path else path

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod.metadata.labels


class Refused(Struct, frozen=True):
    """A file, or an object in it, that yields no workload."""

    file: str | None
    workload: str | None
    """NAMESPACE/Kind/name if known, else the file."""
    faults: Sequence[Fault]
    ignored: Sequence[str] = ()


_MAX_REHEARSED = 100_000
"""Replicas times nodes of the largest rollout that is rehearsed, which takes less than 0.1 s."""

PodChange = Callable[[Pod], Pod]


def _unchanged(pod: Pod) -> Pod:
    return pod


class Placed(Struct, frozen=True):
    """The outcome of creating and placing all replicas of the workload one after another."""

    desired: int
    nodes: Sequence[int]
    """Positions, in the order they were taken."""
    message: str | None
    """kube-scheduler's, for the first replica without a node."""
    cluster: Cluster
    refused: int = 0
    """How many of them the API server does not let be created."""
    refusal: str = ""
    """What it says to the first of these."""
    unplaced: Evaluation | None = None
    """What every plugin says of the first replica without a node, where nodes are judged."""

    @property
    def count(self) -> int:
        return len(self.nodes)

    @property
    def pending(self) -> int:
        """How many are created and find no node."""
        return self.desired - self.refused - self.count

    @property
    def is_complete(self) -> bool:
        return self.count == self.desired

    def by_domain(self, key: str) -> Mapping[str, int]:
        """Replicas in each domain of a topology key that nodes are in, 0 where there are none, by name."""
        column = self.cluster.nodes.label(key)
        counted = Counter(column.values[column.codes[node]] for node in self.nodes if column.present[node])
        return {value: counted[value] for value in column.sorted_values}

    @property
    def text(self) -> str:
        """``2 of 6 replicas fit``."""
        return f"{self.count} of {self.desired} {'replica fits' if self.desired == 1 else 'replicas fit'}"


class Mended(Struct, frozen=True):
    """A change of the pod that would fix something, and its effect."""

    change: PodChange
    placed: Placed
    is_taken: bool = True
    """Whether the release takes it whole: an older one drops fields that it does not have."""


class _Stored(Struct, frozen=True):
    """A pod as stored."""

    pod: Pod
    change: PodChange
    """What makes it of the subject's own."""
    dropped: Sequence[str] = ()
    """The fields that the release does not have."""
    faults: Sequence[FieldFault] = ()
    """Why it is refused."""


class Trial:
    """One subject on the cluster without its existing pods: all its replicas are created again, as quotas allow, and
    placed. A changed pod goes through the API server of the release again.
    """

    def __init__(self, subject: Subject, cluster: Cluster, plugins: Framework) -> None:
        self.subject = subject
        self.plugins = plugins
        self._whole = cluster

    @cached_property
    def cluster(self) -> Cluster:
        cluster = _without_running(self._whole, [self.subject])
        quotas = self._whole.objects.of(ResourceQuota)
        free = without_usage(quotas, self.subject)
        return cluster if free is quotas else cluster.with_objects(cluster.objects.with_all(ResourceQuota, free))

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
        return None if self.prepared is None else evaluated(self.prepared)

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
        """All replicas, as declared."""
        return self.placed_with(_unchanged)

    def placed_after(self, change: Change, pod_change: PodChange = _unchanged) -> Placed:
        """The same on the cluster once ``change`` is made to it, and ``pod_change`` to each of them."""
        return self._placed(pod_change, self.cluster.after(change))

    def placed_among(self, objects: ClusterObjects) -> Placed:
        """The same with other objects beside nodes and pods."""
        return self._placed(_unchanged, self.cluster.with_objects(objects))

    def placed_with(self, change: PodChange, replicas: int | None = None) -> Placed:
        """The same once ``change`` is made to each of them, or another number of them is asked for."""
        return self._placed(change, self.cluster, replicas)

    def placed_behind(self, others: Sequence[Trial], change: PodChange = _unchanged) -> Sequence[Placed]:
        """The replicas of ``others``, one workload after another, and then its own; none of them runs by then.

        ``change`` is made to its own.
        """
        cluster = _without_running(self._whole, [self.subject, *(other.subject for other in others)])
        entries = [
            *(other._entry(_unchanged, other.subject.replicas) for other in others),
            self._entry(self._stored(change).change, self.subject.replicas),
        ]
        outcomes = place(cluster, entries, first_in_heap)
        return [_of(outcome, cluster) for outcome in outcomes]

    def on(self, cluster: Cluster, subject: Subject) -> Trial:
        """The same workload with the pods it has on another cluster, among the same objects."""
        return Trial(subject, cluster.with_objects(self._whole.objects), self.plugins)

    def of(self, subject: Subject) -> Trial:
        """Another subject on the same cluster."""
        is_alike = subject.profile is self.subject.profile
        return Trial(subject, self._whole, self.plugins if is_alike else framework(subject.profile))

    def _placed(self, change: PodChange, cluster: Cluster, replicas: int | None = None) -> Placed:
        stored = self._stored(change)
        desired = self.subject.replicas if replicas is None else replicas
        if stored.faults:
            return Placed(desired, (), None, cluster, desired, stored.faults[0].message)
        allowed = allowance(stored.pod, cluster.objects.of(ResourceQuota))
        created = desired if allowed.copies is None else min(desired, allowed.copies)
        (outcome,) = place(cluster, [self._entry(stored.change, created)], first_in_heap)
        placed = _of(outcome, cluster)
        if self.subject.is_daemon and allowed.copies is not None:
            desired, created = placed.desired, min(placed.desired, allowed.copies)
        if created == desired or allowed.copies is None:
            return placed
        kept = placed.nodes[:created]
        return Placed(desired, kept, placed.message, cluster, desired - created, allowed.refusal, placed.unplaced)

    def _stored(self, change: PodChange) -> _Stored:
        """The changed pod as the API server of the release stores it."""
        if change is _unchanged:
            return _Stored(self.subject.pod, change)
        version = self.subject.profile.version

        def taken(pod: Pod) -> Pod:
            changed = deepcopy(change(pod))
            drop_fields(changed, version)
            return changed

        changed = deepcopy(change(self.subject.pod))
        dropped = drop_fields(changed, version)
        return _Stored(changed, taken, dropped, pod_faults(changed, version))

    def _entry(self, change: PodChange, replicas: int) -> Entry:
        subject = self.subject
        claimants = subject.claimants

        def claiming() -> Iterator[Replica]:
            assert claimants is not None
            return (msgspec.structs.replace(claimant, pod=change(claimant.pod)) for claimant in claimants())

        return Entry(
            change(subject.pod),
            self.plugins,
            None if subject.is_daemon else replicas,
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

    def rollout_of(self, deployment: Deployment, change: PodChange = _unchanged) -> RolloutReport:
        """The same of the Deployment with another strategy, or with ``change`` made to its pods."""
        return rehearse(self.cluster, deployment, change(self.subject.pod), (self.subject.profile, self.plugins))

    def mended(self, change: PodChange) -> Mended:
        """The change, tried."""
        stored = self._stored(change)
        return Mended(change, self.placed_with(change), is_taken=not stored.dropped and not stored.faults)

    def mended_where(self, position: int, **fields: object) -> Mended:
        """``fields`` of one of the pod's own constraints set, and tried."""
        return self.mended(lambda pod: with_constraint(pod, position, **fields))


def _without_running(cluster: Cluster, subjects: Sequence[Subject]) -> Cluster:
    """``cluster`` without the pods of ``subjects``, which a Deployment and its ReplicaSet have together."""
    index = cluster.nodes.index
    running = {key_of(pod): pod for subject in subjects for pod in subject.running}
    gone = [(pod, index[pod.spec.node_name]) for pod in running.values() if pod.spec.node_name in index]
    nominated = tuple(pod for pod in cluster.nominated if key_of(pod) not in running)
    if not gone and len(nominated) == len(cluster.nominated):
        return cluster
    without = cluster.after(Change(gone=gone))
    without.nominated = nominated
    return without


def _of(outcome: Outcome, cluster: Cluster) -> Placed:
    nodes = [choice.node for choice in outcome.choices]
    return Placed(outcome.wanted or 0, nodes, outcome.stopped, cluster, unplaced=outcome.unplaced)


def with_constraint(pod: Pod, position: int, **fields: object) -> Pod:
    """The pod with ``fields`` of one of its own constraints set."""
    constraints = list(pod.spec.topology_spread_constraints)
    constraints[position] = msgspec.structs.replace(constraints[position], **fields)
    return _with_constraints(pod, constraints)


def with_only(pod: Pod, positions: Sequence[int]) -> Pod:
    """The pod with only those of its own constraints."""
    constraints = pod.spec.topology_spread_constraints
    return _with_constraints(pod, [constraints[position] for position in positions])


def with_more(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    """The pod with further constraints after its own."""
    return _with_constraints(pod, [*pod.spec.topology_spread_constraints, *constraints])


def with_node_requirement(pod: Pod, key: str, operator: str, values: Sequence[str]) -> Pod:
    """The pod with one more thing that nodes must have, whichever of its alternatives they meet."""
    requirement = NodeSelectorRequirement(key, operator, list(values))
    affinity = pod.spec.affinity or Affinity()
    node_affinity = affinity.node_affinity or NodeAffinity()
    selector = node_affinity.required_during_scheduling_ignored_during_execution
    terms = [NodeSelectorTerm()] if selector is None else selector.node_selector_terms
    narrowed = NodeSelector(
        [msgspec.structs.replace(term, match_expressions=[*term.match_expressions, requirement]) for term in terms]
    )
    required = msgspec.structs.replace(node_affinity, required_during_scheduling_ignored_during_execution=narrowed)
    spec = msgspec.structs.replace(pod.spec, affinity=msgspec.structs.replace(affinity, node_affinity=required))
    return msgspec.structs.replace(pod, spec=spec)


def _with_constraints(pod: Pod, constraints: list[TopologySpreadConstraint]) -> Pod:
    spec: PodSpec = msgspec.structs.replace(pod.spec, topology_spread_constraints=constraints)
    return msgspec.structs.replace(pod, spec=spec)


def without_usage(quotas: tuple[ResourceQuota, ...], subject: Subject) -> tuple[ResourceQuota, ...]:
    """The quotas as they would be if the subject had no pods; the same ones where it has none that they count."""
    namespace = subject.name.namespace
    if not subject.running or all(quota.metadata.namespace != namespace for quota in quotas):
        return quotas
    for pod in subject.running:
        if pod.status.phase not in ENDED_PHASES:
            quotas = charged(quotas, pod, -1)
    return quotas
