"""What became of pods that are scheduled together or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubespread.reports.parts import Report
from kubespread.wording import EMPTY, count_of, short_key, some_of


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


_MAX_NODES = 3


def gang_outcome(gang: GangReport, running: int, replicas: int | None) -> str:
    """``gang of 8 not placed, 6 of 8 members fit``, where so many of the replicas run in the end."""
    fitting = f", {gang.fitted} of {gang.members} members fit"
    if gang.pod_group is not None:
        whose = f"pod group {gang.pod_group}, minCount {gang.size}: "
        placed = f"{running:,} of {count_of(replicas, 'replica')} placed" if replicas else f"{running:,} fit"
        return f"{whose}{placed if gang.fits else 'not placed'}{'' if gang.fits or gang.blocked is None else fitting}"
    if gang.gangs is None:
        return f"{count_of(gang.placed, 'gang')} of {gang.size:,} fit{'' if gang.placed != 1 else 's'}"
    if gang.gangs > 1:
        return f"{gang.placed:,} of {gang.gangs:,} gangs of {gang.size:,} placed"
    already = f", {gang.scheduled} already running" if gang.scheduled else ""
    return f"gang of {gang.size:,} {'placed' if gang.fits else 'not placed'}{already}{'' if gang.fits else fitting}"


def gang_sentences(gang: GangReport) -> Iterator[str]:
    """Which domain is taken; else which member is stuck, and last whether all would fit otherwise."""
    if gang.chosen:
        where = some_of([name or EMPTY for name in gang.chosen], _MAX_NODES)
        yield f"all members of {'the' if len(gang.chosen) == 1 else 'each'} gang in one {_key(gang)}: {where}"
        if gang.ties > 1:
            yield f"{gang.ties} domains score best: kube-scheduler takes any of them, at random"
    if gang.blocked is not None:
        blocked = gang.blocked
        where = f" in {gang.domains[0].value or EMPTY}" if gang.domains else ""
        yield f"member {blocked.member} of {gang.members} ({blocked.pod}) finds no node{where}: {blocked.stopped}"
        if blocked.conclusion is not None:
            yield f"member {blocked.member}: {blocked.conclusion}"
    if gang.waiting is not None:
        fitted = "the one that finds a node" if gang.fitted == 1 else f"the {gang.fitted} that find a node"
        whose = fitted if gang.fitted else "none is tried"
        yield f"{whose}: {gang.waiting}"
    if gang.search is not None:
        yield _searched(gang, gang.search)


def _searched(gang: GangReport, search: GangSearch) -> str:
    needed = gang.size - gang.scheduled if gang.pod_group is not None else gang.members
    members = f"all {needed}" if needed == gang.members else f"{needed} of {gang.members}"
    if search.nodes is not None:
        copies = Counter(search.nodes)
        most = ", ".join(f"{node} {count:,}" for node, count in copies.most_common(_MAX_NODES))
        more = f" and {count_of(len(copies) - _MAX_NODES, 'more node')}" if len(copies) > _MAX_NODES else ""
        where = "" if search.domain is None else f"in {search.domain or EMPTY}, "
        return f"another choice would place {members}, which kube-scheduler does not look for: {where}{most}{more}"
    if search.reason is not None:
        return f"whether another choice of nodes would place {members} is not known: {search.reason}"
    any_one = f" of one {_key(gang)}" if gang.topology_key is not None else ""
    if search.room is not None and search.impossible:
        holds = f"the roomiest {_key(gang)} holds" if gang.topology_key is not None else "they hold"
        why = f", for {search.blocking[0]}" if search.blocking else ""
        return f"no choice of nodes{any_one} places {members}: {holds} {search.room} at most{why}"
    if search.impossible:
        without = f"; all would fit without {' or without '.join(search.blocking)}" if search.blocking else ""
        return (
            f"no choice of nodes{any_one} places {members}: every one was tried ({search.steps:,} placements){without}"
        )
    return (
        f"no choice of nodes{any_one} that places {members} was found in {search.steps:,} placements; others are left"
    )


def _key(gang: GangReport) -> str:
    return short_key(gang.topology_key or "")
