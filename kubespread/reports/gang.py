"""Outcome of pods that are scheduled together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kubespread.reports.columns import Col, Fit
from kubespread.reports.parts import Report
from kubespread.reports.reason_words import reasons_in
from kubespread.wording import EMPTY, count_of, short_key, some_of


class GangDomain(Report, frozen=True):
    """One value of the topology key that all members share: whether the gang fits there, and what stops it."""

    value: Annotated[str, Col(header="DOMAIN", value=lambda value: value or EMPTY, fit=Fit.NAMES)]
    """Value of the label on its nodes."""
    nodes: Annotated[int, Col()]
    """Number of nodes with this value."""
    members: Annotated[int, Col(header="FIT", good=True)]
    """Number of members that find a node there, one after another in kube-scheduler's order."""
    fits: bool
    """True if enough of them find one."""
    stopped: str | None
    """kube-scheduler's message for the member after those, about the nodes of the domain; null when all find one."""
    pods_score: int | None
    """PodGroupPodsCount: how many members it takes, as a percentage of the most that any domain takes that fits."""
    resources_score: int | None
    """NodeResourcesFit with MostAllocated over all nodes of the domain, the members among them."""
    total: int | None
    """The sum of both; null where the gang does not fit."""

    @property
    def score(self) -> Annotated[str, Col(hide_empty=True)]:
        """``100+51 = 151``."""
        return "" if self.total is None else f"{self.pods_score}+{self.resources_score or 0} = {self.total}"

    @property
    def why_not(self) -> Annotated[str, Col(header="WHY-NOT", fit=Fit.SENTENCE, hide_empty=True)]:
        """Reason the gang does not fit."""
        return "" if self.fits else reasons_in(self.stopped or "")


class BlockedMember(Report, frozen=True):
    """The first member without a node."""

    member: int
    """Position of the member, counted from 1 among those to be placed."""
    pod: str
    """Its name."""
    stopped: str
    """kube-scheduler's message for it; in one topology domain where its gang has to share one, else in the cluster."""
    conclusion: str | None
    """Cause that bars it, where there is a single one."""


class GangReport(Report, frozen=True):
    pod_group: str | None
    """The PodGroup, or group of a Workload, that asks for it; null where a what-if does."""
    size: int
    """Number of members that must be scheduled for any of them to be: minCount."""
    scheduled: int
    """Number of members that were running before."""
    members: int
    """Number of members to be placed; of several gangs, in the one reported on: the first that does not fit."""
    gangs: int | None
    """Number of gangs to be placed, without those that run in full; null for as many as fit."""
    placed: int
    """Number of gangs that are placed."""
    fits: bool
    """True if all are placed; for as many as fit, if at least one is."""
    fitted: int
    """Number of ``members`` that find a node in kube-scheduler's order, though none is bound unless enough do."""
    blocked: BlockedMember | None = None
    """Null where all find a node."""
    waiting: str | None = None
    """Message of kube-scheduler for members that are not tried, or that find a node and have to wait for the others."""
    topology_key: str | None = None
    """Topology key of which all members share a value."""
    domains: tuple[GangDomain, ...] = ()
    """Every domain's verdict for the last gang that was tried, the best first, then by how many members fit."""
    chosen: tuple[str, ...] = ()
    """The domain of each gang that is placed, in order."""
    ties: int = 0
    """Number of domains that share the best total of the last gang placed: kube-scheduler takes any, at random."""


_MAX_NODES = 3


def gang_outcome(gang: GangReport, running: int, replicas: int | None) -> str:
    """Outcome in a few words: ``gang of 8 not placed, 6 of 8 members fit``, with ``running`` replicas in the end."""
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
    """Yield sentences: the domains that are taken, the member that is stuck, and what members wait for."""
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
        if gang.members > 1:
            yield "kube-scheduler tries members once, in order; another order was not tried"
    if gang.waiting is not None:
        fitted = "the one that finds a node" if gang.fitted == 1 else f"the {gang.fitted} that find a node"
        whose = fitted if gang.fitted else "none is tried"
        yield f"{whose}: {gang.waiting}"


def _key(gang: GangReport) -> str:
    return short_key(gang.topology_key or "")
