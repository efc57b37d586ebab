"""Rules for the pods that a constraint counts: labelSelector and matchLabelKeys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.api.workloads import StatefulSet, Workload
from kubespread.kube.selector import Selector, from_label_selector
from kubespread.questions.causes.own_pods import is_meant, missing_them
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.check.rule import Case, Declared, Rule, RuleFinding, selector_text
from kubespread.questions.check.trial import PodChange, Subject, by_domain, listed, own_counts, skew_of, unchanged
from kubespread.wording import count_of


class GhostPods(Rule, code="KS101", name="ghost-pods", severity=Severity.ERROR):
    """The selector of a constraint misses the pod's own labels.

    A constraint counts the pods that its labelSelector matches. Where the selector does not match the pod that carries
    it, none of the replicas is ever counted: however many of them run in one zone, the next one finds the same numbers
    as the first. The constraint looks right, is accepted, and spreads nothing. The usual cause is a renamed label, or a
    block copied from another workload.

    A selector that counts the pods of another workload on purpose is left alone: those pods exist, and the constraint
    is not a copy of theirs or accompanies one that counts the workload's own pods. Pods of a DaemonSet have one node
    each and nothing to spread. A single replica has nothing to spread yet.

    Example:

    ```yaml
    labels: {app: api}
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
    ```

    Remedy: select labels that the pod has, usually those of the workload's own selector.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter, updateWithPod"""
        for declared in () if case.subject.is_daemon else case.own:
            constraint = declared.constraint
            if constraint.self_match or constraint.selector.nothing:
                continue
            selector = from_label_selector(declared.written.label_selector)
            if _is_meant(case, declared, selector) or _may_be_added(case, selector):
                continue
            why = missing_them(selector, case.subject.labels)
            severity = Severity.ERROR if _can_be_several(case) else Severity.WARNING
            yield case.counting_nothing(declared, f"{declared.path}.labelSelector", why, severity)


def _is_meant(case: Case, declared: Declared, selector: Selector) -> bool:
    """Whether it counts pods of others, and was not just copied from them."""
    counts_own = any(declared.counts_itself for declared in case.own)
    return is_meant(declared.written, list(_counted(case, selector)), counts_own=counts_own)


def _may_be_added(case: Case, selector: Selector) -> bool:
    """Whether it asks for labels that the controller of a foreign kind may give the pods beside their own."""
    labels = case.subject.labels
    missed = [requirement for requirement in selector.requirements if not requirement.matches(labels)]
    return type(case.subject.object) is Workload and all(requirement.key not in labels for requirement in missed)


def _counted(case: Case, selector: Selector) -> Iterator[Pod]:
    """The pods of other workloads that are checked too, and those that run in the cluster."""
    yield from (other.template or other.pod for other in case.company.counted_beside(case.subject, selector))
    namespace = case.subject.name.namespace
    for pod in case.trial.cluster.running.pods if case.trial is not None else ():
        if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels):
            yield pod


def _can_be_several(case: Case) -> bool:
    subject = case.subject
    return subject.replicas > 1 or any(autoscaler.most > 1 for autoscaler in autoscalers_of(subject.name, case.objects))


class NoSelector(Rule, code="KS102", name="no-selector", severity=Severity.ERROR):
    """A constraint has no labelSelector.

    An absent labelSelector matches no pod at all. Nothing is counted, neither what runs nor the pod itself, so the skew
    is always 0: a hard constraint only demands that nodes have the topology label, and a soft one prefers nothing. The
    API server accepts it silently.

    Example:

    ```yaml
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
    ```

    Remedy: add a labelSelector with the labels of the workload's own selector.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector"""
        for declared in case.own:
            if declared.written.label_selector is None:
                why = "without a labelSelector the constraint counts no pods"
                yield case.counting_nothing(declared, declared.path, why)


