"""The public library: load a cluster, ask about a pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack, overload

from kubespread.asked_cluster import cluster_reference
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.deciding import Scheduler
from kubespread.errors import UsageError
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.play import PlayReport
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.playing import play_in
from kubespread.resolving import resolve
from kubespread.scenario.reading import ScenarioGiven, read_scenario
from kubespread.simulating import SimulateKeywords, simulate_workloads
from kubespread.snapshot.files.loading import load as load_files
from kubespread.snapshot.snapshot import Snapshot
from kubespread.thens import ThenKeywords, workload_then
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
    several = [pods] if not isinstance(pods, list | tuple) else pods
    reports = simulate_workloads(several, replicas, snapshot, scheduler, options)
    if is_one and len(reports) > 1:
        names = ", ".join(report.subject for report in reports)
        raise UsageError(f"several workloads ({names}); choose one with name, or ask about a list")
    return reports[0] if is_one else reports


def play(
    snapshot: Snapshot, scenario: ScenarioGiven, scheduler: Scheduler = _DEFAULT, *, namespace: str | None = None
) -> PlayReport:
    """What becomes of the cluster when the steps of ``scenario`` happen one after another.

    A scenario is a path, the text of a file, plain data or a `Scenario`. What names nothing of the cluster is found
    before anything is played; what goes wrong on the way is said of its step. ``namespace`` is that of names without
    one where the scenario has none. Raises ManifestError, SnapshotError and UsageError.
    """
    report, _ = play_in(snapshot, read_scenario(scenario), scheduler, namespace=namespace)
    return report.about(cluster_reference(snapshot))


def after_steps(
    snapshot: Snapshot,
    scenario: ScenarioGiven,
    steps: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    namespace: str | None = None,
) -> Snapshot:
    """The cluster as it is after so many steps of ``scenario``, by default all of them, to ask other questions about.

    Raises what `play` raises, and UsageError for a number of steps that the scenario does not have.
    """
    read = read_scenario(scenario)
    if steps is not None and not 0 <= steps <= len(read.steps):
        raise UsageError(f"step {steps}: the scenario has {len(read.steps)} steps")
    _, after = play_in(snapshot, replace(read, steps=read.steps[:steps]), scheduler, namespace=namespace)
    return after


def simulate_then(
    snapshot: Snapshot,
    pods: Sequence[PodGiven],
    steps: Sequence[str],
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[ThenKeywords],
) -> PlayReport:
    """What becomes of a workload that is applied, when ``steps`` happen after it.

    ``scale=2``, ``rollout`` and ``rollback`` are about that workload; every other step is written as an edit is, a
    blank or an equals sign behind its verb: ``fail=zone=a``. Raises ManifestError, SnapshotError and UsageError.
    """
    scenario, namespace = workload_then(snapshot, pods, steps, scheduler, options)
    report, _ = play_in(snapshot, scenario, scheduler, namespace=namespace)
    return report.about(cluster_reference(snapshot))
