"""How nodes are replaced one batch after another, and what stops that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.autoscaling import AutoscalingReport, scaled_sentences
from kubespread.reports.cost import UNKNOWN, Cost, CostChange, not_counted
from kubespread.reports.happened import (
    BlockedPod,
    FewerReady,
    GonePod,
    Holder,
    PendingPods,
    UnmadePods,
    down_meanwhile,
    held_by,
    of_unknown,
)
from kubespread.reports.loads import NodeLoad
from kubespread.reports.parts import Judgment, OfWorkloads, Report
from kubespread.wording import count_of, some_of, verb_of


class UpgradeStep(Report, frozen=True):
    """One batch: new nodes join, the old ones are cordoned, drained and deleted, and the rest of the new ones join."""

    nodes: tuple[str, ...]
    """The nodes that are replaced."""
    added: tuple[str, ...]
    """Nodes that joined in this step, before or after the drain."""
    evicted: int
    """Pods that were evicted from them."""
    placed: int
    """Pods that found a node: successors of those that were evicted or preempted, pods that waited, and ``daemons``."""
    pending: int
    """Pods that wait after this step, of each workload those that it has more of than before the upgrade."""
    pods: dict[str, int] = msgspec.field(default_factory=dict)
    """How many pods of any kind each node holds, of those where some came or went, by name."""
    daemons: int = 0
    """How many of those that were placed are pods of DaemonSets, as of the nodes that joined."""
    preempted: tuple[GonePod, ...] = ()
    """Pods of lower priority that made room for those that were evicted."""
    lost: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of pods that are gone and that nothing recreates: those that ``--force`` evicts, and preempted
    ones without a controller.
    """
    down: tuple[WorkloadName, ...] = ()
    """Workloads all of whose ready pods were evicted at once: none is ready until a successor is."""
    is_blocked: bool = False
    """Whether an eviction, or the whole drain, is refused as long as nothing else changes: the upgrade ends here."""
    joined_before: int = 0
    """How many of the nodes that joined did so before the drain: the first ones of ``added``."""
    loads: tuple[NodeLoad, ...] = ()
    """Of the nodes that are there, where that changed, in the order of the cluster."""

    @property
    def is_bad(self) -> bool:
        """Whether it is blocked, breaks a budget by preemption, or preempts pods that nothing recreates.

        Waiting pods may find a node in a later step: those that do not are in the report.
        """
        return self.is_blocked or any(pod.is_bad for pod in self.preempted)

    @property
    def state(self) -> str:
        """In a word: ``preempts`` only where preemption does more than move pods."""
        return "blocked" if self.is_blocked else "preempts" if self.is_bad else "done"


class Blocked(Report, frozen=True):
    """Where the upgrade stops: these nodes stay cordoned."""

    nodes: tuple[str, ...]
    """Those of the batch."""
    refusal: str | None
    """kubectl's refusal, where it does not begin to drain."""
    pods: tuple[BlockedPod, ...]
    """Pods whose eviction the API server refuses as long as nothing else changes, or that finalizers keep."""
    workloads: tuple[WorkloadName, ...]
    """NAMESPACE/Kind/name of what these pods belong to."""

    @property
    def is_kept(self) -> bool:
        """True if finalizers alone keep the nodes, so that it may go on."""
        return self.refusal is None and all(pod.finalizers for pod in self.pods)


class UpgradeCost(CostChange, frozen=True):
    """What the nodes of the cluster cost before the upgrade, meanwhile, and in the end."""

    most: Cost
    """While it cost most, as far as prices are known: with the new nodes that have joined and the old ones that have
    not gone yet.
    """


class UpgradeReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "UpgradeReport"
    nodes: tuple[str, ...]
    """The nodes to replace, in the order they are."""
    to: str = ""
    """What the new nodes are, as it was asked: ``8x16``; empty for copies."""
    surge: int
    """How many new nodes join before those they replace go."""
    batch: int
    """How many nodes are replaced at a time."""
    steps: tuple[UpgradeStep, ...]
    """Those that got through, and the one that is blocked."""
    replaced: int
    """How many nodes were drained and deleted."""
    blocked: Blocked | None
    """Null where all were replaced."""
    pending: tuple[PendingPods, ...]
    """Pods that wait in the end, of each workload those that it has more of than before."""
    pending_as_before: tuple[PendingPods, ...] = ()
    """The other pods that wait in the end: as many of their workloads waited before."""
    not_created: tuple[UnmadePods, ...] = ()
    """Pods that the API server refuses in the end and did not before, as a quota does, by workload."""
    not_made_yet: tuple[UnmadePods, ...] = ()
    """Pods that their controllers have yet to make in the end and had not before, by workload: a StatefulSet waits for
    those before them.
    """
    short: tuple[FewerReady, ...] = ()
    """Workloads that have fewer ready pods in the end than before, and than they are to have."""
    tight_budgets: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the disruption budgets with pods on these nodes that let none of them go, before any node is
    replaced.
    """
    holders: tuple[Holder, ...] = ()
    """Whose pods budgets keep on nodes to replace, before any is replaced or where it stops, or finalizers do there, by
    namespace.
    """
    pending_before: int = 0
    """Pods that are pending before any node is replaced, once the cluster has settled."""
    remedies: tuple[str, ...] = ()
    """Options that each, alone, get all nodes replaced, leave no pod pending and break no budget, verified by a full
    replay.
    """
    remedies_lose: dict[str, tuple[NamespacedName, ...]] = msgspec.field(default_factory=dict)
    """By remedy, the NAMESPACE/name of pods that are lost for good with it; only those that lose any."""
    remedies_tried: int = 0
    """How many changes were played to find the remedies."""
    remedies_untried: int = 0
    """How many more were not."""
    cost: UpgradeCost | None = None
    """Null without prices."""
    scaled: tuple[AutoscalingReport, ...] = ()
    """What the autoscaler added, each time that pods waited."""

    @property
    def complete(self) -> bool:
        """Whether all nodes were replaced."""
        return self.blocked is None

    @property
    def stand_ins(self) -> dict[str, str]:
        """By its name each new node's old one, in whose zone it is; without those of an autoscaler."""
        grown = {
            name for report in self.scaled for loop in report.loops for group in loop.added for name in group.nodes
        }
        joined = (name for step in self.steps for name in step.added if name not in grown)
        return dict(zip(joined, self.nodes, strict=False))

    @property
    def left_pending(self) -> int:
        """How many pods wait in the end that did not before."""
        return sum(len(group.pods) for group in self.pending)

    def judged(self) -> Judgment:
        is_left = self.pending or self.not_created or self.not_made_yet
        is_refused = self.blocked is not None and not self.blocked.is_kept
        if is_left or is_refused or any(pod.is_bad for step in self.steps for pod in step.preempted):
            return "unknown" if self._may_find_room else "no"
        known = [row for row in self.short if not row.controller_unknown]
        return "no" if known else "unknown" if self.short or self.blocked is not None else "yes"

    @property
    def _may_find_room(self) -> bool:
        """Whether all that is wrong is pods that machines of unknown type may take."""
        last = self.scaled[-1] if self.scaled else None
        others = self.not_created or self.not_made_yet or any(step.is_bad for step in self.steps)
        return last is not None and bool(last.unknown_groups) and not others

    @property
    def unexplained(self) -> list[FewerReady]:
        """Those of ``short`` that lack no pods more than before."""
        return [row for row in self.short if not row.lacking]

    def sentences(self) -> Iterator[str]:
        yield from _sentences(self)


_MAX_NAMED = 3


def _sentences(report: UpgradeReport) -> Iterator[str]:
    """How many nodes are replaced, the causes, the remedies, and other effects."""
    broken = _broken_budgets(report)
    troubles = [
        *([f"against {count_of(len(broken), 'disruption budget')}"] if broken else ()),
        *([f"{count_of(report.left_pending, 'pod')} left pending"] if report.pending else ()),
        *([f"{_number(report.not_created)} not created"] if report.not_created else ()),
        *([f"{_number(report.not_made_yet)} not made yet"] if report.not_made_yet else ()),
        *([f"{count_of(len(report.unexplained), 'workload')} degraded"] if report.unexplained else ()),
    ]
    blocked_at = "" if report.blocked is None else f": blocked at {some_of(report.blocked.nodes, _MAX_NAMED)}"
    replaced = f"{report.replaced:,} of {count_of(len(report.nodes), 'node')} replaced"
    yield f"{', '.join((replaced, *troubles))}{blocked_at}"
    yield from scaled_sentences(report.scaled)
    if report.blocked is not None:
        yield from _causes(report.blocked)
        yield from held_by(report.holders)
    yield from _tight(report)
    for budget, pods in broken.items():
        verb = verb_of(len(pods), "are")
        yield f"{some_of(pods, _MAX_NAMED)} {verb} preempted though the disruption budget {budget} does not allow it"
    for group in report.pending:
        yield f"{len(group.pods):,} pending of {group.workload}: {group.message}"
    for unmade, why in ((report.not_created, "not created"), (report.not_made_yet, "not made yet")):
        yield from (f"{row.count:,} of {row.workload} {why}: {row.message}" for row in unmade)
    yield from map(str, report.unexplained)
    yield from of_unknown(report.unexplained)
    yield from _remedies(report)
    if moved := [pod.pod for step in report.steps for pod in step.preempted if not pod.is_bad]:
        yield f"{count_of(len(moved), 'pod')} preempted: {some_of(moved, _MAX_NAMED)}"
    yield from down_meanwhile(workload for step in report.steps for workload in step.down)
    if lost := [pod for step in report.steps for pod in step.lost]:
        yield f"{count_of(len(lost), 'pod')} lost for good: {some_of(lost, _MAX_NAMED)}"
    if report.asked or report.namespace is not None or report.selector:
        yield "what becomes of the pods of other workloads is not counted"
    for group in report.pending_as_before:
        yield f"{len(group.pods):,} of {group.workload} pending as before: {group.message}"
    if report.cost is not None:
        yield _cost(report.cost)


