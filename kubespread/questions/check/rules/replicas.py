"""Rules for replicas that are not made or find no node: quotas and limits, volumes, autoscalers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.admission.quota import allowance, enough, overruns
from kubespread.kube.api.cluster_objects import ClusterObjects, NodePool
from kubespread.kube.api.core import Container, LimitRange, Node, NodeSpec, NodeStatus, Pod, ResourceQuota, Taint
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.quantity import NANO, QuantityError, parse
from kubespread.kube.selector import Selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import HOSTNAME
from kubespread.node_groups import NODE_POOL_LABEL
from kubespread.questions.causes.own_pods import claims_at_fault
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.rule import UNSEARCHED, Case, ClusterRule, Declaration, LastRule, Rule, RuleFinding
from kubespread.questions.check.trial import (
    ReplicaTrial,
    TrialResult,
    breakdown,
    combine,
    domains,
    listing,
    own_counts,
    skew_of,
)
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.cluster.nodes import Nodes, matches_required_node_affinity
from kubespread.wording import count_of, says, verb_of


class VolumePins(ClusterRule, code="KS301", name="volume-pins", severity=Severity.ERROR):
    """Volumes hold the pods to domains that the constraint wants them to leave.

    An existing volume cannot move: a zonal disk has its zone in the node affinity of its PersistentVolume, and the pod
    can go nowhere else. The constraint still counts the other zones. A hard one stops as soon as the zone of the volume
    has maxSkew more than the emptiest; a soft one changes nothing. Typical are replicas that share a claim, and
    StatefulSets whose disks are older than the constraint.

    The replicas are placed with their volumes and without them, and the difference is the finding.

    Example: three replicas with a hard constraint over zones share a disk in zone a.

    ```yaml
    volumes: [{name: data, persistentVolumeClaim: {claimName: shared}}]
    ```

    Remedy: storage that every zone reaches, or a claim for each replica with `volumeBindingMode: WaitForFirstConsumer`.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, checkBoundClaims"""
        subject, pinned = case.subject, trial.placement
        if subject.is_daemon or not case.own or not subject.pod.spec.has_scheduled_volumes:
            return
        if trial.evaluation is not None and (fault := claims_at_fault(trial.evaluation)):
            yield RuleFinding(case.own[0].path, f"{pinned.text}: {fault}", Remedy(text="claims that the pods can use"))
            return
        mended = trial.mend(lambda pod: replace(pod, spec=replace(pod.spec, volumes=[])))
        free = mended.placed
        text = "storage that every domain reaches, or a claim for each replica that is bound where its pod lands"
        for declared, constraint in zip(case.own, trial.counting, strict=False):
            if not declared.counts_itself:
                continue
            counts, freely = (own_counts([placed], constraint) for placed in (pinned, free))
            is_short = declared.constraint.is_hard and pinned.count < free.count
            if is_short or skew_of(counts) > declared.constraint.max_skew >= skew_of(freely):
                message = (
                    f"its volumes hold {_place_text(declared, trial)}: {pinned.text}, {breakdown(counts)}; "
                    f"without them {free.text}, {breakdown(freely)}"
                )
                severity = None if is_short else Severity.WARNING
                yield RuleFinding(declared.path, message, Remedy(text=text), mended if is_short else None, severity)


def _place_text(declared: Declaration, trial: ReplicaTrial) -> str:
    """The place where volumes hold replicas: ``the replicas to zone a``."""
    evaluation = trial.evaluation
    if trial.subject.distinct_replicas is not None or evaluation is None:
        return "each replica where its claims are"
    allowed = evaluation.included_nodes.copy()
    for plugin in ("VolumeBinding", "VolumeZone"):
        if plugin in evaluation.verdicts:
            allowed &= evaluation.verdicts[plugin].passes
    column = trial.cluster.nodes.label(declared.key)
    values = sorted(column.values[code] for code in np.unique(column.codes[allowed & column.present]))
    return f"the replicas to {declared.name} {listing(values)}" if values else "the replicas to no node"


class QuotaRefuses(Rule, code="KS305", name="quota-refuses", severity=Severity.ERROR):
    """Quotas of the namespace leave replicas out, or its limits ask for more than any node has.

    A ResourceQuota refuses pods when they are created: they are not pending but do not exist, and no scheduler event
    mentions them. A constraint then spreads fewer replicas than the workload asks for. A LimitRange gives containers
    without requests its default ones; where these exceed every node, no replica of a workload that asks for next to
    nothing ever runs.

    Example: twelve replicas of 500m in a namespace with `requests.cpu: "2"`.

    ```yaml
    kind: ResourceQuota
    spec: {hard: {requests.cpu: "2"}}
    ```

    Remedy: a quota for all replicas of its workloads; requests in the containers themselves.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Yield findings for replicas that quotas refuse, and for requests by LimitRange that no node satisfies.

        Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest
        Source: plugin/pkg/admission/limitranger/admission.go, defaultContainerResourceRequirements
        """
        trial, replicas, refused, refusal = case.trial, case.subject.replicas, 0, ""
        if trial is not None:
            replicas, refused, refusal = trial.placement.desired, trial.placement.refused, trial.placement.refusal
        # The number of a DaemonSet's pods depends on the cluster.
        elif not case.subject.is_daemon:
            allowed = allowance(case.subject.pod, case.objects.get(ResourceQuota))
            refused = 0 if allowed.copies is None else max(0, replicas - allowed.copies)
            refusal = allowed.refusal
        if refused:
            message = f"the namespace's quotas allow {replicas - refused} of {count_of(replicas, 'replica')}: {refusal}"
            yield RuleFinding("spec.replicas", message, _raising(case, replicas), proven=trial is not None)
        if trial is not None:
            yield from _by_limit_range(case, trial)


def _raising(case: Case, replicas: int) -> Remedy:
    """Remedy: quotas for all replicas, and for the missing replicas of the other workloads."""
    trial, pod = case.trial, case.subject.pod
    objects = case.objects if trial is None else trial.cluster.objects
    quotas = objects.get(ResourceQuota)
    others = (other for other in case.company.counted_beside(case.subject, Selector()) if not other.is_daemon)
    beside = [(other.pod, other.replicas - len(other.running)) for other in others]
    lacking = [(pod, replicas), *((other, count) for other, count in beside if count > 0)]
    more = overruns(quotas, pod, lacking)
    if not more:
        return Remedy(text="set the requests or limits that the quota requires of containers")
    text, outcome = f"{enough(quotas, pod, lacking)} would be enough", None
    if trial is not None:
        raised = [
            replace(quota, status=replace(quota.status, hard={**quota.status.hard, **more[quota.metadata.name]}))
            if quota.metadata.name in more and quota.metadata.namespace == case.subject.name.namespace
            else quota
            for quota in quotas
        ]
        cluster = trial.cluster.with_objects(objects.with_all(ResourceQuota, tuple(raised)))
        outcome = trial.placed_with(cluster=cluster).text
    return Remedy(text=text, outcome=outcome)


def _by_limit_range(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    subject, template = case.subject, case.subject.template
    all_ranges = (limit_range.metadata for limit_range in case.objects.get(LimitRange))
    ranges = [meta.name for meta in all_ranges if meta.namespace == subject.name.namespace]
    if not ranges or template is None or trial.placement.count:
        return
    containers, init_containers = (
        list(map(_as_written, written)) for written in (template.spec.containers, template.spec.init_containers)
    )
    mended = trial.mend(
        lambda pod: replace(pod, spec=replace(pod.spec, containers=containers, init_containers=init_containers))
    )
    if mended.placed.count:
        message = (
            f"LimitRange {listing(ranges)} gives its containers requests that no node can satisfy: "
            f"{trial.placement.text}: {trial.placement.message}"
        )
        remedy = Remedy(
            text="give the containers requests of their own, or the LimitRange a lower default",
            outcome=f"with what the template asks for {mended.placed.text}",
        )
        yield RuleFinding(subject.field("spec.containers"), message, remedy, mended, proven=True)


def _as_written(container: Container) -> Container:
    """Limits stand for requests that are left out, as everywhere."""
    resources = container.resources
    return replace(container, resources=replace(resources, requests={**resources.limits, **resources.requests}))


_GATE = "MinDomainsInPodTopologySpread"


class ScaledToZero(ClusterRule, code="KS208", name="scaled-to-zero", severity=Severity.WARNING):
    """A domain without nodes does not count: no replica waits for it, so no autoscaler adds a node to it.

    kube-scheduler knows the domains of a constraint from the nodes that exist. A zone whose node group is scaled to
    zero is not a domain: the minimum is taken over the others, every replica fits there, and none stays pending to make
    an autoscaler add a node. minDomains says how many domains there should be: below that number the minimum is 0,
    replicas beyond maxSkew wait, and the autoscaler acts.

    Karpenter's NodePools tell which domains there could be, as far as their limits leave room. The remedy is tried on
    the cluster as it is, where replicas must wait for the domain, and with a node in each domain, where all must find a
    place. A group whose taint keeps the pod off makes no domain for it.

    Example: a hard constraint over zones, a NodePool for zones a, b and c, and nodes in a and b only.

    Remedy: `minDomains: 3`; or keep a node in every zone.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState"""
        if case.subject.replicas < 2 or not case.objects.get(NodePool):
            return
        for declared, hard in case.hard(trial):
            eligible, constraint = domains(hard), declared.constraint
            # Whoever says how many domains there have to be has thought of it.
            if not eligible or constraint.min_domains is not None or not constraint.self_match:
                continue
            possible = without_nodes(declared.key, eligible, case, trial)
            open_to = {value: domain for value, domain in possible.items() if domain.taint is None}
            if open_to:
                remedy = _waiting_for(declared, len(eligible), open_to, case, trial)
            else:
                remedy = _tolerating(declared, len(eligible), possible, trial)
            if remedy is None:
                continue
            missing = open_to or possible
            groups = listing(list(dict.fromkeys(domain.group for domain in missing.values())))
            none = "is not a domain while it has no node"
            if len(missing) > 1:
                none = "are not domains while they have no nodes"
            message = (
                f"{declared.name} {listing(list(missing))} of {groups} {none}: {trial.placement.outcome(declared.key)}"
            )
            yield RuleFinding(declared.path, message, remedy, severity=None if open_to else Severity.INFO)


def _waiting_for(
    declared: Declaration, eligible: int, possible: Mapping[str, Possible], case: Case, trial: ReplicaTrial
) -> Remedy | None:
    """minDomains, where replicas wait with it for the others, and all have a place once these are there.

    On a release without the field, a node in each of them.
    """
    key, number, names = declared.key, eligible + len(possible), listing(list(possible))
    grown = trial.cluster.apply(ClusterChange(added_nodes=[domain.node for domain in possible.values()]))
    if not case.subject.profile.version.has(_GATE):
        spread = trial.placed_with(cluster=grown)
        if not spread.is_complete or not all(spread.by_domain(key)[value] for value in possible):
            return None
        return Remedy(text=f"keep a node in {declared.name} {names}", outcome=f"then {spread.outcome(key)}")
    change = declared.with_fields(minDomains=number)
    now, then = trial.placed_with(change), trial.placed_with(change, cluster=grown)
    if now.is_complete or not then.is_complete:
        return None
    return Remedy(
        text=f"minDomains: {number}, so that replicas wait for the others",
        settings=change.settings,
        outcome=f"{now.outcome(key)}; with a node in {names} {then.outcome(key)}",
    )


def _tolerating(
    declared: Declaration, eligible: int, possible: Mapping[str, Possible], trial: ReplicaTrial
) -> Remedy | None:
    """Remedy that comes before minDomains where taints keep the pod off all of them."""
    change = declared.with_fields(minDomains=eligible + len(possible))
    if not possible or trial.placed_with(change).is_complete:
        return None
    first = next(iter(possible.values()))
    assert first.taint is not None
    taint = f"{first.taint.key}={first.taint.value}" if first.taint.value else first.taint.key
    return Remedy(text=f"{first.group}'s taint {taint} keeps this pod off: tolerate it before raising minDomains")


class PendingReplicas(LastRule, code="KS209", name="pending-replicas", severity=Severity.ERROR):
    """Replicas find no node.

    All replicas are created, as far as quotas let them, and placed one after another on the cluster without those that
    run already. One that is left has no node that passes every filter of kube-scheduler: it asks for more than any node
    has free, for labels that no node has, or its constraints keep it from the nodes with room. It waits until the
    workload or the cluster changes.

    Without a cluster only what no cluster could help is found: replicas that share a claim of mode ReadWriteOncePod,
    which the checked manifests bring.

    Where the remedies of other findings get every replica placed, those findings are enough, and this one is left out.
    It is only an info where minDomains makes replicas wait for a domain that a node group can make (KS208).

    Example: a node type that the cluster does not have.

    ```yaml
    nodeSelector: {disktype: nvme}
    containers:
    - {name: main, image: "example.com/main:1", resources: {requests: {cpu: "64"}}}
    ```

    Remedy: the smallest change that gets every replica a node, of those that `kubespread explain --fix` tries; where no
    single one is enough, two or three together. No pod is evicted.
    """

    def check(self, case: Case, others: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/schedule_one.go, findNodesThatPassFilters"""
        trial, field, replicas = case.trial, case.subject.field("spec"), case.subject.replicas
        if trial is None and case.exclusive_claim and replicas > 1:
            message = f"{_waits(replicas, replicas - 1)}: {case.exclusive_claim}"
            yield RuleFinding(field, message, Remedy(text="a claim of mode ReadWriteMany, or one for each replica"))
        mended = [other.mended for other in others if other.mended is not None and other.mended.is_accepted]
        # The remedies of the other findings, together, get a node for every replica that is created.
        if trial is None or not trial.placement.pending or (mended and not trial.placed_with(combine(mended)).pending):
            return
        waits = _waits(trial.placement.desired, trial.placement.pending)
        if any(pod.spec.node_name for pod in case.subject.running):
            waits += ", all placed anew"
        if groups := _awaited_groups(case, trial):
            intended = Remedy(text="nothing, if that is intended; otherwise lower minDomains, or add nodes there")
            message = f"{waits} until {listing(groups)} {verb_of(len(groups), 'add')} one, because of minDomains"
            yield RuleFinding(field, message, intended, severity=Severity.INFO, proven=True)
        else:
            yield RuleFinding(field, f"{waits}: {trial.placement.message}", UNSEARCHED, proven=True)


