"""What kube-scheduler would decide for one pod: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import resolve
from kubespread.library.revising import reviser
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


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

    Nodes are ordered as ``--sort score`` has them: the best first, those that fail last, the nearest to fitting first.
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
        revise=reviser(asked),
    )
    return report.about(cluster_reference(snapshot)).with_gaps((*asked.gaps, *candidate.gaps)).sorted_by("score")