def _cost(cost: UpgradeCost) -> str:
    if cost.most.amount is None:
        return UNKNOWN
    before, most, after = (cost.pricing.text(each.amount) for each in (cost.before, cost.most, cost.after))
    if cost.before.unknown == cost.most.unknown == cost.after.unknown:
        meanwhile = f"at most {most} while they are replaced"
    else:
        meanwhile = "it is not known how much while they are replaced"
    unpriced = not_counted(before=cost.before, in_the_end=cost.after)
    return f"the nodes cost {before}, {meanwhile}, and {after} in the end{unpriced}"


def _number(unmade: Iterable[UnmadePods]) -> str:
    return count_of(sum(row.count for row in unmade), "pod")


def _tight(report: UpgradeReport) -> Iterator[str]:
    """The budgets that hold more pods than the ones it stops at."""
    blocked = () if report.blocked is None else report.blocked.pods
    budgets = report.tight_budgets
    if {*budgets} - {NamespacedName(pod.pod.namespace, pod.budget) for pod in blocked}:
        let = f"{count_of(len(budgets), 'disruption budget')} {'lets' if len(budgets) == 1 else 'let'} no pod go"
        yield f"before any node is replaced {let}: {some_of(budgets, _MAX_NAMED)}"


def _causes(blocked: Blocked) -> Iterator[str]:
    if blocked.refusal is not None:
        yield f"kubectl refuses: {blocked.refusal}"
    by_message: dict[str, list[str]] = {}
    for pod in blocked.pods:
        by_message.setdefault(f"{pod.fate}: {pod.refusal}", []).append(pod.pod)
    for message, pods in by_message.items():
        yield f"{some_of(pods, _MAX_NAMED)} {message}"


def _broken_budgets(report: UpgradeReport) -> dict[str, list[str]]:
    """The pods that are preempted though a budget does not allow it, by its namespace and name."""
    broken: dict[str, list[str]] = {}
    for pod in (pod for step in report.steps for pod in step.preempted):
        for budget in pod.broken_budgets:
            broken.setdefault(f"{pod.pod.namespace}/{budget}", []).append(pod.pod)
    return broken


def _remedies(report: UpgradeReport) -> Iterator[str]:
    ways = [_remedy(report, option) for option in report.remedies]
    if len(ways) == 1:
        yield f"with {ways[0]}"
    elif ways:
        yield f"with any one of these it gets through: {' · '.join(ways)}"
    elif report.remedies_tried:
        yield f"no change that was tried gets it through: {count_of(report.remedies_tried, 'change')} tried"
    if report.remedies_untried:
        yield f"{count_of(report.remedies_untried, 'more change')} not tried"


def _remedy(report: UpgradeReport, option: str) -> str:
    """``--force it gets through, and default/debug is lost for good``; of several only the loss is said of each."""
    lost = report.remedies_lose.get(option, ())
    through = " it gets through" if len(report.remedies) == 1 else ""
    if not lost:
        return f"{option}{through}"
    verb = verb_of(len(lost), "are")
    fate = f"{some_of(lost, _MAX_NAMED)} {verb} lost for good"
    return f"{option}{through}, and {fate}" if through else f"{option} ({fate})"
