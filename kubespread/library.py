"""The public library: load a cluster, ask about a pod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack, overload

from kubespread.asked_cluster import cluster_reference
from kubespread.candidate.candidate import Candidate
from kubespread.candidate.growth import Desired, Growth, growths
from kubespread.candidate.replicas import replica_names
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.deciding import Scheduler
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.versions import SCORES_SINCE
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.planner.simulate import Manner, Question, Ties
from kubespread.planner.simulate import simulate as simulate_all
from kubespread.resolving import resolve
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.arguments import PodTopologySpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.files.loading import load as load_files
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.worlds import edited

if TYPE_CHECKING:
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.live.loading import Progress

G = TypeVar("G", bound=PodGiven)

_DEFAULT = Scheduler()


def load(path: str | Path, *more: str | Path) -> Snapshot:
    """A cluster from files, directories and archives, together one snapshot; ``-`` is standard input.

    Raises SnapshotError, UsageError and ManifestError.
    """
    paths = tuple(str(each) for each in (path, *more))
    return replace(load_files(paths), files=paths)


def connect(access: Access | None = None, on_progress: Progress | None = None) -> Snapshot:
    """A running cluster, read and never written to; without ``access`` that of the kubeconfig's current context.

    Raises SnapshotError, ManifestError and UsageError.
    """
    # TLS and threads, which nobody with a file should wait for.
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.live.loading import load_cluster

    return load_cluster(access or Access(), on_progress)


def after_edits(snapshot: Snapshot, scheduler: Scheduler = _DEFAULT) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster once its edits are made, for whoever wants to keep it, and what came of them.

    Questions about an edited snapshot make its edits themselves. Raises UsageError.
    """
    return edited(snapshot, scheduler)


class ExplainKeywords(TypedDict, total=False):
    """The keywords of `explain`."""

    preemption: bool
    """Ask what preemption would do when no node fits."""
    pods: bool
    """Name the pods that each domain of a constraint counts."""
    name: str | None
    """Choose among several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME."""
    namespace: str | None
    """Where the manifest names none."""
    recursive: bool
    """Read directories to their depths."""
    template_path: str
    """Where kinds that are not known have their pod template."""
    set: Sequence[str]
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


def explain(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[ExplainKeywords],
) -> ExplainReport:
    """What kube-scheduler would decide for ``pod`` on every node of ``snapshot``, and the arithmetic behind it.

    Of several manifests one may hold a workload, or ``name`` says which. The keywords are `ExplainKeywords`.
    Raises ManifestError, SnapshotError and UsageError.
    """
    several = pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]
    choosing = Choosing(
        options.get("name"),
        options.get("namespace"),
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
        one_only=True,
    )
    asked = resolve(snapshot, several, scheduler, choosing, settings=options.get("set", ()))
    candidate, profile = asked.candidates[0], asked.profiles[0]
    report = explain_pod(
        asked.cluster,
        candidate.pod,
        profile,
        candidate.notes,
        candidate.admission,
        preemption=options.get("preemption", False),
        pods=options.get("pods", False),
    )
    return report.about(cluster_reference(snapshot)).with_gaps((*asked.gaps, *candidate.gaps))


class SimulateKeywords(TypedDict, total=False):
    """The keywords of `simulate`."""

    until_full: bool
    """Place as many as fit instead of a number."""
    from_scratch: bool
    """Take away the replicas that run before placing."""
    ties: Ties
    """How equal scores are broken: by kube-scheduler's own order, which is the default, or by ``"name"``."""
    seed: int | None
    """Break them at random instead."""
    runs: int
    """Repeat with the seeds that follow."""
    keys: Sequence[str]
    """Topology keys to report about besides those of the constraints, zone and hostname."""
    preemption: bool
    """Ask what preemption would do for the first replica without a node."""
    name: str | None
    """Choose among several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME."""
    namespace: str | None
    """Where the manifest names none."""
    selector: str
    """Labels of the workloads that are meant, as kubectl's ``-l`` has them."""
    recursive: bool
    """Read directories to their depths."""
    template_path: str
    """Where kinds that are not known have their pod template."""
    set: Sequence[str]
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""
    on_progress: Callable[[int], None] | None
    """Told now and then how many replicas are placed."""
    on_refused: Callable[[KubespreadError], None] | None
    """Told of workloads the API server would not take while the others are placed; without it the first one raises."""


