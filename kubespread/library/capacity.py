"""What a snapshot's nodes have left: from a snapshot to the planner and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Node, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.names import label_key_faults, label_value_faults
from kubespread.kube.pod_requests import amounts, pod_requests
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.resource_names import allows_overcommit
from kubespread.kube.taint_text import TaintError, parse_toleration
from kubespread.kube.validation.resources import resource_faults
from kubespread.kube.well_known import ZONE
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.claimants import claimants_of
from kubespread.library.deciding import Scheduler
from kubespread.library.resolving import resolve
from kubespread.planner.capacity.capacity import Question
from kubespread.planner.capacity.capacity import capacity as capacity_of
from kubespread.planner.capacity.room import ALWAYS
from kubespread.planner.reports.capacity import CapacityReport
from kubespread.planner.reports.parts import PodReference
from kubespread.scheduler.cluster.amounts import scheduler_amounts
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key, label_keys, near_keys

_DEFAULT = Scheduler()
_NAME = "kubespread-capacity"


def capacity(
    snapshot: Snapshot,
    request: str | None = None,
    scheduler: Scheduler = _DEFAULT,
    *,
    pod: PodGiven | None = None,
    name: str | None = None,
    namespace: str | None = None,
    tolerate: Sequence[str] = (),
    node_selector: Sequence[str] = (),
    by: str | None = None,
) -> CapacityReport:
    """What the nodes of ``snapshot`` have left, in all and for each domain of the topology key ``by``, and how many
    pods fit that each ask for ``request``: ``cpu=2,memory=4Gi,nvidia.com/gpu=1``.

    Such a pod has no labels or constraints, tolerates what ``tolerate`` says (``KEY[=VALUE][:EFFECT]``) and asks for
    nodes with the labels ``node_selector`` (``KEY=VALUE``). In the place of ``request`` copies of ``pod`` are counted,
    a manifest or KIND/NAME as for `simulate`, of several workloads in it that of ``name``; ``namespace`` is where pods
    are that say nothing else. Without either no size of a pod is guessed, and only what
    no pod at all can use is stranded. Without ``by`` domains are zones, where there are any.
    Raises UsageError, SnapshotError and ManifestError.
    """
    requests = None if request is None else _requests(request, snapshot.nodes)
    objects = snapshot.objects
    if pod is None and name is not None:
        raise UsageError("a name chooses among the workloads of a manifest: give one, or leave it out")
    if pod is None:
        # What a namespace allows says nothing about nodes.
        objects = replace(objects, limit_ranges=())
    elif request is not None or tolerate or node_selector:
        raise UsageError("the manifest of a pod says what it requests, tolerates and selects: give one or the other")
    labels = _labels(node_selector, snapshot.nodes)
    given = pod if pod is not None else _manifest(requests or {}, namespace, snapshot, tolerate, labels)
    asked = resolve(
        replace(snapshot, objects=objects), [given], scheduler, Choosing(name, namespace, one_only=True),
        counts_quotas=False,
    )  # fmt: skip
    (candidate,), (profile,) = asked.candidates, asked.profiles
    if candidate.is_daemon:
        raise UsageError("a DaemonSet has one pod for each node: simulate says where they fit")
    if NodeResourcesFit.name not in profile.filters:
        raise UsageError(
            f"profile {profile.scheduler_name} does not run {NodeResourcesFit.name}: any number of pods fits"
        )
    if pod is not None:
        counted = scheduler_amounts(pod_requests(candidate.pod))
        requests = {name: counted[name] for name in sorted(counted, key=lambda name: (name not in ALWAYS, name))}
    nodes = asked.snapshot.nodes
    known = label_keys(nodes)
    if unknown := [key for key in labels if key not in known]:
        raise UsageError(*(f"no node has the label {key!r}{near_keys(key, known)}" for key in unknown))
    question = Question(
        asked.cluster, profile, candidate.pod, requests, _topology_key(by, nodes),
        claimants_of(candidate, (), asked.cluster), binds=candidate.workload is not None and asked.cluster.has_claims,
        is_limited=pod is not None,
    )  # fmt: skip
    report = capacity_of(question)
    meta = candidate.pod.metadata
    return msgspec.structs.replace(
        report,
        cluster=cluster_reference(snapshot),
        pod=None if pod is None else PodReference(namespace=meta.namespace, name=meta.name),
        tolerated=tuple(tolerate),
        node_selector=labels,
        # What was made for the question needs nothing to be admitted.
        gaps=tuple(dict.fromkeys((*asked.lacking, *asked.cluster.assumed)))
        if pod is None
        else asked.gaps_of(candidate),
        notes=(*candidate.notes, *report.notes),
    )


def _manifest(
    requests: Mapping[str, int],
    namespace: str | None,
    snapshot: Snapshot,
    tolerate: Sequence[str],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """A pod that asks for so much, and has nothing else but what it is to tolerate and select."""
    amounts = {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in requests.items()}
    limits = {name: amount for name, amount in amounts.items() if not allows_overcommit(name)}
    resources = {"requests": amounts, "limits": limits}
    try:
        tolerations = [msgspec.to_builtins(parse_toleration(text)) for text in tolerate]
    except TaintError as error:
        raise UsageError(str(error)) from error
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _NAME, "namespace": namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE},
        "spec": {
            "containers": [{"name": "main", "image": _NAME, "resources": resources}],
            "tolerations": tolerations,
            "nodeSelector": dict(labels),
        },
    }


def _labels(texts: Sequence[str], nodes: tuple[Node, ...]) -> dict[str, str]:
    """What ``KEY=VALUE`` asks of nodes; a key may be short. Raises UsageError."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or (faults := [*label_key_faults(key), *label_value_faults(value)]):
            said = f": {'; '.join(faults)}" if equals else ""
            raise UsageError(f"invalid node selector {text!r}: expected KEY=VALUE{said}")
        found[full_topology_key(key, nodes)] = value
    return found


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