class EmptySelector(Rule, code="KS103", name="empty-selector", severity=Severity.ERROR):
    """A constraint selects every pod, and counts none.

    Elsewhere the selector `{}` matches everything. Since 1.27 kube-scheduler counts no pods at all for it, while the
    pod still matches itself: the skew is 0 + 1 − 0 = 1 on every node whatever runs there, so a hard constraint never
    rejects a node that has the topology label, and a soft one scores all nodes the same. Up to 1.26 all pods of the
    namespace counted, so an upgrade switches the constraint off.

    Example:

    ```yaml
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {}
    ```

    Remedy: select the labels of the workload's own selector.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        for declared in case.own:
            constraint = declared.constraint
            if constraint.selector.is_empty and not constraint.counts_pods:
                never = f", so maxSkew {constraint.max_skew} never rejects a node" if constraint.is_hard else ""
                why = f"labelSelector {{}} counts no pods, the skew is 0 + 1 − 0 = 1 everywhere{never}"
                yield case.counting_nothing(declared, f"{declared.path}.labelSelector", why)


TEMPLATE_HASH = "pod-template-hash"
_OWN = "kubespread.dev/own"
_MOST_OTHERS = 3


class SharedSelector(Rule, code="KS402", name="shared-selector", severity=Severity.WARNING):
    """A constraint counts the pods of another workload too.

    Two Deployments whose pods carry the labels that a constraint selects, such as a stable one and its canary, are one
    group to it. Their pods are even together, but those of one may all be on one side. When the canary goes, the rest
    of the group is as uneven as it always was, and losing a zone takes more of the stable replicas than maxSkew
    suggests.

    With a cluster given, the others are placed first and the replicas after them. There is a finding where these end
    beyond maxSkew, and within it once the constraint counts them alone. With more than three others there are no
    numbers.

    Example: a canary that is pinned to one zone, and its stable workload.

    ```yaml
    # canary: labels {app: web, track: canary}, nodeSelector {topology.kubernetes.io/zone: a}
    labels: {app: web, track: stable}
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
    ```

    Remedy: select a label that only this workload has, or `matchLabelKeys: [pod-template-hash]`.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        # A single replica is never uneven.
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        for declared, selected in case.counted_together() if case.subject.replicas > 1 else ():
            others = [other for other in selected if declared.is_on(other)]
            if others:
                yield from _shared(case, declared, others)


def _shared(case: Case, declared: Declared, others: Sequence[Subject]) -> Iterator[RuleFinding]:
    trial, most, field = case.trial, declared.constraint.max_skew, f"{declared.path}.labelSelector"
    names = listed([f"{other.name.kind}/{other.name.name}" for other in others])
    replicas = count_of(sum(other.replicas for other in others), "replica")
    message = f"{declared.name} counts the pods of {names} too ({replicas})"
    if trial is None or not trial.counted or len(others) > _MOST_OTHERS:
        yield RuleFinding(field, message, _label_of_its_own(case), severity=Severity.INFO)
        return
    before, constraint = [trial.of(other) for other in others], trial.counted[declared.position]

    def counting_itself(pod: Pod) -> Pod:
        """The pod with a label that no other has, and the constraint counting by it."""
        labeled = replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, _OWN: "true"}))
        return declared.with_fields(labelSelector=LabelSelector(match_labels={_OWN: "true"}))(labeled)

    def placed(change: PodChange) -> Mapping[str, int]:
        """Where its own replicas are once those of the others are placed, in each domain."""
        return own_counts(trial.placed_behind(before, change)[-1:], constraint)

    together, apart = placed(unchanged), placed(counting_itself)
    # Where they are even all the same, or uneven by themselves as well, it is not what they count.
    if skew_of(together) > most >= skew_of(apart):
        placed_after = f"placed after them its own {case.subject.replicas} are {by_domain(together)}"
        message += f": {placed_after}, skew {skew_of(together)} > {most}"
        yield RuleFinding(field, message, _label_of_its_own(case, f"its own are {by_domain(apart)}"), proven=True)


def _label_of_its_own(case: Case, outcome: str | None = None) -> Remedy:
    if TEMPLATE_HASH in case.subject.labels:
        return Remedy(
            text=f"matchLabelKeys: [{TEMPLATE_HASH}], or a label that only this workload has", outcome=outcome
        )
    return Remedy(text="select a label that only this workload has")


_HASHES = ("pod-template-hash", "controller-revision-hash")


