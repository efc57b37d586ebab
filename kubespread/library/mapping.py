"""A snapshot's topology: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.sources import PodGiven
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import is_active
from kubespread.kube.selector import SelectorError
from kubespread.kube.selector_text import parse_selector
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import WorkloadKeywords, given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.resolving import Resolved, resolve_one, source_gaps
from kubespread.planner.mapping import Drawing, Marked, default_keys, selected
from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.planner.skew import skew_now
from kubespread.planner.world.pod_book import key_of
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

_DEFAULT = Scheduler()


class MapKeywords(WorkloadKeywords, total=False):
    """The keywords of `topology_map`."""

    keys: Sequence[str]
    """What to group nodes by, the widest first: label keys, or ``region``, ``zone``. Default: region, zone, racks and
    the keys of the workload's constraints.
    """
    selector: str
    """Without a workload: mark the pods of ``namespace`` with these labels, as kubectl's ``-l`` has them."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is drawn."""

    snapshot: Snapshot
    """After its edits."""
    cluster: Cluster
    marked: Marked
    candidate: Candidate | None = None
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def topology_map(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven] | None = None,
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[MapKeywords],
) -> TopologyMap:
    """The nodes of ``snapshot`` by topology domain, how full they are, and where the pods of a workload run.

    ``pod`` is the workload, as `explain` takes it: what its first constraint counts is marked, or its own pods where it
    has none. The keywords are `MapKeywords`. Raises ManifestError, SnapshotError and UsageError.
    """
    asked = _whole(snapshot, scheduler, options) if pod is None else _of(snapshot, pod, scheduler, options)
    keys = [full_topology_key(key, asked.snapshot.nodes) for key in options.get("keys", ())]
    check_topology_keys(keys, asked.snapshot.nodes, ())
    keys = keys or [*default_keys(asked.snapshot.nodes, asked.marked.constraints)]
    if len(set(keys)) < len(keys):
        raise UsageError("every topology key can be given only once")
    were, are = ({node.metadata.name for node in each.nodes} for each in (snapshot, asked.snapshot))
    drawing, candidate = Drawing(asked.cluster, keys, asked.marked, are - were), asked.candidate
    return TopologyMap(
        kube_version=str(scheduler.release(snapshot.origin.server_version)),
        cluster=cluster_reference(snapshot),
        namespace=None if candidate is None else candidate.pod.metadata.namespace,
        workload=None if candidate is None else _name(candidate),
        selector=asked.marked.selector,
        keys=tuple(keys),
        resources=drawing.resources,
        constraints=tuple(asked.marked.constraints),
        skew=tuple(map(skew_now, asked.marked.constraints)),
        domains=tuple(drawing.domains()),
        nodes=tuple(drawing.nodes()),
        load=drawing.load(),
        pending=sum(is_active(pod) and not pod.spec.node_name for pod in asked.snapshot.pods),
        left=tuple(sorted(were - are)),
        gaps=asked.gaps,
        notes=asked.notes,
    )


def _whole(snapshot: Snapshot, scheduler: Scheduler, options: MapKeywords) -> _Asked:
    """The cluster by itself."""
    now, notes = edited(snapshot, scheduler, options.get("namespace"))
    pods = as_counted(now.pods, scheduler.release(snapshot.origin.server_version))
    gaps = tuple(source_gaps(now, scheduler))
    cluster, marked = Cluster.of(now.nodes, pods, now.objects), Marked()
    if text := options.get("selector", ""):
        namespace = options.get("namespace") or snapshot.origin.namespace or DEFAULT_NAMESPACE
        try:
            marked = selected(cluster, namespace, parse_selector(text))
        except SelectorError as error:
            raise UsageError(f"selector {text!r}: {error}") from error
    return _Asked(now, cluster, marked, gaps=gaps, notes=notes)


def _of(snapshot: Snapshot, pod: PodGiven | Sequence[PodGiven], scheduler: Scheduler, options: MapKeywords) -> _Asked:
    asked = resolve_one(snapshot, given_pods(pod), scheduler, options)
    candidate, cluster = asked.candidates[0], _cluster_with(asked)
    marked = Marked.of(cluster, candidate.pod, framework(asked.profiles[0]), _own(asked, cluster))
    gaps = tuple(dict.fromkeys((*asked.gaps, *candidate.gaps)))
    return _Asked(asked.snapshot, cluster, marked, candidate, gaps, candidate.notes)


def _cluster_with(asked: Resolved) -> Cluster:
    """The cluster with a pod that is asked about, if it runs: it is not to be placed again."""
    if not asked.candidates[0].is_stored:
        return asked.cluster
    pods = as_counted(asked.snapshot.pods, asked.version)
    return Cluster.of(asked.snapshot.nodes, pods, asked.cluster.objects)


def _own(asked: Resolved, cluster: Cluster) -> list[Pod]:
    """The pods of the workload, and a pod by itself, that run in ``cluster``."""
    candidate, running = asked.candidates[0], cluster.running.pods
    if candidate.workload is None:
        return [pod for pod in running if candidate.is_stored and key_of(pod) == key_of(candidate.pod)]
    replica_sets = asked.snapshot.objects.replica_sets
    return pods_of(candidate.workload, candidate.companions, replica_sets, PodsByController(running))


def _name(candidate: Candidate) -> str:
    if candidate.workload is None:
        return f"Pod/{candidate.pod.metadata.name}"
    return f"{candidate.workload.kind}/{candidate.workload.name}"
