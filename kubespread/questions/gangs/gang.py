"""What makes a gang of pods, and what came of trying to place it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.questions.queue.entries import Entry, Outcome
from kubespread.reports.gang import GangDomain
from kubespread.scheduler.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True, eq=False)
class Gang:
    """One group: workloads whose pods belong to it have the very same object."""

    size: int
    """How many members have to be scheduled for any of them to be: minCount."""
    scheduled: int = 0
    """How many members run already."""
    pod_group: str | None = None
    """The PodGroup that asks for it, whose pods may be more than ``size``. None for a what-if: then a workload with a
    multiple of ``size`` replicas is as many gangs, one after another.
    """
    topology_key: str = ""
    """What all members share a value of, if anything."""
    domain: str | None = None
    """The one that members run in."""
    fault: str = ""
    """Why its pods are not tried at all."""
    permit: str = ""
    """What is said to members that find a node while too few others do."""
    refusal: str = ""
    """What admission says to members that it does not let be created."""
    not_modelled: tuple[str, ...] = ()
    """What kube-scheduler would take into account for it and kubespread does not."""

    @property
    def needed(self) -> int:
        """How many members have to find a node."""
        return max(0, self.size - self.scheduled)


@dataclass(frozen=True, slots=True)
class Asked:
    """One workload to be placed, as part of a gang or not."""

    entry: Entry
    gang: Gang | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What trying all members of one gang once came to."""

    outcomes: Sequence[Outcome]
    """Of each of its workloads, also where the gang does not fit and none of this is bound."""
    cluster: Cluster
    """With all of them that found a node."""
    fits: bool
    domains: Sequence[GangDomain] = ()
    chosen: str | None = None
    ties: int = 0

    @property
    def fitted(self) -> int:
        """How many members found a node."""
        return sum(len(outcome.choices) for outcome in self.outcomes)
