"""What became of the pods of a cluster when something in it was changed, and what a rollout did pass by pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.loads import NodeLoad
from kubespread.reports.parts import ConstraintReport, Range, Report, SkewChange, exceeding, range_of
from kubespread.wording import count_of, short_key, some_of, verb_of

_MAX_NAMED, _MAX_HOLDERS = 3, 4


class RevisionPods(Report, frozen=True):
    """The pods of the old revisions and of the new one."""

    old: int
    """Of all older revisions."""
    new: int
    """Of the new one."""


class DomainRevisions(Report, frozen=True):
    """One domain of a topology key."""

    value: str
    """What its nodes have as the label's value."""
    old: int
    """Pods of older revisions there."""
    new: int
    """Pods of the new one there."""


class KeyRevisions(Report, frozen=True):
    """The domains of one topology key that hold pods or could, in the order of values, and the skew its constraint
    sees.
    """

    topology_key: str
    domains: tuple[DomainRevisions, ...]
    """By value."""
    skew: int
    """The fullest domain's matching pods minus the global minimum."""


class NodeRevisions(Report, frozen=True):
    """The pods of the workload on one node."""

    name: str
    """The node's."""
    old: int
    """Pods of older revisions there."""
    new: int
    """Pods of the new one there."""


class RolloutPass(Report, frozen=True):
    """One pass of the controller that changed a size, once its pods were deleted, placed and ready as far as they can
    be.
    """

    number: int
    """From 1."""
    wanted: RevisionPods
    """The sizes that the controller asks for."""
    running: RevisionPods
    """Pods on nodes."""
    ready: RevisionPods
    """Pods that are ready."""
    constraints: tuple[KeyRevisions, ...]
    """Those of the new template."""
    nodes: tuple[NodeRevisions, ...] = ()
    """The nodes on which that changed since the pass before, by name."""


class RevisionSkew(Report, frozen=True):
    """How the pods of the new revision alone are spread in the end."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    skew: int
    """The fullest domain's pods minus the global minimum."""
    domains: tuple[DomainRevisions, ...]
    """By value."""
    runs: Range | None = None
    """``skew`` over all runs; null where they agree, or where there is one."""

    @property
    def most(self) -> int:
        """The skew where chance falls worst."""
        return self.skew if self.runs is None else self.runs.maximum

    @property
    def range(self) -> str:
        """``2``, or ``1–3`` over all runs."""
        return range_of(self.skew, self.runs)


class RolloutReport(Report, frozen=True):
    """A rollout from its first pass to where it ends or waits forever."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    strategy: str
    """``RollingUpdate``, ``Recreate`` or ``OnDelete``."""
    replicas: int
    """How many there are to be."""
    max_surge: int
    """How many pods more than that there may be."""
    max_unavailable: int
    """How many fewer may be ready."""
    passes: tuple[RolloutPass, ...]
    """Those that changed a size, in order."""
    complete: bool
    """Whether all replicas are ready, and of the new revision but for those that a StatefulSet's partition keeps."""
    wedged_on: str | None
    """Why it goes no further: what kube-scheduler says of the new pod that waits, what the API server says to the one
    that it refuses, or that new pods never get ready.
    """
    pending: int
    """New pods without a node in the end."""
    fewest_ready: int
    """The fewest pods that were ready at any time; of a rollout that went on once an autoscaler had added nodes, at the
    least so many.
    """
    worst_skew: tuple[RevisionSkew, ...]
    """Per constraint the pass on which the scheduler saw the highest skew."""
    final: tuple[RevisionSkew, ...]
    """Per constraint how things end."""
    with_match_label_keys: tuple[RevisionSkew, ...] | None
    """``final`` had the constraints matchLabelKeys: [pod-template-hash]; null where they have it, or there are none."""
    constraints: tuple[ConstraintReport, ...]
    """As they stand in the end."""
    start: tuple[NodeRevisions, ...] = ()
    """The nodes that hold pods of the workload before the first pass, by name."""
    not_created: int = 0
    """New pods that the API server refuses in the end, as a quota does."""
    kept: int = 0
    """Pods that keep an older revision on purpose: those below the partition of a StatefulSet."""
    runs: int = 1
    """How often it was played: more than once where controllers deleted some of several equal pods."""
    stuck_runs: int = 0
    """In how many of these it is not complete."""
    stuck_on: str | None = None
    """Why not, in the first of those; null where it always is."""

    @property
    def may_get_stuck(self) -> bool:
        """Whether it depends on chance that it is complete."""
        return 0 < self.stuck_runs < self.runs

    def over(self, others: Sequence[RolloutReport]) -> RolloutReport:
        """The rollout with what became of it in other runs."""
        played = [self, *others]
        stuck = [rollout for rollout in played if not rollout.complete]
        return msgspec.structs.replace(
            self,
            worst_skew=tuple(_over(self.worst_skew, [other.worst_skew for other in others])),
            final=tuple(_over(self.final, [other.final for other in others])),
            with_match_label_keys=None
            if self.with_match_label_keys is None
            else tuple(_over(self.with_match_label_keys, [other.with_match_label_keys or () for other in others])),
            runs=len(played),
            stuck_runs=len(stuck),
            stuck_on=stuck[0].wedged_on if stuck else None,
        )


