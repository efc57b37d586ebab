"""Room left on the nodes of a cluster, in total, by domain and by node, and the part of it that no pod can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from kubespread.candidate.sources import Surroundings
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import LimitRange, Node, Pod, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.name_rules import allows_overcommit
from kubespread.kube.pod_requests import amounts
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.taint import (
    CORDON_TAINT,
    DO_NOT_SCHEDULE_EFFECTS,
    TaintError,
    parse_toleration,
    taint_text,
    untolerated,
)
from kubespread.kube.validation.resources import resource_faults
from kubespread.kube.well_known import CORDON_TAINT_KEY, NOT_READY_TAINT_KEY, READY, ZONE
from kubespread.questions.capacity import (
    Capacity,
    CapacityReport,
    DomainCapacity,
    NodeCapacity,
    ResourceAmounts,
    ResourceCapacity,
    Stranded,
    StrandedBy,
    is_state,
)
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled_of
from kubespread.questions.queue import MAX_REPLICAS, Entry, run
from kubespread.questions.resolving import resolve
from kubespread.questions.room import PODS, allocatable, free, resource_names, usage
from kubespread.questions.scene import Scene
from kubespread.scheduler.causes import Causes, PodCountDetail, ResourceDetail, TaintDetail
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import ABSENT, Counts, Mask, canonical, scheduler_amounts
from kubespread.scheduler.evaluation import Evaluation, evaluate, evaluate_prepared
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError, Status
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.profile.profile import framework
from kubespread.snapshot.edits.new_nodes import is_state_taint
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.wording import short_key

_RESOURCES = (PodCountDetail, ResourceDetail)
_SHARED = ("cpu", "memory")
"""Resources that every running process needs some of."""


class NodeObstacle(Struct, frozen=True):
    """Reason a node takes no pod."""

    cause: StrandedBy
    """The node's state first, then ``resource`` if it lacks any resource, ``pods`` included."""
    detail: str = ""
    resources: tuple[str, ...] = ()
    """Short resources."""
    closed: str = ""
    """Another reason why a node that is short of resources takes no pod."""
    tolerable: bool = False
    """True if pods that tolerate the node's taints could use it."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The obstacle in words, one text per resource."""
        if self.resources:
            return (*self.resources, self.closed) if self.closed else self.resources
        return (f"taint {self.detail}" if self.cause == "tainted" else self.detail or self.cause,)


def obstacles(evaluation: Evaluation, copies: Counts) -> Mapping[int, NodeObstacle]:
    """Obstacle of each node where no further pod fits: its state, else a shortage, else the first filter's rejection.

    Removing the taint of a node that is short of resources would not help. A node that is not ready is tainted in a
    moment, if it is not yet: it is used only where ``copies`` fit.
    """
    if evaluation.rejection is not None or evaluation.error is not None:
        # This is about the pod, not about a node.
        return dict.fromkeys(range(len(evaluation.cluster)), NodeObstacle("rejected", evaluation.message or ""))
    details = evaluation.causes()
    by_node: dict[int, NodeObstacle] = {}
    for node, obj in enumerate(evaluation.cluster.nodes.objects):
        if evaluation.feasible[node] and (copies[node] or not _is_not_ready(obj)):
            continue
        state = None if copies[node] else _state(obj, evaluation.pod)
        obstacle = state or _obstacle(evaluation.verdict(node), details, node)
        short = _short(details.get(NodeResourcesFit.name, {}).get(node, ()))
        if short and not obstacle.resources:
            obstacle = replace(state or NodeObstacle("resource"), resources=short, closed=obstacle.texts[0])
        by_node[node] = obstacle
    return by_node


def _state(node: Node, pod: Pod) -> NodeObstacle | None:
    """State in which the node takes no such pod; a failure comes before a cordon."""
    taints = [*node.spec.taints, CORDON_TAINT] if node.spec.unschedulable else node.spec.taints
    untolerated_taints = untolerated(taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS)
    states = [taint for taint in untolerated_taints if is_state_taint(taint)]
    failures = [taint_text(taint) for taint in states if taint.key != CORDON_TAINT_KEY]
    if failures or _is_not_ready(node):
        return NodeObstacle("tainted", failures[0] if failures else f"{NOT_READY_TAINT_KEY}:NoSchedule")
    return NodeObstacle("cordoned") if states else None


