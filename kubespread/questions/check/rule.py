"""The interface of rules: a class with a permanent code, a name and a severity that looks for one thing.

Its docstring is its documentation: what it finds, why it matters, an example and the remedy. The engine adds the
workload of a finding, its position and its code.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import Fault
from kubespread.kube.admission.quota import Allowance, allowance
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.core import Pod, ResourceQuota, TopologySpreadConstraint
from kubespread.kube.api.workloads import LabelSelectingWorkload
from kubespread.kube.owners import controller_of
from kubespread.kube.persistent_volumes import is_for_one_pod
from kubespread.kube.selector import Selector
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.trial import MendedPod, ReplicaTrial, Subject, with_constraints
from kubespread.questions.remedies.change import Change
from kubespread.questions.remedies.families import key_to_set
from kubespread.reports.parts import RuleReport
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, pod_constraints
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread
from kubespread.scheduler.plugins.volumes.filters import IN_USE
from kubespread.wording import short_key

_GATE = "MatchLabelKeysInPodTopologySpread"
_MADE_BY_CONTROLLERS = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    }
)
_ATTRIBUTES = dict(
    zip(TopologySpreadConstraint.__struct_encode_fields__, TopologySpreadConstraint.__struct_fields__, strict=True)
)


class Company:
    """Workloads that are checked together, by namespace and labels.

    Bare pods are left out, as they are often alike on purpose. So are workloads that another one controls: the pods of
    a Deployment's ReplicaSet are the Deployment's.
    """

    def __init__(self, subjects: Iterable[Subject]) -> None:
        self._labeled: dict[tuple[str, str, str], list[Subject]] = defaultdict(list)
        for subject in subjects:
            if subject.object is None or controller_of(subject.object) is not None:
                continue
            for key, value in (("", ""), *subject.labels.items()):
                self._labeled[subject.name.namespace, key, value].append(subject)

    def counted_beside(self, subject: Subject, selector: Selector) -> Iterator[Subject]:
        """Yield the other workloads of the namespace with pods that ``selector`` matches."""
        if subject.object is not None and controller_of(subject.object) is not None:
            return
        # A pod has one value per label, so none comes twice.
        required = next((requirement for requirement in selector.requirements if requirement.operator == "In"), None)
        labels = [("", "")] if required is None else [(required.key, value) for value in dict.fromkeys(required.values)]
        for key, value in labels:
            for other in self._labeled.get((subject.name.namespace, key, value), ()):
                if other.name != subject.name and selector.matches(other.labels):
                    yield other


class Declaration(Struct, frozen=True, eq=False):
    """A constraint that the pod declares."""

    position: int
    path: str
    """Path within the object: ``spec.template.spec.topologySpreadConstraints[0]``."""
    key_to_set: str
    """Key in the brackets of ``--set``."""
    written: TopologySpreadConstraint
    """The constraint as in the pod template: the API server merges matchLabelKeys into the selector of the pod."""
    constraint: Constraint
    """With defaults, and the selector parsed."""

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    @property
    def name(self) -> str:
        """Short name of its key: ``zone``."""
        return short_key(self.key)

    @property
    def counts_itself(self) -> bool:
        """True if it counts the pods that declare it."""
        return bool(self.constraint.self_match and self.constraint.counts_pods)

    def with_fields(self, **fields: object) -> FieldChange:
        """Change of these fields, named as in manifests: ``maxSkew``."""
        return FieldChange({self: fields})


class FieldChange(Struct, frozen=True):
    """New values of fields of a pod's own constraints, named as in manifests."""

    values: Mapping[Declaration, Mapping[str, Any]]

    def __call__(self, pod: Pod) -> Pod:
        constraints = list(pod.spec.topology_spread_constraints)
        for declared, values in self.values.items():
            attributes = {_ATTRIBUTES[name]: value for name, value in values.items()}
            constraints[declared.position] = replace(constraints[declared.position], **attributes)
        return with_constraints(pod, constraints)

    @property
    def settings(self) -> tuple[str, ...]:
        return tuple(f"{name}[{declared.key_to_set}]={value}" for declared, name, value in self._all())

    @property
    def text(self) -> str:
        """``maxSkew: 2``; a value that several constraints get is named once."""
        return " and ".join(dict.fromkeys(f"{name}: {value}" for _, name, value in self._all()))

    def _all(self) -> Iterator[tuple[Declaration, str, Any]]:
        return ((declared, *field) for declared, values in self.values.items() for field in values.items())


