"""Rules for the pods that a constraint counts: labelSelector and matchLabelKeys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.candidate.replicas import autoscalers_of
from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.api.workloads import Workload
from kubespread.kube.selector import Selector, from_label_selector
from kubespread.questions.causes.own_pods import is_intended, mismatch_of
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.rule import Case, Declaration, Rule, RuleFinding
from kubespread.questions.check.rules.disruption import BY_REVISION, by_revision, excess, rolled_out
from kubespread.questions.check.trial import PodChange, Subject, breakdown, domains, keep, listing, own_counts, skew_of
from kubespread.regex import regex
from kubespread.wording import count_of

_REVISION = "controller-revision-hash"
_HASHES = (TEMPLATE_HASH, _REVISION)
_OWN = "kubespread.dev/own"
_MOST_OTHERS = 3
"""Most other workloads per constraint that are placed to get numbers."""
# Everything else is quoted: numbers, empty texts, and words that YAML takes for booleans.
_PLAIN = regex(r"(?!(?:y|yes|n|no|true|false|on|off|null)$)[A-Za-z][-A-Za-z0-9_.]*", re.IGNORECASE)


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
    topologySpreadConstraints: [{labelSelector: {matchLabels: {app: web}}}]
    ```

    Remedy: select labels that the pod has, usually those of the workload's own selector.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter, updateWithPod"""
        subject, counts_own = case.subject, any(declared.counts_itself for declared in case.own)
        for declared in () if subject.is_daemon else case.own:
            if declared.constraint.self_match or declared.constraint.selector.nothing:
                continue
            selector = from_label_selector(declared.written.label_selector)
            others = list(_counted_pods(case, selector))
            if not is_intended(declared.written, others, counts_own=counts_own) and not _may_be_added(
                subject, selector
            ):
                most = max(subject.replicas, *(other.most for other in autoscalers_of(subject.name, case.objects)), 1)
                severity = Severity.ERROR if most > 1 else Severity.WARNING
                why = mismatch_of(selector, subject.labels)
                yield _counting_nothing(case, declared, f"{declared.path}.labelSelector", why, severity)


def _may_be_added(subject: Subject, selector: Selector) -> bool:
    """True if it asks for labels that the controller of a foreign kind may give the pods beside their own."""
    missed = [requirement for requirement in selector.requirements if not requirement.matches(subject.labels)]
    return type(subject.object) is Workload and all(requirement.key not in subject.labels for requirement in missed)


def _counted_pods(case: Case, selector: Selector) -> Iterator[Pod]:
    """Yield the pods that ``selector`` matches: of other workloads that are checked, and running ones."""
    yield from (other.template or other.pod for other in case.company.counted_beside(case.subject, selector))
    namespace = case.subject.name.namespace
    for pod in case.trial.cluster.running.pods if case.trial is not None else ():
        if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels):
            yield pod


def _counting_nothing(
    case: Case, declared: Declaration, field: str, why: str, severity: Severity | None = None
) -> RuleFinding:
    """Finding for a constraint that counts none of its own pods: the consequence, and the effect of selecting them."""
    labels, trial, replicas = case.own_labels, case.trial, case.subject.replicas
    uncounted = "the pod itself does not count" if replicas == 1 else f"none of its {replicas} replicas counts"
    remedy, mended = Remedy(text="give the pods labels of their own, and select them"), None
    if trial is None and replicas > 1:
        uncounted += ", and nothing spreads them"
    elif trial is not None and trial.placement.count > 1 and (landed := trial.placement.by_domain(declared.key)):
        uncounted += f"; left to themselves they land {breakdown(landed)}"
    if labels:
        text = f"select the pods' own labels: {_selector_text(labels)}"
        if trial is not None:
            selecting = declared.with_fields(labelSelector=LabelSelector(match_labels=labels))
            apart = _by_revision(case, declared, selecting)
            mended = trial.mend(apart or selecting)
            if apart is not None:
                text += f"; {BY_REVISION} on this constraint"
        outcome = None if mended is None else mended.placed.outcome(declared.key)
        hard = [] if trial is None else [hard for own, hard in case.hard(trial) if own is declared]
        if outcome is not None and replicas > 1 and any(len(domains(constraint)) == 1 for constraint in hard):
            outcome += f", as there is no other {declared.name} (KS205)"
        remedy = Remedy(text=text, outcome=outcome)
    return RuleFinding(field, f"{why}: {uncounted}", remedy, mended, severity, proven=trial is not None)