def _obstacle(status: Status, details: Mapping[str, Mapping[int, Causes]], node: int) -> NodeObstacle:
    match details.get(status.plugin, {}).get(node, ()):
        case [TaintDetail() as taint, *_]:
            return NodeObstacle("tainted", taint.taint, tolerable=True)
        case [PodCountDetail() | ResourceDetail(), *_] as shortages:
            return NodeObstacle("resource", resources=_short(shortages))
        case _:
            return NodeObstacle("rejected", ", ".join(status.reasons))


def _short(details: Causes) -> tuple[str, ...]:
    return tuple(
        PODS if isinstance(detail, PodCountDetail) else detail.resource
        for detail in details
        if isinstance(detail, _RESOURCES)
    )


def exhausted_nodes(cluster: Cluster, nodes: Mapping[int, NodeObstacle]) -> Mapping[int, NodeObstacle]:
    """Add a shortage to ``nodes`` where no cpu or memory is left; it replaces no obstacle but tolerable taints."""
    by_node = dict(nodes)
    for name in _SHARED:
        for node in np.flatnonzero(free(cluster, name) == 0).tolist():
            obstacle = by_node.get(node)
            if obstacle is None or obstacle.tolerable:
                by_node[node] = NodeObstacle("resource", resources=(name,))
            elif obstacle.cause == "resource" and obstacle.resources == _SHARED[:1]:
                by_node[node] = NodeObstacle("resource", resources=_SHARED)
    return by_node


def stranded_amounts(cluster: Cluster, resource: str, nodes: Mapping[int, NodeObstacle]) -> tuple[Stranded, ...]:
    """Free amounts of a resource on ``nodes``, by obstacle, the largest first."""
    available = free(cluster, resource)
    amounts: dict[tuple[StrandedBy, str, bool], list[int]] = {}
    for node, obstacle in nodes.items():
        if amount := available.item(node):
            cause, detail = _cause(resource, obstacle)
            amounts.setdefault((cause, detail, obstacle.tolerable), []).append(amount)
    return tuple(
        Stranded(cause=cause, detail=detail, nodes=len(parts), amount=canonical(resource, sum(parts)), tolerable=can)
        for (cause, detail, can), parts in sorted(amounts.items(), key=lambda item: (-sum(item[1]), item[0]))
    )


def _cause(resource: str, obstacle: NodeObstacle) -> tuple[StrandedBy, str]:
    """Cause and detail of an obstacle for ``resource``: a remainder if it is short itself, else the first short one."""
    if obstacle.cause != "resource":
        return obstacle.cause, obstacle.detail
    if resource in obstacle.resources:
        return "remainder", ""
    first = obstacle.resources[0]
    return ("pods", "") if first == PODS else ("resource", first)


def fill(cluster: Cluster, plugins: Framework, pod: Pod) -> tuple[Cluster, Counts]:
    """Fill ``cluster`` with copies of a pod until no more fit; also the copies per node. Raises SchedulingError if a
    PreFilter fails.

    If every node is judged by itself, order does not matter and all are filled at once. Otherwise copies are placed one
    after another, as kube-scheduler would.
    """
    copies = _each_by_itself(cluster, plugins, pod)
    if copies is None:
        (outcome,), full = run(cluster, [Entry(pod, plugins, None, binds=False)], first_in_heap)
        nodes = np.array([choice.node for choice in outcome.choices], dtype=np.intp)
        return full, np.bincount(nodes, minlength=len(cluster))
    placed = [(pod, node) for node in np.repeat(np.arange(len(cluster)), copies).tolist()]
    return cluster.apply(ClusterChange(added_pods=placed)), copies


def _each_by_itself(cluster: Cluster, plugins: Framework, pod: Pod) -> Counts | None:
    """Count the copies that fit on each node; None where copies affect other nodes, or an error may occur."""
    prepared = plugins.prepare(cluster, pod)
    if prepared.rejection is not None or prepared.nominated_kinds or evaluate_prepared(prepared).error is not None:
        return None
    placing = Placing(prepared)
    if placing.order_matters:
        return None
    copies = placing.room(MAX_REPLICAS)
    return None if placing.answers.may_fail or placing.answers.out_of_range else copies


def _is_not_ready(node: Node) -> bool:
    return any(condition.type == READY and condition.status != "True" for condition in node.status.conditions)


