"""Outcome of pods that are scheduled together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kubespread.reports.columns import Col, Fit
from kubespread.reports.parts import Report
from kubespread.reports.reason_words import reasons_in
from kubespread.wording import EMPTY, count_of, short_key, some_of


class GangDomain(Report, frozen=True):
    """One value of the gang's topology key: whether the gang fits there, and why it does not."""

    value: Annotated[str, Col(header="DOMAIN", value=lambda value: value or EMPTY, fit=Fit.NAMES)]
    """Value of the topology key."""
    nodes: Annotated[int, Col()]
    """Number of nodes with this value."""
    members: Annotated[int, Col(header="FIT", good=True)]
    """Number of members with a node there, placed one after another in kube-scheduler's order."""
    fits: bool
    """True if these are enough."""
    stopped: str | None
    """kube-scheduler's message for the next member, about the domain's nodes; null if all find one."""
    pods_score: int | None
    """PodGroupPodsCount: members placed, in percent of the most in any domain that fits."""
    resources_score: int | None
    """NodeResourcesFit with MostAllocated over all nodes of the domain, including the members."""
    total: int | None
    """Sum of both; null if the gang does not fit."""

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
    """Number of the member, from 1 among the members to be placed."""
    pod: str
    """Name of the pod."""
    stopped: str
    """kube-scheduler's message: about one topology domain if the gang shares one, else about the cluster."""
    conclusion: str | None
    """Cause that bars it, if there is a single one."""


class GangReport(Report, frozen=True):
    pod_group: str | None
    """PodGroup, or group of a Workload, that defines the gang; null for a what-if."""
    size: int
    """Number of members that must be scheduled for any of them to be: minCount."""
    scheduled: int
    """Number of members already running."""
    members: int
    """Number of members to be placed; of several gangs, in the reported one: the first that does not fit."""
    gangs: int | None
    """Number of gangs to be placed, without fully running ones; null for as many as fit."""
    placed: int
    """Number of placed gangs."""
    fits: bool
    """True if all are placed; for as many as fit, if any is."""
    fitted: int
    """Number of ``members`` with a node, in kube-scheduler's order; none is bound unless enough have one."""
    blocked: BlockedMember | None = None
    """Null if all find a node."""
    waiting: str | None = None
    """kube-scheduler's message for members that are not tried, or that wait for others after finding a node."""
    topology_key: str | None = None
    """Topology key with one value for all members."""
    domains: tuple[GangDomain, ...] = ()
    """Verdicts on every domain for the last gang tried, the best first, then by fitting members."""
    chosen: tuple[str, ...] = ()
    """Domain of each placed gang, in order."""
    ties: int = 0
    """Number of domains with the best total for the last gang placed: kube-scheduler picks one at random."""


_MAX_NODES = 3


def gang_outcome(gang: GangReport, running: int, replicas: int | None) -> str:
    """``gang of 8 not placed, 6 of 8 members fit``, with ``running`` replicas in the end."""
    fitting = f", {gang.fitted} of {gang.members} members fit"
    if gang.pod_group is not None:
        group = f"pod group {gang.pod_group}, minCount {gang.size}: "
        placed = f"{running:,} of {count_of(replicas, 'replica')} placed" if replicas else f"{running:,} fit"
        return f"{group}{placed if gang.fits else 'not placed'}{'' if gang.fits or gang.blocked is None else fitting}"
    if gang.gangs is None:
        return f"{count_of(gang.placed, 'gang')} of {gang.size:,} fit{'' if gang.placed != 1 else 's'}"
    if gang.gangs > 1:
        return f"{gang.placed:,} of {gang.gangs:,} gangs of {gang.size:,} placed"
    already = f", {gang.scheduled} already running" if gang.scheduled else ""
    return f"gang of {gang.size:,} {'placed' if gang.fits else 'not placed'}{already}{'' if gang.fits else fitting}"


def gang_sentences(gang: GangReport) -> Iterator[str]:
    """Yield sentences on chosen domains, the stuck member, and the reason members wait."""
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
        subject = fitted if gang.fitted else "none is tried"
        yield f"{subject}: {gang.waiting}"


def _key(gang: GangReport) -> str:
    return short_key(gang.topology_key or "")
