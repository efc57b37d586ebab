"""Happenings to the pods of a cluster while one thing was changed in it, in order."""

from __future__ import annotations

from msgspec import Struct, field

from kubespread.controllers.disruption import DrainPlan
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.scheduler.placing import Choice

EVICTED, DELETED, SCALED_DOWN, REPLACED = "evicted", "deleted", "scaled down", "replaced"
NODE_LOST, PREEMPTED, TAINTED, UNSELECTED = "lost", "preempted", "evicted by a taint", "no longer selected"
"""Reasons why a pod departs."""


class Departure(Struct, frozen=True):
    """A pod that left, or is terminating."""

    pod: Pod
    """The pod as before, with its node."""
    why: str
    """One of the reasons above."""
    owner: WorkloadName | None
    """Owner that creates its successor; None if none does, or not yet."""
    made_room_for: Pod | None = None
    """Pod that preempted it."""
    broken_budgets: tuple[str, ...] = ()
    """Names of the disruption budgets that its preemption violates."""

    @property
    def is_lost_for_good(self) -> bool:
        """True if it has no controller; surplus pods do not count as lost."""
        return self.owner is None and self.why != SCALED_DOWN and controller_of(self.pod) is None


class BlockedPod(Struct, frozen=True):
    """A pod with a refused eviction, or kept by finalizers."""

    pod: Pod
    message: str
    cause: str
    """Cause in the API server's answer, naming the budget; empty for an error that retries do not solve."""
    budget: str


class RefusedDrain(Struct, frozen=True):
    """A node that kubectl cordons and does not drain."""

    node: str
    plan: DrainPlan
    """Plan with the pods that kubectl refuses to delete."""

    def __str__(self) -> str:
        errors = self.plan.errors
        listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return f'unable to drain node "{self.node}" due to error: {listed}'


class EvictedNode(Struct, frozen=True):
    """A failed node with deleted pods."""

    node: str
    seconds: float
    """Seconds since the first node of its zone was tainted."""
    pods: int


class Happenings(Struct):
    departures: list[Departure] = field(default_factory=list)
    created: list[Pod] = field(default_factory=list)
    """Created pods without nodes, in order."""
    placed: list[Pod] = field(default_factory=list)
    """Placed pods with their nodes, in order."""
    choices: list[Choice] = field(default_factory=list)
    """kube-scheduler's choice for each placed pod."""
    blocked: list[BlockedPod] = field(default_factory=list)
    refused: list[RefusedDrain] = field(default_factory=list)
    silenced: list[Pod] = field(default_factory=list)
    """Pods that were ready on nodes that failed together."""
    down: list[WorkloadName] = field(default_factory=list)
    """Workloads that lost all ready pods at once by eviction."""
    by_chance: bool = False
    """True if an arbitrary choice was made: of equal pods, nodes or volumes, or of an order of events."""
    ties: list[str] = field(default_factory=list)
    """Notes on preemptions decided by the order of equal pods."""
    evictions: list[EvictedNode] = field(default_factory=list)
    """Failed nodes in the order of their evictions."""
    notes: dict[str, bool] = field(default_factory=dict)
    """Further notes, each with whether it names its edit."""
    owners: dict[str, WorkloadName] = field(default_factory=dict)
    """Owners of the pods in notes."""

    def note(self, text: str, *, names_edit: bool = False, owner: WorkloadName | None = None) -> None:
        self.notes[text] = names_edit
        if owner is not None:
            self.owners[text] = owner