_NAME = "kubespread-capacity"
_ALLOWED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Security context that every PodSecurity level allows."""


def answer(question: Capacity, scene: Scene) -> CapacityReport:
    """Capacity for pods of the requested size, or totals alone."""
    snapshot = scene.snapshot
    request = None if question.request is None else _requests(question.request, snapshot.nodes)
    # A namespace's limits say nothing about nodes.
    objects = snapshot.objects.with_all(LimitRange, ())
    source = _manifest(request or {}, snapshot, question.tolerate)
    (candidate,), cluster = resolve(
        replace(snapshot, objects=objects), [source], scene.scheduler, Surroundings(one_only=True)
    )
    profile = scene.scheduler.profile_for(candidate.pod.spec.scheduler_name, candidate.surroundings.version)
    if NodeResourcesFit.name not in profile.filters:
        raise UsageError(
            f"profile {profile.scheduler_name} does not run {NodeResourcesFit.name}: any number of pods fits"
        )
    pod, plugins = candidate.pod, framework(profile)
    key = _topology_key(question.by, candidate.surroundings.snapshot.nodes)
    names = resource_names(cluster)
    names += [name for name in request or () if name not in names]
    full, copies, notes, conclusion = cluster, np.zeros(len(cluster), dtype=np.int64), candidate.notes, None
    if request is None:
        held_off = exhausted_nodes(cluster, obstacles(evaluate(plugins, cluster, pod), copies))
    else:
        try:
            full, copies = fill(cluster, plugins, pod)
            evaluation = evaluate(plugins, full, pod)
            held_off = obstacles(evaluation, copies)
            conclusion = None if copies.any() else bars(evaluation)
        except SchedulingError as error:
            held_off = dict.fromkeys(range(len(cluster)), NodeObstacle("rejected", str(error)))
            notes = (*notes, str(error))
    totals, fits = _Totals(cluster, names), None if request is None else copies
    requested, most = None, None
    if request is not None:
        requested = {name: canonical(name, amount) for name, amount in request.items()}
        closed = [node for node, by in held_off.items() if is_state(by.cause, tolerable=by.tolerable)]
        if len(closed) < len(cluster):
            most = {name: canonical(name, int(np.delete(free(cluster, name), closed).max())) for name in request}
    return CapacityReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        cluster=scene.source,
        request=requested,
        tolerated=question.tolerate,
        topology_key=key,
        nodes=len(cluster),
        fits=None if fits is None else int(fits.sum()),
        conclusion=conclusion,
        most_on_one_node=most,
        resources=tuple(_resources(totals, full, held_off)),
        domains=tuple(_domains(totals, key, fits)),
        node_rows=tuple(_nodes(totals, key, fits, held_off)),
        not_modelled=(*Capacity.never_modelled, *not_modelled_of(profile)),
        gaps=tuple(dict.fromkeys((*candidate.gaps, *cluster.assumed))),
        notes=notes,
    )


def _manifest(requests: Mapping[str, int], snapshot: Snapshot, tolerate: Sequence[str]) -> dict[str, Any]:
    """A pod with these requests, and nothing else but tolerations."""
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
        "metadata": {"name": _NAME, "namespace": snapshot.origin.namespace or DEFAULT_NAMESPACE},
        "spec": {
            "containers": [{"name": "main", "image": _NAME, "resources": resources, "securityContext": _ALLOWED}],
            "tolerations": tolerations,
        },
    }


def _topology_key(by: str | None, nodes: tuple[Node, ...]) -> str | None:
    if by is None:
        return ZONE if any(ZONE in node.metadata.labels for node in nodes) else None
    key = full_topology_key(by, nodes)
    check_topology_keys([key], nodes)
    return key


def _requests(text: str, nodes: tuple[Node, ...]) -> dict[str, int]:
    """Parse ``cpu=2,memory=4Gi`` into the integers kube-scheduler counts, in the order written.

    Names of resources that ``nodes`` have are offered for one that is mistyped. Raises UsageError in the API server's
    words, a line each fault.
    """
    request: ResourceList = {}
    for part in text.split(","):
        name, equals, amount = (text.strip() for text in part.partition("="))
        if not (name and equals and amount):
            raise UsageError(f"invalid request {part!r}: expected RESOURCE=AMOUNT, such as cpu=2 or memory=4Gi")
        if name in request:
            raise UsageError(f"invalid request {text!r}: {name} is given twice")
        request[name] = amount
    resources = {name for node in nodes for name in node.status.allocatable} - {"pods"}
    faults = [f"invalid request {name}={request[name]}: {fault}" for name, fault in _faults(request, resources)]
    if faults:
        raise UsageError(*faults)
    counted = scheduler_amounts(amounts(request))
    return {name: counted[name] for name in request}


def _faults(request: ResourceList, resources: set[str]) -> list[tuple[str, str]]:
    """The API server's faults of each resource as a container's request; faults of the name come first."""
    faults: dict[str, str] = {}
    for name, amount in request.items():
        try:
            parse(amount)
        except QuantityError as error:
            faults[name] = str(error)
    if faults:
        return list(faults.items())
    limits: ResourceList = {name: amount for name, amount in request.items() if not allows_overcommit(name)}
    for fault in resource_faults(ResourceRequirements(requests=request, limits=limits), "resources"):
        name = next((name for name in request if fault.path.endswith(f"[{name}]")), next(iter(request)))
        hint = did_you_mean(_similar_resource(name, resources)) if name not in resources else ""
        faults.setdefault(name, f"{fault.message}{hint}")
    return [(name, faults[name]) for name in request if name in faults]


def _similar_resource(name: str, resources: set[str]) -> str:
    """The resource with this name after its domain, or one spelled like it."""
    behind = sorted(full for full in resources if short_key(full) == name)
    return behind[0] if behind else near_miss(name, resources)


class _Totals(Struct, frozen=True):
    """The nodes' amounts as columns."""

    cluster: Cluster
    names: Sequence[str]

    def build(self, nodes: Mask) -> tuple[ResourceAmounts, ...]:
        """Totals over some nodes."""
        columns = (allocatable, usage, free)
        return tuple(
            _amounts(name, *(int(column(self.cluster, name)[nodes].sum()) for column in columns)) for name in self.names
        )

    def by_node(self) -> Iterator[tuple[ResourceAmounts, ...]]:
        columns = [
            [
                _amounts(name, *sums)
                for sums in zip(
                    *(column(self.cluster, name).tolist() for column in (allocatable, usage, free)), strict=True
                )
            ]
            for name in self.names
        ]
        return zip(*columns, strict=True)


