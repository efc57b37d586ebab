"""A workload that is applied, and the steps after it: the scenario that ``simulate --then`` stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from kubespread.candidate.candidate import Surroundings
from kubespread.candidate.manifests import from_manifest
from kubespread.candidate.references import Reference
from kubespread.candidate.setting import parse_settings
from kubespread.candidate.sources import Choosing, PodGiven, Source, read_sources
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.owners import WorkloadName
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.playing import play_in
from kubespread.manifest.reading import STDIN
from kubespread.planner.reports.play import PlayReport
from kubespread.scenario.short import parse_then
from kubespread.scenario.types import Apply, Named, Scenario, Step
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()


class ThenKeywords(TypedDict, total=False):
    """The keywords of `simulate_then`."""

    replicas: int | None
    """How many there are to be first; None: the workload's own number."""
    name: str | None
    """Choose among several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME."""
    namespace: str | None
    """Where the manifest names none."""
    set: Sequence[str]
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""
    preemption: bool
    """Whether pods evict others of lower priority, which is the default."""


def workload_then(
    snapshot: Snapshot, pods: Sequence[PodGiven], steps: Sequence[str], scheduler: Scheduler, options: ThenKeywords
) -> tuple[Scenario, str]:
    """The scenario, and the namespace of names without one. Raises ManifestError, SnapshotError and UsageError."""
    before, _ = edited(snapshot, scheduler, options.get("namespace"))
    default = options.get("namespace") or snapshot.origin.namespace or DEFAULT_NAMESPACE
    choosing = Choosing(options.get("name"), options.get("namespace"), one_only=True)
    read = read_sources(pods, before, choosing, default)
    if read.errors:
        raise read.errors[0]
    source = read.chosen(choosing, default)[0]
    name = _name(source, before, scheduler, options, default)
    given = [each for each in pods if each != STDIN]
    if len(given) < len(pods):
        # Standard input was read just now, and cannot be read again.
        items = [item.data for manifest in read.manifests for item in manifest.items]
        given = [{"apiVersion": "v1", "kind": "List", "items": items}]
    settings = tuple(options.get("set", ()))
    workload = Named(name.kind, name.name, name.namespace if name.namespace != default else None)
    replicas = options.get("replicas")
    chosen = f"{name.namespace}/{name.kind}/{name.name}" if not isinstance(source, Reference) else None
    asked = "" if replicas is None else f" --replicas {replicas}"
    first = Step(f"apply {workload}{asked}", Apply(tuple(given), settings, replicas, chosen))
    parsed = [parse_then(text, workload) for text in steps]
    scenario = Scenario((first, *parsed), preemption=options.get("preemption", True))
    return scenario, default


def _name(
    source: Source, snapshot: Snapshot, scheduler: Scheduler, options: ThenKeywords, namespace: str
) -> WorkloadName:
    if isinstance(source, Reference):
        return WorkloadName(source.kind.kind, source.namespace or namespace, source.name)
    surroundings = Surroundings(
        snapshot.objects,
        scheduler.release(snapshot.origin.server_version),
        options.get("name"),
        options.get("namespace"),
        namespace,
        scheduler.admission_plugins(resource_quota=False),
        parse_settings(options.get("set", ())),
    )
    made = from_manifest(source, surroundings)
    if made.workload is None:
        return WorkloadName("Pod", made.pod.metadata.namespace, made.pod.metadata.name)
    return made.workload


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
