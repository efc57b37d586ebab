"""The same question on two sides: what differs between their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from kubespread.candidate.kustomize import Kustomization
from kubespread.candidate.manifest_file import Manifest
from kubespread.candidate.references import ClusterWorkloads, Reference
from kubespread.candidate.sources import Choosing, PodGiven, read_once
from kubespread.escaping import escaped
from kubespread.kube.versions import SCORES_SINCE
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import resolve
from kubespread.library.simulating import simulate
from kubespread.manifest.reading import display_name
from kubespread.planner.compare import Answered
from kubespread.planner.compare import compare as compare_answers
from kubespread.planner.reports.compare import Asked, CompareReport
from kubespread.questions.explain.answer import answer_of as explained
from kubespread.snapshot.snapshot import Snapshot

_NOT_PLACED = f"where replicas land, which depends on scores: they are modeled since 1.{SCORES_SINCE}"


@dataclass(frozen=True, slots=True)
class Side:
    """One of two questions that are compared: BEFORE or AFTER."""

    snapshot: Snapshot
    """The cluster, with its edits."""
    pod: PodGiven | Sequence[PodGiven]
    """As `explain` takes it."""
    scheduler: Scheduler = Scheduler()
    set: Sequence[str] = ()
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


def compare(
    before: Side,
    after: Side,
    *,
    replicas: int | None = None,
    from_scratch: bool = False,
    preemption: bool = True,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
) -> CompareReport:
    """What changes from ``before`` to ``after``: nodes that fit, scores, placements of the replicas and their spread.

    Each side is explained and, where both releases' scores are modeled, its replicas are placed. What both sides are
    given alike is read once. The keywords are for both sides:

    - ``replicas``: desired replicas (default: each workload's own number).
    - ``from_scratch``: also re-place the replicas already running.
    - ``preemption``: let replicas preempt pods of lower priority, as kube-scheduler does by default.
    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none.
    - ``recursive``: read directories with those below them.
    - ``template_path``: path of the pod template in kinds unknown to kubespread (default: ``spec.template``).

    Raises ManifestError, SnapshotError and UsageError.
    """
    is_scored = all(
        side.scheduler.release(side.snapshot.origin.release).since(SCORES_SINCE) for side in (before, after)
    )
    pods = [read_once(pod, template_path) for pod in given_pods(before.pod)]
    others = pods if before.pod == after.pod else [read_once(pod, template_path) for pod in given_pods(after.pod)]

    def answered(side: Side, pods: Sequence[PodGiven]) -> Answered:
        choosing = Choosing(name, namespace, recursive=recursive, template_path=template_path, one_only=True)
        asked = resolve(side.snapshot, pods, side.scheduler, choosing, settings=side.set, preempts=preemption)
        report = explained(asked).about(cluster_reference(side.snapshot))
        if not is_scored:
            not_modelled = (*report.not_modelled, _NOT_PLACED)
            return Answered(_asked(side), msgspec.structs.replace(report, not_modelled=not_modelled), None)
        (simulated,) = simulate(
            side.snapshot, [*pods], replicas, side.scheduler,
            from_scratch=from_scratch, deals=1, set=side.set, preemption=None if preemption else False,
            name=name, namespace=namespace, recursive=recursive, template_path=template_path,
        )  # fmt: skip
        return Answered(_asked(side), report, simulated)

    return compare_answers(answered(before, pods), answered(after, others), preemption=preemption)


def _asked(side: Side) -> Asked:
    config = side.scheduler.config
    return Asked(
        manifest=", ".join(filter(None, map(_called, given_pods(side.pod)))) or None,
        settings=tuple(side.set),
        edits=tuple(map(str, side.snapshot.edits)),
        scheduler_config=None if config is None else escaped(str(config)),
        feature_gates=side.scheduler.feature_gates,
    )


def _called(pod: PodGiven) -> str:
    """What was typed for it; objects at hand were not."""
    if isinstance(pod, Mapping | ClusterWorkloads):
        return ""
    if isinstance(pod, Manifest):
        return pod.file
    if isinstance(pod, Reference):
        return f"{pod.kind.kind}/{pod.name}"
    return display_name(pod.directory if isinstance(pod, Kustomization) else str(pod))
