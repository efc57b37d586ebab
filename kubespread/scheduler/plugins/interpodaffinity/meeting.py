"""Which terms match which pods: the candidate's terms against the existing pods, and theirs against the candidate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.affinity_terms import Labels, Term


class Meeting:
    """One candidate among the namespaces of a cluster."""

    def __init__(self, objects: ClusterObjects, pod: Pod) -> None:
        self._pod = pod
        self._namespace_labels: Mapping[str, Labels] = {
            namespace.metadata.name: namespace.metadata.labels for namespace in objects.namespaces
        }
        self._reached: dict[int, frozenset[str]] = {}

    def matches(self, term: Term, namespace: str, labels: Labels) -> bool:
        """Whether a term of the candidate speaks of a pod.

        Namespaces are looked up beforehand, and the scheduler then applies the namespace selector once more, to an
        empty label set: a selector made only of NotIn and DoesNotExist reaches every namespace.
        """
        if not term.namespace_selector.matches({}) and namespace not in self._namespaces(term):
            return False
        return term.selector.matches(labels)

    def _namespaces(self, term: Term) -> frozenset[str]:
        if id(term) not in self._reached:
            selected = {
                name for name, labels in self._namespace_labels.items() if term.namespace_selector.matches(labels)
            }
            self._reached[id(term)] = term.namespaces | selected
        return self._reached[id(term)]

    def meets_itself(self, terms: Iterable[Term]) -> bool:
        """Whether the candidate is among the pods its own ``terms`` speak of."""
        meta = self._pod.metadata
        return all(self.matches(term, meta.namespace, meta.labels) for term in terms)

    def is_meant_by(self, term: Term) -> bool:
        """Whether an existing pod's term speaks of the candidate."""
        meta = self._pod.metadata
        return term.matches(meta.namespace, self._namespace_labels.get(meta.namespace, {}), meta.labels)