def _awaited_groups(case: Case, trial: ReplicaTrial) -> Sequence[str]:
    """Groups that can create the domains minDomains waits for, if every replica then finds a node."""
    possible: dict[str, Possible] = {}
    for declared, hard in case.hard(trial):
        if hard.lacks_domains:
            possible |= without_nodes(declared.key, domains(hard), case, trial)
    open_to = [domain for domain in possible.values() if domain.taint is None]
    grown = ClusterChange(added_nodes=[domain.node for domain in open_to])
    if not open_to or trial.placed_with(cluster=trial.cluster.apply(grown)).pending:
        return ()
    return list(dict.fromkeys(domain.group for domain in open_to))


def _waits(replicas: int, pending: int) -> str:
    if replicas == 1:
        return "it finds no node"
    if pending == replicas:
        return f"none of its {count_of(replicas, 'replica')} finds a node"
    return f"{pending} of {count_of(replicas, 'replica')} {verb_of(pending, 'find')} no node"


class AutoscaledBeyond(Rule, code="KS304", name="autoscaled-beyond", severity=Severity.WARNING):
    """An autoscaler may ask for more replicas than the cluster has nodes for.

    A HorizontalPodAutoscaler, or a ScaledObject of KEDA, raises the number of replicas up to its maximum under load.
    Those beyond what quotas, constraints and free room allow are not created or stay pending, at the worst moment. The
    maximum is placed on the cluster as it is.

    Without a cluster it is counted what quotas, and a claim that one pod may use, allow that the manifests bring.

    The workload itself is checked with the replicas that the autoscaler would set: at least its minimum, even where the
    manifest sets none, and at most its maximum.

    Example: maxReplicas 60 on six nodes that hold seven replicas each.

    ```yaml
    kind: HorizontalPodAutoscaler
    spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 6, maxReplicas: 60}
    ```

    Remedy: a lower maximum; or a larger quota, smaller requests, a looser constraint, more nodes.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas"""
        subject, trial = case.subject, case.trial
        for autoscaler in () if subject.is_daemon else autoscalers_of(subject.name, case.objects):
            if autoscaler.most <= subject.replicas or (trial is not None and not trial.placement.is_complete):
                continue
            if trial is None:
                count, outcome = case.at_most.copies, None
                if count is None or not subject.replicas <= count < autoscaler.most:
                    continue
                why = f"{count} can run: {case.at_most.refusal}"
            else:
                most = trial.placed_with(replicas=autoscaler.most)
                if most.is_complete:
                    continue
                count, why, outcome = most.count, _why_fewer(most), trial.placed_with(replicas=most.count).text
            remedy = Remedy(text=f"{autoscaler.most_field}: {count}", outcome=outcome)
            message = f"{autoscaler.text} may ask for {count_of(autoscaler.most, 'replica')}: {why}"
            yield RuleFinding("spec.replicas", message, remedy, proven=trial is not None)


