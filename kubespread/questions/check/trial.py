"""A workload tried on the cluster: every number in a rule's message comes from running the engine, once.

A rollout is rehearsed on a cluster where nothing else happens: the replicas are placed, and then it is rolled out.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.replicas import Replica, Replicas
from kubespread.controllers.deployment import TEMPLATE_HASH, limits
from kubespread.kube.admission.defaulting import relabel
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.admission.quota import allowance, charge_quotas
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota, TopologySpreadConstraint
from kubespread.kube.api.kinds import WORKLOADS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment, RollingUpdate, UpdateStrategy
from kubespread.kube.owners import WorkloadName
from kubespread.kube.validation.pods import pod_faults
from kubespread.questions.queue import Entry, ScheduleResult, place
from kubespread.questions.remedies.spreading import replicas_by_domain
from kubespread.reports.judged_nodes import KEEPING_OFF, counted_constraints
from kubespread.reports.parts import skew_between
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import Evaluation, evaluate, evaluate_prepared
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.wording import EMPTY, counted_in, says
from kubespread.world.events.applying import AppliedWorkload, apply_workload
from kubespread.world.events.rollouts import NewTemplate, run_rollout
from kubespread.world.events.world import World
from kubespread.world.store.owners import PodCopy
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.store import Start, WorldSettings
from kubespread.world.store.waiting import LivingCluster, Scheduled


def domains(hard: HardConstraint) -> Sequence[str]:
    """Counted domains, by name."""
    return sorted(value for value, is_domain in zip(hard.column.values, hard.is_domain, strict=True) if is_domain)


def domains_of(hard: HardConstraint, nodes: Mask) -> Sequence[str]:
    """Domains of ``nodes``, counted or not, by name."""
    inside = np.zeros(len(hard.column.values), dtype=np.bool_)
    inside[hard.column.codes[nodes & hard.column.present]] = True
    return sorted(value for value, is_in in zip(hard.column.values, inside, strict=True) if is_in)


def own_counts(placed: Sequence[TrialResult], counted: HardConstraint | SoftConstraint) -> Mapping[str, int]:
    """Replicas in each domain with nodes that the constraint counts, by name."""
    column = counted.column
    codes = set(column.codes[counted.eligible & column.present].tolist())
    present = [value for value in column.sorted_values if column.index[value] in codes]
    by_domain = [placement.by_domain(counted.constraint.topology_key) for placement in placed]
    return {value: sum(counts[value] for counts in by_domain) for value in present}


def skew_of(counts: Mapping[str, int]) -> int:
    """Difference between the fullest and the emptiest domain."""
    return skew_between([*counts.values()])


Place = tuple[int | None, int | None]
"""Line and column."""


class Subject(Struct, frozen=True, kw_only=True):
    """A workload or bare pod that the API server accepts."""

    name: WorkloadName
    pod: Pod
    """Its next pod, admitted."""
    profile: Profile
    replicas: int
    """Desired replicas; 1 for a bare pod and for a DaemonSet."""
    is_daemon: bool = False
    object: ApiObject | None = None
    """The workload; None for a bare pod."""
    template: Pod | None = None
    """Pod template as written; None for a bare pod, and for unchanged objects of the cluster."""
    template_path: str = ""
    """Path of the template in the object; empty for a bare pod."""
    running: Sequence[Pod] = ()
    """Its pods in the cluster, with or without a node."""
    distinct_replicas: Replicas | None = None
    """Replicas, if scheduling distinguishes them from copies of the pod."""
    one_by_one: bool = False
    """True if each replica is created once the one before runs."""
    file: str | None = None
    is_written: bool = True
    """True if it comes from a manifest, not from the cluster."""
    missing_namespace: str = ""
    """API server's message if its namespace is not in the cluster."""
    place: Callable[[str], Place]
    """Function for the position of the field at a path, or of the nearest field above it."""
    ignored: Sequence[str] = ()
    """Codes, or prefixes of codes, that its annotations silence."""
    revised: Callable[[Sequence[str]], Pod | None]
    """Function that makes the pod with fields set as by ``--set``; None if they are refused."""

    def field(self, path: str) -> str:
        """Path within the object of the pod's field at ``path`` (``spec.affinity``)."""
        return f"{self.template_path}.{path}" if self.template_path else path

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod.metadata.labels


_MAX_REHEARSED = 100_000
"""Replicas times nodes of the largest rollout that is rehearsed, which takes less than 0.1 s."""

PodChange = Callable[[Pod], Pod]


def keep(pod: Pod) -> Pod:
    return pod


