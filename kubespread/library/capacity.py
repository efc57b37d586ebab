"""What a snapshot's nodes have left: from a snapshot to the planner and back."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from kubespread.candidate.sources import Choosing
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Node, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.pod_requests import amounts
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.resource_names import allows_overcommit
from kubespread.kube.validation.resources import resource_faults
from kubespread.kube.well_known import ZONE
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import resolve
from kubespread.planner.capacity.capacity import Question
from kubespread.planner.capacity.capacity import capacity as capacity_of
from kubespread.planner.reports.capacity import CapacityReport
from kubespread.scheduler.cluster.amounts import scheduler_amounts
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key

_DEFAULT = Scheduler()
_NAME = "kubespread-capacity"


def capacity(
    snapshot: Snapshot, request: str | None = None, scheduler: Scheduler = _DEFAULT, *, by: str | None = None
) -> CapacityReport:
    """What the nodes of ``snapshot`` have left, in all and for each domain of the topology key ``by``, and how many
    pods fit that each ask for ``request``: ``cpu=2,memory=4Gi,nvidia.com/gpu=1``.

    Such a pod has no labels, tolerations or constraints. Without ``request`` no size of a pod is guessed, and only what
    no pod at all can use is stranded. Without ``by`` domains are zones, where there are any.
    Raises UsageError, SnapshotError and ManifestError.
    """
    requests = None if request is None else _requests(request, snapshot.nodes)
    # What a namespace allows says nothing about nodes.
    unlimited = replace(snapshot, objects=replace(snapshot.objects, limit_ranges=()))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _NAME, "namespace": snapshot.origin.namespace or DEFAULT_NAMESPACE},
        "spec": {"containers": [{"name": "main", "image": _NAME}]},
    }
    asked = resolve(unlimited, [pod], scheduler, Choosing(), counts_quotas=False)
    (candidate,), (profile,) = asked.candidates, asked.profiles
    if NodeResourcesFit.name not in profile.filters:
        raise UsageError(
            f"profile {profile.scheduler_name} does not run {NodeResourcesFit.name}: any number of pods fits"
        )
    nodes = asked.snapshot.nodes
    report = capacity_of(Question(asked.cluster, profile, candidate.pod, requests, _topology_key(by, nodes)))
    return msgspec.structs.replace(
        report,
        cluster=cluster_reference(snapshot),
        gaps=tuple(dict.fromkeys((*asked.lacking, *asked.cluster.assumed))),
        notes=(*candidate.notes, *report.notes),
    )


def _topology_key(by: str | None, nodes: tuple[Node, ...]) -> str | None:
    if by is None:
        return ZONE if any(ZONE in node.metadata.labels for node in nodes) else None
    key = full_topology_key(by, nodes)
    check_topology_keys([key], nodes, ())
    return key


def _requests(text: str, nodes: tuple[Node, ...]) -> dict[str, int]:
    """What ``cpu=2,memory=4Gi`` asks for, in the integers kube-scheduler counts, in the order written.

    Names of resources that ``nodes`` have are offered for one that is mistyped. Raises UsageError in the API server's
    words, a line each fault.
    """
    given: ResourceList = {}
    for part in text.split(","):
        name, equals, amount = (each.strip() for each in part.partition("="))
        if not (name and equals and amount):
            raise UsageError(f"invalid request {part!r}: expected RESOURCE=AMOUNT, such as cpu=2 or memory=4Gi")
        if name in given:
            raise UsageError(f"invalid request {text!r}: {name} is there twice")
        given[name] = amount
    known = {name for node in nodes for name in node.status.allocatable} - {"pods"}
    faults = [f"invalid request {name}={given[name]}: {said}" for name, said in _faults(given, known)]
    if faults:
        raise UsageError(*faults)
    counted = scheduler_amounts(amounts(given))
    return {name: counted[name] for name in given}


def _faults(given: ResourceList, known: set[str]) -> list[tuple[str, str]]:
    """What the API server has against each resource, as a container's request; its name's faults before others."""
    found: dict[str, str] = {}
    for name, amount in given.items():
        try:
            parse(amount)
        except QuantityError as error:
            found[name] = str(error)
    if found:
        return list(found.items())
    limits: ResourceList = {name: amount for name, amount in given.items() if not allows_overcommit(name)}
    for fault in resource_faults(ResourceRequirements(requests=given, limits=limits), "resources"):
        name = next((name for name in given if fault.path.endswith(f"[{name}]")), next(iter(given)))
        hint = did_you_mean(_meant(name, known)) if name not in known else ""
        found.setdefault(name, f"{fault.message}{hint}")
    return [(name, found[name]) for name in given if name in found]


def _meant(name: str, known: set[str]) -> str:
    """The resource that has this name behind its domain, or one that is spelled like it."""
    behind = sorted(full for full in known if full.rpartition("/")[2] == name)
    return behind[0] if behind else near_miss(name, known)
