"""Replicas of workloads on a cluster: how each grows, shrinks or is rolled out, and the reports of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, overload

import msgspec

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.growth import Desired, Growth, growth_gaps, growths
from kubespread.candidate.replicas import first_missing, replica_names
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.claimants import claimants_of
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import Resolved, resolve
from kubespread.library.worlds import world_of
from kubespread.node_groups.types import Autoscaler
from kubespread.planner.dealing import check_deals
from kubespread.planner.manner import MAX_RUNS, Manner, Ties
from kubespread.planner.world.pod_book import key_of
from kubespread.questions.simulate.autoscaling import GroupsGiven, Simulated, groups_of, with_autoscaling, world_with
from kubespread.questions.simulate.gangs import gang_notes, gangs_of, pod_group_gaps, what_if
from kubespread.questions.simulate.placing import simulate as simulate_queue
from kubespread.questions.simulate.posed import Question
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.simulate.rollouts import ControlledChange, controlled_changes
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.arguments import PodTopologySpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

G = TypeVar("G", bound=PodGiven)

MOST_REPLICAS = 50_000
"""That are asked for: as many as finish within seconds on nodes that hold them. A cluster has at most 150,000 pods."""
_DEFAULT = Scheduler()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """The keywords of `simulate`."""

    choosing: Choosing = Choosing()
    settings: Sequence[str] = ()
    until_full: bool = False
    from_scratch: bool = False
    autoscaler: Autoscaler | None = None
    node_groups: GroupsGiven = None
    gang: int | None = None
    same: str | None = None
    manner: Manner = Manner()
    on_refused: Callable[[KubespreadError], None] | None = None


@dataclass(frozen=True, slots=True)
class Posed:
    """Workloads and the cluster they are to be placed in, once their controllers have had their say."""

    asked: Resolved
    questions: Sequence[Question]
    cluster: Cluster
    manner: Manner


def pose(
    pods: Sequence[PodGiven], replicas: int | None, snapshot: Snapshot, scheduler: Scheduler, options: SimulateOptions
) -> Posed:
    """What `simulate` places, up to the placing itself. Raises ManifestError, SnapshotError and UsageError."""
    if replicas is not None and not 0 <= replicas <= MOST_REPLICAS:
        raise UsageError(f"replicas must be from 0 to {MOST_REPLICAS}, not {replicas}")
    as_gangs = what_if(options.gang, options.same, replicas, refused=_refused_with_gangs(options))
    asked = resolve(
        snapshot, pods, scheduler, options.choosing,
        settings=options.settings, counts_quotas=False, preempts=options.manner.preempts,
        on_refused=options.on_refused,
    )  # fmt: skip
    if not asked.version.since(SCORES_SINCE):
        said = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {asked.version}: {said}")
    keys = [full_topology_key(key, asked.snapshot.nodes) for key in options.manner.keys]
    if as_gangs is not None and as_gangs.topology_key:
        as_gangs = replace(as_gangs, topology_key=full_topology_key(as_gangs.topology_key, asked.snapshot.nodes))
        check_topology_keys([as_gangs.topology_key], asked.snapshot.nodes, ())
    pairs = list(zip(asked.candidates, asked.profiles, strict=True))
    check_topology_keys(keys, asked.snapshot.nodes, (key for pair in pairs for key in _constraint_keys(*pair)))
    desired = Desired(
        as_gangs.size if as_gangs is not None and replicas is None else replicas,
        options.until_full,
        options.from_scratch,
        counts_quotas=scheduler.admission,
    )
    asked.cluster.assume(growth_gaps(asked.candidates, asked.snapshot))
    grown = growths(asked.candidates, desired, asked.snapshot, asked.cluster.running.pods)
    controlled = controlled_changes(asked, grown, scheduler, options.manner)
    leaving = [(pod, asked.cluster.nodes.index[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = controlled.cluster.after(Change(gone=leaving))
    gangs = gangs_of(as_gangs, asked, grown, cluster)
    if any(gangs) and options.manner.sample:
        raise UsageError("sampling does not go with pods of a PodGroup")
    questions = [
        _question(*pair, growth, change, cluster).as_gang(gang, gang_notes(as_gangs, pair[0], asked.version))
        for pair, growth, change, gang in zip(pairs, grown, controlled.changes, gangs, strict=True)
    ]
    return Posed(asked, questions, cluster, replace(options.manner, keys=keys))


def simulate_workloads(
    pods: Sequence[PodGiven], replicas: int | None, snapshot: Snapshot, scheduler: Scheduler, options: SimulateOptions
) -> tuple[SimulateReport, ...]:
    runs = options.manner.runs
    if not 1 <= runs <= MAX_RUNS:
        raise UsageError(f"runs must be from 1 to {MAX_RUNS}, not {runs}")
    check_deals(options.manner.deals)
    posed = pose(pods, replicas, snapshot, scheduler, options)
    asked, questions, cluster = posed.asked, posed.questions, posed.cluster
    reports = simulate_queue(
        cluster, questions, posed.manner, lambda: world_of(asked.snapshot, scheduler, assumed=cluster.assumed)
    )
    if options.autoscaler is not None:
        simulated = list(map(Simulated, asked.candidates, questions, reports))
        world = world_with(replace(asked.snapshot, pods=tuple(cluster.running.pods)), scheduler, simulated)
        groups = groups_of(asked.snapshot, options.autoscaler, options.node_groups)
        reports = with_autoscaling(world, simulated, options.autoscaler, groups)
        cluster.assume(world.assumed)
    reference = cluster_reference(snapshot)
    return tuple(
        _with_random_ties(report, asked.version)
        .about(reference)
        .with_gaps((*asked.gaps_of(candidate), *pod_group_gaps(asked)))
        for report, candidate in zip(reports, asked.candidates, strict=True)
    )


def _refused_with_gangs(options: SimulateOptions) -> list[str]:
    """What was asked for that is not modeled of gangs."""
    asked_for = {
        "preemption": options.manner.tells_preemption,
        "an autoscaler": options.autoscaler is not None,
        "sampling": options.manner.sample,
    }
    return [name for name, is_asked in asked_for.items() if is_asked]


def _autoscaler(name: str | None, node_groups: GroupsGiven) -> Autoscaler | None:
    """Which one is to add nodes, None for none. Raises UsageError."""
    if name is None:
        if node_groups is not None:
            raise UsageError("node groups are for an autoscaler: say which, ca or karpenter")
        return None
    try:
        return Autoscaler(name)
    except ValueError:
        raise UsageError(f"unknown autoscaler {name!r}: expected {' or '.join(Autoscaler)}") from None


def _with_random_ties(report: SimulateReport, version: KubeVersion) -> SimulateReport:
    """Up to 1.34 any of the equal nodes may be taken, and a pod goes where nobody can foretell."""
    has_ties = any(placement.ties > 1 for placement in report.placements)
    if version.since(35) or report.seed is not None or not has_ties:
        return report
    said = f"kube-scheduler {version} takes any of the nodes with equal scores, at random (--seed does, too)"
    return msgspec.structs.replace(report, not_modelled=(*report.not_modelled, said))


def _question(
    candidate: Candidate, profile: Profile, growth: Growth, change: ControlledChange, cluster: Cluster
) -> Question:
    deleted = {key_of(pod) for pod in change.deleted}
    present = [] if growth.is_rollout else [pod for pod in growth.present if key_of(pod) not in deleted]
    pod = first_missing(candidate, present)
    return Question(
        pod=pod,
        profile=profile,
        replicas=growth.wanted,
        names=iter(change.names) if change.played is not None else replica_names(pod, present),
        played=change.played,
        creatable=growth.created.copies,
        refusal=growth.created.refusal,
        claimants=claimants_of(replace(candidate, pod=pod), present, cluster),
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


@overload
def simulate(
    snapshot: Snapshot, pods: PodGiven, replicas: int | None = ..., scheduler: Scheduler = ...,
    *, until_full: bool = ..., from_scratch: bool = ..., ties: Ties = ..., seed: int | None = ...,
    sample: bool = ..., runs: int = ..., deals: int | None = ..., keys: Sequence[str] = ...,
    preemption: bool | None = ..., autoscaler: str | None = ..., node_groups: GroupsGiven = ...,
    gang: int | None = ..., same: str | None = ...,
    name: str | None = ..., namespace: str | None = ..., selector: str = ..., recursive: bool = ...,
    template_path: str = ..., set: Sequence[str] = ...,
    on_progress: Callable[[int], None] | None = ..., on_refused: Callable[[KubespreadError], None] | None = ...,
) -> SimulateReport: ...  # fmt: skip
@overload
def simulate(
    snapshot: Snapshot, pods: list[G] | tuple[G, ...], replicas: int | None = ..., scheduler: Scheduler = ...,
    *, until_full: bool = ..., from_scratch: bool = ..., ties: Ties = ..., seed: int | None = ...,
    sample: bool = ..., runs: int = ..., deals: int | None = ..., keys: Sequence[str] = ...,
    preemption: bool | None = ..., autoscaler: str | None = ..., node_groups: GroupsGiven = ...,
    gang: int | None = ..., same: str | None = ...,
    name: str | None = ..., namespace: str | None = ..., selector: str = ..., recursive: bool = ...,
    template_path: str = ..., set: Sequence[str] = ...,
    on_progress: Callable[[int], None] | None = ..., on_refused: Callable[[KubespreadError], None] | None = ...,
) -> tuple[SimulateReport, ...]: ...  # fmt: skip


def simulate(
    snapshot: Snapshot,
    pods: PodGiven | list[G] | tuple[G, ...],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    until_full: bool = False,
    from_scratch: bool = False,
    ties: Ties = "scheduler",
    seed: int | None = None,
    sample: bool = False,
    runs: int = 1,
    deals: int | None = None,
    keys: Sequence[str] = (),
    preemption: bool | None = None,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    gang: int | None = None,
    same: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    on_progress: Callable[[int], None] | None = None,
    on_refused: Callable[[KubespreadError], None] | None = None,
) -> SimulateReport | tuple[SimulateReport, ...]:
    """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop it.

    A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them; anything
    else has to be one workload and gives its report. All stand in one queue, by priority, then in the order given, and
    each pod finds those before it in the cluster. ``replicas`` is each workload's own number unless given. A workload
    that runs in the cluster already is grown to that number from the replicas it has; a template that differs from the
    running one takes those away first.

    - ``until_full``: place as many as fit instead of a number.
    - ``from_scratch``: also re-place the replicas already running.
    - ``ties``: how equal scores are broken: ``"scheduler"`` (kube-scheduler's own order) or ``"name"`` (by node name).
    - ``seed``: break ties at random with this seed instead.
    - ``sample``: score no more nodes than kube-scheduler does in a large cluster (percentageOfNodesToScore) instead of
      all that fit, each search going on where the last one ended.
    - ``runs``: the number of runs, 1 to 10,000: with the seeds that follow, or with ``sample`` and no seed from nodes
      evenly apart.
    - ``deals``: how often a rollout or fewer replicas are played, with equal pods and nodes dealt anew each time, 1 or
      more (default: 8 where controllers delete some of several equal pods, fewer where very many pods move, else 1).
    - ``keys``: topology keys to report about besides those of the constraints, zone and hostname.
    - ``preemption``: False: replicas that fit nowhere do not evict pods of lower priority, as they do otherwise where
      a number of replicas is asked for; True: also say why that does not help, where it helps none of them.
    - ``autoscaler``: let ``"ca"`` (cluster-autoscaler) or ``"karpenter"`` add nodes for replicas that find none.
    - ``node_groups``: which groups of nodes may grow: the path of a NodeGroups file, or the groups (default: those that
      the cluster's objects tell of).
    - ``gang``: place so many replicas at once or none of them, 1 or more; ``replicas`` is a multiple of it, placed one
      gang after another (default: one gang).
    - ``same``: a topology key of which all members of a gang share a value: ``"zone"``.
    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none.
    - ``selector``: labels of the workloads to place, as kubectl's ``-l`` has them (default: any labels).
    - ``recursive``: read directories with those below them.
    - ``template_path``: path of the pod template in kinds unknown to kubespread (default: ``spec.template``).
    - ``set``: fields to change before pods are admitted: ``maxSkew[zone]=2``, ``cpu=500m``.
    - ``on_progress``: called now and then with the number of replicas placed so far.
    - ``on_refused``: called with each workload that the API server would not take while the others are placed; without
      it the first one raises.

    Raises ManifestError, SnapshotError and UsageError.
    """
    options = SimulateOptions(
        choosing=Choosing(name, namespace, selector, recursive=recursive, template_path=template_path),
        settings=set,
        until_full=until_full,
        from_scratch=from_scratch,
        autoscaler=_autoscaler(autoscaler, node_groups),
        node_groups=node_groups,
        gang=gang,
        same=same,
        manner=Manner(
            ties,
            seed,
            runs,
            deals,
            preempts=preemption is not False,
            tells_preemption=bool(preemption),
            keys=keys,
            on_progress=on_progress,
            sample=sample,
        ),
        on_refused=on_refused,
    )
    is_one = not isinstance(pods, list | tuple)
    several = [pods] if not isinstance(pods, list | tuple) else pods
    reports = simulate_workloads(several, replicas, snapshot, scheduler, options)
    if is_one and len(reports) > 1:
        names = ", ".join(report.subject for report in reports)
        raise UsageError(f"several workloads ({names}); choose one with name, or ask about a list")
    return reports[0] if is_one else reports