class TrialResult(Struct, frozen=True):
    """Result of creating and placing all replicas of the workload, one after another."""

    desired: int
    nodes: Sequence[int]
    """Positions of the replicas' nodes, in order."""
    message: str | None
    """kube-scheduler's message for the first replica without a node."""
    cluster: Cluster
    refused: int = 0
    """Number of the last replicas that the API server refuses: for quotas, or all for a faulty field."""
    refusal: str = ""
    """API server's message for the first of these."""
    unplaced: Evaluation | None = None
    """Verdicts of every plugin on the first replica without a node, if nodes are judged."""
    is_afresh: bool = False
    """True if pods of the workload that are in the cluster are placed again too."""

    @property
    def count(self) -> int:
        return len(self.nodes)

    @property
    def pending(self) -> int:
        """Number of created replicas without a node."""
        return self.desired - self.refused - self.count

    @property
    def is_complete(self) -> bool:
        return self.count == self.desired

    def by_domain(self, key: str) -> Mapping[str, int]:
        """Number of replicas in each domain of a topology key, by name."""
        return replicas_by_domain(self.cluster, self.nodes, key)

    @property
    def text(self) -> str:
        """``2 of 6 replicas fit``, ``placed afresh, 2 of 6 replicas fit``."""
        afresh = "placed afresh, " if self.is_afresh else ""
        return f"{afresh}{self.count:,} of {says(self.desired, 'replica', 'fit')}"

    def outcome(self, topology_key: str) -> str:
        """``6 of 6 replicas fit: a 2 · b 2 · c 2``."""
        counts = self.by_domain(topology_key)
        return f"{self.text}: {breakdown(counts)}" if counts else self.text


class MendedPod(Struct, frozen=True):
    """A change of the pod that may fix a finding, and its effect."""

    change: PodChange
    placed: TrialResult
    is_accepted: bool = True
    """True if the API server of the release accepts the pod, and drops no field of it."""


def combine(mended: Iterable[MendedPod]) -> PodChange:
    changes = [remedied.change for remedied in mended]

    def change(pod: Pod) -> Pod:
        for change in changes:
            pod = change(pod)
        return pod

    return change


