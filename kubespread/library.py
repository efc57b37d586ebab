"""The public library: load a cluster, ask about a pod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.creation import creation, without_waiting
from kubespread.candidate.replicas import present_replicas, replica_names
from kubespread.candidate.running import runs_another_template
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.deciding import Scheduler
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.admission.quota import charged
from kubespread.kube.api.cluster_objects import ResourceQuota
from kubespread.kube.api.core import Pod
from kubespread.kube.versions import SCORES_SINCE
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.planner.simulate import Manner, Question, Ties
from kubespread.planner.simulate import simulate as simulate_all
from kubespread.resolving import Resolved, resolve
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.plugins.podtopologyspread.arguments import PodTopologySpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.files.loading import load as load_files
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

if TYPE_CHECKING:
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.live.loading import Progress

_DEFAULT = Scheduler()


def load(path: str | Path, *more: str | Path) -> Snapshot:
    """A cluster from files, directories and archives, together one snapshot; ``-`` is standard input.

    Raises SnapshotError, UsageError and ManifestError.
    """
    return load_files([str(each) for each in (path, *more)])


def connect(access: Access | None = None, on_progress: Progress | None = None) -> Snapshot:
    """A running cluster, read and never written to; without ``access`` that of the kubeconfig's current context.

    Raises SnapshotError, ManifestError and UsageError.
    """
    # TLS and threads, which nobody with a file should wait for.
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.live.loading import load_cluster

    return load_cluster(access or Access(), on_progress)


def explain(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    scheduler: Scheduler = _DEFAULT,
    *,
    preemption: bool = False,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
) -> ExplainReport:
    """What kube-scheduler would decide for ``pod`` on every node of ``snapshot``, and the arithmetic behind it.

    ``name`` chooses among several workloads (NAME, Kind/NAME or NAMESPACE/Kind/NAME), ``namespace`` applies where the
    manifest names none; of several manifests one may hold a workload, or ``name`` says which. With ``recursive``
    directories are read to their depths; kinds that are not known have their pod template at ``template_path``;
    ``preemption`` asks what preemption would do when no node fits.
    Raises ManifestError, SnapshotError and UsageError.
    """
    several = pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]
    asked = resolve(
        snapshot,
        several,
        scheduler,
        Choosing(name, namespace, recursive=recursive, template_path=template_path, one_only=True),
    )
    candidate, profile = asked.candidates[0], asked.profiles[0]
    report = explain_pod(
        asked.cluster, candidate.pod, profile, candidate.notes, candidate.admission, preemption=preemption
    )
    return report.with_gaps((*asked.gaps, *candidate.gaps))


def simulate(
    snapshot: Snapshot,
    pod: PodGiven,
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    until_full: bool = False,
    from_scratch: bool = False,
    ties: Ties = "scheduler",
    seed: int | None = None,
    runs: int = 1,
    keys: Sequence[str] = (),
    preemption: bool = False,
    name: str | None = None,
    namespace: str | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> SimulateReport:
    """Where kube-scheduler would put ``replicas`` copies of ``pod``, one after another, and what would stop it.

    The same as `simulate_together` for one workload. Raises ManifestError, SnapshotError and UsageError.
    """
    reports = simulate_together(
        snapshot, [pod], replicas, scheduler,
        until_full=until_full, from_scratch=from_scratch, ties=ties, seed=seed, runs=runs, keys=keys,
        preemption=preemption, name=name, namespace=namespace, on_progress=on_progress,
    )  # fmt: skip
    if len(reports) > 1:
        names = ", ".join(report.subject for report in reports)
        raise UsageError(f"several workloads ({names}); choose one with name, or use simulate_together")
    return reports[0]


def simulate_together(
    snapshot: Snapshot,
    pods: Sequence[PodGiven],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    until_full: bool = False,
    from_scratch: bool = False,
    ties: Ties = "scheduler",
    seed: int | None = None,
    runs: int = 1,
    keys: Sequence[str] = (),
    preemption: bool = False,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    on_progress: Callable[[int], None] | None = None,
    on_refused: Callable[[KubespreadError], None] | None = None,
) -> tuple[SimulateReport, ...]:
    """The workloads of ``pods``, and of every manifest among them, placed in one queue as kube-scheduler would have it.

    That is by priority, then in the order given; each pod finds those before it in the cluster. ``replicas`` is each
    workload's own number unless given; with ``until_full`` as many are placed as fit. A workload that runs in the
    cluster already is grown to that number from the replicas it has; ``from_scratch`` takes those away first, as does a
    template that differs from the running one. Among equal scores kube-scheduler's own order decides, with
    ``ties="name"`` the smallest name, with ``seed`` chance; ``runs`` repeats that with the seeds that follow. ``keys``
    are topology keys to report about besides those of the constraints, zone and hostname. ``preemption`` asks what
    preemption would do for the first replica without a node. ``selector`` keeps the workloads with those labels;
    `ClusterWorkloads` among ``pods`` stands for all of the cluster; with ``recursive`` directories are read to their
    depths; kinds that are not known have their pod template at ``template_path``. ``on_progress`` is told
    now and then how many replicas are placed; ``on_refused`` is told of workloads that the API server would not take
    while the others are placed all the same, without it the first raises. Raises ManifestError, SnapshotError and
    UsageError.
    """
    if replicas is not None and replicas < 0:
        raise UsageError(f"replicas must be at least 0, not {replicas}")
    if runs < 1:
        raise UsageError(f"runs must be at least 1, not {runs}")
    choosing = Choosing(name, namespace, selector, recursive=recursive, template_path=template_path)
    asked = resolve(snapshot, pods, scheduler, choosing, counts_quotas=False, on_refused=on_refused)
    if not asked.version.since(SCORES_SINCE):
        said = f"where replicas land depends on scores, which are modelled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {asked.version}: {said}")
    keys = [full_topology_key(key, snapshot.nodes) for key in keys]
    constrained = (key for candidate, profile in _pairs(asked) for key in _constraint_keys(candidate, profile))
    check_topology_keys(keys, snapshot.nodes, constrained)
    growths = [
        _Growth(candidate, asked, replicas, until_full=until_full, from_scratch=from_scratch)
        for candidate in asked.candidates
    ]
    gone = {id(pod) for growth in growths for pod in growth.taken_away}
    leaving = [place for place, pod in enumerate(asked.cluster.running.pods) if id(pod) in gone]
    cluster = asked.cluster.after(Change(gone=leaving))
    quotas: Sequence[ResourceQuota] = asked.snapshot.objects.resource_quotas if scheduler.admission else ()
    questions = []
    for growth, (candidate, profile) in zip(growths, _pairs(asked), strict=True):
        quotas = without_waiting(quotas, asked.snapshot.pods, candidate, asked.snapshot.objects.replica_sets)
        for pod in growth.taken_away:
            quotas = charged(quotas, pod, -1)
        created = creation(candidate, quotas, growth.wanted, growth.present)
        question = Question(
            pod=candidate.pod,
            profile=profile,
            replicas=growth.wanted,
            names=replica_names(candidate.pod, growth.present),
            creatable=created.copies,
            refusal=created.refusal,
            is_daemon=growth.is_daemon,
            one_by_one=candidate.one_by_one,
            present=[cluster.nodes.index[pod.spec.node_name] for pod in growth.present],
            workload=f"{candidate.workload.kind}/{candidate.workload.name}" if candidate.workload is not None else None,
            notes=(*candidate.notes, *growth.notes, *created.notes),
            admission=candidate.admission,
        )
        if not candidate.is_stored and question.count is not None:
            quotas = charged(quotas, candidate.pod, question.count)
        questions.append(question)
    manner = Manner(ties, seed, runs, preemption, keys, on_progress)
    reports = simulate_all(cluster, questions, manner)
    return tuple(
        report.with_gaps((*asked.gaps, *candidate.gaps))
        for report, candidate in zip(reports, asked.candidates, strict=True)
    )


class _Growth:
    """From how many replicas a workload grows to how many. Raises UsageError where it does not grow."""

    def __init__(
        self, candidate: Candidate, asked: Resolved, replicas: int | None, *, until_full: bool, from_scratch: bool
    ) -> None:
        self.is_daemon = candidate.workload is not None and candidate.workload.kind == "DaemonSet"
        name = "" if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}"
        if self.is_daemon and replicas is not None:
            raise UsageError(f"{name}: a DaemonSet has no replicas, it runs one pod on every node it may run on")
        running = present_replicas(asked.cluster.running.pods, candidate, asked.snapshot.objects.replica_sets)
        asked_for = candidate.replicas if replicas is None else replicas
        anew = bool(running) and not from_scratch and runs_another_template(candidate, asked.snapshot)
        self.notes = (_rolled_out(name, len(running), asked_for),) if anew else ()
        self.taken_away: Sequence[Pod] = running if from_scratch or anew else ()
        self.present: Sequence[Pod] = () if from_scratch or anew else running
        shrinks = not until_full and not self.is_daemon and asked_for < len(self.present)
        if shrinks and replicas is None and candidate.template is None:
            # Nobody asked for fewer: a rollout, or the controller has not caught up.
            surplus = f"{name} runs {len(self.present)} replicas and its spec says {asked_for}: none is placed"
            self.notes = (*self.notes, surplus)
        elif shrinks:
            raise UsageError(
                f"{name} runs {len(self.present)} replicas and {asked_for} are asked for: scaling down is not "
                "simulated yet; "
                f"--from-scratch places {asked_for} anew"
            )
        self.wanted = None if until_full else max(0, asked_for - len(self.present))


def _rolled_out(name: str, running: int, asked_for: int) -> str:
    return (
        f"{name} runs with another template: its {running} running replicas are taken away and {asked_for} are "
        "placed with this one, "
        "as if it were created anew; how a rollout gets there is not simulated"
    )


def _pairs(asked: Resolved) -> list[tuple[Candidate, Profile]]:
    return list(zip(asked.candidates, asked.profiles, strict=True))


def _constraint_keys(candidate: Candidate, profile: Profile) -> list[str]:
    """The topology keys of the pod's constraints, else of the profile's own defaults."""
    defaults = profile.args_of(PodTopologySpread.name, PodTopologySpreadArgs).default_constraints
    constraints = candidate.pod.spec.topology_spread_constraints or defaults
    return [constraint.topology_key for constraint in constraints]
