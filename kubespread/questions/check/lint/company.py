"""What is checked together, found by namespace and labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kubespread.kube.owners import controller_of
from kubespread.kube.selector import Selector
from kubespread.questions.check.lint.subject import Subject


class Company:
    """Workloads beside one another. Bare pods are left out, as they are often alike on purpose. So are workloads that
    another one controls: the pods of a Deployment's ReplicaSet are the Deployment's.
    """

    def __init__(self, subjects: Iterable[Subject]) -> None:
        self._in_namespace: dict[str, list[Subject]] = defaultdict(list)
        self._labeled: dict[tuple[str, str, str], list[Subject]] = defaultdict(list)
        for subject in subjects:
            if subject.object is None or controller_of(subject.object) is not None:
                continue
            namespace = subject.name.namespace
            self._in_namespace[namespace].append(subject)
            for key, value in subject.labels.items():
                self._labeled[namespace, key, value].append(subject)

    def counted_beside(self, subject: Subject, selector: Selector) -> Iterator[Subject]:
        """The other workloads of its namespace whose pods ``selector`` matches."""
        if subject.object is not None and controller_of(subject.object) is not None:
            return
        for other in self._among(subject.name.namespace, selector):
            if other.name != subject.name and selector.matches(other.labels):
                yield other

    def _among(self, namespace: str, selector: Selector) -> Sequence[Subject]:
        """Those that can match at all: a pod has one value per label, so none comes twice."""
        for requirement in selector.requirements:
            if requirement.operator == "In":
                return [
                    subject
                    for value in dict.fromkeys(requirement.values)
                    for subject in self._labeled.get((namespace, requirement.key, value), ())
                ]
        return self._in_namespace.get(namespace, ())
