"""The interface of rules: a permanent code, a name, a severity, and a function that looks for one thing.

The documentation of a rule is the docstring of the module that its function stands in: what it finds, why it matters,
an example and the remedy. What a rule finds. The engine adds whose it is, where it stands and its code. What is checked
together, found by namespace and labels. Workloads whose pods one constraint counts together. One workload as rules see
it: its constraints as declared and as in force, and its surroundings.
"""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar

from msgspec import Struct

from kubespread.errors import Fault
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.owners import controller_of
from kubespread.kube.selector import Selector
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.lint.trial import Mended, Refused, Subject, Trial
from kubespread.questions.check.report import Remedy, RuleReport, Severity
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, PodConstraints, pod_constraints
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread


def counted_together(case: Case) -> Iterator[tuple[Declared, Iterator[Subject]]]:
    """Constraints of the workload's own that count its pods, each with the other workloads whose pods it counts too."""
    if case.subject.object is None or case.subject.is_daemon:
        return
    for declared in case.own:
        if declared.constraint.self_match and declared.constraint.counts_pods:
            yield declared, case.company.counted_beside(case.subject, declared.constraint.selector)


def declares_alike(other: Subject, declared: Declared) -> bool:
    """Whether pods of ``other`` have a constraint with the same terms, regardless of its selector."""
    terms = _terms(declared.written)
    return any(_terms(constraint) == terms for constraint in other.pod.spec.topology_spread_constraints)


def over_the_same(other: Subject, declared: Declared) -> TopologySpreadConstraint | None:
    """The first constraint of ``other`` over the same topology key."""
    key = declared.constraint.topology_key
    return next(
        (constraint for constraint in other.pod.spec.topology_spread_constraints if constraint.topology_key == key),
        None,
    )


def _terms(constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    return (
        constraint.topology_key,
        constraint.max_skew,
        constraint.when_unsatisfiable,
        constraint.min_domains,
        constraint.node_affinity_policy or "Honor",
        constraint.node_taints_policy or "Ignore",
    )


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


class Declared(Struct, frozen=True, eq=False):
    """One of the pod's own constraints."""

    position: int
    path: str
    """From the object on: ``spec.template.spec.topologySpreadConstraints[0]``."""
    written: TopologySpreadConstraint
    """As in the pod template: the API server merges matchLabelKeys into the selector of the pod."""
    constraint: Constraint
    """The same with its defaults filled in and its selector parsed."""

    @property
    def text(self) -> str:
        """``topology.kubernetes.io/zone maxSkew 1``."""
        return f"{self.constraint.topology_key} maxSkew {self.constraint.max_skew}"

    def setting(self, field: str, value: object) -> str:
        """How ``--set`` changes a field of it."""
        return f"{field}[{self.position}]={value}"


class Case(Struct, frozen=True, dict=True):
    """A subject among the others; what several rules need is worked out once."""

    subject: Subject
    company: Company
    """All that are checked together, the subject among them."""
    objects: ClusterObjects
    """The cluster's, with those that the manifests bring; the manifests' alone where there is no cluster."""
    version: KubeVersion
    plugins: Framework
    """The profile that schedules the subject."""
    trial: Trial | None
    """The subject tried on the cluster; None without a cluster."""

    @cached_property
    def spread(self) -> PodTopologySpread:
        """The plugin as the profile configures it, or with its defaults if the profile does not enable it."""
        configured = (plugin for plugin in self.plugins.running if isinstance(plugin, PodTopologySpread))
        return next(configured, PodTopologySpread())

    @cached_property
    def constraints(self) -> PodConstraints:
        """Those in force, the defaults where the pod declares none."""
        return pod_constraints(
            self.subject.pod,
            self.spread.defaults,
            self.objects,
            empty_selector_counts=self.spread.rules.empty_selector_counts,
        )

    @cached_property
    def own(self) -> tuple[Declared, ...]:
        """The pod's own constraints, in the order they are declared."""
        return tuple(self._own())

    def hard(self, trial: Trial) -> Iterator[tuple[Declared, HardConstraint]]:
        """The pod's own hard constraints with their numbers on the cluster.

        Those of a DaemonSet are left out: each of its pods is meant for one node, which is its only domain.
        """
        if self.own and not self.subject.is_daemon:
            for position, counted in trial.hard():
                yield self.own[position], counted

    def _own(self) -> Iterator[Declared]:
        subject = self.subject
        if not subject.pod.spec.topology_spread_constraints:
            return
        written = (subject.template or subject.pod).spec.topology_spread_constraints
        for position, (as_written, constraint) in enumerate(zip(written, self.constraints.constraints, strict=True)):
            path = subject.field(f"spec.topologySpreadConstraints[{position}]")
            yield Declared(position, path, as_written, constraint)


class RuleFinding(Struct, frozen=True, kw_only=True):
    field: str
    """The path from the object on, which need not be there: the nearest field above it is where people are sent."""
    message: str
    """What will happen, in numbers where there are any."""
    remedy: Remedy
    proven: bool = False
    """Whether the numbers come from running the engine on the cluster."""
    mended: Mended | None = None
    """The remedy as a change of the pod, where it is one that was tried."""
    severity: Severity | None = None
    """Where it is not that of the rule."""
    revives: bool = False
    """Whether the remedy makes a constraint count that counted nothing, so that its other faults show."""


class _Rule(Struct, frozen=True):
    code: str
    name: str
    severity: Severity
    needs_cluster: ClassVar[bool] = False

    @property
    def documentation(self) -> str:
        """Markdown; the first line is its summary."""
        raise NotImplementedError

    @property
    def report(self) -> RuleReport:
        documentation = self.documentation
        summary = documentation.partition("\n")[0].rstrip(".")
        return RuleReport(
            code=self.code,
            name=self.name,
            severity=self.severity,
            needs_cluster=self.needs_cluster,
            summary=summary,
            documentation=documentation,
        )


class Rule(_Rule, frozen=True):
    """Runs on every workload. If there is a cluster, ``case.trial`` makes its numbers real."""

    check: Callable[[Case], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class ClusterRule(_Rule, frozen=True):
    """Asked about every workload where there is a cluster to try it on."""

    needs_cluster: ClassVar[bool] = True
    check: Callable[[Case, Trial], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class LastRule(_Rule, frozen=True):
    """Asked once the others are, with what they found and is not silenced; where there is a cluster."""

    needs_cluster: ClassVar[bool] = True
    check: Callable[[Case, Trial, Sequence[RuleFinding]], Iterable[RuleFinding]]

    @property
    def documentation(self) -> str:
        return _documentation(self.check)


class FaultRule(_Rule, frozen=True):
    """Asked about each fault of what is no workload yet: a file that cannot be read, an object that is refused."""

    remedy: Callable[[Fault, Refused], Remedy | None]
    """What would mend the fault; None where it is not one of the rule's."""

    @property
    def documentation(self) -> str:
        return _documentation(self.remedy)


AnyRule = Rule | ClusterRule | LastRule | FaultRule


def _documentation(function: Callable[..., object]) -> str:
    return inspect.cleandoc(sys.modules[function.__module__].__doc__ or "")