def _by_revision(case: Case, declared: Declaration, selecting: PodChange) -> PodChange | None:
    """The change with each revision counted separately, where only that makes a rollout end even."""
    deployment, trial = rolled_out(case.subject), case.trial
    if deployment is None or trial is None or trial.rollout is None or not case.counts_by_revision:
        return None

    def with_revision(pod: Pod) -> Pod:
        return by_revision([declared])(selecting(pod))

    together, apart = trial.rollout_of(deployment, selecting), trial.rollout_of(deployment, with_revision)
    is_uneven = together.complete and excess(together, declared)
    return with_revision if is_uneven and apart.complete and not excess(apart, declared) else None


def _selector_text(labels: Mapping[str, str]) -> str:
    """The field as YAML in one line: ``labelSelector: {matchLabels: {app: web}}``."""
    pairs = (f"{key}: {value}" if _PLAIN.fullmatch(value) else f'{key}: "{value}"' for key, value in labels.items())
    return f"labelSelector: {{matchLabels: {{{', '.join(pairs)}}}}}"


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
                yield _counting_nothing(case, declared, declared.path, why)


class EmptySelector(Rule, code="KS103", name="empty-selector", severity=Severity.ERROR):
    """A constraint selects every pod, and counts none.

    Elsewhere the selector `{}` matches everything. Since 1.27 kube-scheduler counts no pods at all for it, while the
    pod still matches itself: the skew is 0 + 1 − 0 = 1 on every node whatever runs there, so a hard constraint never
    rejects a node that has the topology label, and a soft one scores all nodes the same. Up to 1.26 all pods of the
    namespace counted, so an upgrade switches the constraint off.

    Example: `labelSelector: {}`.

    Remedy: select the labels of the workload's own selector.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        for declared in case.own:
            constraint = declared.constraint
            if constraint.selector.is_empty and not constraint.counts_pods:
                never = f", so maxSkew {constraint.max_skew} never rejects a node" if constraint.is_hard else ""
                why = f"labelSelector {{}} counts no pods, the skew is 0 + 1 − 0 = 1 everywhere{never}"
                yield _counting_nothing(case, declared, f"{declared.path}.labelSelector", why)


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
    topologySpreadConstraints: [{labelSelector: {matchLabels: {app: web}}}]
    ```

    Remedy: select a label that only this workload has, or `matchLabelKeys: [pod-template-hash]`.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        # A single replica is never uneven.
        for declared, selected in _counted_together(case) if case.subject.replicas > 1 else ():
            if others := [other for other in selected if _has_same_terms(other, declared)]:
                yield from _shared_selectors(case, declared, others)


def _counted_together(case: Case) -> Iterator[tuple[Declaration, Iterator[Subject]]]:
    """Yield the workload's constraints that count its own pods, each with the other workloads that it counts."""
    for declared in case.own if case.subject.object is not None and not case.subject.is_daemon else ():
        if declared.counts_itself:
            yield declared, case.company.counted_beside(case.subject, declared.constraint.selector)


def _has_same_terms(other: Subject, declared: Declaration) -> bool:
    """True if its pods have a constraint with the same terms, regardless of the selector."""
    constraints = other.pod.spec.topology_spread_constraints
    return any(_terms(constraint) == _terms(declared.written) for constraint in constraints)


def _terms(written: TopologySpreadConstraint) -> tuple[object, ...]:
    policies = written.node_affinity_policy or "Honor", written.node_taints_policy or "Ignore"
    return written.topology_key, written.max_skew, written.when_unsatisfiable, written.min_domains, policies


