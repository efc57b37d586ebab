"""Pods per domain: how often a term is met around each node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.scheduler.affinity_terms import Labels, PodTerms, Term
from kubespread.scheduler.cluster import ABSENT, Cluster, Counts


class Domains:
    """Counts that add up per (topology key, value), read back per node."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._totals: dict[str, Counts] = {}

    def add(self, topology_key: str, per_node: Counts, weight: int = 1) -> None:
        """Add pods counted per node to their domains; nodes without the key have none."""
        column = self._cluster.label(topology_key)
        there = column.present & (per_node != 0)
        if not there.any():
            return
        totals = self._totals.setdefault(topology_key, np.zeros(len(column.values), dtype=np.int64))
        np.add.at(totals, column.codes[there], weight * per_node[there])

    def fork(self) -> Domains:
        """The same totals, to be added to apart from these."""
        fork = Domains(self._cluster)
        fork._totals = {key: totals.copy() for key, totals in self._totals.items()}
        return fork

    def add_one(self, topology_key: str, node: int, weight: int = 1) -> None:
        """Add one pod on ``node`` to its domain."""
        column = self._cluster.label(topology_key)
        code = column.codes[node]
        if code != ABSENT:
            if topology_key not in self._totals:
                self._totals[topology_key] = np.zeros(len(column.values), dtype=np.int64)
            self._totals[topology_key][code] += weight

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever added, not even with weight 0."""
        return not self._totals

    def around(self, topology_key: str) -> Counts:
        """The total of each node's domain of one key; 0 where there is none."""
        column = self._cluster.label(topology_key)
        if topology_key not in self._totals:
            return np.zeros(len(self._cluster), dtype=np.int64)
        return np.where(column.present, self._totals[topology_key][column.codes], 0)

    def keys(self) -> Iterable[str]:
        return self._totals.keys()


class Counter:
    """Counts the existing pods that the candidate's terms match, and those whose own terms match the candidate."""

    def __init__(self, cluster: Cluster, pod: Pod) -> None:
        self._cluster = cluster
        self._pod = pod
        self._namespace_labels: dict[str, Labels] = {
            namespace.metadata.name: namespace.metadata.labels for namespace in cluster.objects.namespaces
        }

    def matched_by_all(self, terms: Iterable[Term]) -> Counts:
        """Per node, the existing pods that every one of the candidate's ``terms`` matches at once."""
        judges = [self._judge(term) for term in terms]
        return self._cluster.count_pods(lambda namespace, labels: all(judge(namespace, labels) for judge in judges))

    def _judge(self, term: Term) -> Callable[[str, Labels], bool]:
        """A term of the candidate against an existing pod.

        Namespaces are looked up beforehand, and the scheduler then applies the namespace selector once more, to an empty
        label set: a selector made only of NotIn and DoesNotExist reaches every namespace.
        """
        reached = term.namespaces | {
            name for name, namespace_labels in self._namespace_labels.items() if term.namespace_selector.matches(namespace_labels)
        }
        everywhere = term.namespace_selector.matches({})
        return lambda namespace, labels: (everywhere or namespace in reached) and term.selector.matches(labels)

    def matches_itself(self, terms: Iterable[Term]) -> bool:
        """Whether the candidate is among the pods its own ``terms`` speak of."""
        meta = self._pod.metadata
        return all(self._judge(term)(meta.namespace, meta.labels) for term in terms)

    def existing(self) -> Iterator[tuple[PodTerms, Counts]]:
        """Every distinct set of terms among existing pods, and per node how many pods have it."""
        yield from self._cluster.affinity_groups

    def is_meant_by(self, term: Term) -> bool:
        """Whether an existing pod's term matches the candidate."""
        meta = self._pod.metadata
        return term.matches(meta.namespace, self._namespace_labels.get(meta.namespace, {}), meta.labels)