def _over(skews: Sequence[RevisionSkew], others: Sequence[Sequence[RevisionSkew]]) -> Iterator[RevisionSkew]:
    """Each constraint's skew over all runs: they are about the same constraints, in the same order."""
    for own, *same in zip(skews, *others, strict=True):
        yield msgspec.structs.replace(own, runs=Range.over(side.skew for side in (own, *same)))


def rollout_sentence(rollout: RolloutReport) -> str:
    """How a rollout ended, and how even its pods are."""
    # Why pods are pending is said of them.
    lacking = {"pending": rollout.pending, "not created": rollout.not_created}
    counts = [f"{count_of(count, 'new pod')} {what}" for what, count in lacking.items() if count]
    kept = f", {rollout.kept} of {rollout.replicas} kept by its partition" if rollout.kept else ""
    ending = f"complete{kept}" if rollout.complete else f"not complete: {', '.join(counts) or rollout.wedged_on}"
    if rollout.may_get_stuck:
        why = f": {rollout.stuck_on}" if rollout.complete else ""
        ending = f"may get stuck ({rollout.stuck_runs} of {rollout.runs} runs{why}); in the one shown {ending}"
    parts = [ending, f"fewest ready {rollout.fewest_ready:,} of {rollout.replicas:,}"]
    others = rollout.with_match_label_keys or rollout.final
    pairs = list(zip(rollout.final, others, strict=True))
    # Of those that are as even as they are asked to be, the first one says so for all.
    telling = [(own, other) for own, other in pairs if own.most > own.max_skew or own.range != other.range]
    parts += [_final(own, other) for own, other in telling or pairs[:1]]
    return "; ".join(parts)


def _final(own: RevisionSkew, other: RevisionSkew) -> str:
    """``zone skew of the new pods 2 > 1 (0 with matchLabelKeys: [pod-template-hash])``."""
    exceeds = exceeding(own.skew, own.runs, own.max_skew)
    instead = f" ({other.range} with matchLabelKeys: [pod-template-hash])" if own.range != other.range else ""
    return f"{short_key(own.topology_key)} skew of the new pods {own.range}{exceeds}{instead}"


class PlacedPod(Report, frozen=True):
    pod: NamespacedName
    """NAMESPACE/name."""
    node: str
    """Where it runs now."""


