"""Replicas of workloads on a cluster: how each grows, shrinks or is rolled out, and the reports of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Self, TypeVar

import msgspec
from msgspec import Struct

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import Desired, Growth, first_missing, growth_gaps, growths, replica_names
from kubespread.candidate.sources import PodGiven, read_once
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.questions.queue.manner import MAX_RUNS, Manner, Way, check_deals
from kubespread.questions.resolving import Resolved, claimants_of, resolve
from kubespread.questions.scene import Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.autoscaling import Simulated, groups_of, types_of, with_autoscaling, world_with
from kubespread.questions.simulate.gangs import gang_notes, gangs_of, pod_group_gaps, what_if
from kubespread.questions.simulate.placing import Queue
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import Limits, SimulateReport
from kubespread.questions.simulate.reporting import Question, Ran
from kubespread.questions.simulate.rollouts import ControlledChange, controlled_changes
from kubespread.questions.worlds import world_of
from kubespread.scenario.prices import read_prices
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.plugins.podtopologyspread.constraints import PodTopologySpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.world.store.pod_book import key_of

G = TypeVar("G", bound=PodGiven)

MOST_REPLICAS = 50_000
"""The most replicas to request: as many as finish within seconds on nodes that hold them. A cluster has at most 150,000
pods.
"""


class Posed(Struct, frozen=True):
    """Workloads and the cluster they will be placed in, after their controllers' work."""

    resolved: Resolved
    questions: Sequence[Question]
    cluster: Cluster
    manner: Manner


