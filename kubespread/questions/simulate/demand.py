"""Replicas to place per workload, after controllers have scaled it down or rolled out a new template. Every workload is
a gang in a what-if, else only pods that name a group are, if the release and its feature gates support that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import Growth, Replicas, first_missing
from kubespread.candidate.sources import Surroundings
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.controllers.deployment import new_replica_set
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import PodGroup
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.pod_groups import PERMIT, TOO_FEW, GangRules, GroupName, gang_rules, group_name, has_gangs
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.queue import ScheduleResult
from kubespread.questions.resolving import distinct_replicas, replicas_of
from kubespread.questions.simulate import WhatIf
from kubespread.questions.simulate.gangs import Gang
from kubespread.reports.judged_nodes import constraint_reports, domain_counts
from kubespread.reports.parts import PreemptedPod
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.wording import count_of
from kubespread.world.events.applying import AppliedWorkload, apply_workload
from kubespread.world.events.editing import scale
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import preempted_pods
from kubespread.world.store.happenings import SCALED_DOWN, Happenings
from kubespread.world.store.owners import name_of
from kubespread.world.store.pod_book import PodKey, key_of

_NODE_LABEL_MISSING = "cannot determine domain for already scheduled pods: no topology domain found for pod {}"
_SEVERAL_DOMAINS = "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: {}"


def gangs_of(
    as_gangs: WhatIf | None, candidates: Sequence[Candidate], grown: Sequence[Growth], cluster: Cluster
) -> Sequence[Gang | None]:
    """Gang of each candidate's pods; None for no gang. Raises UsageError."""
    if as_gangs is None:
        return _pod_group_gangs(candidates, grown, cluster)
    pairs = zip(candidates, grown, strict=True)
    return [_what_if_gang(as_gangs, candidate, growth, cluster) for candidate, growth in pairs]


def _what_if_gang(option: WhatIf, candidate: Candidate, growth: Growth, cluster: Cluster) -> Gang:
    """One workload as gangs. Running replicas are members of its only gang, or complete earlier gangs.

    Raises UsageError where the workload's replicas are not placed, or not a multiple of the gang.
    """
    name = candidate.pod.metadata.name if candidate.workload is None else str(candidate.workload.name)
    running = len(growth.present)
    if growth.is_rollout:
        raise UsageError(f"{name} runs with another template: a rollout is no gang; --from-scratch places it anew")
    if growth.surplus:
        raise UsageError(
            f"{name} runs {count_of(running, 'replica')}, more than are asked for as a gang; "
            "--from-scratch places it anew"
        )
    is_only_one = growth.further is not None and growth.further + running == option.size
    if not is_only_one and running % option.size:
        raise UsageError(
            f"{name} runs {count_of(running, 'replica')}, no multiple of the gang of {option.size}; "
            "--from-scratch places it anew"
        )
    members = growth.present if is_only_one else ()
    domain, fault = _domain_of(members, option.topology_key, cluster)
    return Gang(
        option.size,
        len(members),
        topology_key=option.topology_key,
        domain=domain,
        fault=fault,
        refusal=growth.created.refusal,
    )


def gang_notes(as_gangs: WhatIf | None, candidate: Candidate, version: KubeVersion) -> Iterator[str]:
    """Yield a note if the cluster itself would not treat the workload as a gang."""
    if as_gangs is None:
        return
    if not has_gangs(version):
        if version.reaches(35):
            yield (
                f"kube-scheduler v{version} places gangs only with the feature gate GenericWorkload: without it each "
                "pod is bound as soon as it has a node"
            )
        else:
            yield f"kube-scheduler v{version} places no gangs: each pod is bound as soon as it has a node"
    if candidate.one_by_one:
        yield (
            "a StatefulSet that is not Parallel creates each pod once the last one runs, so as a gang it would wait "
            "forever; placed as if all its pods were there"
        )


def _pod_group_gangs(candidates: Sequence[Candidate], grown: Sequence[Growth], cluster: Cluster) -> list[Gang | None]:
    """The gang that each candidate's pods belong to, the same object for all pods of one group."""
    names, surroundings = _group_names(candidates), candidates[0].surroundings
    gangs: dict[GroupName, Gang | None] = {}
    for name in dict.fromkeys(name for name in names if name is not None):
        group = gang_rules(name, surroundings.objects, surroundings.version)
        own = [pair for pair, its in zip(zip(candidates, grown, strict=True), names, strict=True) if its == name]
        gangs[name] = None if _is_unknown(group, surroundings) else _gang(name, group, own, candidates, cluster)
    return [None if name is None else gangs[name] for name in names]