class LandedPods(Report, frozen=True, gc=False):
    """Pods of one workload that found a node, and are still on it."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    node: str
    """Where they run now."""
    pods: int
    """How many."""


class Holder(Report, frozen=True):
    """A namespace whose pods keep nodes."""

    namespace: str
    """Its name."""
    nodes: tuple[str, ...]
    """The nodes that they keep, by name; others may keep them too."""
    workloads: tuple[WorkloadName, ...]
    """NAMESPACE/Kind/name of those that the pods are of; NAMESPACE/Pod/name for a pod by itself."""


def holders(held: Iterable[tuple[str, WorkloadName]]) -> tuple[Holder, ...]:
    """By namespace which nodes are ``held`` and by what: the one that keeps most nodes first."""
    nodes: dict[str, set[str]] = {}
    workloads: dict[str, set[WorkloadName]] = {}
    for node, workload in held:
        nodes.setdefault(workload.namespace, set()).add(node)
        workloads.setdefault(workload.namespace, set()).add(workload)
    ordered = sorted(nodes, key=lambda namespace: (-len(nodes[namespace]), namespace))
    return tuple(Holder(each, tuple(sorted(nodes[each])), tuple(sorted(workloads[each]))) for each in ordered)


def held_by(rows: Sequence[Holder]) -> Iterator[str]:
    """A sentence on who keeps nodes, where they are several: ``held by: shop 12 nodes (web, promo), data 3 nodes
    (mongo)``.
    """
    if len({node for row in rows for node in row.nodes}) > 1:
        yield f"held by: {some_of([_held_by(row) for row in rows], _MAX_HOLDERS)}"


def _held_by(row: Holder) -> str:
    names = list(dict.fromkeys(workload.name for workload in row.workloads))
    return f"{row.namespace} {count_of(len(row.nodes), 'node')} ({some_of(names, _MAX_NAMED)})"


ASKED_FOR = frozenset({"evicted", "deleted"})


class GonePod(Report, frozen=True):
    """A pod that left its node, or is on its way out there."""

    pod: NamespacedName
    """NAMESPACE/name."""
    node: str | None
    """The node it left; null where it had none."""
    why: str
    """``evicted``, ``deleted``, ``scaled down``, ``replaced``, ``lost``, ``preempted``, ``evicted by a taint``, and of
    DaemonSets ``no longer selected``.
    """
    lost_for_good: bool
    """Whether it had no controller, so that nobody makes it again."""
    made_room_for: NamespacedName | None = None
    """Of a preempted pod: NAMESPACE/name of the one that took its place."""
    broken_budgets: tuple[str, ...] = ()
    """Of a preempted pod: the names of the disruption budgets that did not allow it, in its namespace."""

    @property
    def is_asked_for(self) -> bool:
        """Whether it was evicted or deleted: whoever does that to a pod that no controller makes again, asks for it."""
        return self.why in ASKED_FOR

    @property
    def is_bad(self) -> bool:
        """Of a preempted pod: whether a budget is broken, or nobody makes the pod again."""
        return bool(self.broken_budgets) or self.lost_for_good


class FewerReady(Report, frozen=True, gc=False):
    """A workload that has fewer ready pods than it is to have, and than before."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    wanted: int
    """Desired pods."""
    ready_before: int
    """Pods that were ready before the first step."""
    ready: int
    """Pods that are ready now."""
    lacking: int
    """How many more of its pods than before are pending or not made."""
    controller_unknown: bool = False
    """True if its controller may make other pods, so that this is not known: it is not modeled, or waits for a pod that
    finalizers keep.
    """

    def __str__(self) -> str:
        return f"{self.workload.called} has {self.ready:,} of {self.wanted:,} ready, {self.ready_before:,} before"


class ShortOfPods(Protocol):
    """A workload with fewer ready pods than before."""

    @property
    def workload(self) -> WorkloadName:
        """Its name."""

    @property
    def controller_unknown(self) -> bool:
        """Whether it may have other pods again."""


def of_unknown(rows: Iterable[ShortOfPods]) -> Iterator[str]:
    """That some of the workloads may have other pods again."""
    names = dict.fromkeys(row.workload.called for row in rows if row.controller_unknown)
    if names:
        yield f"whether lost pods are made again is not known for {some_of([*names], _MAX_NAMED)}"


class NodeEviction(Report, frozen=True):
    """The pods of a node that failed, deleted because they do not tolerate that."""

    node: str
    """Its name."""
    seconds: int
    """How long after the first node of its zone was tainted: the nodes follow one another at a limited rate, and pods
    tolerate the taint for a while.
    """
    pods: int
    """How many are deleted then."""


def eviction_order(evictions: Sequence[NodeEviction]) -> str:
    """``n0 after 300 s, n1 after 310 s``."""
    return ", ".join(f"{eviction.node} after {eviction.seconds:,} s" for eviction in evictions)


class BlockedPod(Report, frozen=True):
    """A pod whose eviction the API server refuses for good, or that finalizers keep once it is evicted."""

    pod: NamespacedName
    """NAMESPACE/name."""
    node: str
    """Where it stays."""
    budget: str
    """The name of the disruption budget, in the namespace of the pod; empty where none refuses."""
    message: str
    """The API server's, or that nothing that is modeled takes off its finalizers."""
    cause: str
    """The API server's detail: what the budget needs and has."""

    finalizers: tuple[str, ...] = ()
    """Finalizers that keep it: kubectl drain waits until they are taken off, and whether they are is not known."""

    @property
    def refusal(self) -> str:
        return f"{self.message} {self.cause}".strip()

    @property
    def fate(self) -> str:
        """Verb phrase for it, and for several."""
        return "may stay" if self.finalizers else "cannot be evicted"


NO_OTHER_READY = "no other pod is ready"


