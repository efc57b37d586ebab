"""How many copies of a pod fit on each node when as many as possible are placed, and what taints alone keep off.

Why a pod finds no room on a node, in short, and what is free there that no pod can use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, Taint, Toleration
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, taint_text, untolerated
from kubespread.questions.capacity.report import IfTolerated, Stranded, StrandedBy
from kubespread.questions.queue.entries import MAX_REPLICAS, Entry
from kubespread.questions.queue.queue import run
from kubespread.questions.room import PODS, free
from kubespread.scheduler.causes import Causes, CordonDetail, PodCountDetail, ResourceDetail, TaintDetail
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Counts, canonical
from kubespread.scheduler.evaluation import Evaluation, evaluated
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError, Status
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.snapshot.edits.new_nodes import is_state_taint
from kubespread.world.store.claims import Replica, Replicas

_RESOURCES = (PodCountDetail, ResourceDetail)
_SHARED = ("cpu", "memory")
"""What every running process needs some of."""


class Obstacle(Struct, frozen=True):
    """What holds a pod off a node."""

    cause: StrandedBy
    """``resource`` where the node has too little of something, pods included."""
    detail: str = ""
    resources: tuple[str, ...] = ()
    """What is short."""
    closed: str = ""
    """What else keeps pods off a node that is short of something."""

    @property
    def texts(self) -> tuple[str, ...]:
        """In words; each resource by itself."""
        if self.resources:
            return (*self.resources, self.closed) if self.closed else self.resources
        return (f"taint {self.detail}" if self.cause == "tainted" else self.detail or self.cause,)


def obstacles(evaluation: Evaluation) -> Mapping[int, Obstacle]:
    """The obstacle on each node where the pod does not fit: the first filter's in profile order, but a shortage comes
    before all others, since opening the node would not help then.
    """
    if evaluation.rejection is not None or evaluation.error is not None:
        # This is about the pod, not about a node.
        return dict.fromkeys(range(len(evaluation.cluster)), Obstacle("rejected", evaluation.message or ""))
    details = evaluation.causes()
    by_node: dict[int, Obstacle] = {}
    for node in np.flatnonzero(~evaluation.feasible).tolist():
        status = evaluation.verdict(node)
        obstacle = _obstacle(status, details.get(status.plugin, {}).get(node, ()))
        if not obstacle.resources and (short := _short(details.get(NodeResourcesFit.name, {}).get(node, ()))):
            obstacle = Obstacle("resource", resources=short, closed=obstacle.texts[0])
        by_node[node] = obstacle
    return by_node


def _obstacle(status: Status, details: Causes) -> Obstacle:
    match details:
        case [CordonDetail(), *_]:
            return Obstacle("cordoned")
        case [TaintDetail() as taint, *_]:
            return Obstacle("tainted", taint.taint)
        case [PodCountDetail() | ResourceDetail(), *_]:
            return Obstacle("resource", resources=_short(details))
        case _:
            return Obstacle("rejected", ", ".join(status.reasons))


def _short(details: Causes) -> tuple[str, ...]:
    return tuple(
        PODS if isinstance(detail, PodCountDetail) else detail.resource
        for detail in details
        if isinstance(detail, _RESOURCES)
    )


def exhausted(cluster: Cluster, nodes: Mapping[int, Obstacle]) -> Mapping[int, Obstacle]:
    """The nodes with no cpu or no memory left, for pods that request some, besides ``nodes``, which have worse
    obstacles.
    """
    by_node = dict(nodes)
    for name in _SHARED:
        for node in np.flatnonzero(free(cluster, name) == 0).tolist():
            obstacle = by_node.get(node)
            if obstacle is None:
                by_node[node] = Obstacle("resource", resources=(name,))
            elif obstacle.cause == "resource" and obstacle.resources == _SHARED[:1]:
                by_node[node] = Obstacle("resource", resources=_SHARED)
    return by_node


def stranded(cluster: Cluster, resource: str, nodes: Mapping[int, Obstacle]) -> tuple[Stranded, ...]:
    """What is free of a resource on ``nodes``, by the reason no pod can use it; the largest amount first."""
    available = free(cluster, resource)
    amounts: dict[tuple[StrandedBy, str], list[int]] = {}
    for node, obstacle in nodes.items():
        if amount := available.item(node):
            amounts.setdefault(_cause(resource, obstacle), []).append(amount)
    return tuple(_sorted(amounts, resource))


def _sorted(amounts: Mapping[tuple[StrandedBy, str], list[int]], resource: str) -> Iterator[Stranded]:
    for (cause, detail), parts in sorted(amounts.items(), key=lambda item: (-sum(item[1]), item[0])):
        yield Stranded(cause=cause, detail=detail, nodes=len(parts), amount=canonical(resource, sum(parts)))


def _cause(resource: str, obstacle: Obstacle) -> tuple[StrandedBy, str]:
    """The reason on a node: of several short resources, the first other than this one; where this one is short itself,
    no other need be.
    """
    if obstacle.cause != "resource":
        return obstacle.cause, obstacle.detail
    if resource in obstacle.resources:
        return "remainder", ""
    first = obstacle.resources[0]
    return ("pods", "") if first == PODS else ("resource", first)


class Copies(Struct, frozen=True):
    """The pods that are counted."""

    plugins: Framework
    pod: Pod
    claimants: Replicas | None = None
    """The copies, where each has claims of its own."""
    binds: bool = False
    """Whether the claims that they wait with are bound once they have a node."""

    def tolerating(self, taints: Iterable[Taint]) -> Copies:
        """The same with tolerations of ``taints``."""
        more = [Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect) for taint in taints]
        return replace(self, pod=_tolerating(self.pod, more), claimants=_each_tolerating(self.claimants, more))


class Filled(Struct, frozen=True):
    """A cluster that holds as many copies of a pod as fit."""

    cluster: Cluster
    copies: Counts
    """Per node."""


def filled(cluster: Cluster, pods: Copies) -> Filled:
    """``cluster`` filled with copies of a pod until no more fit. Raises SchedulingError when a PreFilter fails.

    Where every node is judged by itself, order does not matter and all nodes are filled at once. Otherwise copies are
    placed one after another, as kube-scheduler would.
    """
    copies = _each_by_itself(cluster, pods)
    if copies is None:
        return _one_by_one(cluster, pods)
    come = [(pods.pod, node) for node in np.repeat(np.arange(len(cluster)), copies).tolist()]
    return Filled(cluster.after(Change(come=come)), copies)


def copies_fitting(cluster: Cluster, pods: Copies) -> Counts:
    """Just the copies per node that `filled` places. Raises SchedulingError as it does."""
    copies = _each_by_itself(cluster, pods)
    return _one_by_one(cluster, pods).copies if copies is None else copies


def _one_by_one(cluster: Cluster, pods: Copies) -> Filled:
    entry = Entry(pods.pod, pods.plugins, None, replicas=pods.claimants, binds=pods.binds)
    (outcome,), full = run(cluster, [entry], first_in_heap)
    nodes = np.array([choice.node for choice in outcome.choices], dtype=np.intp)
    return Filled(full, np.bincount(nodes, minlength=len(cluster)))


def _tolerating(pod: Pod, more: Sequence[Toleration]) -> Pod:
    return replace(pod, spec=replace(pod.spec, tolerations=[*pod.spec.tolerations, *more]))


def _each_tolerating(claimants: Replicas | None, more: Sequence[Toleration]) -> Replicas | None:
    if claimants is None:
        return None
    return lambda: (Replica(_tolerating(claimant.pod, more), claimant.claims) for claimant in claimants())


def _each_by_itself(cluster: Cluster, pods: Copies) -> Counts | None:
    """How many fit on each node; None where copies affect other nodes, or an error may occur."""
    if pods.claimants is not None or pods.binds:
        return None
    prepared = pods.plugins.prepare(cluster, pods.pod)
    if prepared.rejection is not None or prepared.nominated or evaluated(prepared).error is not None:
        return None
    placing = Placing(prepared)
    if placing.order_matters:
        return None
    copies = placing.room(MAX_REPLICAS)
    return None if placing.answers.may_fail or placing.answers.out_of_range else copies


def if_tolerated(cluster: Cluster, pods: Copies, fits: Counts, *, compares: bool) -> IfTolerated | None:
    """What tolerations would add to the copies that ``fits`` counts on each node, None where they add nothing.

    Taints that say what state a node is in remain: nothing should tolerate them to find room. The number is of copies
    that tolerate exactly the taints named. ``compares``: as of `kube.taint.tolerates`.
    """
    lists = _unwelcome(cluster, pods, compares=compares)
    every = {text: taint for taints in lists.values() for text, taint in taints.items()}
    then = _copies(cluster, pods, every)
    if then is None or then.sum() <= fits.sum():
        return None
    used = {text: every[text] for node in np.flatnonzero(then).tolist() for text in lists.get(node, ())}
    if len(used) < len(every):
        then = _copies(cluster, pods, used)
        if then is None or then.sum() <= fits.sum():
            return None
    return IfTolerated(fits=int(then.sum()), nodes=int((then > fits).sum()), taints=tuple(used))


def _copies(cluster: Cluster, pods: Copies, taints: Mapping[str, Taint]) -> Counts | None:
    try:
        return copies_fitting(cluster, pods.tolerating(taints.values())) if taints else None
    except SchedulingError:
        return None


def _unwelcome(cluster: Cluster, pods: Copies, *, compares: bool) -> dict[int, dict[str, Taint]]:
    """The taints that keep the pods off each node, by their text, of nodes where all of them can be tolerated."""
    tolerations, repelling = pods.pod.spec.tolerations, {}
    for node, obj in enumerate(cluster.nodes.objects):
        taints = untolerated(obj.spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares)
        if taints and not any(map(is_state_taint, taints)):
            repelling[node] = {taint_text(taint): taint for taint in taints}
    return repelling
