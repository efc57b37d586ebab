"""The candidates of a question, and the cluster they are placed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace

from kubespread.candidate.applied import with_companions, with_manifest_objects
from kubespread.candidate.candidate import Candidate, candidate_of
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.replicas import Replicas, autoscaling_notes, others, replica_names, replicas_called
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import PodGiven, Source, Surroundings, namespace_notes, read_sources
from kubespread.errors import KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.admission.quota import allowance
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota, Service
from kubespread.kube.versions import KubeVersion
from kubespread.questions.editing import apply_edits
from kubespread.questions.remedies.change import Revise, RevisedPod
from kubespread.questions.scheduler import Scheduler
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.snapshot.edits.pods import Spread
from kubespread.snapshot.snapshot import Snapshot

Refused = Callable[[KubespreadError], None]


def resolve(
    snapshot: Snapshot,
    pods: Iterable[PodGiven],
    scheduler: Scheduler,
    surroundings: Surroundings,
    *,
    settings: Sequence[str] = (),
    preempts: bool = True,
    on_refused: Refused | None = None,
) -> tuple[Sequence[Candidate], Cluster]:
    """Candidates in the order given, and one cluster with all objects they bring along.

    ``preempts`` is False where no pod is evicted to make room for pods that edits displace. ``settings`` are fields of
    each pod or workload to change first, as in ``--set``. ``on_refused`` is called with workloads that the API server
    would refuse, as long as others remain; without it the first one raises. Quotas refuse none: they are the caller's.
    Raises ManifestError, SnapshotError and UsageError.
    """
    origin = snapshot.origin
    # Edits of all workloads also apply to workloads that only the question's manifests bring.
    spreading = (edit for edit in snapshot.edits if isinstance(edit, Spread) and not edit.kind)
    spread = [f"topologySpreadConstraints={edit.constraint}" for edit in spreading]
    snapshot, edit_notes = apply_edits(snapshot, scheduler, surroundings.namespace, preempts=preempts)
    surroundings = replace(
        surroundings,
        snapshot=snapshot,
        version=scheduler.release(origin.release),
        context_namespace=origin.namespace or DEFAULT_NAMESPACE,
        admission=scheduler.admission_plugins,
        settings=parse_settings(settings),
        edits=parse_settings(spread),
    )
    read = read_sources(pods, surroundings)
    chosen = read.choose(surroundings)
    before = surroundings.snapshot
    surroundings, notes = with_manifest_objects(surroundings, read.manifests)
    snapshot = surroundings.snapshot
    notes, gaps = (*edit_notes, *read.notes, *notes), (*scheduler.source_gaps(snapshot.origin), *read.gaps)

    def resolve_source(source: Source) -> Candidate:
        candidate = candidate_of(source, surroundings)
        own = (*candidate.notes, *autoscaling_notes(candidate.workload, snapshot.objects))
        if isinstance(source, Manifest):
            own = (*namespace_notes(snapshot, candidate.pod.metadata.namespace), *own)
        return replace(candidate, notes=(*notes, *own), gaps=(*gaps, *candidate.gaps))

    candidates = _candidates(chosen, resolve_source, read.errors, on_refused)
    companions = [companion for candidate in candidates for companion in candidate.companions]
    return candidates, _cluster(before, surroundings, candidates, with_companions(snapshot.objects, companions))


def gaps_of(candidate: Candidate, cluster: Cluster) -> tuple[str, ...]:
    """Gaps of the source that matter to the answer about a candidate, as far as known by now."""
    return tuple(dict.fromkeys((*candidate.gaps, *candidate.admission_gaps, *cluster.assumed)))


def quota_refusal(candidate: Candidate, cluster: Cluster, scheduler: Scheduler) -> str | None:
    """Message of the API server for one more pod beyond a quota; None if all quotas allow it."""
    if candidate.is_stored or not scheduler.admission:
        return None
    allowed = allowance(candidate.pod, cluster.objects.get(ResourceQuota))
    return f'pods "{candidate.pod.metadata.name}" is forbidden: {allowed.refusal}' if allowed.copies == 0 else None


def _cluster(
    before: Snapshot, surroundings: Surroundings, candidates: Sequence[Candidate], objects: ClusterObjects
) -> Cluster:
    """Cluster without pods of the candidates; ``before`` is the snapshot before manifests add objects to it."""
    snapshot, version = surroundings.snapshot, surroundings.version
    if snapshot.nodes is before.nodes and not any(candidate.is_stored for candidate in candidates):
        cluster = cluster_of(before, version)
        return cluster if objects == before.objects else cluster.with_objects(objects)
    pods_left = as_counted(snapshot.pods, version)
    for candidate in candidates:
        pods_left = others(pods_left, candidate)
    return Cluster.build(snapshot.nodes, pods_left, objects)


def _candidates(
    sources: Iterable[Source],
    resolve_source: Callable[[Source], Candidate],
    unreadable: Sequence[KubespreadError],
    on_refused: Refused | None,
) -> list[Candidate]:
    """Candidates of ``sources``; refused ones are skipped if there is ``on_refused`` and some remain."""
    candidates: list[Candidate] = []
    errors = list(unreadable)
    if errors and on_refused is None:
        raise errors[0]
    for source in sources:
        try:
            candidates.append(resolve_source(source))
        except (ManifestError, UsageError) as error:
            if on_refused is None:
                raise
            errors.append(error)
    last = None if candidates else errors.pop()
    if on_refused is not None:
        for refused in errors:
            on_refused(refused)
    if last is not None:
        raise last
    return candidates


def pod_list(pod: PodGiven | Sequence[PodGiven]) -> Sequence[PodGiven]:
    return pod if isinstance(pod, Sequence) and not isinstance(pod, str) else [pod]


def reviser(candidate: Candidate) -> Revise:
    """Function that recreates the candidate with settings; results are cached."""
    revisions: dict[tuple[str, ...], RevisedPod | None] = {(): _revise(candidate)}
    source, surroundings = candidate.source, candidate.surroundings
    assert source is not None

    def revise(settings: Sequence[str]) -> RevisedPod | None:
        key = tuple(settings)
        if key not in revisions:
            further = (*surroundings.settings, *parse_settings(settings))
            try:
                revisions[key] = _revise(candidate_of(source, replace(surroundings, settings=further)))
            except (ManifestError, UsageError):
                revisions[key] = None
        return revisions[key]

    return revise


def _revise(candidate: Candidate) -> RevisedPod:
    def dress(cluster: Cluster) -> Cluster:
        if not candidate.companions:
            return cluster
        return cluster.with_objects(with_companions(cluster.storage.in_objects(cluster.objects), candidate.companions))

    return RevisedPod(candidate.pod, dress)


def replicas_of(
    candidate: Candidate, cluster: Cluster, present: Sequence[Pod] = (), waiting: Sequence[Pod] = ()
) -> Replicas:
    """Replicas of the candidate except ``present`` ones: first existing ones that are ``waiting``, then new ones."""
    names = partial(replica_names, candidate, present, waiting)
    return replicas_called(names, candidate.pod, candidate.object, cluster.objects)


def distinct_replicas(
    candidate: Candidate, replicas: Replicas, cluster: Cluster, beside: Iterable[Pod] = ()
) -> Replicas | None:
    """``replicas`` if claims of their own or counted labels make them schedule unlike copies of one pod, else None."""
    if candidate.is_stored:
        return None
    one, other = (replica.pod for replica in islice(replicas(), 2))
    if claim_names(one) != claim_names(other) and cluster.knows_claims_of(candidate.pod):
        return replicas
    labels = one.metadata.labels
    differing = {key for key, value in other.metadata.labels.items() if labels.get(key) != value}
    return replicas if differing and differing & _counted_keys(cluster, (one, *beside)) else None


def _counted_keys(cluster: Cluster, pods: Sequence[Pod]) -> set[str]:
    """Keys of labels that decide which pods are counted; Services do for pods without constraints of their own."""
    by_default = {pod.metadata.namespace for pod in pods if not pod.spec.topology_spread_constraints}
    services = (service for service in cluster.objects.get(Service) if service.metadata.namespace in by_default)
    keys = {key for service in services for key in service.spec.selector or ()}
    kinds = (cluster.kinds[number] for number in cluster.kinds.with_terms)
    return keys.union(*(pod.spec.counted_keys for pod in (*pods, *(kind.pod for kind in kinds))))


def cluster_of(snapshot: Snapshot, version: KubeVersion) -> Cluster:
    """Cluster of ``snapshot`` without its edits, for one answer, with pods as a scheduler of this release counts them.

    Raises SnapshotError for an amount that cannot be parsed.
    """
    cluster = snapshot.cache.get_or_make(
        ("columns", str(version)),
        lambda: Cluster.build(snapshot.nodes, as_counted(snapshot.pods, version), snapshot.objects),
    )
    return cluster.fork()
