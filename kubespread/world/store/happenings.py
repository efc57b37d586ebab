"""Happenings to the pods of a cluster while one thing was changed in it, in order."""

from __future__ import annotations

from msgspec import Struct, field

from kubespread.controllers.disruption import DrainPlan
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.scheduler.placing import Choice

EVICTED, DELETED, SCALED_DOWN, REPLACED = "evicted", "deleted", "scaled down", "replaced"
LOST, PREEMPTED, TAINTED, UNSELECTED = "lost", "preempted", "evicted by a taint", "no longer selected"
"""Reasons why a pod went."""


class Gone(Struct, frozen=True):
    """A pod that left, or is on its way out."""

    pod: Pod
    """Pod as it was before; it names its node."""
    why: str
    """One of the words above."""
    owner: WorkloadName | None
    """Maker of its successor; None if nothing makes one, or not yet."""
    made_room_for: Pod | None = None
    """Pod that took the place of a preempted one."""
    broken_budgets: tuple[str, ...] = ()
    """Names of the disruption budgets that did not allow the preemption of a pod."""

    @property
    def is_lost_for_good(self) -> bool:
        """True if it has no controller to make it again; surplus pods do not count as lost."""
        return self.owner is None and self.why != SCALED_DOWN and controller_of(self.pod) is None


class Blocked(Struct, frozen=True):
    """A pod whose eviction the API server refuses, or that finalizers keep when it is evicted."""

    pod: Pod
    message: str
    cause: str
    """The cause in the answer, which names the budget; empty for an error that no retry helps against."""
    budget: str
    """The budget's name."""


class RefusedDrain(Struct, frozen=True):
    """A node that kubectl cordons and does not drain."""

    node: str
    plan: DrainPlan
    """With the pods that kubectl refuses to delete."""

    def __str__(self) -> str:
        errors = self.plan.errors
        listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return f'unable to drain node "{self.node}" due to error: {listed}'


class Evicted(Struct, frozen=True):
    """A node that failed and whose pods are deleted."""

    node: str
    seconds: float
    """Seconds after the first of its zone was tainted."""
    pods: int


class Happenings(Struct):
    gone: list[Gone] = field(default_factory=list)
    created: list[Pod] = field(default_factory=list)
    """Without nodes, in the order controllers made them."""
    placed: list[Pod] = field(default_factory=list)
    """With their nodes, in the order they were placed."""
    choices: list[Choice] = field(default_factory=list)
    """Choice of kube-scheduler for each of those: what it saw in its node."""
    blocked: list[Blocked] = field(default_factory=list)
    refused: list[RefusedDrain] = field(default_factory=list)
    silenced: list[Pod] = field(default_factory=list)
    """Pods that were ready on nodes that failed, all at once."""
    down: list[WorkloadName] = field(default_factory=list)
    """Workloads all of whose ready pods were evicted at once."""
    by_chance: bool = False
    """True if a controller deleted some of several equal pods."""
    ties: list[str] = field(default_factory=list)
    """Notes on preemptions whose victims the order of equal pods decided."""
    evictions: list[Evicted] = field(default_factory=list)
    """Evictions from nodes that failed, in order."""
    notes: dict[str, bool] = field(default_factory=dict)
    """Further notes, each said once, and whether it names the edit it is about."""
    owners: dict[str, WorkloadName] = field(default_factory=dict)
    """The owner of pods that a note is about, where it is about one."""

    def note(self, text: str, *, names_edit: bool = False, owner: WorkloadName | None = None) -> None:
        self.notes[text] = names_edit
        if owner is not None:
            self.owners[text] = owner
