"""A snapshot's topology: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import is_active
from kubespread.kube.selector import SelectorError
from kubespread.kube.selector_text import parse_selector
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.choosing import given_pods
from kubespread.library.deciding import Scheduler
from kubespread.library.editing import edited
from kubespread.library.resolving import Resolved, resolve, source_gaps
from kubespread.planner.mapping import Drawing, Marked, default_keys, selected
from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.planner.skew import skew_now
from kubespread.planner.world.pod_book import key_of
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

_DEFAULT = Scheduler()


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
    *,
    keys: Sequence[str] = (),
    selector: str = "",
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
) -> TopologyMap:
    """The nodes of ``snapshot`` by topology domain, how full they are, and where the pods of a workload run.

    ``pod`` is the workload, as `explain` takes it: what its first constraint counts is marked, or its own pods where it
    has none.

    - ``keys``: topology keys to group nodes by, the widest first; ``region`` and ``zone`` are short for the well-known
      labels (default: region, zone, racks and the keys of the workload's constraints).
    - ``selector``: without a workload, mark the pods of ``namespace`` with these labels, as kubectl's ``-l`` has them.
    - ``name``: the workload to use when there are several: NAME, Kind/NAME or NAMESPACE/Kind/NAME.
    - ``namespace``: the namespace to use when the manifest sets none, and that of ``selector``.
    - ``recursive``: read directories with those below them.
    - ``template_path``: path of the pod template in kinds unknown to kubespread (default: ``spec.template``).
    - ``set``: fields to change before the pod is admitted: ``maxSkew[zone]=2``, ``cpu=500m``.

    Raises ManifestError, SnapshotError and UsageError.
    """
    if pod is not None and selector:
        raise UsageError("name a workload or mark pods by a selector, not both")
    choosing = Choosing(name, namespace, selector, recursive=recursive, template_path=template_path, one_only=True)
    asked = (
        _whole(snapshot, scheduler, choosing)
        if pod is None
        else _of(resolve(snapshot, given_pods(pod), scheduler, choosing, settings=set))
    )
    given = [full_topology_key(key, asked.snapshot.nodes) for key in keys]
    check_topology_keys(given, asked.snapshot.nodes, ())
    levels = given or [*default_keys(asked.snapshot.nodes, asked.marked.constraints)]
    if len(dict.fromkeys(levels)) < len(levels):
        raise UsageError("every topology key can be given only once")
    were, are = ({node.metadata.name for node in each.nodes} for each in (snapshot, asked.snapshot))
    drawing, candidate = Drawing(asked.cluster, levels, asked.marked, are - were), asked.candidate
    return TopologyMap(
        kube_version=str(scheduler.release(snapshot.origin.release)),
        cluster=cluster_reference(snapshot),
        namespace=None if candidate is None else candidate.pod.metadata.namespace,
        workload=None if candidate is None else _name(candidate),
        selector=asked.marked.selector,
        keys=tuple(levels),
        resources=drawing.resources,
        constraints=tuple(asked.marked.constraints),
        skew=tuple(map(skew_now, asked.marked.constraints)),
        domains=tuple(drawing.domains()),
        nodes=tuple(drawing.nodes()),
        load=drawing.load(),
        pending=sum(is_active(pod) and not pod.spec.node_name for pod in asked.snapshot.pods),
        left=tuple(sorted(were - are)),
        gaps=tuple(dict.fromkeys((*asked.gaps, *asked.cluster.assumed))),
        notes=asked.notes,
    )


def _whole(snapshot: Snapshot, scheduler: Scheduler, choosing: Choosing) -> _Asked:
    """The cluster by itself."""
    now, notes = edited(snapshot, scheduler, choosing.namespace)
    pods = as_counted(now.pods, scheduler.release(snapshot.origin.release))
    gaps = tuple(source_gaps(now, scheduler))
    cluster, marked = Cluster.of(now.nodes, pods, now.objects), Marked()
    if text := choosing.selector:
        namespace = choosing.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
        try:
            marked = selected(cluster, namespace, parse_selector(text))
        except SelectorError as error:
            raise UsageError(f"selector {text!r}: {error}") from error
    return _Asked(now, cluster, marked, gaps=gaps, notes=notes)


def _of(asked: Resolved) -> _Asked:
    candidate, cluster = asked.candidates[0], _cluster_with(asked)
    marked = Marked.of(cluster, candidate.pod, framework(asked.profiles[0]), _own(asked, cluster))
    gaps = (*asked.lacking, *candidate.gaps)
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
