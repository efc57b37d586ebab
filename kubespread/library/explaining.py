"""What kube-scheduler would decide for one pod: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import Resolved, resolve
from kubespread.library.revising import reviser
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.reports.explain import ExplainReport
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def explain(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    scheduler: Scheduler = _DEFAULT,
    *,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    preemption: bool = False,
    pods: bool = False,
) -> ExplainReport:
    """What kube-scheduler would decide for ``pod`` on every node of ``snapshot``, and the arithmetic behind it.

    Nodes are ordered as ``--sort score`` has them: the best first, those that fail last, the nearest to fitting first.
    Of several manifests one may hold a workload, or ``name`` says which.

    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none.
    - ``recursive``: read directories with those below them.
    - ``template_path``: path of the pod template in kinds unknown to kubespread (default: ``spec.template``).
    - ``set``: fields to change before the pod is admitted: ``maxSkew[zone]=2``, ``cpu=500m``.
    - ``preemption``: also say what preemption would do when no node fits.
    - ``pods``: name the pods that each domain of a constraint counts.

    Raises ManifestError, SnapshotError and UsageError.
    """
    choosing = Choosing(name, namespace, recursive=recursive, template_path=template_path, one_only=True)
    asked = resolve(snapshot, given_pods(pod), scheduler, choosing, settings=set)
    return explained(asked, preemption=preemption, pods=pods).about(cluster_reference(snapshot))


def explained(asked: Resolved, *, preemption: bool = False, pods: bool = False) -> ExplainReport:
    """The same of what was read already."""
    candidate, profile = asked.candidates[0], asked.profiles[0]
    report = explain_pod(
        asked.cluster,
        candidate.pod,
        profile,
        (*candidate.notes, *filter(None, [candidate.waits_behind])),
        candidate.admission,
        preemption=preemption,
        pods=pods,
        revise=reviser(asked),
    )
    return report.with_gaps(asked.gaps_of(candidate)).sorted_by("score")
