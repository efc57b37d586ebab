"""Which nodes of a cluster can be removed, alone and together, and what blocks the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import ClassVar, Literal, get_args

from msgspec import Struct

from kubespread.kube.owners import NamespacedName
from kubespread.kube.well_known import DO_NOT_DISRUPT, SAFE_TO_EVICT
from kubespread.reports.cost import UNKNOWN, Cost, CostChange, not_counted
from kubespread.reports.happened import Holder, LandedPods, held_by
from kubespread.reports.loads import NodeLoad
from kubespread.reports.parts import Judgment, Report, ScheduledReport, Share
from kubespread.wording import count_of, some_of

_MAX_NAMED, _MAX_REMEDIES, _MAX_PODS, _MAX_OF_GROUP = 4, 3, 3, 3
HeldBy = Literal[
    "controlPlane",
    "lastOfDomain",
    "localStorage",
    "noController",
    "daemonSet",
    "budget",
    "finalizer",
    "noNode",
    "notMade",
    "noRoom",
    "preempts",
    "fewerReady",
    "unknownController",
    "down",
]
LeftBy = Literal["safeToEvict", "doNotDisrupt"]
HoldCause = HeldBy | LeftBy


class HoldRow(Struct, frozen=True, kw_only=True):
    """What is said of one cause that keeps a node."""

    word: str
    """In a column."""
    means: str
    """For the documentation."""
    level: Literal["warning", "notice"] = "warning"
    """How bad it is in a report on the cluster."""
    nodes: str = ""
    """What follows a number of nodes there; empty: it is not found before a node is drained."""
    names_itself: bool = False
    """Whether pods and cause say it all, without the message."""


HOLDS: Mapping[HoldCause, HoldRow] = {
    "controlPlane": HoldRow(word="control plane", means="its role; no more than a remark"),
    "lastOfDomain": HoldRow(
        word="last of its domain",
        means="the last node of a domain that a hard constraint counts; no more than a remark",
    ),
    "localStorage": HoldRow(
        word="local data",
        means="kubectl drain refuses to delete data in emptyDir volumes",
        level="notice",
        nodes="with data in emptyDir volumes, which a drain deletes",
        names_itself=True,
    ),
    "noController": HoldRow(
        word="no controller",
        means="kubectl drain refuses, for pods that nothing makes again",
        names_itself=True,
        nodes="cannot be drained: kubectl drain refuses without --force, for pods that nothing makes again",
    ),
    "daemonSet": HoldRow(
        word="DaemonSet",
        means="kubectl drain refuses, for pods of a DaemonSet",
        nodes="cannot be drained: kubectl drain refuses, for pods of a DaemonSet that is gone",
    ),
    "budget": HoldRow(
        word="budget",
        means="the API server refuses an eviction",
        nodes="cannot be drained: a budget refuses an eviction now",
    ),
    "finalizer": HoldRow(
        word="finalizer",
        means="a pod has a finalizer that nothing that is modeled takes off: whether kubectl drain ends is not known",
    ),
    "down": HoldRow(
        word="down meanwhile",
        means="a workload has no ready pod on another node and no budget waits for one; no more than a remark",
    ),
    "safeToEvict": HoldRow(
        word="safe-to-evict: false",
        means=f"pods annotated ``{SAFE_TO_EVICT}: false``",
        level="notice",
        nodes=f"not removed by cluster-autoscaler, for pods annotated {SAFE_TO_EVICT}: false",
    ),
    "doNotDisrupt": HoldRow(
        word="do-not-disrupt",
        means=f"pods, or the node itself, annotated ``{DO_NOT_DISRUPT}: true``",
        level="notice",
        nodes=f"not removed by Karpenter, for {DO_NOT_DISRUPT}: true",
    ),
    "noNode": HoldRow(word="no other node", means="a pod finds no other node"),
    "notMade": HoldRow(
        word="not made",
        means="a controller does not make another pod, as a StatefulSet whose earlier pod is not ready, or the API "
        "server refuses it",
    ),
    "noRoom": HoldRow(word="no room", means="its pods ask for more than is free elsewhere"),
    "preempts": HoldRow(
        word="preemption", means="its pods push others away that nobody makes again, or that a budget protects"
    ),
    "fewerReady": HoldRow(
        word="fewer ready", means="a workload has fewer ready pods than before and than it is to have"
    ),
    "unknownController": HoldRow(
        word="controller not modeled",
        means="a workload loses pods, and it is not known whether its controller makes them again",
    ),
}


class Hold(Report, frozen=True):
    """What blocks a node from being removed."""

    meanings: ClassVar = {"cause": {cause: HOLDS[cause] for cause in get_args(HeldBy)}}

    cause: HeldBy
    """One of these."""
    detail: str
    """kubectl's, the API server's or kube-scheduler's own message, or what the cause means."""
    pods: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of pods, or NAMESPACE/Kind/name of workloads whose new pods it is about, if any."""

    def said(self, *, names_protected: bool = True) -> str:
        """``no controller: default/debug``: the cause, the pods, and the message where it says more.

        Without ``names_protected`` all pods of a budget share one sentence.
        """
        row = HOLDS[self.cause]
        whom = f" {some_of(self.pods, _MAX_PODS)}" if self.pods and (names_protected or self.cause != "budget") else ""
        if row.names_itself:
            return f"{row.word}:{whom}"
        if self.cause == "lastOfDomain":
            return f"the last node of {self.detail}"
        return f"{row.word}:{whom}{':' if whom else ''} {self.detail}"


class LeftAlone(Report, frozen=True):
    """A node that autoscalers of nodes do not remove, whatever room there is elsewhere. kubectl drain does not ask."""

    meanings: ClassVar = {"cause": {cause: HOLDS[cause] for cause in get_args(LeftBy)}}

    node: str
    """Its name."""
    cause: LeftBy
    """One of these."""
    pods: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of its pods that have the annotation; empty where only the node has it."""