def _shared_selectors(case: Case, declared: Declaration, others: Sequence[Subject]) -> Iterator[RuleFinding]:
    trial, most, field = case.trial, declared.constraint.max_skew, f"{declared.path}.labelSelector"
    names = listing([f"{other.name.kind}/{other.name.name}" for other in others])
    replicas = count_of(sum(other.replicas for other in others), "replica")
    message = f"{declared.name} counts the pods of {names} too ({replicas})"
    has_hash = TEMPLATE_HASH in case.subject.labels
    text = f"{BY_REVISION}, or a label" if has_hash else "select a label"
    remedy = Remedy(text=f"{text} that only this workload has")
    if trial is None or not trial.counting or len(others) > _MOST_OTHERS:
        yield RuleFinding(field, message, remedy, severity=Severity.INFO)
        return
    before, constraint = [trial.for_subject(other) for other in others], trial.counting[declared.position]

    def counting_itself(pod: Pod) -> Pod:
        """The pod with a label that no other has, and the constraint counting by it."""
        labeled = replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, _OWN: "true"}))
        return declared.with_fields(labelSelector=LabelSelector(match_labels={_OWN: "true"}))(labeled)

    def place(change: PodChange) -> Mapping[str, int]:
        """Its own replicas in each domain, placed after all replicas of the others."""
        return own_counts(trial.placed_behind(before, change)[-1:], constraint)

    together, apart = place(keep), place(counting_itself)
    # Even together, or uneven apart as well, the other pods are not the cause.
    if skew_of(together) > most >= skew_of(apart):
        message += f": placed after them its own {case.subject.replicas} are {breakdown(together)}"
        if has_hash:
            remedy = replace(remedy, outcome=f"its own are {breakdown(apart)}")
        yield RuleFinding(field, f"{message}, skew {skew_of(together)} > {most}", remedy, proven=True)


class AbsentMatchLabelKey(Rule, code="KS403", name="absent-match-label-key", severity=Severity.WARNING):
    """A key of matchLabelKeys is not a label of the pod.

    matchLabelKeys adds the pod's own value of each key to the selector. A key that the pod does not have is silently
    dropped, so the constraint counts as if it were not there: usually pods of all revisions, which matchLabelKeys was
    meant to keep apart. Only Deployments give their pods `pod-template-hash`; those of a StatefulSet or DaemonSet have
    `controller-revision-hash`, and pods of Jobs neither.

    Example: a StatefulSet with `matchLabelKeys: [pod-template-hash]`.

    Remedy: name a label that the pods have, or leave the key out.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Yield a finding for each key that is no label of the pod.

        Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, filterTopologySpreadConstraints
        Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeys
        """
        labels, name = case.subject.labels, case.subject.name
        for declared in case.own:
            selector, keys = declared.constraint.selector, declared.written.match_label_keys
            counted = "no pod" if selector.nothing or selector.is_empty else f"every pod with {selector}"
            for position, key in enumerate(keys):
                if key in labels:
                    continue
                message = (
                    f"pods of {name.kind}/{name.name} have no label {key}: the key is dropped, and the constraint "
                    f"counts {counted}"
                )
                remedy = Remedy(text=f"remove {key}, or give the pods that label")
                revision = next((hash_ for hash_ in _HASHES if key in _HASHES and hash_ in labels), "")
                if suggestion := revision or near_miss(key, labels):
                    remedy = Remedy(text=f"matchLabelKeys: [{suggestion}]")
                yield RuleFinding(f"{declared.path}.matchLabelKeys[{position}]", message, remedy)


class InconsistentGroup(Rule, code="KS504", name="inconsistent-group", severity=Severity.WARNING):
    """Workloads that one constraint counts together do not keep it together.

    Kubernetes asks for the same constraints on all pods of a group. Where another workload's pods carry the selected
    labels and have no such constraint, or a different one over the same key, they are placed freely and still count
    here. They fill domains that this constraint then avoids, or leave it no node at all.

    With a cluster given, this workload is placed first and the other one after it, and the numbers are what the
    constraint then sees. Where they are within maxSkew there is no finding.

    Example: `api` shares the label `app: web`, which this workload's constraint selects, and has no constraint.

    Remedy: give all of them the same constraints, or select a label that only this workload has.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
        for declared, selected in _counted_together(case):
            others = [other for other in selected if not _has_same_terms(other, declared)]
            for other in others[:_MOST_OTHERS]:
                yield from _inconsistent(case, declared, other)


def _inconsistent(case: Case, declared: Declaration, other: Subject) -> Iterator[RuleFinding]:
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
    if trial is None or not trial.counting or other.is_daemon:
        yield RuleFinding(declared.path, message, remedy, severity=Severity.INFO)
        return
    counts = own_counts(trial.for_subject(other).placed_behind([trial]), trial.counting[declared.position])
    if (skew := skew_of(counts)) > most:
        together = f"once both are placed, their pods are {breakdown(counts)}, skew {skew} > {most}"
        yield RuleFinding(declared.path, f"{message}: {together}", remedy, proven=True)


RULES = (GhostPods(), NoSelector(), EmptySelector(), SharedSelector(), AbsentMatchLabelKey(), InconsistentGroup())
