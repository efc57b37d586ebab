"""Rules for the domains that a constraint counts, and for how evenly they take replicas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    TopologySpreadConstraint,
)
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.providers import PROVIDERS
from kubespread.kube.taint import uncordon_node
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, SCHEDULE_ANYWAY, ZONE
from kubespread.questions.causes.bars import near_key, similar_key
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, Declaration, FieldChange, Rule, RuleFinding, remedy_of
from kubespread.questions.check.rules.replicas import without_nodes
from kubespread.questions.check.trial import (
    MendedPod,
    PodChange,
    ReplicaTrial,
    Subject,
    TrialResult,
    domains,
    domains_of,
    listing,
    with_constraints,
)
from kubespread.questions.remedies.spreading import is_gathered, missing_constraints, spreading
from kubespread.reports.judged_nodes import EXCLUDED, KEEPING_OFF, TAINTED
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.plugins.podtopologyspread.constraints import counted_kinds
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint
from kubespread.wording import count_of, short_key, verb_of

_REPLACED = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
_EVERYWHERE = frozenset({HOSTNAME, ZONE, REGION, *_REPLACED.values()})
# Labels that Kubernetes, and the big providers, put on every node by themselves.
_COMMON = _EVERYWHERE.union(*(provider.everywhere for provider in PROVIDERS.values()))


class UnknownKey(Rule, code="KS105", name="unknown-key", severity=Severity.WARNING):
    """A topology key is not a label that nodes commonly carry.

    Any label may be a topology key, and nothing checks that nodes have it. A mistyped key is a label that no node has:
    no replica of a hard constraint is ever scheduled, and a soft one does nothing. Keys that Kubernetes has replaced
    are disappearing from nodes' labels. A label of your own is fine as long as every node carries it. With a cluster
    given, this rule is silent and the nodes are checked instead (KS201, KS202).

    Example: `topologyKey: topology.kubernetes.io/zones`.

    Remedy: `topology.kubernetes.io/zone`, `kubernetes.io/hostname` or another label that all nodes have.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: staging/src/k8s.io/api/core/v1/well_known_labels.go, LabelHostname, LabelTopologyZone"""
        for declared in case.own if case.trial is None else ():
            key = declared.key
            if key in _COMMON and key not in _REPLACED:
                continue
            if key in _REPLACED:
                problem, suggestion = f"{key} was replaced by {_REPLACED[key]} in 1.17", _REPLACED[key]
            else:
                # Labels of nodes in every cluster, and labels with the key's own prefix, of a provider.
                prefix = key.rpartition("/")[0]
                near = [common for common in _COMMON if common in _EVERYWHERE or common.rpartition("/")[0] == prefix]
                problem, suggestion = f"{key} is not a label that nodes commonly have", similar_key(key, near)
            remedy = Remedy(text="make sure that every node has this label, or check with a cluster")
            if suggestion:
                remedy = Remedy(text=f"topologyKey: {suggestion}")
            is_hard = declared.constraint.is_hard
            happens = "no replica fits on nodes without it" if is_hard else "nodes without it score 0"
            severity = None if suggestion else Severity.INFO
            yield RuleFinding(f"{declared.path}.topologyKey", f"{problem}: {happens}", remedy, severity=severity)


class KeyOnNoNode(ClusterRule, code="KS201", name="key-on-no-node", severity=Severity.ERROR):
    """No node of the cluster has the topology label.

    A hard constraint rejects every node without its label, so no replica is scheduled ("missing required label"). A
    soft one leaves such nodes out of its score: with the label on no node it does nothing.

    Example: a constraint over zones on a cluster without zone labels.

    Remedy: use a key that nodes have, or label every node.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, nodeLabelsMatchSpreadConstraints"""
        nodes = trial.cluster.nodes
        for declared in case.own if len(nodes) else ():
            if nodes.label(declared.key).present.any():
                continue
            is_hard = declared.constraint.is_hard
            happens = trial.placement.text if is_hard else "the constraint prefers no node"
            mended = None
            remedy = Remedy(text=f"label every node: kubectl label node NAME {declared.key}=DOMAIN")
            if near := near_key(declared.key, nodes):
                change = declared.with_fields(topologyKey=near)
                mended = trial.mend(change)
                text, outcome = f"topologyKey: {near}, which nodes have", mended.placed.outcome(near)
                remedy = Remedy(text=text, outcome=outcome)
            message = f"no node has the label {declared.key}: {happens}"
            severity = None if is_hard else Severity.WARNING
            yield RuleFinding(f"{declared.path}.topologyKey", message, remedy, mended, severity)


class KeyOnSomeNodes(ClusterRule, code="KS202", name="key-on-some-nodes", severity=Severity.WARNING):
    """Some nodes that the pod could go to lack the topology label.

    A hard constraint never lets the pod onto a node without its label. What is more, such a node drops out of all hard
    constraints of the pod: pods that run there count nowhere. A soft constraint gives it the score 0, so it fills last.
    Typical are new node pools and nodes added by hand.

    Example: node c1 has no zone label.

    Remedy: label these nodes, preferably where they are created; or keep the pod away from them on purpose.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Yield a finding for each constraint with a key that some reachable nodes lack, and others have.

        Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, nodeLabelsMatchSpreadConstraints
        Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, initPreScoreState
        """
        for declared in () if trial.evaluation is None else case.own:
            column = trial.cluster.nodes.label(declared.key)
            lacking = trial.reachable & column.absent
            if lacking.any() and column.present.any():
                yield _lacking(case, declared, trial, lacking)


def _lacking(case: Case, declared: Declaration, trial: ReplicaTrial, lacking: Mask) -> RuleFinding:
    names = sorted(trial.cluster.nodes.names[node] for node in np.flatnonzero(lacking))
    of, one = int(np.count_nonzero(trial.reachable)), len(names) == 1
    happens = "it takes no replica" if one else "they take no replica"
    if not declared.constraint.is_hard:
        happens = "it scores 0 and fills last" if one else "they score 0 and fill last"
    running = trial.cluster.running
    kinds = counted_kinds(trial.cluster, declared.constraint, case.subject.name.namespace)
    uncounted = int(np.count_nonzero(kinds.select(running.kind) & lacking[running.node]))
    if uncounted:
        happens += f", and {count_of(uncounted, 'matching pod')} there {verb_of(uncounted, 'count nowhere')}"
    message = (
        f"{len(names)} of {count_of(of, 'node')} that the pod could go to {verb_of(len(names), 'lack')} the label "
        f"{declared.key} ({listing(names)}): {happens}"
    )
    remedy = Remedy(text=f"label {'it' if one else 'them'}: kubectl label node {names[0]} {declared.key}=DOMAIN")
    return RuleFinding(f"{declared.path}.topologyKey", message, remedy)


_POLICIES = {TAINTED: "nodeTaintsPolicy", EXCLUDED: "nodeAffinityPolicy"}


class _Closure(Struct, frozen=True):
    """One constraint and the domains it counts that the pod cannot go to."""

    declared: Declaration
    domains: Sequence[str]
    nodes: Sequence[int]
    """Positions of the nodes in these domains."""
    least: int
    """The fewest matching pods in one of them."""
    reasons: Sequence[str]
    """Plugins that keep the pod off these nodes."""
    open: int
    """Number of domains it counts that the pod can go to."""

    @property
    def honoring(self) -> dict[str, Any]:
        return {_POLICIES[reason]: "Honor" for reason in self.reasons if reason in _POLICIES}

    @property
    def lowering(self) -> dict[str, Any]:
        """minDomains lowered to the number of open domains; empty if it is not above that."""
        return {"minDomains": self.open} if (self.declared.constraint.min_domains or 1) > self.open else {}


class ClosedDomains(ClusterRule, code="KS203", name="closed-domains", severity=Severity.WARNING):
    """A domain counts towards the minimum though the pod can go to none of its nodes.

    nodeTaintsPolicy is Ignore unless it is set: nodes whose taints the pod does not tolerate still make domains, and so
    do cordoned ones. With `nodeAffinityPolicy: Ignore` nodes outside the pod's affinity do, too. No pod ever lands
    there, so such a domain stays at its count, mostly 0, and holds the global minimum down. Every other domain then
    takes at most maxSkew pods more than that, and the other replicas wait. Typical are control planes, GPU pools and
    nodes being drained for an upgrade.

    Example: three zones, all nodes of zone c tainted, a hard constraint over zones with `maxSkew: 1`, six replicas.
    Zones a and b take one each, and four replicas stay pending.

    Remedy: `nodeTaintsPolicy: Honor`, which leaves nodes with untolerated taints out; before Kubernetes 1.26, the first
    to have it by default, node affinity that excludes the domain. A cordon counts as such a taint only where the node
    carries `node.kubernetes.io/unschedulable`, which the controller manager adds.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies"""
        closed_constraints = [
            closed for declared, hard in case.hard(trial) if (closed := _closure(declared, hard, trial)) is not None
        ]
        for closed in closed_constraints:
            yield _counted_though_closed(closed, closed_constraints, trial)


def _closure(declared: Declaration, hard: HardConstraint, trial: ReplicaTrial) -> _Closure | None:
    is_open = set(domains_of(hard, hard.eligible & trial.reachable))
    closed = [domain for domain in domains(hard) if domain not in is_open]
    # Where all are closed the pod has other worries.
    if not closed or not is_open:
        return None
    codes = [hard.column.index[value] for value in closed]
    nodes = hard.eligible & np.isin(hard.column.codes, codes)
    reasons = [plugin for plugin, mask in trial.barred_nodes.items() if (mask & nodes).any()]
    least = min(int(hard.counts[code]) for code in codes)
    return _Closure(declared, closed, np.flatnonzero(nodes).tolist(), least, reasons, len(is_open))


def _counted_though_closed(closed: _Closure, others: Sequence[_Closure], trial: ReplicaTrial) -> RuleFinding:
    mended, better, remedy = (_leaving_out if closed.honoring else _uncordoning)(closed, others, trial)
    are = "count as domains" if len(closed.domains) > 1 else "counts as a domain"
    nodes = len(closed.nodes)
    all_are = {1: "its node is", 2: "both nodes are"}.get(nodes, f"all {nodes} nodes are")
    kept_off = " or ".join(KEEPING_OFF[plugin] for plugin in closed.reasons)
    message = (
        f"{closed.declared.name} {listing(closed.domains)} {are} with {count_of(closed.least, 'matching pod')}, though "
        f"{all_are} {kept_off}: {trial.placement.text}"
    )
    severity = Severity.ERROR if trial.placement.count < better.count else None
    return RuleFinding(closed.declared.path, message, remedy, mended, severity)


def _leaving_out(
    closed: _Closure, others: Sequence[_Closure], trial: ReplicaTrial
) -> tuple[MendedPod | None, TrialResult, Remedy]:
    """The first change that leaves the nodes out and places all replicas, else the one that places most."""
    tried = []
    for text, change, settings in _ways(closed, others):
        mended = trial.mend(change)
        outcome = mended.placed.outcome(closed.declared.key)
        tried.append((mended, mended.placed, Remedy(text=text, settings=settings, outcome=outcome)))
        if mended.is_accepted and mended.placed.is_complete:
            break
    return max(tried, key=lambda attempt: (attempt[0].is_accepted, attempt[1].count))


def _ways(closed: _Closure, others: Sequence[_Closure]) -> Iterator[tuple[str, PodChange, tuple[str, ...]]]:
    """Yield changes that leave the nodes out, each with its text and its settings.

    Several constraints may count the nodes, and each holds the pod back. With fewer domains, minDomains may ask for too
    many. A release without the policies takes node affinity, which leaves nodes out in every release.
    """
    honorable = [other for other in others if other.honoring]
    for honored, lowers in (([closed], False), (honorable, False), (honorable, True)):
        changed = FieldChange(
            {shut.declared: {**shut.honoring, **(shut.lowering if lowers else {})} for shut in honored}
        )
        yield _policy_text(changed), changed, changed.settings
    key = closed.declared.key
    affinity = f"node affinity that requires {key} NotIn [{listing(closed.domains)}]"
    lowered = FieldChange({other.declared: other.lowering for other in others if other.lowering})
    yield affinity, lambda pod: _avoiding(pod, key, closed.domains), ()
    if lowered.values:
        yield (
            f"{affinity}, and {_policy_text(lowered)}",
            lambda pod: _avoiding(lowered(pod), key, closed.domains),
            lowered.settings,
        )


def _avoiding(pod: Pod, key: str, values: Sequence[str]) -> Pod:
    """The pod with node affinity that also excludes these ``values`` of ``key``, in each of its terms."""
    requirement = NodeSelectorRequirement(key, "NotIn", list(values))
    affinity = pod.spec.affinity or Affinity()
    node_affinity = affinity.node_affinity or NodeAffinity()
    selector = node_affinity.required_during_scheduling_ignored_during_execution
    terms = [NodeSelectorTerm()] if selector is None else selector.node_selector_terms
    narrowed = NodeSelector([replace(term, match_expressions=[*term.match_expressions, requirement]) for term in terms])
    required = replace(node_affinity, required_during_scheduling_ignored_during_execution=narrowed)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=required)))


def _policy_text(changed: FieldChange) -> str:
    where = "this constraint" if len(changed.values) == 1 else "the hard constraints that count these nodes"
    return f"{changed.text} on {where}"


def _uncordoning(
    closed: _Closure, _others: Sequence[_Closure], trial: ReplicaTrial
) -> tuple[None, TrialResult, Remedy]:
    """Remedy that remains for nodes that are cordoned and carry no taint."""
    nodes = {position: trial.cluster.nodes.objects[position] for position in closed.nodes}
    change = ClusterChange(replaced_nodes={position: uncordon_node(node) for position, node in nodes.items()})
    placed = trial.placed_with(cluster=trial.cluster.apply(change))
    names = [node.metadata.name for node in nodes.values()]
    edits, outcome = tuple(f"uncordon {name}" for name in names), placed.outcome(closed.declared.key)
    return None, placed, Remedy(text=f"uncordon {listing(names)}", edits=edits, outcome=outcome)


class TooFewDomains(ClusterRule, code="KS204", name="too-few-domains", severity=Severity.WARNING):
    """minDomains asks for more domains than there are.

    With fewer eligible domains than minDomains the global minimum counts as 0. Every domain then takes at most maxSkew
    pods, and the other replicas wait until a domain is added. Domains are counted after node affinity and, with
    `nodeTaintsPolicy: Honor`, after taints, so pinning a workload to two zones is enough; so is a zone scaled to zero.

    Example: with `minDomains: 5` and `maxSkew: 1` on three zones, three of six replicas are scheduled.

    Where an autoscaler of nodes can make the missing domains for the pod, waiting replicas are what makes it act, so
    there is no finding.

    Remedy: minDomains no higher than the number of domains that always exist, or nodes in another one.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
        for declared, hard in case.hard(trial):
            eligible, constraint, placed = domains(hard), declared.constraint, trial.placement
            if not eligible or not hard.lacks_domains:
                continue
            possible = without_nodes(declared.key, eligible, case, trial).values()
            # Replicas that wait for a domain make autoscalers add its nodes.
            if len(eligible) + sum(domain.taint is None for domain in possible) >= (constraint.min_domains or 1):
                continue
            # Those that no pod can go to are no help once taints are honored.
            change = declared.with_fields(
                minDomains=len(domains_of(hard, hard.eligible & trial.reachable)) or len(eligible)
            )
            enough = trial.mend(change)
            message = (
                f"minDomains is {constraint.min_domains}, but there {verb_of(len(eligible), 'are')} only "
                f"{count_of(len(eligible), 'eligible domain')} ({listing(eligible)}): the minimum counts as 0, so each "
                f"takes at most {constraint.max_skew}, and {placed.text}"
            )
            remedy = Remedy(text=change.text, settings=change.settings, outcome=enough.placed.outcome(declared.key))
            severity = Severity.ERROR if placed.count < enough.placed.count else None
            yield RuleFinding(f"{declared.path}.minDomains", message, remedy, enough, severity)