class LandedOfGroup(LandedPods, frozen=True, gc=False, kw_only=True):
    """Pods of one workload that found a node when nodes go together."""

    group: int
    """Which of the groups that are cordoned at once the pods come from, from 1; a later one may move them on."""


class NodeRemoval(Report, frozen=True):
    node: str
    """Its name."""
    domain: str | None
    """Its zone."""
    pods: int
    """How many a drain would evict."""
    alone: bool
    """Whether it can go while all other nodes stay."""
    place: int | None
    """Its place in the order in which nodes go together, from 1; null where it stays."""
    held: tuple[Hold, ...]
    """Why it cannot go alone: what kubectl refuses, and where a drain that went on all the same would end. Of one that
    can and stays, why it does not go after those that do.
    """
    violated: tuple[str, ...]
    """Workloads that it leaves, going alone, further from a hard constraint than maxSkew allows: ``WORKLOAD: zone
    skew 2 exceeds maxSkew 1``.
    """
    preempted: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of pods of lower priority that its pods push away, going alone. Each finds another node, and no
    budget is broken.
    """
    lost: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of pods that are lost for good when it goes: ``--force`` evicts them, and nothing recreates
    them.
    """
    until_deleted: int = 0
    """Pods that wait once it is drained, going alone, until the Node object is deleted: a cordoned node still counts as
    a domain.
    """
    ties: tuple[str, ...] = ()
    """Preemptions on its way whose victims equal other pods, so that their names decided; in the notes too."""
    landed: tuple[LandedPods, ...] | None = None
    """Where its pods find a node, going alone, and what waited for that; of one that cannot go as far as a drain got.
    Null where it was certain that all find one without moving any.
    """
    price: str | None = None
    """What it costs; null where that is not known or not asked."""
    remarks: tuple[Hold, ...] = ()
    """What is to be known before it goes and does not keep it: ``controlPlane``, ``lastOfDomain``, ``localStorage`` for
    data that its drain deletes, and ``down`` for workloads without a ready pod until a successor is ready.
    """

    remedy: str | None = None
    """Options with which it can go alone, as all that keeps it are disruption budgets: ``--budget
    NAMESPACE/NAME:maxUnavailable=1``. Verified by draining it with them; null where none is found.
    """

    @property
    def may_go(self) -> bool:
        """True if all that keeps it is not modeled: controllers that may make lost pods again, or finalizers."""
        return bool(self.held) and all(hold.cause in ("unknownController", "finalizer") for hold in self.held)