def pod_group_gaps(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Gap in the input if a pod's PodGroup was not read; else empty."""
    surroundings = candidates[0].surroundings
    version, objects = surroundings.version, surroundings.objects
    groups = [gang_rules(name, objects, version) for name in _group_names(candidates) if name is not None]
    if not any(_is_unknown(group, surroundings) for group in groups):
        return ()
    return tuple(objects.gap(PodGroup, "pods of a group are placed one at a time"))


def _group_names(candidates: Sequence[Candidate]) -> list[GroupName | None]:
    """The group that each candidate's pods are placed as members of."""
    is_known = has_gangs(candidates[0].surroundings.version)
    return [group_name(candidate.pod) if is_known else None for candidate in candidates]


def _is_unknown(group: GangRules, surroundings: Surroundings) -> bool:
    """True if the cluster may have the group though the snapshot does not."""
    return bool(group.missing) and not surroundings.objects.knows(PodGroup)


def _gang(
    name: GroupName,
    group: GangRules,
    own: Sequence[tuple[Candidate, Growth]],
    candidates: Sequence[Candidate],
    cluster: Cluster,
) -> Gang | None:
    if not (group.is_gang or group.topology_key or group.missing):
        return None
    version = candidates[0].surroundings.version
    scheduled = [pod for pod in cluster.running.pods if group_name(pod) == name]
    domain, fault = _domain_of(scheduled, group.topology_key, cluster)
    appearing = len(scheduled) + _waiting(name, candidates) + sum(_creations(*pair) for pair in own)
    if group.is_gang and appearing < group.min_count:
        fault = TOO_FEW
    return Gang(
        group.min_count if group.is_gang else len(scheduled) + 1,
        len(scheduled),
        pod_group=name[1],
        topology_key=group.topology_key,
        domain=domain,
        fault=group.missing or fault,
        permit=PERMIT,
        not_modelled=tuple(_not_modelled(group, version)),
    )


def _not_modelled(group: GangRules, version: KubeVersion) -> Iterator[str]:
    yield "preemption for a pod group: its pods evict nobody"
    if group.topology_key and version.reaches(37):
        yield (
            "percentageOfPlacementsToScore: every domain where the group fits is scored; kube-scheduler may stop once "
            "it has found enough"
        )
    if group.parent is not None:
        yield f"CompositePodGroup {group.parent}: the pod group is judged by itself"


def _creations(candidate: Candidate, growth: Growth) -> int:
    """Number of additional pods to schedule together; for as many as fit, as many as needed."""
    if growth.count is None:
        return 10**9
    return min(1, growth.count) if candidate.one_by_one else growth.count


def _waiting(name: GroupName, candidates: Sequence[Candidate]) -> int:
    """Count the group's waiting pods that belong to no workload in question."""
    snapshot = candidates[0].surroundings.snapshot
    pending = [
        pod
        for pod in snapshot.pods
        if not pod.spec.node_name and pod.status.phase not in ENDED_PHASES and group_name(pod) == name
    ]
    by_controller, own = PodsByController(pending), set()
    for candidate in candidates:
        own.add(key_of(candidate.pod))
        if candidate.workload is not None:
            replica_sets = snapshot.objects.get(ReplicaSet)
            own |= {
                key_of(pod) for pod in pods_of(candidate.workload, candidate.companions, replica_sets, by_controller)
            }
    return sum(key_of(pod) not in own for pod in pending)


def _domain_of(members: Sequence[Pod], key: str, cluster: Cluster) -> tuple[str | None, str]:
    """The topology domain of running members, and kube-scheduler's message where there is not exactly one."""
    if not key or not members:
        return None, ""
    labels = [cluster.nodes.objects[cluster.nodes.index[pod.spec.node_name]].metadata.labels for pod in members]
    for pod, own in zip(members, labels, strict=True):
        if key not in own:
            return None, _NODE_LABEL_MISSING.format(f"{pod.metadata.namespace}/{pod.metadata.name}")
    domains = sorted({own[key] for own in labels})
    return (domains[0], "") if len(domains) == 1 else (None, _SEVERAL_DOMAINS.format(", ".join(domains)))


class PlayedRollout(Struct, frozen=True):
    """A rollout, complete or stuck."""

    outcome: ScheduleResult
    report: RolloutReport
    preempted: Sequence[PreemptedPod]
    """Pods preempted by its new pods."""
    names: Sequence[str]
    """Names of its new pods, in the order of placement."""
    old: Sequence[int]
    """Positions of nodes with remaining old pods."""


class ControlledChange(Struct, frozen=True):
    """Work of one workload's controller."""

    deleted: Sequence[Pod] = ()
    """Replicas deleted because fewer are desired; the cluster is without them."""
    played: PlayedRollout | None = None
    """The rollout of a new template: the cluster is as that left it."""
    happened: Happenings | None = None
    """Happenings meanwhile; None where its controller has nothing to do."""

    @property
    def notes(self) -> Iterable[str]:
        return () if self.happened is None else self.happened.notes


class Demand(Struct, frozen=True):
    """Replicas of one workload that are to be placed."""

    candidate: Candidate
    profile: Profile
    growth: Growth
    change: ControlledChange
    pod: Pod
    """The first that is missing."""
    replicas: Replicas
    """Replicas that are missing, in order."""
    distinct_replicas: Replicas | None
    """``replicas``, if scheduling does not treat them as copies of the first; else None."""
    present: Mapping[PodKey, int]
    """The workload's replicas that run already, each with its node, by position."""
    gang: Gang | None
    """The gang of its pods, placed together or not at all."""
    gang_notes: tuple[str, ...]

    @classmethod
    def build(
        cls,
        candidate: Candidate,
        profile: Profile,
        growth: Growth,
        change: ControlledChange,
        cluster: Cluster,
        gang: Gang | None,
        gang_notes: Iterable[str],
        counting: Iterable[Pod],
    ) -> Demand:
        """Make a demand; ``counting`` are the pods of all demands."""
        deleted = {key_of(pod) for pod in change.deleted}
        present = [] if growth.is_rollout else [pod for pod in growth.present if key_of(pod) not in deleted]
        pod = first_missing(candidate, present)
        replicas = replicas_of(replace(candidate, pod=pod), cluster, present, growth.waiting)
        return cls(
            candidate,
            profile,
            growth,
            change,
            pod,
            replicas=replicas,
            distinct_replicas=distinct_replicas(replace(candidate, pod=pod), replicas, cluster, counting),
            present={key_of(pod): cluster.nodes.index[pod.spec.node_name] for pod in present},
            gang=gang,
            gang_notes=tuple(gang_notes),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.candidate.notes, *self.growth.notes, *self.change.notes, *self.gang_notes)

    def names(self, placed: ScheduleResult) -> Iterator[str]:
        """Names of the placed replicas, in the order of placement, then of the others."""
        if self.change.played is not None:
            return iter(self.change.played.names)
        names = (replica.pod.metadata.name for replica in self.replicas())
        return chain(placed.names, (name for name in names if name not in placed.names))

    @property
    def workload(self) -> str | None:
        """Kind/name of the replicas' workload; None for a bare pod."""
        name = self.candidate.workload
        return None if name is None else f"{name.kind}/{name.name}"


def controlled_changes(
    world: World, candidates: Sequence[Candidate], profiles: Sequence[Profile], grown: Sequence[Growth]
) -> Sequence[ControlledChange]:
    """Play the controllers of workloads that shrink or are rolled out in ``world``, in the order given."""
    changes = []
    for growth, candidate, profile in zip(grown, candidates, profiles, strict=True):
        if growth.surplus:
            changes.append(_scaled_down(world, growth, candidate))
        elif growth.is_rollout:
            changes.append(_rolled_out(world, growth, candidate, profile))
        else:
            changes.append(ControlledChange())
    return changes


def _scaled_down(world: World, growth: Growth, candidate: Candidate) -> ControlledChange:
    assert candidate.workload is not None
    scale(world, candidate.workload, len(growth.present) - growth.surplus)
    scaled_down = {key_of(departure.pod) for departure in world.happenings.departures if departure.why == SCALED_DOWN}
    deleted = [pod for pod in growth.present if key_of(pod) in scaled_down]
    return ControlledChange(deleted, happened=world.next_step())


def _rolled_out(world: World, growth: Growth, candidate: Candidate, profile: Profile) -> ControlledChange:
    assert candidate.workload is not None
    before = world.cluster
    report = apply_workload(world, AppliedWorkload(candidate.pod, candidate.workload, candidate.object, growth.further))
    assert report is not None
    rollout = world.rollouts[candidate.workload]
    replica_set = new_replica_set(rollout.deployment, rollout.replica_sets)
    own = None if replica_set is None else name_of(replica_set)
    choices = zip(world.happenings.placed, world.happenings.choices, strict=True)
    new = [(pod, choice) for pod, choice in choices if world.book.owner_of(pod) == own]
    plugins = framework(profile)
    evaluation = evaluate(plugins, world.cluster, candidate.pod)
    outcome = ScheduleResult(
        growth.further,
        [choice for _, choice in new],
        # Default constraints also take selectors from the new ReplicaSet.
        before=domain_counts(plugins.prepare(before.with_objects(world.cluster.objects), candidate.pod).states),
        after=constraint_reports(evaluation.states, evaluation.feasible),
    )
    if not report.complete:
        outcome.stopped, outcome.stuck = report.wedged_on, bool(report.pending)
        outcome.unplaced = evaluation if report.pending else None
    names = [pod.metadata.name for pod, _ in new]
    preempted, index = list(preempted_pods(world.happenings)), world.cluster.nodes.index
    left = (pod for owner in map(name_of, rollout.replica_sets) if owner != own for pod in world.book.pods_of(owner))
    old = [index[pod.spec.node_name] for pod in left if pod.spec.node_name in index]
    return ControlledChange(played=PlayedRollout(outcome, report, preempted, names, old), happened=world.next_step())


def cluster_after(before: Cluster, world: World) -> Cluster:
    """``before`` with the pods where they are now, and the claims they bound."""
    position_of, running = before.nodes.index, before.running
    now = {key_of(pod): pod for pod in world.book if pod.spec.node_name in position_of}
    earlier = {key_of(pod) for pod in running.pods}
    removed = [
        (pod, node) for pod, node in zip(running.pods, running.node.tolist(), strict=True) if key_of(pod) not in now
    ]
    added = [(pod, position_of[pod.spec.node_name]) for key, pod in now.items() if key not in earlier]
    storage = world.cluster.storage.changes_since(before.storage)
    return before.apply(ClusterChange(removed_pods=removed, added_pods=added, storage=storage))