@overload
def simulate(
    snapshot: Snapshot, pods: PodGiven, replicas: int | None = ..., scheduler: Scheduler = ...,
    **options: Unpack[SimulateKeywords],
) -> SimulateReport: ...  # fmt: skip
@overload
def simulate(
    snapshot: Snapshot, pods: list[G] | tuple[G, ...], replicas: int | None = ..., scheduler: Scheduler = ...,
    **options: Unpack[SimulateKeywords],
) -> tuple[SimulateReport, ...]: ...  # fmt: skip


def simulate(
    snapshot: Snapshot,
    pods: PodGiven | list[G] | tuple[G, ...],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[SimulateKeywords],
) -> SimulateReport | tuple[SimulateReport, ...]:
    """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop it.

    A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them; anything
    else has to be one workload and gives its report. All stand in one queue, by priority, then in the order given, and
    each pod finds those before it in the cluster. ``replicas`` is each workload's own number unless given. A workload
    that runs in the cluster already is grown to that number from the replicas it has; a template that differs from the
    running one takes those away first. The other keywords are `SimulateKeywords`.
    Raises ManifestError, SnapshotError and UsageError.
    """
    is_one = not isinstance(pods, list | tuple)
    reports = _simulate([pods] if not isinstance(pods, list | tuple) else pods, replicas, snapshot, scheduler, options)
    if is_one and len(reports) > 1:
        names = ", ".join(report.subject for report in reports)
        raise UsageError(f"several workloads ({names}); choose one with name, or ask about a list")
    return reports[0] if is_one else reports


def _simulate(
    pods: Sequence[PodGiven], replicas: int | None, snapshot: Snapshot, scheduler: Scheduler, options: SimulateKeywords
) -> tuple[SimulateReport, ...]:
    runs = options.get("runs", 1)
    if replicas is not None and replicas < 0:
        raise UsageError(f"replicas must be at least 0, not {replicas}")
    if runs < 1:
        raise UsageError(f"runs must be at least 1, not {runs}")
    choosing = Choosing(
        options.get("name"),
        options.get("namespace"),
        options.get("selector", ""),
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
    )
    asked = resolve(
        snapshot, pods, scheduler, choosing,
        settings=options.get("set", ()), counts_quotas=False, on_refused=options.get("on_refused"),
    )  # fmt: skip
    if not asked.version.since(SCORES_SINCE):
        said = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {asked.version}: {said}")
    keys = [full_topology_key(key, snapshot.nodes) for key in options.get("keys", ())]
    pairs = list(zip(asked.candidates, asked.profiles, strict=True))
    check_topology_keys(keys, snapshot.nodes, (key for pair in pairs for key in _constraint_keys(*pair)))
    desired = Desired(
        replicas,
        options.get("until_full", False),
        options.get("from_scratch", False),
        counts_quotas=scheduler.admission,
    )
    grown = growths(asked.candidates, desired, asked.snapshot, asked.cluster.running.pods)
    position_of = asked.cluster.nodes.index
    leaving = [(pod, position_of[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = asked.cluster.after(Change(gone=leaving))
    questions = [_question(*pair, growth, cluster) for pair, growth in zip(pairs, grown, strict=True)]
    manner = Manner(
        options.get("ties", "scheduler"), options.get("seed"), runs, options.get("preemption", False), keys,
        options.get("on_progress"),
    )  # fmt: skip
    reference = cluster_reference(snapshot)
    return tuple(
        report.about(reference).with_gaps((*asked.gaps, *candidate.gaps))
        for report, candidate in zip(simulate_all(cluster, questions, manner), asked.candidates, strict=True)
    )


def _question(candidate: Candidate, profile: Profile, growth: Growth, cluster: Cluster) -> Question:
    return Question(
        pod=candidate.pod,
        profile=profile,
        replicas=growth.wanted,
        names=replica_names(candidate.pod, growth.present),
        creatable=growth.created.copies,
        refusal=growth.created.refusal,
        is_daemon=candidate.is_daemon,
        one_by_one=candidate.one_by_one,
        present=[cluster.nodes.index[pod.spec.node_name] for pod in growth.present],
        workload=None if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}",
        notes=(*candidate.notes, *growth.notes),
        admission=candidate.admission,
    )


def _constraint_keys(candidate: Candidate, profile: Profile) -> list[str]:
    """The topology keys of the pod's constraints, else of the profile's own defaults."""
    defaults = profile.args_of(PodTopologySpread.name, PodTopologySpreadArgs).default_constraints
    constraints = candidate.pod.spec.topology_spread_constraints or defaults
    return [constraint.topology_key for constraint in constraints]