class AbsentMatchLabelKey(Rule, code="KS403", name="absent-match-label-key", severity=Severity.WARNING):
    """A key of matchLabelKeys is not a label of the pod.

    matchLabelKeys adds the pod's own value of each key to the selector. A key that the pod does not have is silently
    dropped, so the constraint counts as if it were not there: usually pods of all revisions, which matchLabelKeys was
    meant to keep apart. Only Deployments give their pods `pod-template-hash`; those of a StatefulSet or DaemonSet have
    `controller-revision-hash`, and pods of Jobs neither.

    Example: a StatefulSet.

    ```yaml
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: db}}
      matchLabelKeys: [pod-template-hash]
    ```

    Remedy: name a label that the pods have, or leave the key out.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, filterTopologySpreadConstraints
        Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeys
        """
        for declared in case.own:
            selector = declared.constraint.selector
            counted = "no pod" if selector.nothing or selector.is_empty else f"every pod with {selector}"
            for position, key in enumerate(declared.written.match_label_keys):
                if key not in case.subject.labels:
                    message = (
                        f"pods of {case.subject.name.kind}/{case.subject.name.name} have no label {key}: the key is "
                        f"dropped, and the constraint counts {counted}"
                    )
                    yield RuleFinding(
                        f"{declared.path}.matchLabelKeys[{position}]", message, _label_instead(key, declared, case)
                    )


def _label_instead(key: str, declared: Declared, case: Case) -> Remedy:
    labels = case.subject.labels
    revision = next((name for name in _HASHES if key in _HASHES and name in labels), "")
    meant = revision or near_miss(key, labels)
    if not meant:
        return Remedy(text=f"remove {key}, or give the pods that label")
    keys = dict.fromkeys(meant if other == key else other for other in declared.written.match_label_keys)
    return Remedy(text=f"matchLabelKeys: [{meant}]", fields=declared.with_fields(matchLabelKeys=[*keys]).fields)


_REVISION = "controller-revision-hash"
_UNIQUE = frozenset(
    {"apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index", "statefulset.kubernetes.io/pod-name"}
)


class UniqueMatchLabelKey(Rule, code="KS404", name="unique-match-label-key", severity=Severity.ERROR):
    """A key of matchLabelKeys is a label with a different value on every replica.

    Pods of a StatefulSet and of an indexed Job carry their own name or number as labels. With such a key the selector
    of each replica matches that replica alone: nothing is counted before it exists, and every node of every domain is
    as good as any other. The constraint never rejects a node, and its score is the same everywhere.

    Example:

    ```yaml
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: db}}
      matchLabelKeys: [apps.kubernetes.io/pod-index]
    ```

    Remedy: leave the key out. To keep revisions apart, `controller-revision-hash` in a StatefulSet.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/controller/statefulset/stateful_set_utils.go, updateIdentity
        Source: pkg/controller/job/indexed_job_utils.go, addCompletionIndexLabel
        """
        replicas = case.subject.replicas
        for declared in case.own if replicas > 1 else ():
            for position, key in enumerate(declared.written.match_label_keys):
                if key in _UNIQUE and key in case.subject.labels:
                    message = (
                        f"each of the {replicas} replicas has its own {key} and counts itself alone: 0 + 1 − 0 = 1 on "
                        "every node, which never exceeds maxSkew"
                    )
                    yield RuleFinding(
                        f"{declared.path}.matchLabelKeys[{position}]", message, _key_left_out(case, declared, key)
                    )


def _key_left_out(case: Case, declared: Declared, key: str) -> Remedy:
    is_stateful = isinstance(case.subject.object, StatefulSet)
    keys = [other for other in declared.written.match_label_keys if other not in (key, _REVISION)]
    keys += [_REVISION] if is_stateful else []
    text = f"matchLabelKeys: [{_REVISION}]" if is_stateful else f"remove {key}"
    return Remedy(text=text, fields=declared.with_fields(matchLabelKeys=keys or None).fields)


_HASHES = ("pod-template-hash", "controller-revision-hash")


