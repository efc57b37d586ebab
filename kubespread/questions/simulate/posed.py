"""Workloads to be placed, as given to a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.questions.gangs.gang import Gang
from kubespread.questions.queue.entries import Outcome
from kubespread.reports.parts import Dealt, PreemptedPod
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.profile.profile import Profile
from kubespread.world.store.claims import Replicas
from kubespread.world.store.pod_book import PodKey


class Played(Struct, frozen=True):
    """A rollout that is finished or stuck."""

    outcome: Outcome
    rollout: RolloutReport
    preempted: Sequence[PreemptedPod] = ()
    """The pods that its new pods preempted."""


class Question(Struct, frozen=True):
    """One workload to be placed."""

    pod: Pod
    profile: Profile
    replicas: int | None
    """How many to add; None for as many as fit."""
    names: Iterator[str]
    """The names of replicas, in order."""
    creatable: int | None = None
    """How many of them admission allows, None for all."""
    refusal: str = ""
    """The message for the first one refused."""
    is_daemon: bool = False
    """One on every node that the pod's affinity and tolerations allow, instead of a number of them."""
    waiting: int = 0
    """How many of the replicas exist already, and wait for a node."""
    one_by_one: bool = False
    """Whether the next one is only created once the last one runs, as a StatefulSet does unless it is Parallel."""
    played: Played | None = None
    """The result so far, where its controller rolled it out: the cluster is as that left it."""
    claimants: Replicas | None = None
    """The replicas where each has claims of its own."""
    gang: Gang | None = None
    """The gang of its pods, placed together or not at all."""
    deleted: Sequence[tuple[Pod, int]] = ()
    """The replicas that its controller deletes, each with its node; the cluster is without them."""
    dealt_skews: Sequence[Dealt | None] = ()
    """Per constraint the skew over all deals of equal replicas, where some are deleted."""
    present: Mapping[PodKey, int] = field(default_factory=dict)
    """The workload's replicas that run already, each with its node, by position."""
    workload: str | None = None
    """Kind/name of what the replicas belong to."""
    notes: Sequence[str] = ()
    admission: Sequence[str] = ()

    def as_gang(self, gang: Gang | None, notes: Iterable[str]) -> Question:
        """The same workload with its pods as members of ``gang``."""
        return replace(self, gang=gang, notes=(*self.notes, *notes))

    @property
    def count(self) -> int | None:
        """How many are created."""
        counts = [count for count in (self.replicas, self.creatable) if count is not None]
        return min(counts, default=None)