def _why_fewer(most: TrialResult) -> str:
    """Reason fewer fit: quotas, which refuse a pod before any node is looked for, then kube-scheduler's message."""
    created = most.desired - most.refused
    quota = f"the namespace's quotas allow only {created} of them: {most.refusal}" if most.refused else ""
    fitting = f"{most.count:,} of {says(created, 'replica', 'fit')}: {most.message}" if most.pending else ""
    return "; ".join(filter(None, (quota, fitting)))


# A group's machine types are not in the cluster: any pod that requests no more than this is taken to fit on one.
_LARGE: ResourceList = {"cpu": "1000", "memory": "16Ti", "ephemeral-storage": "64Ti", "pods": "110"}


class Possible(Struct, frozen=True):
    """A domain without nodes that a node group can create."""

    group: str
    """Group that could create it: ``NodePool general``."""
    node: Node
    """Node of the group in that domain, with room for every pod."""
    taint: Taint | None
    """Taint of the node that the pod does not tolerate."""


def without_nodes(key: str, present: Collection[str], case: Case, trial: ReplicaTrial) -> Mapping[str, Possible]:
    """Values of ``key`` that are not ``present``, each with the most suitable group for it.

    Groups that cannot grow are left out, as are those that the pod's node selector or affinity excludes by the labels
    that the group states.
    """
    pod, possible = case.subject.pod, dict[str, Possible]()
    for group, labels, taints in _groups(key, pod, case.objects, trial.cluster.nodes):
        value = labels.get(key, "")
        if not value or value in present or (value in possible and possible[value].taint is None):
            continue
        node = Node(
            metadata=ObjectMeta(name=f"{group} in {value}", labels={HOSTNAME: f"{group} in {value}", **labels}),
            spec=NodeSpec(taints=list(taints)),
            status=NodeStatus(capacity=_LARGE, allocatable=_LARGE),
        )
        if matches_required_node_affinity(Nodes((node,)), pod).all():
            kept_off = untolerated(taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS)
            if value not in possible or not kept_off:
                possible[value] = Possible(group, node, kept_off[0] if kept_off else None)
    return dict(sorted(possible.items()))