def _amounts(name: str, total: int, requested: int, unused: int) -> ResourceAmounts:
    return ResourceAmounts(
        resource=name,
        allocatable=canonical(name, total),
        requested=canonical(name, requested),
        utilization=round(100 * requested / total, 1) if total else None,
        free=canonical(name, unused),
    )


def _resources(totals: _Totals, full: Cluster, held_off: Mapping[int, NodeObstacle]) -> Iterator[ResourceCapacity]:
    """``held_off`` are nodes with free amounts that no pod can use once the cluster is ``full``."""
    everywhere = np.ones(len(full), dtype=np.bool_)
    off = np.zeros(len(full), dtype=np.bool_)
    off[list(held_off)] = True
    for total in totals.build(everywhere):
        name = total.resource
        usable = int(free(totals.cluster, name).sum()) - int(free(full, name)[off].sum())
        parts = stranded_amounts(full, name, held_off)
        yield ResourceCapacity(**asdict(total), usable=canonical(name, usable), stranded=parts)


def _domains(totals: _Totals, key: str | None, copies: Counts | None) -> Iterator[DomainCapacity]:
    if key is None:
        return
    column = totals.cluster.nodes.label(key)
    codes = [*zip(column.sorted_values, column.sorted_codes.tolist(), strict=True), (None, ABSENT)]
    for value, code in codes:
        nodes = column.codes == code
        if nodes.any():
            fits = None if copies is None else int(copies[nodes].sum())
            yield DomainCapacity(domain=value, nodes=int(nodes.sum()), fits=fits, resources=totals.build(nodes))


def _nodes(
    totals: _Totals, key: str | None, copies: Counts | None, held_off: Mapping[int, NodeObstacle]
) -> Iterator[NodeCapacity]:
    nodes = totals.cluster.nodes
    fits = [None] * len(nodes) if copies is None else copies.tolist()
    for position, (node, resources) in enumerate(zip(nodes.objects, totals.by_node(), strict=True)):
        obstacle = held_off.get(position)
        yield NodeCapacity(
            node=node.metadata.name,
            domain=None if key is None else node.metadata.labels.get(key),
            fits=fits[position],
            why=() if obstacle is None else obstacle.texts,
            resources=resources,
        )
