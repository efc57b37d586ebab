"""What has to change for a pod, or for all replicas of a workload, to fit: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack, cast

from msgspec import structs

from kubespread.candidate.sources import PodGiven, read_once
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import WorkloadKeywords, given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.patches import with_patches
from kubespread.library.resolving import Resolved, resolve_one
from kubespread.library.revising import reviser
from kubespread.library.scaled_advice import Replicas, advise_replicas
from kubespread.library.simulating import SimulateKeywords
from kubespread.library.worlds import world_of
from kubespread.planner.advise.advise import Advised, advise_pod
from kubespread.planner.advise.one_pod import OnePod
from kubespread.planner.reports.advise import AdviseReport
from kubespread.scheduler.building import framework
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


def advise(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[WorkloadKeywords],
) -> AdviseReport:
    """The smallest changes after which ``pod`` fits some node of ``snapshot``, or all ``replicas`` of it find one.

    Each is found by making it and asking the engine again. Combinations are looked for only where no single change
    suffices. The keywords are `WorkloadKeywords`. Raises ManifestError, SnapshotError and UsageError.
    """
    given = [read_once(each, options.get("template_path", "")) for each in given_pods(pod)]
    asked = resolve_one(snapshot, given, scheduler, options)
    if replicas is None:
        advised = _of_one_pod(asked, scheduler)
    else:
        as_simulated = cast(SimulateKeywords, options)
        advised = advise_replicas(asked, Replicas(given, replicas, snapshot, scheduler, as_simulated))
    report = with_patches(advised, asked, options.get("set", ()), options.get("name"))
    return report.about(cluster_reference(snapshot)).with_gaps((*asked.gaps, *asked.candidates[0].gaps))


def _of_one_pod(asked: Resolved, scheduler: Scheduler) -> Advised:
    candidate, profile = asked.candidates[0], asked.profiles[0]
    plugins = framework(profile)
    asker = OnePod(candidate.pod, asked.cluster, plugins, reviser(asked), lambda: world_of(asked.snapshot, scheduler))
    advised = advise_pod(asked.cluster, candidate.pod, plugins, profile, asker)
    workload = candidate.workload
    return replace(
        advised,
        report=structs.replace(
            advised.report,
            workload=None if workload is None else f"{workload.kind}/{workload.name}",
            admission=candidate.admission,
            notes=candidate.notes,
        ),
    )
