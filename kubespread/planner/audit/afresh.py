"""A workload's pods placed afresh: all are gone, then one after another finds a node, as things are or otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kubespread.kube.api.core import Node, Pod, ResourceRequirements
from kubespread.planner.audit.counting import Spread, spreads
from kubespread.planner.claims import Replica
from kubespread.planner.entries import Entry
from kubespread.planner.queue import run
from kubespread.planner.reports.audit import PlacedAfresh
from kubespread.planner.world.pods import as_template
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError


@dataclass(frozen=True, slots=True)
class Afresh:
    """One workload's pods in a cluster, and the constraint in question."""

    cluster: Cluster
    plugins: Framework
    template: Pod
    pods: Sequence[tuple[Pod, int]]
    """Those that are on nodes, each with its own."""
    at: int
    """The constraint's place among those of the template."""

    def spread(self, cluster: Cluster, template: Pod) -> Spread | None:
        """What the constraint counts on another cluster."""
        try:
            found = spreads(self.plugins.prepare(cluster, template).states)
        except SchedulingError:
            return None
        return found[self.at] if self.at < len(found) else None

    def tried(
        self,
        what: str,
        *,
        plugins: Framework | None = None,
        nodes: Mapping[int, Node] | None = None,
        template: Pod | None = None,
        others: Sequence[tuple[Pod, int]] = (),
    ) -> PlacedAfresh:
        """Place them with other plugins, on other nodes, made of another template, or without ``others``.

        Pods that have volumes of their own keep them unless there is a template.
        """
        cluster = self.cluster.after(Change(gone=[*self.pods, *others]))
        if nodes:
            cluster = cluster.after(Change(replaced=nodes))
        pod = template or self.template
        own = template is None and any(each.spec.has_scheduled_volumes for each, _ in self.pods)
        entry = Entry(
            pod, plugins or self.plugins, len(self.pods), replicas=self._replicas if own else None, binds=False
        )
        (outcome,), full = run(cluster, [entry], first_in_heap)
        found = self.spread(full, pod)
        placed = len(outcome.choices)
        return PlacedAfresh(
            what=what,
            placed=placed,
            counts=None if found is None else found.pods,
            skew=0 if found is None else found.skew,
            holds=found is not None and found.is_even and placed == len(self.pods),
        )

    def others(self, spread: Spread) -> list[tuple[Pod, int]]:
        """The pods that the constraint counts besides, each with its node."""
        constraint, kinds, running = spread.counted.constraint, self.cluster.kinds, self.cluster.running
        if not constraint.counts_pods:
            return []
        counted = [
            number
            for number in kinds.selectable(self.template.metadata.namespace, constraint.selector)
            if number in running.nodes_of_kind and constraint.selector.matches(kinds[number].labels)
        ]
        own = {id(pod) for pod, _ in self.pods}
        places = running.places_of(counted).tolist()
        return [(running.pods[at], running.node.item(at)) for at in places if id(running.pods[at]) not in own]

    def _replicas(self) -> Iterator[Replica]:
        for pod, _ in self.pods:
            yield Replica(as_template(pod))


def without_volumes(pod: Pod) -> Pod:
    """The pod as if its data were anywhere."""
    return replace(pod, spec=replace(pod.spec, volumes=[]))


def asking_for_nothing(pod: Pod) -> Pod:
    """The pod as if nodes had room without end for it, but for how many pods they run."""
    spec = pod.spec
    containers = [replace(each, resources=ResourceRequirements()) for each in spec.containers]
    init_containers = [replace(each, resources=ResourceRequirements()) for each in spec.init_containers]
    return replace(
        pod, spec=replace(spec, containers=containers, init_containers=init_containers, resources=None, overhead={})
    )