def pose(
    question: Simulate,
    snapshot: Snapshot,
    scheduler: Scheduler,
    on_progress: Callable[[int], None] | None = None,
    on_refused: Callable[[KubespreadError], None] | None = None,
    *,
    counts_quotas: bool = True,
) -> Posed:
    """What ``question`` will place, up to the placing itself. Raises ManifestError, SnapshotError and UsageError."""
    replicas = question.desired
    if replicas is not None and not 0 <= replicas <= MOST_REPLICAS:
        raise UsageError(f"replicas must be from 0 to {MOST_REPLICAS}, not {replicas}")
    as_gangs = what_if(question.gang, question.same, replicas, refused=_refused_with_gangs(question))
    resolved = resolve(
        snapshot, question.pods, scheduler, question.choosing,
        settings=question.settings, counts_quotas=False, preempts=question.preemption, on_refused=on_refused,
    )  # fmt: skip
    if not resolved.version.since(SCORES_SINCE):
        reason = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {resolved.version}: {reason}")
    nodes = resolved.snapshot.nodes
    keys = [full_topology_key(key, nodes) for key in (*question.keys, *question.requirements.keys)]
    if as_gangs is not None and as_gangs.topology_key:
        as_gangs = msgspec.structs.replace(as_gangs, topology_key=full_topology_key(as_gangs.topology_key, nodes))
        check_topology_keys([as_gangs.topology_key], nodes, ())
    pairs = list(zip(resolved.candidates, resolved.profiles, strict=True))
    check_topology_keys(keys, nodes, (key for pair in pairs for key in _constraint_keys(*pair)))
    desired = Desired(
        as_gangs.size if as_gangs is not None and replicas is None else replicas,
        question.as_many_as_fit,
        question.from_scratch,
        counts_quotas=counts_quotas and scheduler.admission,
    )
    manner = Manner(
        question.ties, question.seed, question.runs, question.deals,
        preempts=question.preemption, tells_preemption=question.tells_preemption, keys=keys,
        on_progress=on_progress, sample=question.sample,
    )  # fmt: skip
    resolved.cluster.assume(growth_gaps(resolved.candidates, resolved.snapshot))
    grown = growths(resolved.candidates, desired, resolved.snapshot, resolved.cluster.running.pods)
    controlled = controlled_changes(resolved, grown, scheduler, manner)
    index = resolved.cluster.nodes.index
    leaving = [(pod, index[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = controlled.cluster.after(Change(gone=leaving))
    gangs = gangs_of(as_gangs, resolved, grown, cluster)
    if any(gangs) and question.sample:
        raise UsageError("sampling does not go with pods of a PodGroup")
    questions = [
        _question(*pair, growth, change, cluster).as_gang(gang, gang_notes(as_gangs, pair[0], resolved.version))
        for pair, growth, change, gang in zip(pairs, grown, controlled.changes, gangs, strict=True)
    ]
    return Posed(resolved, questions, cluster, manner)


def answer(question: Simulate, scene: Scene) -> tuple[SimulateReport, ...]:
    """All workloads in question, placed in one queue; raises the first refusal unless ``on_refused`` is given."""
    if not 1 <= question.runs <= MAX_RUNS:
        raise UsageError(f"runs must be from 1 to {MAX_RUNS}, not {question.runs}")
    check_deals(question.deals)
    required = question.requirements.with_keys(lambda key: full_topology_key(key, scene.snapshot.nodes))
    autoscaler = _autoscaler(question)
    reports = _placed(question, scene, autoscaler)
    return tuple(map(required.judged, reports)) if required.is_any else reports


def _placed(question: Simulate, scene: Scene, autoscaler: Autoscaler | None) -> tuple[SimulateReport, ...]:
    scheduler = scene.scheduler
    read = partial(read_once, template_path=question.template_path)
    # Other processes pose the question too, and standard input can be read only once.
    question = _with_pods(question, (read(pod) if pod == STDIN else pod for pod in question.pods))
    running = _Running(pose(question, scene.snapshot, scheduler, scene.on_progress, scene.on_refused), scheduler)
    posed = running.posed
    resolved, cluster = posed.resolved, posed.cluster
    # Progress is that of the first run's replicas.
    of_runs = msgspec.structs.replace(scene, on_progress=None)
    reports = running.queue.reports(
        lambda ways: of_runs.tasks(running, ways, _with_pods(question, map(read, question.pods)))
    )
    if question.as_many_as_fit and len(reports) == 1:
        reports = (_limited(reports[0], posed.questions[0].creatable, question, scene),)
    if autoscaler is not None:
        simulated = list(map(Simulated, resolved.candidates, posed.questions, reports))
        world = world_with(replace(resolved.snapshot, pods=tuple(cluster.running.pods)), scheduler, simulated)
        groups = groups_of(resolved.snapshot, autoscaler, question.node_groups)
        prices = None if question.prices is None else read_prices(question.prices)
        types = types_of(autoscaler, question.instance_types)
        reports = with_autoscaling(world, simulated, autoscaler, groups, types, prices)
        cluster.assume(world.assumed)
    return tuple(
        _with_random_ties(_with_missing_runs(report, scene, question.runs), resolved.version)
        .about(scene.source)
        .with_gaps((*resolved.gaps_of(candidate), *pod_group_gaps(resolved)))
        for report, candidate in zip(reports, resolved.candidates, strict=True)
    )


def _limited(report: SimulateReport, quota: int | None, question: Simulate, scene: Scene) -> SimulateReport:
    """The report of as many as fit, with what binds first, and how many the other limit would allow."""
    nodes = report.placed
    if quota is not None and nodes >= quota:
        alone = msgspec.structs.replace(question, runs=1)
        unlimited = _Running(
            pose(alone, scene.snapshot, scene.scheduler, on_refused=lambda _: None, counts_quotas=False),
            scene.scheduler,
        )
        (free,) = unlimited.queue.reports(lambda ways: map(unlimited, ways))
        nodes = free.placed
    return msgspec.structs.replace(report, limits=Limits(nodes=nodes, quota=quota))


def _with_pods(question: Simulate, pods: Iterable[PodGiven]) -> Simulate:
    return msgspec.structs.replace(question, pods=tuple(pods))


class _Running:
    """Runs of one simulation, by their ways."""

    def __init__(self, posed: Posed, scheduler: Scheduler) -> None:
        self.posed = posed
        self.queue = Queue(
            posed.cluster, posed.questions, posed.manner,
            lambda: world_of(posed.resolved.snapshot, scheduler, assumed=posed.cluster.assumed),
        )  # fmt: skip

    @classmethod
    def of(cls, question: Simulate, scene: Scene) -> Self:
        """In a worker: what was refused was said where the question was asked."""
        return cls(pose(question, scene.snapshot, scene.scheduler, on_refused=lambda _: None), scene.scheduler)

    @property
    def assumed(self) -> dict[str, None]:
        return self.posed.cluster.assumed

    def __call__(self, way: Way) -> list[Ran]:
        return self.queue.run(way)


def _with_missing_runs(report: SimulateReport, scene: Scene, runs: int) -> SimulateReport:
    if report.runs is None:
        return report
    missing = [f"run {number}" for number in range(report.runs.count + 1, runs + 1)]
    return msgspec.structs.replace(report, unfinished=scene.unfinished("run", runs, missing))


def _refused_with_gangs(question: Simulate) -> list[str]:
    """Requested options that are not modeled for gangs."""
    asked_for = {
        "preemption": question.tells_preemption,
        "an autoscaler": question.autoscaler is not None,
        "sampling": question.sample,
    }
    return [name for name, is_asked in asked_for.items() if is_asked]


def _autoscaler(question: Simulate) -> Autoscaler | None:
    """The autoscaler that adds nodes, None for none. Raises UsageError."""
    name = question.autoscaler
    if name is None:
        if question.node_groups is not None or question.instance_types is not None:
            raise UsageError("node groups and instance types are for an autoscaler: say which, ca or karpenter")
        return None
    try:
        return Autoscaler(name)
    except ValueError:
        raise UsageError(f"unknown autoscaler {name!r}: expected {' or '.join(Autoscaler)}") from None


def _with_random_ties(report: SimulateReport, version: KubeVersion) -> SimulateReport:
    """Up to 1.34 any of the equal nodes may be taken, so a pod's node cannot be foretold."""
    has_ties = any(placement.ties > 1 for placement in report.placements)
    if version.since(35) or report.seed is not None or not has_ties:
        return report
    sentence = f"kube-scheduler {version} takes any of the nodes with equal scores, at random (--seed does, too)"
    return msgspec.structs.replace(report, not_modelled=(*report.not_modelled, sentence))


def _question(
    candidate: Candidate, profile: Profile, growth: Growth, change: ControlledChange, cluster: Cluster
) -> Question:
    deleted = {key_of(pod) for pod in change.deleted}
    present = [] if growth.is_rollout else [pod for pod in growth.present if key_of(pod) not in deleted]
    pod = first_missing(candidate, present)
    return Question(
        pod=pod,
        profile=profile,
        replicas=growth.further,
        names=iter(change.names) if change.played is not None else replica_names(pod, present),
        played=change.played,
        creatable=growth.created.copies,
        refusal=growth.created.refusal,
        claimants=claimants_of(msgspec.structs.replace(candidate, pod=pod), present, cluster),
        waiting=len(growth.waiting),
        is_daemon=candidate.is_daemon,
        one_by_one=candidate.one_by_one,
        deleted=[(pod, cluster.nodes.index[pod.spec.node_name]) for pod in change.deleted],
        dealt_skews=change.dealt_skews,
        present={key_of(pod): cluster.nodes.index[pod.spec.node_name] for pod in present},
        workload=None if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}",
        notes=(*candidate.notes, *growth.notes, *change.notes),
        admission=candidate.admission,
    )


def _constraint_keys(candidate: Candidate, profile: Profile) -> list[str]:
    """The topology keys of the pod's constraints, else of the profile's own defaults."""
    defaults = profile.args_of(PodTopologySpread.name, PodTopologySpreadArgs).default_constraints
    constraints = candidate.pod.spec.topology_spread_constraints or defaults
    return [constraint.topology_key for constraint in constraints]