class ReplicaTrial:
    """Trial of one subject on the cluster without its existing pods: all replicas are created, as quotas allow, and
    placed.

    A changed pod goes through the API server of the release again.
    """

    def __init__(self, subject: Subject, cluster: Cluster, plugins: Framework) -> None:
        self.subject = subject
        self.plugins = plugins
        self._whole = cluster

    @cached_property
    def cluster(self) -> Cluster:
        cluster, namespace = _without_running(self._whole, [self.subject]), self.subject.name.namespace
        quotas = freed = self._whole.objects.get(ResourceQuota)
        for pod in self.subject.running if any(quota.metadata.namespace == namespace for quota in quotas) else ():
            freed = charge_quotas(freed, pod, -1)
        return cluster if freed is quotas else cluster.with_objects(cluster.objects.with_all(ResourceQuota, freed))

    @cached_property
    def prepared_pod(self) -> PreparedPod | None:
        """State of the plugins for the first replica; None if a PreFilter fails."""
        try:
            return self.plugins.prepare(self.cluster, self.subject.pod)
        except SchedulingError:
            return None

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """Verdicts of every plugin on the first replica on every node."""
        return None if self.prepared_pod is None else evaluate_prepared(self.prepared_pod)

    @cached_property
    def barred_nodes(self) -> Mapping[str, Mask]:
        """Nodes that each plugin of `KEEPING_OFF` rejects; empty if nodes are not judged."""
        verdicts = {} if self.evaluation is None else self.evaluation.verdicts
        return {plugin: ~verdicts[plugin].passes for plugin in KEEPING_OFF if plugin in verdicts}

    @cached_property
    def reachable(self) -> Mask:
        """Nodes that none of these plugins rejects."""
        if self.evaluation is None:
            return np.ones(len(self.cluster), dtype=np.bool_)
        return ~self.evaluation.barred_by(KEEPING_OFF)

    @cached_property
    def counting(self) -> Sequence[HardConstraint | SoftConstraint]:
        """Constraints in force with their numbers, in declared order."""
        state = None if self.prepared_pod is None else self.prepared_pod.states.get(PodTopologySpread.name)
        return counted_constraints(state) if isinstance(state, SpreadState) else ()

    @cached_property
    def placement(self) -> TrialResult:
        return self.placed_with(keep)

    def placed_with(
        self, change: PodChange = keep, *, replicas: int | None = None, cluster: Cluster | None = None
    ) -> TrialResult:
        """Result after ``change``, or with another number of replicas, or on another cluster."""
        subject, stored, cluster = self.subject, self._as_stored(change), cluster or self.cluster
        desired, pod = subject.replicas if replicas is None else replicas, stored(subject.pod)
        if change is not keep and (faults := pod_faults(pod, subject.profile.version)):
            return TrialResult(desired, (), None, cluster, desired, faults[0].message)
        allowed = allowance(pod, cluster.objects.get(ResourceQuota))
        created = desired if allowed.copies is None else min(desired, allowed.copies)
        (outcome,) = place(cluster, [self._entry(stored, created)], first_in_heap)
        placed = replace(_result(outcome, cluster), is_afresh=bool(subject.running))
        if subject.is_daemon and allowed.copies is not None:
            desired, created = placed.desired, min(placed.desired, allowed.copies)
        if created == desired or allowed.copies is None:
            return placed
        return replace(
            placed, desired=desired, nodes=placed.nodes[:created], refused=desired - created, refusal=allowed.refusal
        )

    def placed_behind(self, others: Sequence[ReplicaTrial], change: PodChange = keep) -> Sequence[TrialResult]:
        """Results for the replicas of ``others``, one workload after another, then for its own after ``change``; none
        of them runs before.
        """
        cluster = _without_running(self._whole, [self.subject, *(other.subject for other in others)])
        entries = [
            *(other._entry(keep, other.subject.replicas) for other in others),
            self._entry(self._as_stored(change), self.subject.replicas),
        ]
        return [_result(outcome, cluster) for outcome in place(cluster, entries, first_in_heap)]

    def on_cluster(self, cluster: Cluster, subject: Subject) -> ReplicaTrial:
        """Trial of a subject on another cluster, among the objects of this one."""
        return ReplicaTrial(subject, cluster.with_objects(self._whole.objects), self.plugins)

    def for_subject(self, subject: Subject) -> ReplicaTrial:
        is_alike = subject.profile is self.subject.profile
        return ReplicaTrial(subject, self._whole, self.plugins if is_alike else framework(subject.profile))

    def _as_stored(self, change: PodChange) -> PodChange:
        """Change that also drops the fields which the API server of the release drops."""

        def store(pod: Pod) -> Pod:
            changed = deepcopy(change(pod))
            drop_fields(changed, self.subject.profile.version)
            return changed

        return change if change is keep else store

    def _entry(self, change: PodChange, replicas: int) -> Entry:
        subject = self.subject
        distinct_replicas = subject.distinct_replicas

        def change_replicas() -> Iterator[Replica]:
            assert distinct_replicas is not None
            return (replace(replica, pod=change(replica.pod)) for replica in distinct_replicas())

        return Entry(
            change(subject.pod),
            self.plugins,
            None if subject.is_daemon else replicas,
            per_node=subject.is_daemon,
            replicas=None if distinct_replicas is None else change_replicas,
            existing=0 if subject.one_by_one else None,
            binds=subject.object is not None,
        )

    @cached_property
    def rollout(self) -> RolloutReport | None:
        """Rollout of a restart of the Deployment; None for other kinds, or if rehearsing it would take too long."""
        deployment, replicas = self.subject.object, self.subject.replicas
        if not isinstance(deployment, Deployment) or not 0 < replicas * len(self.cluster) <= _MAX_REHEARSED:
            return None
        return self.rollout_of(deployment)

    def rollout_of(self, deployment: Deployment, change: PodChange = keep, **strategy: int) -> RolloutReport:
        """Rollout of a restart of the Deployment after ``change``, or with these limits of its rolling update."""
        if strategy:
            rolling = UpdateStrategy(type="RollingUpdate", rolling_update=RollingUpdate(**strategy))
            deployment = replace(deployment, spec=replace(deployment.spec, strategy=rolling))
        return _rehearse(self.cluster, deployment, change(self.subject.pod), (self.subject.profile, self.plugins))

    def stall_at_once(self, deployment: Deployment) -> tuple[int, str] | None:
        """maxSurge, and the message for the first new pod, if a restart stalls at its first pass; else None.

        Cheap: places one pod.
        """
        surge, unavailable = limits(deployment)
        if not surge or unavailable:
            return None
        old, new = (_pod_of(self.subject.pod, revision) for revision in (_OLD, _NEW))
        allowed = allowance(new, self.cluster.objects.get(ResourceQuota))
        if allowed.copies is not None and allowed.copies <= self.placement.count:
            return surge, allowed.refusal
        beside = self.cluster.apply(ClusterChange(added_pods=[(old, node) for node in self.placement.nodes]))
        try:
            message = evaluate(self.plugins, beside, new).message
        except SchedulingError:
            return None
        return None if message is None else (surge, message)

    def mend(self, change: PodChange) -> MendedPod:
        changed, version = deepcopy(change(self.subject.pod)), self.subject.profile.version
        is_accepted = not drop_fields(changed, version) and not pod_faults(changed, version)
        return MendedPod(change, self.placed_with(change), is_accepted)