class Case(Struct, frozen=True, dict=True):
    """A workload to check, with values that several rules share, each computed once."""

    subject: Subject
    company: Company
    """All workloads checked together, including this one."""
    objects: ClusterObjects
    """Objects of the cluster and the manifests."""
    plugins: Framework
    """Profile that schedules the workload."""
    trial: ReplicaTrial | None
    """The workload's replicas on the cluster; None without a cluster."""

    @cached_property
    def spread(self) -> PodTopologySpread:
        """The plugin as the profile configures it, else with its defaults."""
        configured = (plugin for plugin in self.plugins.evaluators if isinstance(plugin, PodTopologySpread))
        return next(configured, PodTopologySpread())

    @cached_property
    def own(self) -> tuple[Declaration, ...]:
        """Constraints that the pod declares."""
        subject = self.subject
        if not subject.pod.spec.topology_spread_constraints:
            return ()
        rules = self.spread.rules
        in_force = pod_constraints(
            subject.pod, self.spread.defaults, self.objects, empty_selector_counts=rules.empty_selector_counts
        )
        written = (subject.template or subject.pod).spec.topology_spread_constraints
        return tuple(
            Declaration(
                position,
                subject.field(f"spec.topologySpreadConstraints[{position}]"),
                key_to_set(subject.pod, position),
                as_written,
                constraint,
            )
            for position, (as_written, constraint) in enumerate(zip(written, in_force.constraints, strict=True))
        )

    def hard(self, trial: ReplicaTrial) -> Iterator[tuple[Declaration, HardConstraint]]:
        """Yield the pod's own hard constraints with their numbers on the cluster.

        Those of a DaemonSet are left out: each of its pods is meant for one node, which is its only domain.
        """
        for declared, counted in zip(self.own, trial.counting, strict=False):
            if isinstance(counted, HardConstraint) and not self.subject.is_daemon:
                yield declared, counted

    @cached_property
    def exclusive_claim(self) -> str:
        """kube-scheduler's reason if the pods share a claim that only one pod may use; else empty."""
        pod, objects = self.subject.pod, self.objects
        names = {
            volume.persistent_volume_claim.claim_name for volume in pod.spec.volumes if volume.persistent_volume_claim
        }
        shared = (objects.find(PersistentVolumeClaim, name, pod.metadata.namespace) for name in names)
        is_exclusive = any(claim is not None and is_for_one_pod(claim) for claim in shared)
        return IN_USE.reasons[0] if is_exclusive and self.subject.distinct_replicas is None else ""

    @cached_property
    def at_most(self) -> Allowance:
        """Most of its pods that may run at once on any nodes, and why not more."""
        allowed = allowance(self.subject.pod, self.objects.get(ResourceQuota))
        is_one = self.exclusive_claim and (allowed.copies is None or allowed.copies > 1)
        return Allowance(1, self.exclusive_claim) if is_one else allowed

    @property
    def counts_by_revision(self) -> bool:
        """True if the release supports matchLabelKeys."""
        return self.subject.profile.version.has(_GATE)

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """Labels that distinguish its pods, not set by controllers: of the workload's selector if it has only labels,
        else of the pod.
        """
        labels, workload = self.subject.labels, self.subject.object
        selector = workload.spec.selector if isinstance(workload, LabelSelectingWorkload) else None
        if selector is not None and not selector.match_expressions and selector.match_labels.items() <= labels.items():
            return _user_labels(selector.match_labels) or _user_labels(labels)
        return _user_labels(labels)


def _user_labels(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key not in _MADE_BY_CONTROLLERS}


def remedy_of(change: Change, text: str, outcome: str | None) -> Remedy:
    return Remedy(text=text, settings=change.settings, edits=tuple(map(str, change.edits)), outcome=outcome)


class RuleFinding(Struct, frozen=True):
    field: str
    """Path within the object; if it is missing there, the nearest field above it is shown."""
    message: str
    """Consequence, in numbers if there are any."""
    remedy: Remedy
    mended: MendedPod | None = None
    """The remedy as a tried change of the pod; None for another one."""
    severity: Severity | None = None
    """Severity, if not the rule's."""
    proven: bool = False
    """True if the numbers come from running the engine on the cluster, as for all rules that need one."""


class RefusedManifest(Struct, frozen=True):
    """A file, or an object in it, that is not a valid workload."""

    file: str | None
    name: str | None
    """NAMESPACE/Kind/name of the workload; None for an unreadable file."""
    faults: Sequence[Fault]
    ignored: Sequence[str] = ()
    objects: ClusterObjects = ClusterObjects()
    """Objects that the workload may refer to."""
    data: Any = None
    """The workload as written."""


UNSEARCHED = Remedy(text="")
"""Placeholder for a remedy to be searched for later."""


class AnyRule:
    """Base of rules. The docstring is Markdown, its first line the summary."""

    code: str
    name: str
    severity: Severity
    needs_cluster: ClassVar[bool] = False

    def __init_subclass__(cls, *, code: str = "", name: str = "", severity: Severity = Severity.ERROR) -> None:
        cls.code, cls.name, cls.severity = code, name, severity

    @property
    def report(self) -> RuleReport:
        documentation = inspect.getdoc(type(self)) or ""
        return RuleReport(
            code=self.code,
            name=self.name,
            severity=self.severity,
            needs_cluster=self.needs_cluster,
            summary=documentation.partition("\n")[0].rstrip("."),
            documentation=documentation,
        )


class Rule(AnyRule):
    """Rule that runs on every workload; with a cluster, ``case.trial`` gives it numbers."""

    def check(self, case: Case) -> Iterable[RuleFinding]:
        raise NotImplementedError


class ClusterRule(AnyRule):
    """Rule that runs on every workload, with a cluster only."""

    needs_cluster = True

    def check(self, case: Case, trial: ReplicaTrial) -> Iterable[RuleFinding]:
        raise NotImplementedError


class LastRule(AnyRule):
    """Rule that runs after the others, given their findings that are not silenced."""

    def check(self, case: Case, others: Sequence[RuleFinding]) -> Iterable[RuleFinding]:
        raise NotImplementedError


class FaultRule(AnyRule):
    """Rule for each fault in a file that cannot be read, or in an object that is refused."""

    def check(self, fault: Fault, refused: RefusedManifest) -> Remedy | None:
        """Remedy of the fault; None if the fault is not one of the rule's."""
        raise NotImplementedError
