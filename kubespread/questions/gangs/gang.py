"""A gang of pods, and the result of trying to place it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kubespread.questions.queue.entries import Entry, Outcome
from kubespread.reports.gang import GangDomain
from kubespread.scheduler.cluster.cluster import Cluster


class Gang(Struct, frozen=True, eq=False):
    """One group; the workloads of its pods share this object."""

    size: int
    """How many members have to be scheduled for any of them to be: minCount."""
    scheduled: int = 0
    """How many members run already."""
    pod_group: str | None = None
    """The PodGroup that asks for it, whose pods may be more than ``size``. None for a what-if: then a workload with a
    multiple of ``size`` replicas is as many gangs, one after another.
    """
    topology_key: str = ""
    """The topology key whose value all members share, empty for none."""
    domain: str | None = None
    """The one that members run in."""
    fault: str = ""
    """Why its pods are not tried at all."""
    permit: str = ""
    """The message for members that find a node while too few others do."""
    refusal: str = ""
    """Admission's message for members that it refuses."""
    not_modelled: tuple[str, ...] = ()
    """What kube-scheduler considers for it and kubespread does not."""

    @property
    def needed(self) -> int:
        """How many members have to find a node."""
        return max(0, self.size - self.scheduled)


class Asked(Struct, frozen=True):
    """One workload to be placed, as part of a gang or not."""

    entry: Entry
    gang: Gang | None = None


class Attempt(Struct, frozen=True):
    """The result of trying all members of one gang once."""

    outcomes: Sequence[Outcome]
    """For each of its workloads, even where the gang does not fit and nothing is bound."""
    cluster: Cluster
    """With all members that found a node."""
    fits: bool
    domains: Sequence[GangDomain] = ()
    chosen: str | None = None
    ties: int = 0

    @property
    def fitted(self) -> int:
        """How many members found a node."""
        return sum(len(outcome.choices) for outcome in self.outcomes)