def _without_running(cluster: Cluster, subjects: Sequence[Subject]) -> Cluster:
    """``cluster`` without the pods of ``subjects``, which a Deployment and its ReplicaSet have together."""
    index = cluster.nodes.index
    running = {key_of(pod): pod for subject in subjects for pod in subject.running}
    removed = [(pod, index[pod.spec.node_name]) for pod in running.values() if pod.spec.node_name in index]
    nominated = tuple(pod for pod in cluster.nominated if key_of(pod) not in running)
    if not removed and len(nominated) == len(cluster.nominated):
        return cluster
    without = cluster.apply(ClusterChange(removed_pods=removed))
    without.nominated = nominated
    return without


def _result(outcome: ScheduleResult, cluster: Cluster) -> TrialResult:
    nodes = [choice.node for choice in outcome.choices]
    return TrialResult(outcome.count or 0, nodes, outcome.stopped, cluster, unplaced=outcome.unplaced)


def with_constraints(pod: Pod, constraints: list[TopologySpreadConstraint]) -> Pod:
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))


_BEGINNING = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_OLD, _NEW = "old", "new"


def _rehearse(cluster: Cluster, deployment: Deployment, pod: Pod, scheduled: Scheduled) -> RolloutReport:
    """Play a rollout to a template that schedules identically, as with ``kubectl rollout restart``.

    ``cluster`` holds none of the Deployment's pods: the first replicas are placed there before the rollout begins.
    ``pod`` is its next pod, admitted. Other pods stay where they are: nothing is preempted. Quotas count what they
    count in ``cluster``.
    """
    # Only its own ReplicaSets are read, and it makes them itself.
    by_type = {cls: objects for cls, objects in cluster.objects.by_type.items() if cls not in WORKLOADS}
    objects = replace(cluster.objects, by_type=by_type)
    surroundings = WorldSettings(
        lambda _: scheduled,
        _making_none,
        _BEGINNING,
        scheduled[0].version,
        preempts=False,
        admission=AdmissionPlugins(),
        # How long old pods keep room is a matter of luck, which a finding is not to depend on.
        stops_at_once=True,
    )
    world = World(Start.build((), (), objects), surroundings)
    world.living = LivingCluster(cluster.with_objects(objects))
    name = WorkloadName("Deployment", pod.metadata.namespace, deployment.metadata.name)
    own = replace(deployment, metadata=replace(deployment.metadata, namespace=name.namespace))
    old, new = (_revision(own, revision) for revision in (_OLD, _NEW))
    apply_workload(world, AppliedWorkload(_pod_of(pod, _OLD), name, old, own.spec.replicas))
    world.next_step()
    running = world.rollouts[name].deployment
    restarted = replace(running, spec=replace(new.spec, replicas=running.spec.replicas))
    return run_rollout(world, name, NewTemplate(restarted, _pod_of(pod, _NEW), _NEW))


def _revision(deployment: Deployment, revision: str) -> Deployment:
    template = deployment.spec.template
    assert template is not None
    annotated = replace(template.metadata, annotations={**template.metadata.annotations, TEMPLATE_HASH: revision})
    revised = replace(template, metadata=annotated)
    return replace(deployment, spec=replace(deployment.spec, template=revised, paused=False))


def _pod_of(pod: Pod, revision: str) -> Pod:
    """The pod, labeled with ``revision`` as its template's hash."""
    return relabel(pod, {**pod.metadata.labels, TEMPLATE_HASH: revision})


def _making_none(name: WorkloadName, _objects: ClusterObjects) -> PodCopy:
    raise AssertionError(f"{name} has its template")  # ReplicaSets created here have their Deployment's template


_FEW = 4


def listing(names: Sequence[str]) -> str:
    """Names, only the first if there are very many."""
    names = [name or EMPTY for name in names]
    more = len(names) - _FEW
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_FEW])} and {more} more"


def breakdown(counts: Mapping[str, int]) -> str:
    """``a 2 · b 2 · c 0``; of many domains, the extremes."""
    if len(counts) <= _FEW + 2:
        return " · ".join(counted_in(domain, str(count)) for domain, count in counts.items())
    most, least = max(counts.values()), min(counts.values())
    at_most = [domain for domain, count in counts.items() if count == most]
    at_least = [domain for domain, count in counts.items() if count == least]
    if most == least:
        return f"{most} in each of {len(counts)} domains"
    return f"{most} in {listing(at_most)}, {least} in {_few_of(at_least)}"


def _few_of(domains: Sequence[str]) -> str:
    return listing(domains) if len(domains) <= _FEW else f"{len(domains)} domains"