def _groups(
    key: str, pod: Pod, objects: ClusterObjects, nodes: Nodes
) -> Iterator[tuple[str, Mapping[str, str], Sequence[Taint]]]:
    """Each group with the labels and taints of its nodes, once per value that it may give ``key``."""
    for pool in objects.get(NodePool):
        if _has_room(pool, nodes):
            yield from _node_pool_groups(key, pod, pool)


def _node_pool_groups(key: str, pod: Pod, pool: NodePool) -> Iterator[tuple[str, Mapping[str, str], Sequence[Taint]]]:
    template, name = pool.spec.template, pool.metadata.name
    allowed = {
        requirement.key: requirement.values
        for requirement in template.spec.requirements
        if requirement.operator == "In" and requirement.values
    }
    selected = _selected_labels(pod)
    chosen = {
        label: next((value for value in values if value in selected.get(label, ())), values[0])
        for label, values in allowed.items()
    }
    for value in allowed.get(key, [""]):
        labels = {**chosen, key: value, **template.metadata.labels, NODE_POOL_LABEL: name}
        yield f"NodePool {name}", labels, template.spec.taints


def _selected_labels(pod: Pod) -> Mapping[str, Sequence[str]]:
    """Label values that the pod's node selector and affinity name: Karpenter creates nodes to match."""
    selected = {label: [value] for label, value in pod.spec.node_selector.items()}
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for expression in term.match_expressions:
            if expression.operator == "In":
                selected.setdefault(expression.key, []).extend(expression.values)
    return selected


def _has_room(pool: NodePool, nodes: Nodes) -> bool:
    """True if the pool grows for pending pods, and its limits leave something beside its present nodes."""
    own = [
        node.status.capacity or node.status.allocatable
        for node in nodes.objects
        if node.metadata.labels.get(NODE_POOL_LABEL) == pool.metadata.name
    ]
    with suppress(QuantityError):
        for resource, limit in pool.spec.limits.items():
            used = NANO * len(own) if resource == "nodes" else sum(parse(sizes.get(resource)).nano for sizes in own)
            if used >= parse(limit).nano:
                return False
    return pool.spec.replicas is None


RULES = (VolumePins(), QuotaRefuses(), ScaledToZero(), PendingReplicas(), AutoscaledBeyond())