class Together(Report, frozen=True):
    """Nodes drained and deleted in one cluster, in groups that are cordoned at once; none of the control plane, and not
    the last node of a domain.
    """

    nodes: tuple[str, ...]
    """In the order in which they are drained."""
    groups: tuple[int, ...]
    """The sizes of the groups that are cordoned at once, in order."""
    moved: int
    """Pods that were placed elsewhere, some of them more than once."""
    preempted: int
    """Pods of lower priority that were preempted, each of which found another node."""
    violated: tuple[str, ...]
    """As for one node."""
    untried: int
    """Nodes that can go alone and were not tried after many in a row did not go, or before the time was up."""
    lost: tuple[str, ...] = ()
    """As for one node."""
    landed: tuple[LandedOfGroup, ...] = ()
    """Where pods find a node when the nodes go, by group."""
    saved: tuple[Cost, ...] = ()
    """What the nodes of each group cost; empty without prices."""
    loads: tuple[tuple[NodeLoad, ...], ...] = ()
    """Of each group, of the nodes that are left once it is gone, where that changed, in the order of the cluster."""

    @property
    def by_group(self) -> list[tuple[str, ...]]:
        """The nodes of each group, in order."""
        nodes = iter(self.nodes)
        return [tuple(islice(nodes, size)) for size in self.groups]


class RemovableReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "RemovableReport"
    nodes: int
    """How many the cluster has."""
    pending_before: int = 0
    """Pods that are pending before any node goes, once the cluster has settled."""
    rows: tuple[NodeRemoval, ...]
    """The nodes that were tried: those that go together in their order, then those that can go alone, then the
    others; fewest pods first, then by name.
    """
    together: Together
    holders: tuple[Holder, ...] = ()
    """Whose pods keep the nodes that cannot go alone, by namespace."""
    tight_budgets: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the disruption budgets with pods on ``rows`` that let none of their pods go now."""
    left_alone: tuple[LeftAlone, ...] = ()
    """The nodes among ``rows`` that autoscalers of nodes do not remove."""
    cost: CostChange | None = None
    """What all nodes cost, and what those cost that stay when nodes go together; null without prices."""

    def judged(self) -> Judgment:
        # Of the nodes that were not asked, any may go.
        if any(row.alone for row in self.rows) or self.unfinished is not None:
            return "yes"
        return "unknown" if any(row.may_go for row in self.rows) else "no"

    def worst_finding(self) -> str:
        return next(iter(held_by(self.holders)), "")

    def share(self) -> Share:
        return Share(sum(not row.alone for row in self.rows), len(self.rows), "nodes")

    def sentences(self) -> Iterator[str]:
        """How many can go alone, which together in which order, and the effects."""
        together, alone = self.together, [row.node for row in self.rows if row.alone]
        if len(self.rows) == 1:
            yield self._of_one(self.rows[0])
        elif not alone:
            can = "is known to be able to go" if self.judged() == "unknown" else "can go"
            yield f"none of {count_of(len(self.rows), 'node')} {can}"
        elif len(alone) == 1:
            yield f"1 of {count_of(len(self.rows), 'node')} can go alone: {alone[0]}"
        else:
            yield from _together(together, f"{len(alone):,} of {count_of(len(self.rows), 'node')} can go alone")
        yield from self._remedies()
        yield from held_by(self.holders)
        if self.cost is not None:
            yield _cost(self.cost, together.saved)
        if self.tight_budgets and len(self.rows) > 1:
            budgets = some_of(self.tight_budgets, _MAX_NAMED)
            let = "lets" if len(self.tight_budgets) == 1 else "let"
            yield f"{count_of(len(self.tight_budgets), 'disruption budget')} {let} no pod go now: {budgets}"
        if self.left_alone:
            nodes = dict.fromkeys(left.node for left in self.left_alone)
            named = some_of([_left_alone(left) for left in self.left_alone], _MAX_NAMED)
            yield f"autoscalers of nodes leave {count_of(len(nodes), 'node')} alone: {named}"
        if lost := list(dict.fromkeys(pod for row in self.rows if row.alone for pod in row.lost)):
            yield f"{count_of(len(lost), 'pod')} would be lost for good: {some_of(lost, _MAX_NAMED)}"
        yield from (f"together they leave {violation}" for violation in together.violated)
        if together.preempted:
            yield f"together they preempt {count_of(together.preempted, 'pod')}, each of which finds another node"

    def _of_one(self, row: NodeRemoval) -> str:
        if row.alone:
            return f"{row.node} can go"
        held = "; ".join(hold.said(names_protected=False) for hold in row.held)
        return f"{row.node} {'is not known to be able to' if row.may_go else 'cannot'} go: {held}"

    def _remedies(self) -> Iterator[str]:
        """The options with which nodes can go that budgets keep, those that free most nodes first."""
        freed: dict[str, list[str]] = {}
        for row in self.rows:
            if row.remedy is not None:
                freed.setdefault(row.remedy, []).append(row.node)
        ordered = sorted(freed.items(), key=lambda item: -len(item[1]))
        for remedy, nodes in ordered[:_MAX_REMEDIES]:
            if len(self.rows) == 1:
                yield f"with {remedy} it can go"
            else:
                yield f"{count_of(len(nodes), 'node')} could go alone with {remedy}: {some_of(nodes, _MAX_NAMED)}"
        if rest := ordered[_MAX_REMEDIES:]:
            more = sum(len(nodes) for _, nodes in rest)
            yield f"{count_of(more, 'more node')} could go alone with other budgets changed"


def _cost(cost: CostChange, saved: Sequence[Cost]) -> str:
    if cost.before.amount is None:
        return UNKNOWN
    whole = f"the nodes cost {cost.pricing.text(cost.before.amount)}"
    if not saved:
        return f"{whole}{not_counted(before=cost.before)}"
    rest = f"{cost.pricing.text(cost.after.amount)} without those that go together: {cost.change}"
    by_group = ""
    if 1 < len(saved) <= _MAX_NAMED:
        by_group = f" ({', '.join(cost.pricing.text(group.amount) for group in saved)} by group)"
    return f"{whole}, {rest}{by_group}{not_counted(before=cost.before, after=cost.after)}"


def _left_alone(left: LeftAlone) -> str:
    return f"{left.node} ({HOLDS[left.cause].word}{f' on {some_of(left.pods, 1)}' if left.pods else ''})"


def _steps(together: Together) -> str:
    """``cordon and drain a, b, c and 2 more, then d``."""
    first, *rest = (some_of(group, _MAX_OF_GROUP) for group in together.by_group)
    later = [*rest[:_MAX_NAMED], *([count_of(len(rest) - _MAX_NAMED, "more group")] if rest[_MAX_NAMED:] else [])]
    return ", then ".join([f"cordon and drain {first}", *later])


def _together(together: Together, alone: str) -> Iterator[str]:
    if not together.nodes:
        yield f"{alone}, none together"
    else:
        headline, steps = f"{alone}, {len(together.nodes):,} together", _steps(together)
        # Many names would bury the answer.
        if len(together.nodes) <= _MAX_NAMED and not together.untried:
            yield f"{headline}: {steps}"
            return
        yield headline
        yield f"to take them together: {steps}"
    if together.untried:
        yield f"together with these, {count_of(together.untried, 'other')} that can go alone were not tried"
