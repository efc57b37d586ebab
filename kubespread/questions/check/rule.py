"""The interface of rules: a class with a permanent code, a name and a severity that looks for one thing.

Its docstring is its documentation: what it finds, why it matters, an example and the remedy. The engine adds whose a
finding is, where it stands and its code.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.errors import Fault
from kubespread.kube.admission.quota import Allowance, allowance
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.core import Pod, ResourceQuota, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkload
from kubespread.kube.owners import controller_of
from kubespread.kube.persistent_volumes import is_for_one_pod
from kubespread.kube.selector import Selector, SelectorError, from_label_selector
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.report import Remedy, RuleReport, Severity
from kubespread.questions.check.trial import Mended, PodChange, ReplicaTrial, Subject, by_domain, with_constraint
from kubespread.questions.remedies.change import Change
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, PodConstraints, pod_constraints
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread
from kubespread.scheduler.plugins.volumes.filters import IN_USE
from kubespread.wording import short_key

BY_REVISION = f"matchLabelKeys: [{TEMPLATE_HASH}]"
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
# Everything else is quoted: numbers, what is empty, and the words that YAML takes for booleans.
_PLAIN = re.compile(r"[A-Za-z][-A-Za-z0-9_.]*")
_BOOLEANS = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off", "null"})
_ATTRIBUTES = dict(
    zip(TopologySpreadConstraint.__struct_encode_fields__, TopologySpreadConstraint.__struct_fields__, strict=True)
)


class Company:
    """Workloads that are checked together, found by namespace and labels. Bare pods are left out, as they are often
    alike on purpose. So are workloads that another one controls: the pods of a Deployment's ReplicaSet are the
    Deployment's.
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
    """With defaults filled in and the selector parsed."""

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    @property
    def name(self) -> str:
        """Of its key, in short: ``zone``."""
        return short_key(self.key)

    @property
    def counts_itself(self) -> bool:
        """Whether it counts the pods that carry it."""
        return bool(self.constraint.self_match and self.constraint.counts_pods)

    def is_on(self, other: Subject) -> bool:
        """Whether pods of ``other`` have a constraint with the same terms, regardless of its selector."""
        others = other.pod.spec.topology_spread_constraints
        return any(_terms(constraint) == _terms(self.written) for constraint in others)

    def with_fields(self, **fields: object) -> FieldChange:
        """Of fields as they are written: ``maxSkew``."""
        return FieldChange({self: fields})


