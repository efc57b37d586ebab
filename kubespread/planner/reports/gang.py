"""What became of pods that are scheduled together or not at all."""

from __future__ import annotations

from kubespread.planner.reports.parts import Report


class GangDomain(Report, frozen=True):
    """One value of the topology key that all members share: whether the gang fits there, and what stops it."""

    value: str
    """What its nodes have as the label's value."""
    nodes: int
    """How many nodes have it."""
    members: int
    """How many members find a node there, one after another in kube-scheduler's order."""
    fits: bool
    """Whether as many as have to find one."""
    stopped: str | None
    """kube-scheduler's message for the member after those, about the nodes of the domain; null when all find one."""
    pods_score: int | None
    """PodGroupPodsCount: how many members it takes, as a percentage of the most that any domain takes that fits."""
    resources_score: int | None
    """NodeResourcesFit with MostAllocated over all nodes of the domain, the members among them."""
    total: int | None
    """The sum of both; null where the gang does not fit."""


class BlockedMember(Report, frozen=True):
    """The first member without a node."""

    member: int
    """Which one, counted from 1 among those to be placed."""
    pod: str
    """Its name."""
    stopped: str
    """kube-scheduler's message for it; in one topology domain where its gang has to share one, else in the cluster."""
    conclusion: str | None
    """What bars it, where it is one thing."""


class GangSearch(Report, frozen=True):
    """Whether a gang that is stuck would fit if its members took other nodes than those kube-scheduler prefers.

    It does not look for them: it tries the members once, one after another.
    """

    nodes: tuple[str, ...] | None
    """A node for each member, in an order in which kube-scheduler would accept them; null when none was found."""
    domain: str | None
    """The topology domain they share, where they have to."""
    impossible: bool
    """Whether it is proven that there are none: too little room, or every choice was tried."""
    room: int | None
    """How many members the nodes hold at most, whatever they take; of several domains in the roomiest. Null where that
    was not counted.
    """
    steps: int
    """How many placements the search tried; 0 where the room alone settles it."""
    blocking: tuple[str, ...] = ()
    """Removing any one of these constraints would let all fit; with ``room``, the one that keeps it so low."""
    reason: str | None = None
    """Why other choices were not searched, where they were not."""


class GangReport(Report, frozen=True):
    pod_group: str | None
    """The PodGroup, or group of a Workload, that asks for it; null where a what-if does."""
    size: int
    """How many members have to be scheduled for any of them to be: minCount."""
    scheduled: int
    """How many members were running before."""
    members: int
    """How many are to be placed: of several gangs in the one that is told about, the first that does not fit."""
    gangs: int | None
    """How many gangs are to be placed, those that run in full not among them; null for as many as fit."""
    placed: int
    """How many of them are placed."""
    fits: bool
    """Whether all are; of as many as fit at least one."""
    fitted: int
    """How many of ``members`` find a node in kube-scheduler's order, though none is bound unless enough do."""
    blocked: BlockedMember | None = None
    """Null where all find a node."""
    waiting: str | None = None
    """What kube-scheduler says of members that are not tried, or that find a node and have to wait for the others."""
    topology_key: str | None = None
    """What all members share a value of."""
    domains: tuple[GangDomain, ...] = ()
    """Every domain's verdict for the last gang that was tried, the best first, then by how many members fit."""
    chosen: tuple[str, ...] = ()
    """The domain of each gang that is placed, in order."""
    ties: int = 0
    """How many domains share the best total of the last gang that is placed: kube-scheduler takes any, at random."""
    search: GangSearch | None = None
    """Only for a gang that is stuck."""
