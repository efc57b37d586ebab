"""What the nodes of a cluster have left: in all, by domain and by node, for whom, and what nobody can use of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.taint import COMPARISON_GATE
from kubespread.planner.bars import bars
from kubespread.planner.capacity.fitting import Copies, Filled, filled
from kubespread.planner.capacity.largest import largest
from kubespread.planner.capacity.obstacles import Obstacle, obstacles
from kubespread.planner.capacity.room import allocatable, asking_for, free, requested, resource_names
from kubespread.planner.capacity.stranding import exhausted, stranded
from kubespread.planner.capacity.tolerating import if_tolerated
from kubespread.planner.claims import Replicas
from kubespread.planner.details import canonical
from kubespread.planner.honesty import not_modelled_of
from kubespread.planner.reports.capacity import (
    CapacityReport,
    DomainCapacity,
    NodeCapacity,
    ResourceAmounts,
    ResourceCapacity,
)
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import ABSENT, Counts, Mask
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.profile.profile import Profile

_WHAT_A_NAMESPACE_MAY_HAVE = "{}: counts are what nodes hold, not what a namespace may have"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a cluster."""

    cluster: Cluster
    profile: Profile
    pod: Pod
    """The pod whose copies are counted, as the API server admits it."""
    request: Mapping[str, int] | None
    """What it asks for, as kube-scheduler counts it; None where only totals are asked about."""
    topology_key: str | None
    """What makes domains."""
    claimants: Replicas | None = None
    """The copies where each has claims of its own."""
    binds: bool = False
    """Whether the claims that they wait with are bound once they have a node."""
    is_limited: bool = False
    """Whether the limit ranges of its namespace have had their say."""


@dataclass(frozen=True, slots=True)
class _Totals:
    """The nodes' amounts as columns."""

    cluster: Cluster
    names: Sequence[str]

    def of(self, nodes: Mask) -> tuple[ResourceAmounts, ...]:
        """Added up over some nodes."""
        return tuple(self._of(name, nodes) for name in self.names)

    def _of(self, name: str, nodes: Mask) -> ResourceAmounts:
        there, taken = (int(column(self.cluster, name)[nodes].sum()) for column in (allocatable, requested))
        return amounts(name, there, taken, int(free(self.cluster, name)[nodes].sum()))

    def by_node(self) -> Iterator[tuple[ResourceAmounts, ...]]:
        """Of each node by itself."""
        columns = [
            [amounts(name, *each) for each in zip(
                *(column(self.cluster, name).tolist() for column in (allocatable, requested, free)), strict=True
            )]
            for name in self.names
        ]  # fmt: skip
        return zip(*columns, strict=True)


def amounts(name: str, there: int, taken: int, left: int) -> ResourceAmounts:
    return ResourceAmounts(
        resource=name,
        allocatable=canonical(name, there),
        requested=canonical(name, taken),
        utilization=round(100 * taken / there, 1) if there else None,
        free=canonical(name, left),
    )


def capacity(question: Question) -> CapacityReport:
    """The report; the cluster it is about is not in it."""
    cluster, profile = question.cluster, question.profile
    plugins = framework(profile)
    names = resource_names(cluster)
    names += [name for name in question.request or () if name not in names]
    unasking = asking_for(question.pod, {})
    bare = obstacles(plugins.evaluate(cluster, unasking))
    full, notes, tolerated = Filled(cluster, np.zeros(len(cluster), dtype=np.int64)), list[str](), None
    conclusion = None
    if question.request is None:
        held_off = exhausted(cluster, bare)
    else:
        asked = Copies(plugins, question.pod, question.claimants, question.binds)
        try:
            full = filled(cluster, asked)
            evaluation = plugins.evaluate(full.cluster, question.pod)
            held_off = obstacles(evaluation)
            conclusion = None if full.copies.any() else bars(evaluation)
            tolerated = if_tolerated(cluster, asked, full.copies, compares=profile.version.has(COMPARISON_GATE))
        except SchedulingError as error:
            held_off = dict.fromkeys(range(len(cluster)), Obstacle("rejected", str(error)))
            notes.append(str(error))
    asks = [name for name in question.request or () if name not in ("cpu", "memory")]
    takes_pods = np.ones(len(cluster), dtype=np.bool_)
    takes_pods[list(bare)] = False
    totals = _Totals(cluster, names)
    copies = full.copies if question.request is not None else None
    return CapacityReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        request=None
        if question.request is None
        else {name: canonical(name, each) for name, each in question.request.items()},
        topology_key=question.topology_key,
        nodes=len(cluster),
        fits=None if copies is None else int(copies.sum()),
        if_tolerated=tolerated,
        conclusion=conclusion,
        most_on_one_node=None
        if question.request is None
        else {name: canonical(name, int(free(cluster, name).max(initial=0))) for name in question.request},
        resources=tuple(_resources(totals, full.cluster, held_off)),
        domains=tuple(_domains(totals, question.topology_key, copies)),
        node_rows=tuple(_nodes(totals, question.topology_key, copies, held_off)),
        largest=tuple(largest(plugins, cluster, unasking, ["cpu", "memory", *asks], takes_pods)),
        not_modelled=(
            _WHAT_A_NAMESPACE_MAY_HAVE.format("quotas" if question.is_limited else "quotas and limit ranges"),
            *not_modelled_of(profile),
        ),
        notes=tuple(notes),
    )


def _resources(totals: _Totals, full: Cluster, held_off: Mapping[int, Obstacle]) -> Iterator[ResourceCapacity]:
    """``held_off`` are nodes with something free once the cluster is ``full`` that nobody can use."""
    everywhere = np.ones(len(full), dtype=np.bool_)
    off = np.zeros(len(full), dtype=np.bool_)
    off[list(held_off)] = True
    for known in totals.of(everywhere):
        name = known.resource
        usable = int(free(totals.cluster, name).sum()) - int(free(full, name)[off].sum())
        yield ResourceCapacity(
            resource=name,
            allocatable=known.allocatable,
            requested=known.requested,
            utilization=known.utilization,
            free=known.free,
            usable=canonical(name, usable),
            stranded=stranded(full, name, held_off),
        )


def _domains(totals: _Totals, key: str | None, copies: Counts | None) -> Iterator[DomainCapacity]:
    if key is None:
        return
    column = totals.cluster.nodes.label(key)
    codes = [*zip(column.sorted_values, column.sorted_codes.tolist(), strict=True), (None, ABSENT)]
    for value, code in codes:
        nodes = column.codes == code
        if nodes.any():
            fits = None if copies is None else int(copies[nodes].sum())
            yield DomainCapacity(domain=value, nodes=int(nodes.sum()), fits=fits, resources=totals.of(nodes))


def _nodes(
    totals: _Totals, key: str | None, copies: Counts | None, held_off: Mapping[int, Obstacle]
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