def down_meanwhile(workloads: Iterable[NamespacedName]) -> Iterator[str]:
    if names := [workload.called for workload in dict.fromkeys(workloads)]:
        yield f"{some_of(names, _MAX_NAMED)} {verb_of(len(names), 'are')} down meanwhile: {NO_OTHER_READY}"


class PendingPods(Report, frozen=True):
    """Pods of one workload that wait for a node for the same reason."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    pods: tuple[NamespacedName, ...]
    """NAMESPACE/name."""
    message: str
    """kube-scheduler's."""
    nodes: tuple[str, ...] = ()
    """Which nodes they are for, where each is for one: those of a DaemonSet."""


class UnmadePods(Report, frozen=True):
    """Pods that a workload is to have and that do not exist."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    count: int
    """How many."""
    message: str
    """What the API server says to the first of them, or what their controller waits for."""


class TouchedWorkload(Report, frozen=True):
    """A workload that lost pods or got some, or lacks some, as it is now."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    replicas: int
    """How many pods it is to have: of a Deployment its own number, though a rollout has more of them for a time."""
    ready: int
    """How many of them are ready."""
    pending: int
    """How many of them wait for a node."""
    skew: tuple[SkewChange, ...]
    """Of each spread constraint in force, before and after."""
    not_created: int = 0
    """How many of them the API server refuses, as a quota does."""
    not_made_yet: int = 0
    """How many of them its controller has yet to make: a StatefulSet waits for those before them."""
    gone: int = 0
    """How many of its pods left their nodes, or are on their way out."""
    created: int = 0
    """How many pods its controllers made."""
    placed: int = 0
    """How many of its pods found a node."""

    def over(self, others: Sequence[TouchedWorkload]) -> TouchedWorkload:
        """The workload with the skews of other runs, in which pods of another revision, with other constraints, may
        have been touched.
        """
        skews = [skew for other in others for skew in other.skew]
        over = (own.over([skew for skew in skews if skew.is_of(own)]) for own in self.skew)
        return msgspec.structs.replace(self, skew=tuple(over))

    @property
    def is_moved(self) -> bool:
        """Whether anything became of its pods, as opposed to those that went on waiting."""
        return bool(self.gone or self.created or self.placed)


class Happened(Report, frozen=True, kw_only=True):
    """All of it, in the order it happened."""

    gone: tuple[GonePod, ...]
    """Pods that left their nodes."""
    placed: tuple[PlacedPod, ...]
    """Pods that found a node."""
    blocked: tuple[BlockedPod, ...]
    """Pods that budgets keep."""
    pending: tuple[PendingPods, ...]
    """All that wait now, whoever made them wait."""
    not_created: tuple[UnmadePods, ...] = ()
    """Pods that the API server refuses now, as a quota does, by workload."""
    not_made_yet: tuple[UnmadePods, ...] = ()
    """Pods that their controllers have yet to make, by workload: a StatefulSet waits for those before them."""
    workloads: tuple[TouchedWorkload, ...]
    """Those that lost pods or got some."""
    notes: tuple[str, ...]
    nodes_joined: tuple[str, ...] = ()
    """Nodes that are there now and were not before, by name."""
    nodes_left: tuple[str, ...] = ()
    """Nodes that existed before and no longer exist, by name."""
    node_states: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """What keeps pods away from the nodes that are there, where that changed, by name: ``cordoned``, ``not ready``;
    nothing where they are open again.
    """
    evictions: tuple[NodeEviction, ...] = ()
    """Of nodes that failed, in order."""
    down: tuple[WorkloadName, ...] = ()
    """Workloads all of whose ready pods were evicted at once: none is ready until a successor is."""
    loads: tuple[NodeLoad, ...] = ()
    """Of the nodes that are there, where that changed, in the order of the cluster."""

    @property
    def waiting(self) -> Counter[WorkloadName]:
        """How many pods of each workload wait now. Not which: one that is evicted leaves its wait to its successor."""
        counts = Counter[WorkloadName]()
        for kind in self.pending:
            counts[kind.workload] += len(kind.pods)
        return counts

    def over(self, others: Sequence[Happened]) -> Happened:
        """What happened, with the skews of other runs."""
        rows = [{workload.workload: workload for workload in other.workloads} for other in others]
        workloads = (own.over([row[own.workload] for row in rows if own.workload in row]) for own in self.workloads)
        return msgspec.structs.replace(self, workloads=tuple(workloads))