class PinnedRevision(Rule, code="KS405", name="pinned-revision", severity=Severity.ERROR):
    """A selector names the hash of one revision.

    `pod-template-hash` and `controller-revision-hash` are written by controllers, and change with every template. A
    selector that contains one of them with its value is usually from a pod copied from a cluster: since Kubernetes 1.34
    the API server writes there what matchLabelKeys adds. It counts only pods of that revision, while there are any; the
    pods of the next template do not even count themselves.

    Example:

    ```yaml
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web, pod-template-hash: 5d59d67564}}
    ```

    Remedy: leave the hash out of the selector, and name its key in `matchLabelKeys`.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        # A pod by itself, or the template of one that a controller made, is of one revision.
        """Source: pkg/registry/core/pod/strategy.go, applyLabelKeysToLabelSelector"""
        for declared in () if case.subject.object is None else case.own:
            selector = declared.written.label_selector
            for requirement in (
                () if declared.constraint.selector.nothing else from_label_selector(selector).requirements
            ):
                if requirement.key in _HASHES and requirement.operator == "In":
                    yield _pinned(case, declared, requirement.key, " or ".join(requirement.values))


def _pinned(case: Case, declared: Declared, key: str, value: str) -> RuleFinding:
    own, labels = case.subject.labels.get(key), case.own_labels
    now = f"the {count_of(case.subject.replicas, 'replica')} of this template{'' if own is None else f', {own},'}"
    fate = "stop counting themselves with the next template" if declared.constraint.self_match else "count nowhere"
    message = f"the selector asks for {key} {value}, the hash of one revision: {now} {fate}"
    keys = [*declared.written.match_label_keys, key]
    fields = declared.with_fields(labelSelector={"matchLabels": labels}, matchLabelKeys=keys).fields
    remedy = Remedy(text=f"{selector_text(labels)}, matchLabelKeys: [{key}]", fields=fields)
    return RuleFinding(f"{declared.path}.labelSelector", message, remedy)


_MOST_OTHERS = 3
"""Of how many others a constraint says how they differ."""


class InconsistentGroup(Rule, code="KS504", name="inconsistent-group", severity=Severity.WARNING):
    """Workloads that one constraint counts together do not keep it together.

    Kubernetes asks for the same constraints on all pods of a group. Where another workload's pods carry the selected
    labels and have no such constraint, or a different one over the same key, they are placed freely and still count
    here. They fill domains that this constraint then avoids, or leave it no node at all.

    With a cluster given, this workload is placed first and the other one after it, and the numbers are what the
    constraint then sees. Where they are within maxSkew there is no finding.

    Example: `api` shares the label `app: web` and has no constraint.

    ```yaml
    labels: {app: web}
    topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
    ```

    Remedy: give all of them the same constraints, or select a label that only this workload has.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        for declared, selected in case.counted_together():
            others = [other for other in selected if not declared.is_on(other)]
            for other in others[:_MOST_OTHERS]:
                yield from _inconsistent(case, declared, other)


def _inconsistent(case: Case, declared: Declared, other: Subject) -> Iterator[RuleFinding]:
    constraints = other.pod.spec.topology_spread_constraints
    theirs = next((constraint for constraint in constraints if constraint.topology_key == declared.key), None)
    has = "no such constraint" if theirs is None else f"maxSkew {theirs.max_skew} {theirs.when_unsatisfiable}"
    message = (
        f"{declared.name} counts the pods of {other.name.kind}/{other.name.name} too "
        f"({count_of(other.replicas, 'replica')}), which has {has}"
    )
    remedy = Remedy(
        text=f"give {other.name.name} the same constraint over {declared.name}, "
        f"or select a label that only {case.subject.name.name} has"
    )
    trial, most = case.trial, declared.constraint.max_skew
    if trial is None or not trial.counted or other.is_daemon:
        yield RuleFinding(declared.path, message, remedy, severity=Severity.INFO)
        return
    both = trial.of(other).placed_behind([trial])
    counts = own_counts(both, trial.counted[declared.position])
    if (skew := skew_of(counts)) > most:
        together = f"once both are placed, their pods are {by_domain(counts)}, skew {skew} > {most}"
        yield RuleFinding(declared.path, f"{message}: {together}", remedy, proven=True)


RULES = (
    GhostPods(),
    NoSelector(),
    EmptySelector(),
    SharedSelector(),
    AbsentMatchLabelKey(),
    UniqueMatchLabelKey(),
    PinnedRevision(),
    InconsistentGroup(),
)