class SingleDomain(ClusterRule, code="KS205", name="single-domain", severity=Severity.WARNING):
    """A hard constraint has a single domain, which is always as full as the emptiest one.

    With one eligible domain its own count is the global minimum, so the skew is 1 however many pods there are: the
    constraint never rejects a node. Everything looks spread, and one outage takes all replicas. Clusters in one zone do
    this, and so do nodeSelector and node affinity, which take domains away by default (`nodeAffinityPolicy: Honor`).

    Example: a hard constraint over zones, and `nodeSelector: {topology.kubernetes.io/zone: a}`.

    Remedy: let the pod onto nodes of more domains; or drop the constraint, which does nothing; or set minDomains, so
    that replicas wait instead of gathering.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
        for declared, hard in case.hard(trial) if case.subject.replicas > 1 else ():
            eligible, constraint = domains(hard), declared.constraint
            if len(eligible) != 1 or (constraint.min_domains or 1) != 1 or not constraint.self_match:
                continue
            others = [other for other in domains_of(hard, hard.column.present) if other != eligible[0]]
            landed = trial.placement.by_domain(declared.key)[eligible[0]]
            message = (
                f"{declared.name} {eligible[0]} is the only domain{_reason(declared, hard, others, trial)}, so the "
                f"skew is always 1 and no node is ever rejected: {landed} of {trial.placement.desired} replicas "
                f"{verb_of(landed, 'land')} there"
            )
            onto = f"let the pod onto nodes of {listing(others)}"
            remedy = Remedy(text=onto if others else f"add nodes in another {declared.name}, or drop the constraint")
            yield RuleFinding(declared.path, message, remedy)


def _reason(declared: Declaration, hard: HardConstraint, others: Sequence[str], trial: ReplicaTrial) -> str:
    """Reason why the other domains are left out."""
    if not others:
        return " of the cluster"
    barred, outside = trial.barred_nodes, hard.column.present & ~hard.eligible
    if declared.constraint.honors_affinity and EXCLUDED in barred and (barred[EXCLUDED] & outside).any():
        return f" that its node affinity leaves (not {listing(others)})"
    if declared.constraint.honors_taints and TAINTED in barred and (barred[TAINTED] & outside).any():
        return f" without taints (not {listing(others)})"
    return f" whose nodes have all topology labels (not {listing(others)})"


class Deadlock(ClusterRule, code="KS207", name="deadlock", severity=Severity.ERROR):
    """Hard constraints that can each be met cannot be met together.

    kube-scheduler places one pod after another and never moves one. With a hard constraint over zones and another one
    over nodes the first replicas may leave every node of the emptiest zone full by the second constraint, and every
    other zone full by the first: the next replica fits nowhere, though each constraint alone would place them all.
    Zones with different numbers of nodes do this sooner or later.

    Example: zones a and b with two nodes each, zone c with one, and two hard constraints with `maxSkew: 1`, one over
    zones and one over nodes.

    Remedy: relax one of them, usually the one over nodes: a higher maxSkew, or ScheduleAnyway.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter"""
        hard = [declared for declared, _ in case.hard(trial)]

        def place_alone(declared: Declaration) -> TrialResult:
            positions = [own.position for own in case.own if own is declared or not own.constraint.is_hard]
            return trial.placed_with(lambda pod: _with_only(pod, positions))

        if (
            len(hard) < 2
            or trial.placement.is_complete
            or not all(place_alone(declared).is_complete for declared in hard)
        ):
            return
        names = [f"{declared.name} ≤ {declared.constraint.max_skew}" for declared in hard]
        message = (
            f"{' and '.join(names)} deadlock: {trial.placement.text}, and each constraint alone places all "
            f"{trial.placement.desired}"
        )
        mended, remedy = _relax(hard, trial)
        yield RuleFinding(case.subject.field("spec.topologySpreadConstraints"), message, remedy, mended)


def _with_only(pod: Pod, positions: Sequence[int]) -> Pod:
    return with_constraints(pod, [pod.spec.topology_spread_constraints[position] for position in positions])


def _relax(hard: Sequence[Declaration], trial: ReplicaTrial) -> tuple[MendedPod | None, Remedy]:
    """The first relaxation of one constraint that places all replicas, trying the last constraint first."""
    wider = [declared.with_fields(maxSkew=declared.constraint.max_skew + 1) for declared in reversed(hard)]
    # minDomains is for hard constraints alone.
    softer = [
        declared.with_fields(whenUnsatisfiable=SCHEDULE_ANYWAY)
        for declared in reversed(hard)
        if declared.constraint.min_domains is None
    ]
    for change in (*wider, *softer):
        mended = trial.mend(change)
        if mended.placed.is_complete:
            (declared,) = change.values
            text = f"{change.text} on the constraint over {declared.key}"
            return mended, Remedy(text=text, settings=change.settings, outcome=mended.placed.text)
    return None, Remedy(text="relax one of the constraints")


def _with_another(constraint: TopologySpreadConstraint, case: Case, trial: ReplicaTrial) -> MendedPod:
    """The pod with a further constraint, which selects its own labels."""
    selecting = replace(constraint, label_selector=LabelSelector(match_labels=case.own_labels))
    return trial.mend(lambda pod: with_constraints(pod, [*pod.spec.topology_spread_constraints, selecting]))


def _declaring(constraint: TopologySpreadConstraint, subject: Subject, outcome: str) -> Remedy:
    change = spreading(constraint, None if subject.is_written else subject.name)
    return remedy_of(change, change.what, outcome)


class GatheredReplicas(ClusterRule, code="KS505", name="gathered", severity=Severity.WARNING):
    """One zone or node takes more than half of the replicas.

    Without a constraint over zones or nodes, free room and preferences decide where replicas go, and the default
    constraints are soft and lenient: a zone of larger nodes takes most of them, and so does a node that has the image.
    Losing that one zone or node takes more than half of the replicas at once, though they could run elsewhere.

    All replicas are placed, as they are and with the constraint. Keys that a constraint of the pod's own is over are
    left to other rules.

    Example: a Job with six pods, and one zone whose nodes are much larger.

    Remedy: a constraint over zones, or over nodes; a soft one where that is enough.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, Score"""
        subject, placed = case.subject, trial.placement
        if subject.is_daemon or subject.replicas < 2 or not placed.is_complete or not case.own_labels:
            return
        declared = {own.key for own in case.own}
        for constraint in missing_constraints(placed.by_domain, ()):
            key, name = constraint.topology_key, short_key(constraint.topology_key)
            if key in declared:
                continue
            mended = _with_another(constraint, case, trial)
            if mended.placed.is_complete and not is_gathered(mended.placed.by_domain(key)):
                most, domain = max((count, domain) for domain, count in placed.by_domain(key).items())
                yield RuleFinding(
                    subject.field("spec"),
                    f"{name} {domain} takes {most} of {count_of(placed.count, 'replica')}, and no constraint over "
                    f"{name} keeps them apart",
                    _declaring(constraint, subject, mended.placed.outcome(key)),
                    mended=mended,
                )
                return


RULES = (
    UnknownKey(),
    KeyOnNoNode(),
    KeyOnSomeNodes(),
    ClosedDomains(),
    TooFewDomains(),
    SingleDomain(),
    Deadlock(),
    GatheredReplicas(),
)
