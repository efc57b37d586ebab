"""What a question comes down to: the candidates, the cluster they are to be placed in, and what their source lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kubespread.candidate.autoscaling import autoscaling_notes
from kubespread.candidate.candidate import Candidate, Surroundings
from kubespread.candidate.companions import with_companions, with_manifest_objects
from kubespread.candidate.manifest_file import Manifest, manifest_of, read_manifest
from kubespread.candidate.manifests import from_manifest
from kubespread.candidate.replicas import others
from kubespread.candidate.stored import from_cluster, is_reference
from kubespread.deciding import Scheduler
from kubespread.errors import KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.snapshot import SERVER_VERSION, Snapshot

PodGiven = Mapping[str, Any] | str | Path
"""A Pod or a workload as an object, the path of a manifest (``-``: standard input), or KIND/NAME of one in the
snapshot.
"""
_Source = Manifest | str
Refused = Callable[[KubespreadError], None]


@dataclass(frozen=True, slots=True)
class Choosing:
    """Which of the workloads that were given are meant."""

    name: str | None = None
    namespace: str | None = None
    """Where the manifest names none."""
    one_only: bool = False
    """Whether several are refused."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Candidates in the order given, each with its profile, beside one cluster that holds all that they bring along."""

    snapshot: Snapshot
    version: KubeVersion
    candidates: Sequence[Candidate]
    profiles: Sequence[Profile]
    cluster: Cluster
    gaps: tuple[str, ...]
    """What the source lacks whatever is asked."""


def resolve(
    snapshot: Snapshot,
    pods: Iterable[PodGiven],
    scheduler: Scheduler,
    choosing: Choosing,
    *,
    counts_quotas: bool = True,
    on_refused: Refused | None = None,
) -> Resolved:
    """Read what was given. ``counts_quotas`` is False where the caller counts what quotas leave.

    ``on_refused`` is told of workloads that the API server would not take as long as others are left; without it the
    first one raises. Raises ManifestError, SnapshotError and UsageError.
    """
    origin = snapshot.origin
    version = scheduler.release(origin.server_version)
    sources = [_source(pod) for pod in pods]
    manifests = [source for source in sources if isinstance(source, Manifest)]
    snapshot, notes = with_manifest_objects(
        snapshot, manifests, choosing.namespace or origin.namespace or DEFAULT_NAMESPACE
    )
    surroundings = Surroundings(
        snapshot.objects, version, choosing.name, choosing.namespace, origin.namespace or DEFAULT_NAMESPACE,
        scheduler.admission_plugins(resource_quota=counts_quotas),
    )  # fmt: skip

    def candidate(source: _Source) -> Candidate:
        if isinstance(source, Manifest):
            made = from_manifest(source, surroundings)
        else:
            made = from_cluster(source, snapshot, surroundings)
        return replace(made, notes=(*notes, *made.notes, *autoscaling_notes(made.workload, snapshot.objects)))

    chosen = sources if choosing.one_only else _each(sources, choosing.name)
    candidates = _taken(chosen, candidate, on_refused)
    names = [taken.pod.spec.scheduler_name for taken in candidates]
    profile_of = {name: scheduler.profile_for(name, version) for name in dict.fromkeys(names)}
    pods_left = as_counted(snapshot.pods, version)
    for taken in candidates:
        pods_left = others(pods_left, taken)
    companions = [companion for taken in candidates for companion in taken.companions]
    return Resolved(
        snapshot,
        version,
        candidates,
        [profile_of[name] for name in names],
        Cluster.of(snapshot.nodes, pods_left, with_companions(snapshot.objects, companions)),
        tuple(_gaps(snapshot, scheduler)),
    )


def _gaps(snapshot: Snapshot, scheduler: Scheduler) -> Iterable[str]:
    """A kind that was not given is a gap only where the question needs it, which the planner knows."""
    origin = snapshot.origin
    yield from (gap for gap in origin.gaps if gap not in origin.unread.values())
    if scheduler.kube_version is None and SERVER_VERSION in origin.unread:
        yield f"{origin.unread[SERVER_VERSION]}: answers are those of {scheduler.release(origin.server_version)}"
    yield from scheduler.gaps(origin.server_version)


def _source(pod: PodGiven) -> _Source:
    if isinstance(pod, Mapping):
        return manifest_of(pod)
    # A file of that name comes first.
    return str(pod) if is_reference(str(pod)) and not Path(pod).exists() else read_manifest(str(pod))


def _each(sources: Sequence[_Source], name: str | None) -> list[_Source]:
    """Every workload of each manifest unless one is named; a manifest may hold none as long as another one does."""
    bearing = [source for source in sources if isinstance(source, str) or source.workloads] or list(sources)
    if name is not None:
        return bearing
    return [each for source in bearing for each in ([source] if isinstance(source, str) else source.each() or [source])]


def _taken(
    sources: Iterable[_Source], candidate: Callable[[_Source], Candidate], on_refused: Refused | None
) -> list[Candidate]:
    """The candidates; one that is refused leaves the others be where somebody hears of it, and some are left."""
    taken: list[Candidate] = []
    errors: list[KubespreadError] = []
    for source in sources:
        try:
            taken.append(candidate(source))
        except (ManifestError, UsageError) as error:
            if on_refused is None:
                raise
            errors.append(error)
    last = None if taken else errors.pop()
    if on_refused is not None:
        for refused in errors:
            on_refused(refused)
    if last is not None:
        raise last
    return taken
