"""A cluster before and after what is planned, and the steps in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, get_args

from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.map.report import Load, MapNode
from kubespread.questions.play.report import PlayReport
from kubespread.reports.cost import UNKNOWN, CostChange, not_counted
from kubespread.reports.parts import Judgment, Report, ScheduledReport
from kubespread.wording import count_of, some_of, verb_of

Change = Literal["worse", "riskier", "new", "gone", "better", "different"]
WORST_FIRST: tuple[Change, ...] = get_args(Change)
_MAX_NAMED, _MAX_STEPS = 3, 8


class PlannedSide(Report, frozen=True, kw_only=True):
    """The cluster before or after."""

    kube_version: str
    """Its release."""
    nodes: int
    """How many it has."""
    replicas: int | None
    """Desired pods, of all workloads but DaemonSets; null where the audit was not finished."""
    ready: int | None
    """How many of them are ready; null where the audit was not finished."""
    pending: int
    """How many pods wait for a node, those of DaemonSets too."""
    can_go: int | None
    """How many nodes can be drained and deleted together, of 100 those with the fewest pods, as `kubespread.removable`
    says it; null where that is not known.
    """
    not_tried: int
    """How many nodes may go beside these: those that were not tried."""
    load: tuple[Load, ...]
    """Of all nodes: cpu and memory, what else some pod requests, and pods."""


class PlannedWorkload(Report, frozen=True, kw_only=True):
    """A workload that changes."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    change: Change
    """``worse``: it has more pods pending or not made, fewer ready than before and than it is to have, or lost pods for
    good, as `PlayReport` says it. ``riskier``: its level in the audit is worse, or it no longer survives the loss of
    each domain; that all of its pods are in one of several domains is no worse than in the only one. ``better``: the
    opposite of both. ``new`` and ``gone``: only one side has it. ``different``: else.
    """
    before: AuditedWorkload | None
    """Null for a new one."""
    after: AuditedWorkload | None
    """Null for one that is gone."""
    survives_before: bool | None = None
    """Whether it has as many ready pods as before when any one domain is lost, as `kubespread.survive` says it; null
    where no pods of it are ready, there is no such domain, or domains of different keys are lost before and after.
    """
    survives_after: bool | None = None
    """The same after."""
    why: tuple[str, ...] = ()
    """What is riskier: the worst finding of the audit, or that it does not survive what it did; empty where that is not
    so.
    """


class PlannedNode(Report, frozen=True, kw_only=True):
    """A node that comes, goes or is fuller or emptier than before."""

    name: str
    """The node's."""
    before: MapNode | None
    """Null for one that joins."""
    after: MapNode | None
    """Null for one that leaves."""


class PlanReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "PlanReport"
    before: PlannedSide
    after: PlannedSide
    topology_key: str | None = None
    """Whose domains are lost, each by itself: zones, or hosts where there are none; null where nothing can be lost."""
    workloads: tuple[PlannedWorkload, ...]
    """Those that change, the worst first, then by namespace, kind and name."""
    changes: dict[Change, int] = {}
    """How many workloads are of each change."""
    unchanged: int
    """How many are the same before and after."""
    nodes: tuple[PlannedNode, ...]
    """Those that change, by name: first those that join or leave."""
    gone: dict[str, int]
    """How many pods leave their nodes on the way, by why: ``evicted``, ``replaced`` and what else `PlayReport` says;
    those of DaemonSets and of nodes themselves go ``with their nodes``.
    """
    cost: CostChange | None = None
    """What all nodes cost, before and after; null without prices."""
    played: PlayReport
    """The scenario played, step by step."""
    scenario: str
    """A file of kind Scenario that does what is planned, in this order; empty where only the release changes, and where
    manifests are in no file that it could name.
    """

    refused: str | None = None
    """What would come of the steps in the order in which they were given, where another one is taken because that gets
    through; null where it is the order given.
    """

    def __post_init__(self) -> None:
        changes = Counter(row.change for row in self.workloads)
        force_setattr(self, "changes", {change: changes[change] for change in WORST_FIRST})
        super().__post_init__()

    @property
    def total(self) -> int:
        """How many workloads either side has."""
        return len(self.workloads) + self.unchanged

    def judged(self) -> Judgment:
        return self.played.verdict

    def sentences(self) -> Iterator[str]:
        lost = [f"{count_of(number, 'pod')} lost for good"] if (number := len(self.played.lost_for_good)) else []
        yield "; ".join((self._fit, *self.played.not_done, *self.played.chances, *lost, *self._worse))
        before, after = self.before, self.after
        fill = [
            f"{was.resource} {was.percent}% → {now.percent}%"
            for was in before.load for now in after.load
            if was.resource == now.resource in ("cpu", "memory") and None not in (was.percent, now.percent)
        ]  # fmt: skip
        yield ", ".join((f"nodes {before.nodes:,} → {after.nodes:,}", *fill))
        if before.can_go or after.can_go:
            yield f"nodes that can go together: {_can_go(before)} → {_can_go(after)}"
        if self.cost is not None:
            yield _cost(self.cost)
        gone = ", ".join(f"{number:,} {why}" for why, number in self.gone.items()) or "none"
        ready = [
            "not known" if side.ready is None else f"{side.ready:,} of {side.replicas:,}" for side in (before, after)
        ]
        yield f"ready pods {' → '.join(ready)}; pods that leave their nodes: {gone}"
        if self.refused is not None:
            steps = some_of([step.text for step in self.played.steps], _MAX_STEPS)
            yield f"played in another order, which gets through: {steps}; in the order given, {self.refused}"
        yield from self.played.answer
        yield from self._lacking()
        yield from map(str, self.played.unexplained[:_MAX_NAMED])
        for row in [row for row in self.workloads if row.change == "riskier"][:_MAX_NAMED]:
            yield f"{row.workload.called} is riskier: {'; '.join(row.why)}"
        blocked: dict[str, list[int]] = {}
        for step in self.played.steps:
            if step.is_blocked and step.why:
                blocked.setdefault(step.why, []).append(step.number)
        for why, numbers in blocked.items():
            yield f"step{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}: {why}"

    def _lacking(self) -> Iterator[str]:
        """Who lacks more pods in the end than before the first step, and why."""
        start = self.played.start
        last = self.played.steps[-1].happened if self.played.steps else start
        waiting = last.waiting - start.waiting
        for name, kind in {kind.workload: kind for kind in reversed(last.pending)}.items():
            if name in waiting:
                on = f" on {some_of(kind.nodes, _MAX_NAMED)}" if kind.nodes else ""
                yield f"{name.called}: {count_of(waiting[name], 'more pod')} pending{on}: {kind.message}"
        for what, rows, before in (
            ("not created", last.not_created, start.not_created),
            ("not made yet", last.not_made_yet, start.not_made_yet),
        ):
            were = {row.workload: row.count for row in before}
            for row in rows:
                if (more := row.count - were.get(row.workload, 0)) > 0:
                    yield f"{row.workload.called}: {count_of(more, 'more pod')} {what}: {row.message}"

    @property
    def _worse(self) -> Iterator[str]:
        """Nothing of a cluster without workloads."""
        worse = [row.workload.called for row in self.workloads if row.change == "worse"]
        of = f"of {count_of(self.total, 'workload')}"
        if None in (self.before.ready, self.after.ready):
            yield "which workloads are worse is not known"
        elif worse:
            yield f"{len(worse):,} {of} {verb_of(len(worse), 'are')} worse: {some_of(worse, _MAX_NAMED)}"
        elif self.total:
            yield f"none {of} is worse"
        if riskier := [row.workload.called for row in self.workloads if row.change == "riskier"]:
            yield f"{len(riskier):,} {verb_of(len(riskier), 'are')} riskier: {some_of(riskier, _MAX_NAMED)}"

    @property
    def _fit(self) -> str:
        played = self.played
        lacking = {"pending": played.pending, "not created": played.not_created, "not made yet": played.not_made_yet}
        more = [f"{count_of(number, 'more pod')} {what}" for what, number in lacking.items() if number]
        if more:
            return f"not everything fits: {', '.join(more)}"
        if played.not_done or played.unexplained:
            return "nothing more is pending"
        if self.after.pending:
            before = "as before" if self.after.pending == self.before.pending else f"of {self.before.pending:,} before"
            return f"{count_of(self.after.pending, 'pod')} pending {before}, everything else fits"
        return "everything fits"


def _can_go(side: PlannedSide) -> str:
    return "not known" if side.can_go is None else f"{'at least ' if side.not_tried else ''}{side.can_go:,}"


def _cost(cost: CostChange) -> str:
    if cost.before.amount is None and cost.after.amount is None:
        return UNKNOWN
    before, after = (cost.pricing.text(side.amount) for side in (cost.before, cost.after))
    unpriced = not_counted(before=cost.before, after=cost.after)
    return f"the nodes cost {before} before and {after} after: {cost.change}{unpriced}"
