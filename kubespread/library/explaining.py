"""What kube-scheduler would decide for one pod: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from kubespread.candidate.sources import PodGiven
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import WorkloadKeywords, given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import resolve_one
from kubespread.library.revising import reviser
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


class ExplainKeywords(WorkloadKeywords, total=False):
    """The keywords of `explain`."""

    preemption: bool
    """Ask what preemption would do when no node fits."""
    pods: bool
    """Name the pods that each domain of a constraint counts."""


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
    asked = resolve_one(snapshot, given_pods(pod), scheduler, options)
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