def _terms(constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    return (
        constraint.topology_key,
        constraint.max_skew,
        constraint.when_unsatisfiable,
        constraint.min_domains,
        constraint.node_affinity_policy or "Honor",
        constraint.node_taints_policy or "Ignore",
    )


class FieldChange(Struct, frozen=True):
    """Fields of a pod's own constraints, by their names in manifests, with other values: a change of the pod."""

    values: Mapping[Declared, Mapping[str, Any]]

    def __call__(self, pod: Pod) -> Pod:
        for declared, values in self.values.items():
            attributes = {_ATTRIBUTES[name]: value for name, value in values.items()}
            pod = with_constraint(pod, declared.position, **attributes)
        return pod

    @property
    def settings(self) -> tuple[str, ...]:
        """As ``--set`` takes them."""
        return tuple(f"{name}[{declared.position}]={value}" for declared, name, value in self._all())

    @property
    def fields(self) -> dict[str, Any]:
        """As fields of the object, by path."""
        return {f"{declared.path}.{name}": value for declared, name, value in self._all()}

    @property
    def text(self) -> str:
        """``maxSkew: 2``; what several constraints get is said once."""
        return " and ".join(dict.fromkeys(f"{name}: {value}" for _, name, value in self._all()))

    def _all(self) -> Iterator[tuple[Declared, str, Any]]:
        return ((declared, *field) for declared, values in self.values.items() for field in values.items())


def by_revision(constraints: Iterable[Declared]) -> FieldChange:
    """The constraints counting their own revision alone."""
    return FieldChange({own: {"matchLabelKeys": [*own.written.match_label_keys, TEMPLATE_HASH]} for own in constraints})


def excess(rollout: RolloutReport, declared: Declared) -> int:
    """By how much the new pods end beyond maxSkew."""
    final = rollout.final[declared.position]
    return max(0, final.skew - final.max_skew)


class Case(Struct, frozen=True, dict=True):
    """A workload among the others: its constraints as declared and as in force, and its surroundings. What several
    rules need is worked out once.
    """

    subject: Subject
    company: Company
    """All that are checked together, the subject among them."""
    objects: ClusterObjects
    """The cluster's, with those that the manifests bring; the manifests' alone where there is no cluster."""
    version: KubeVersion
    plugins: Framework
    """The profile that schedules the subject."""
    trial: ReplicaTrial | None
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
        subject = self.subject
        if not subject.pod.spec.topology_spread_constraints:
            return ()
        written = (subject.template or subject.pod).spec.topology_spread_constraints
        return tuple(
            Declared(position, subject.field(f"spec.topologySpreadConstraints[{position}]"), as_written, constraint)
            for position, (as_written, constraint) in enumerate(zip(written, self.constraints.constraints, strict=True))
        )

    def hard(self, trial: ReplicaTrial) -> Iterator[tuple[Declared, HardConstraint]]:
        """The pod's own hard constraints with their numbers on the cluster.

        Those of a DaemonSet are left out: each of its pods is meant for one node, which is its only domain.
        """
        for declared, counted in zip(self.own, trial.counted, strict=False):
            if isinstance(counted, HardConstraint) and not self.subject.is_daemon:
                yield declared, counted

    def counted_together(self) -> Iterator[tuple[Declared, Iterator[Subject]]]:
        """The workload's own constraints that count its pods, each with the others whose pods it counts too."""
        for declared in self.own if self.subject.object is not None and not self.subject.is_daemon else ():
            if declared.counts_itself:
                yield declared, self.company.counted_beside(self.subject, declared.constraint.selector)

    @cached_property
    def exclusive_claim(self) -> str:
        """The reason that kube-scheduler gives where its pods share a claim that one pod may use, as far as is read."""
        pod, objects = self.subject.pod, self.objects
        names = {
            volume.persistent_volume_claim.claim_name for volume in pod.spec.volumes if volume.persistent_volume_claim
        }
        shared = (objects.named(PersistentVolumeClaim, name, pod.metadata.namespace) for name in names)
        is_exclusive = any(claim is not None and is_for_one_pod(claim) for claim in shared)
        return IN_USE.reasons[0] if is_exclusive and self.subject.told_apart is None else ""

    @cached_property
    def at_most(self) -> Allowance:
        """How many of its pods may run at once whatever the nodes are, and why not more."""
        allowed = allowance(self.subject.pod, self.objects.of(ResourceQuota))
        is_one = self.exclusive_claim and (allowed.copies is None or allowed.copies > 1)
        return Allowance(1, self.exclusive_claim) if is_one else allowed

    @property
    def counts_by_revision(self) -> bool:
        """Whether the release has matchLabelKeys."""
        return self.version.has(_GATE)

    @property
    def rolled_out(self) -> Deployment | None:
        """The Deployment, where it makes new pods while old ones are there."""
        workload = self.subject.object
        if not isinstance(workload, Deployment):
            return None
        strategy = workload.spec.strategy
        return None if strategy is not None and strategy.type == "Recreate" else workload

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """What tells its pods from others: the workload's selector where it has one of labels alone that matches them,
        else their labels.
        """
        subject = self.subject
        if (
            isinstance(subject.object, LabelSelectingWorkload)
            and (selector := subject.object.spec.selector) is not None
        ):
            try:
                matches = from_label_selector(selector).matches(subject.labels)
            except SelectorError:
                matches = False
            labels = _of_people(selector.match_labels)
            if matches and labels and not selector.match_expressions:
                return labels
        return _of_people(subject.labels)

    def counting_nothing(
        self, declared: Declared, field: str, why: str, severity: Severity | None = None
    ) -> RuleFinding:
        """Of a constraint that counts none of its own pods, which does not affect where they land then: why, with the
        consequence and the effect of selecting them.
        """
        labels, trial = self.own_labels, self.trial
        remedy, mended = Remedy(text="give the pods labels of their own, and select them"), None
        if labels:
            fields: dict[str, Any] = {f"{declared.path}.labelSelector": {"matchLabels": labels}}
            text = f"select the pods' own labels: {selector_text(labels)}"
            if trial is not None:
                select = declared.with_fields(labelSelector=LabelSelector(match_labels=labels))
                change = self._by_revision(declared, select, trial)
                mended = trial.mended(change or select)
                if change is not None:
                    text += f"; {BY_REVISION} on this constraint"
                    fields |= by_revision([declared]).fields
            remedy = Remedy(
                text=text, fields=fields, outcome=None if mended is None else mended.placed.outcome(declared.key)
            )
        message = f"{why}: {self._uncounted(declared)}"
        return RuleFinding(
            field, message, remedy, mended=mended, revives=True, proven=trial is not None, severity=severity
        )

    def _uncounted(self, declared: Declared) -> str:
        replicas = self.subject.replicas
        none = "the pod itself does not count" if replicas == 1 else f"none of its {replicas} replicas counts"
        if self.trial is None:
            return f"{none}, and nothing spreads them" if replicas > 1 else none
        landed = by_domain(self.trial.placed.by_domain(declared.key))
        return f"{none}; left to themselves they land {landed}" if landed and self.trial.placed.count > 1 else none

    def _by_revision(self, declared: Declared, select: PodChange, trial: ReplicaTrial) -> PodChange | None:
        """The change ``select`` with each revision counted separately, where only that makes a rollout end even."""
        deployment, apart = self.rolled_out, by_revision([declared])
        if deployment is None or trial.rollout is None or not self.counts_by_revision:
            return None

        def change(pod: Pod) -> Pod:
            return apart(select(pod))

        both, each = trial.rollout_of(deployment, select), trial.rollout_of(deployment, change)
        is_uneven = both.complete and excess(both, declared)
        return change if is_uneven and each.complete and not excess(each, declared) else None


def _of_people(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key not in _MADE_BY_CONTROLLERS}


def selector_text(labels: Mapping[str, str]) -> str:
    """The field as YAML in one line: ``labelSelector: {matchLabels: {app: web}}``."""
    listed = ", ".join(f"{key}: {_yaml(value)}" for key, value in labels.items())
    return f"labelSelector: {{matchLabels: {{{listed}}}}}"


def _yaml(value: str) -> str:
    return value if _PLAIN.fullmatch(value) and value.lower() not in _BOOLEANS else f'"{value}"'


def remedy_of(change: Change, text: str, outcome: str | None) -> Remedy:
    """The change as a remedy."""
    return Remedy(text=text, settings=change.settings, edits=tuple(map(str, change.edits)), outcome=outcome)


class RuleFinding(Struct, frozen=True):
    field: str
    """The path from the object on, which need not be there: the nearest field above it is where people are sent."""
    message: str
    """What will happen, in numbers where there are any."""
    remedy: Remedy
    mended: Mended | None = None
    """The remedy as a change of the pod, where it is one that was tried."""
    severity: Severity | None = None
    """Where it is not that of the rule."""
    proven: bool = False
    """Whether the numbers come from running the engine on the cluster, as all do of rules that need one."""
    revives: bool = False
    """Whether the remedy makes a constraint count that counted nothing, so that its other faults show."""


class RefusedManifest(Struct, frozen=True):
    """A file, or an object in it, that yields no workload."""

    file: str | None
    name: str | None
    """Of the workload, NAMESPACE/Kind/name; None for a file that could not be read."""
    faults: Sequence[Fault]
    ignored: Sequence[str] = ()
    objects: ClusterObjects = ClusterObjects()
    """Which it may name."""
    data: Any = None
    """The workload as it is written."""


UNSEARCHED = Remedy(text="")
"""Of a finding whose remedy is still to be searched for."""


class AnyRule:
    """One thing to look for. The docstring is Markdown, its first line the summary."""

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
    """Runs on every workload. If there is a cluster, ``case.trial`` makes its numbers real."""

    def check(self, case: Case) -> Iterable[RuleFinding]:
        raise NotImplementedError


class ClusterRule(AnyRule):
    """Runs on every workload where there is a cluster to try it on."""

    needs_cluster = True

    def check(self, case: Case, trial: ReplicaTrial) -> Iterable[RuleFinding]:
        raise NotImplementedError


class LastRule(AnyRule):
    """Runs once the others have, with what they found and is not silenced."""

    def check(self, case: Case, others: Sequence[RuleFinding]) -> Iterable[RuleFinding]:
        raise NotImplementedError


class FaultRule(AnyRule):
    """Runs on each fault of what is no workload yet: a file that cannot be read, an object that is refused."""

    def check(self, fault: Fault, refused: RefusedManifest) -> Remedy | None:
        """What would mend the fault; None where it is not one of the rule's."""
        raise NotImplementedError
