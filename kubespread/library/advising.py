"""What has to change for a pod, or for all replicas of a workload, to fit: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from msgspec import structs

from kubespread.candidate.sources import Choosing, PodGiven, read_once
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.patches import with_patches
from kubespread.library.resolving import Resolved, resolve
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


class AdviseKeywords(TypedDict, total=False):
    """The keywords of `advise`."""

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


def advise(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    replicas: int | None = None,
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[AdviseKeywords],
) -> AdviseReport:
    """The smallest changes after which ``pod`` fits some node of ``snapshot``, or all ``replicas`` of it find one.

    Each is found by making it and asking the engine again. Combinations are looked for only where no single change
    suffices. The keywords are `AdviseKeywords`. Raises ManifestError, SnapshotError and UsageError.
    """
    several = pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]
    given = [read_once(each, options.get("template_path", "")) for each in several]
    choosing = Choosing(
        options.get("name"),
        options.get("namespace"),
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
        one_only=True,
    )
    settings = options.get("set", ())
    asked = resolve(snapshot, given, scheduler, choosing, settings=settings)
    if replicas is None:
        advised = _of_one_pod(asked, scheduler)
    else:
        advised = advise_replicas(asked, Replicas(given, replicas, snapshot, scheduler, _as_simulated(options)))
    report = with_patches(advised, asked, settings, options.get("name"))
    return report.about(cluster_reference(snapshot)).with_gaps((*asked.gaps, *asked.candidates[0].gaps))


def _as_simulated(options: AdviseKeywords) -> SimulateKeywords:
    return SimulateKeywords(
        name=options.get("name"),
        namespace=options.get("namespace"),
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
        set=options.get("set", ()),
    )


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
