"""What losing each domain of a topology key does to the workloads of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import msgspec

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.autoscaling import AutoscalingReport, whether_taken
from kubespread.reports.happened import LandedPods, NodeEviction, UnmadePods, of_unknown
from kubespread.reports.loads import NodeLoad
from kubespread.reports.parts import Judgment, OfWorkloads, PreemptedPod, Report, Share, preempted_pods
from kubespread.wording import EMPTY, count_of, domain_noun, says, some_of, verb_of

Trouble = Literal["lost", "unmade", "pending", "short", "budget"]
"""The worst first."""


class LostWorkload(Report, frozen=True, gc=False):
    """A workload that loses pods with a domain, or gets some of those that waited."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    wanted: int
    """Desired pods."""
    ready_before: int
    """Pods that are ready before the domain is lost."""
    ready: int
    """Pods that are ready on working nodes in the end."""
    ready_at_first: int = 0
    """Pods that are ready elsewhere at the moment the domain falls silent, before any of its own is made again."""
    pending: int = 0
    """Pods without a node in the end, those beyond as many as before."""
    not_made: int = 0
    """Pods that are not made in the end, those beyond as many as before."""
    why: str = ""
    """kube-scheduler's message, or why its controller makes no other pod; empty where it is not degraded."""
    controller_unknown: bool = False
    """Whether its controller is not modeled and may make other pods, so that this is not known."""

    @property
    def enough(self) -> int:
        """The ready pods with which it is not degraded."""
        return min(self.wanted, self.ready_before)

    @property
    def lacks(self) -> int:
        """How many ready pods fewer it has."""
        return max(0, self.enough - self.ready)


class DomainLoss(Report, frozen=True):
    """One domain whose nodes all fail: they are tainted and do not answer, and with ``nodesDeleted`` their Node objects
    are deleted.

    Only pods of the workloads that are asked about count. Those of DaemonSets and of nodes themselves go with their
    nodes and never count.
    """

    topology_key: str
    domain: str
    """The value that is lost; of a pair ``a+b``."""
    nodes: int
    """How many nodes have it."""
    lost: int
    """Pods on its nodes that are deleted: while the Node objects stay without those that tolerate it forever and those
    that the node controller does not evict.
    """
    placed: int
    """Pods that found another node, without those that only an autoscaler added."""
    pending: int
    """Pods without a node in the end, of each workload those that it has more of than before."""
    preempted: int
    """Pods on other nodes that were preempted, of any workload."""
    not_made_again: tuple[NamespacedName, ...]
    """NAMESPACE/name of pods that no known controller recreates."""
    message: str | None
    """kube-scheduler's, for the first of the pods that are pending; null where none is."""
    short: tuple[LostWorkload, ...]
    """Those of ``workloads`` with fewer ready pods than desired, and than before."""
    notes: tuple[str, ...]
    evictions: tuple[NodeEviction, ...] = ()
    """The order in which its nodes lose their pods: one after another, at a limited rate for each zone."""
    already_lost: bool = False
    """Whether none of its nodes answered before."""
    trouble: tuple[Trouble, ...] = ()
    """The damage that the loss leaves, with the nodes that an autoscaler adds: pods ``lost`` for good, pods ``unmade``
    though their workloads are not short, ``pending`` pods, ``short`` workloads, or a ``budget`` that preemption broke.
    Empty where the domain can be lost.
    """
    not_made: tuple[UnmadePods, ...] = ()
    """Pods that workloads should have and that do not exist, of each those that it lacks more of than before."""
    broken_budgets: tuple[str, ...] = ()
    """NAMESPACE/name of the disruption budgets that preemption broke."""
    made_room: tuple[PreemptedPod, ...] = ()
    """The ``preempted`` pods, in order."""
    workloads: tuple[LostWorkload, ...] = ()
    """Those that it touches, whether they are degraded or not, by namespace, kind and name; without single pods."""
    landed: tuple[LandedPods, ...] = ()
    """Where pods of the workloads that are asked about find a node because of the loss."""
    loads: tuple[NodeLoad, ...] = ()
    """Of the nodes outside of the domain, where the loss changes it, in the order of the cluster."""
    autoscaling: AutoscalingReport | None = None
    """What an autoscaler adds, outside of what is lost, for the pods that wait; null without, and where no pod waits.
    """

    @property
    def values(self) -> Sequence[str]:
        """The domain, or both of a pair."""
        return self.domain.split("+")

    @property
    def may_pass(self) -> bool:
        """Whether all that is wrong is that workloads are short that may have other pods again, or that pods wait that
        new nodes may take of which nothing tells what they are like.
        """
        if self.trouble == ("short",):
            return all(short.controller_unknown for short in self.short)
        is_for_nodes = {*self.trouble} <= {"pending", "short"}
        return is_for_nodes and self.autoscaling is not None and bool(self.autoscaling.unknown_groups)

    @property
    def unmade(self) -> int:
        """How many pods are not made of workloads that are not short."""
        short = {short.workload for short in self.short}
        return sum(row.count for row in self.not_made if row.workload not in short)

    def __post_init__(self) -> None:
        trouble = tuple(trouble for trouble in _TROUBLES if _pods(self, trouble))
        msgspec.structs.force_setattr(self, "trouble", trouble)


class SurviveReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "SurviveReport"
    workloads: int
    """How many workloads are asked about."""
    nodes: int
    """How many the cluster has."""
    pending_before: int
    """Their pods that are already pending before anything is lost."""
    losses: tuple[DomainLoss, ...]
    """By topology key, in the order asked, and domain."""
    pairs: bool = False
    """Whether each loss is that of two domains."""
    nodes_deleted: bool = False
    """Whether the Node objects of a lost domain are deleted; else they stay and do not answer."""
    autoscaler: str | None = None
    """The autoscaler that was asked for, whose nodes count in the verdict; null for none."""

    def by_key(self) -> Iterator[tuple[str, tuple[DomainLoss, ...]]]:
        """The losses of each topology key."""
        for key in dict.fromkeys(loss.topology_key for loss in self.losses):
            yield key, tuple(loss for loss in self.losses if loss.topology_key == key)

    def judged(self) -> Judgment:
        if any(loss.trouble and not loss.may_pass for loss in self.losses):
            return "no"
        if any(loss.trouble for loss in self.losses):
            return "unknown"
        left_to_lose = [loss for loss in self.losses if not loss.already_lost]
        return "yes" if left_to_lose or self.unfinished is not None else "no"

    def sentences(self) -> Iterator[str]:
        yield from _sentences(self)

    def brief(self) -> str:
        standing = [loss for loss in self.losses if not loss.already_lost]
        worst = min((loss for loss in standing if loss.trouble), key=badness, default=None)
        if worst is None or self.autoscaler is not None:
            return ""
        alike = [loss for loss in standing if loss.topology_key == worst.topology_key]
        return f"{can_be_lost(alike, in_pairs=self.pairs)}. {domain_called(worst)}: {'; '.join(_in_brief(worst))}"

    def share(self) -> Share:
        return Share(sum(bool(loss.trouble) for loss in self.losses), len(self.losses), "losses")

    def worst(self, trouble: Trouble | None = None) -> str | None:
        """What the worst loss does, of one trouble or of any; None where no loss has it."""
        bad = [loss for loss in self.losses if (trouble in loss.trouble if trouble else loss.trouble)]
        if not bad:
            return None
        loss = min(bad, key=badness)
        does = trouble_of([loss], trouble or loss.trouble[0])
        return does if loss.autoscaling is None else f"{does}; {_losing([loss])}: {grown_text([loss])}"


_MAX_NAMED = 3
_TROUBLES: Sequence[Trouble] = get_args(Trouble)


def badness(loss: DomainLoss) -> tuple[bool, Sequence[int], int, str]:
    """Sorts losses, the worst first."""
    return not loss.trouble, [-_pods(loss, trouble) for trouble in _TROUBLES], -loss.lost, loss.domain


def _sentences(report: SurviveReport) -> Iterator[str]:
    """What losing the worst domains does and how many can be lost, for each topology key, the worst first."""
    ranked = [item for _, losses in report.by_key() for item in _of_key(losses, report)]
    yield from (sentence for _, sentence in sorted(ranked, key=lambda item: item[0]))
    for _, losses in report.by_key():
        yield from (f"{_losing(alike)}: {grown_text(alike)}" for alike in _grown_alike(losses))
    yield from of_unknown(short for loss in report.losses for short in loss.short)
    for loss in sorted((loss for loss in report.losses if loss.made_room), key=badness)[:_MAX_NAMED]:
        yield f"losing {listed([loss], 'or')} preempts {preempted_pods(loss.made_room, _MAX_NAMED)}"
    if report.pending_before:
        yield f"{says(report.pending_before, 'pod', 'were')} already pending"


def can_be_lost(standing: Sequence[DomainLoss], *, in_pairs: bool = False) -> str:
    """``2 of 3 zones can be lost``."""
    safe, key = sum(not loss.trouble for loss in standing), domain_noun(standing[0].topology_key)
    of = f"{count_of(len(standing), 'pair')} of {key}s" if in_pairs else count_of(len(standing), key)
    if safe == len(standing):
        return f"any one of {of} can be lost"
    return f"{f'{safe:,}' if safe else 'none'} of {of} can be lost"


def _grown_alike(losses: Sequence[DomainLoss]) -> Iterator[Sequence[DomainLoss]]:
    """Losses after which nodes are added: those that leave pods pending, the worst first, and those that do not."""
    scaled = [loss for loss in losses if loss.autoscaling is not None]
    bad = sorted((loss for loss in scaled if loss.pending), key=lambda loss: -loss.pending)
    return filter(None, (bad, [loss for loss in scaled if not loss.pending]))


def grown_text(losses: Sequence[DomainLoss]) -> str:
    """``karpenter adds up to 2 nodes, 1 pod still pending: it may have 3 nodes and has them``."""
    scaled = [loss.autoscaling for loss in losses if loss.autoscaling is not None]
    whole = msgspec.structs.replace(scaled[0], groups=tuple(group for report in scaled for group in report.groups))
    left = [loss.pending for loss in losses]
    adds = _most([report.added for report in scaled], "node") if any(report.added for report in scaled) else "no node"
    zones = Counter(group.zone for group in whole.groups for _ in range(group.added) if group.zone)
    where = ", ".join(f"{number:,} in {zone}" for zone, number in sorted(zones.items())) if len(losses) == 1 else ""
    reasons = dict.fromkeys(reason for report in scaled for kind in report.pending for reason in report.reasons(kind))
    why = f": {some_of(list(reasons), _MAX_NAMED)}" if any(left) and reasons else ""
    unknown = list(dict.fromkeys(name for report in scaled for name in report.unknown_groups))
    waiting = _most(left, "pod") if any(left) else "none"
    still = whether_taken(unknown, waiting) if unknown else f"{waiting} still pending"
    return f"{whole.autoscaler} adds {adds}{f' ({where})' if where else ''}, {still}{why}"


_Rank = tuple[int, int]
_NONE: _Rank = (len(_TROUBLES), 0)


def _of_key(losses: Sequence[DomainLoss], report: SurviveReport) -> Iterator[tuple[_Rank, str]]:
    """Sentences about the domains of one key, the worst first, each with its rank among those of other keys: the worse
    trouble first, then what concerns more pods.
    """
    standing, gone = ([loss for loss in losses if loss.already_lost is lost] for lost in (False, True))
    groups: dict[tuple[Trouble, bool], list[DomainLoss]] = {}
    for loss in sorted(losses, key=badness):
        for trouble in loss.trouble:
            groups.setdefault((trouble, loss.already_lost), []).append(loss)
    some = "any pair" if report.pairs else f"any {domain_noun(losses[0].topology_key)}"
    ranked = sorted(
        (_rank(alike, key[0]), trouble_of(alike, key[0], some if 1 < len(alike) == len(standing) else ""))
        for key, alike in groups.items()
    )
    if standing:
        can = can_be_lost(standing, in_pairs=report.pairs)
        if report.autoscaler is not None:
            can = f"once {report.autoscaler} has added nodes, {can}"
        rank, sentence = ranked[0] if ranked else (_NONE, "no pod stays pending, no workload is degraded")
        ranked[:1] = [(rank, f"{can}: {sentence}")]
    yield from ranked
    if gone:
        yield _NONE, f"{listed(gone, 'and')} {verb_of(len(gone), 'are')} lost already"


def _rank(losses: Sequence[DomainLoss], trouble: Trouble) -> _Rank:
    return _TROUBLES.index(trouble), -max(_pods(loss, trouble) for loss in losses)


def _pods(loss: DomainLoss, trouble: Trouble) -> int:
    """How many pods a trouble concerns; of budgets, how many are broken."""
    match trouble:
        case "pending":
            return loss.pending
        case "lost":
            return len(loss.not_made_again)
        case "unmade":
            return loss.unmade
        case "budget":
            return len(loss.broken_budgets)
        case "short":
            return sum(short.lacks for short in loss.short)


def _how_short(short: LostWorkload) -> tuple[float, int]:
    """Sorts workloads, the worst first: by the share of their pods that is left."""
    return short.ready / short.wanted, -short.wanted


def trouble_of(losses: Sequence[DomainLoss], trouble: Trouble, called: str = "") -> str:
    """What losing any of some domains does, for one trouble that all of them have; domains that are ``called``
    something together are not listed.
    """
    return f"{f'losing {called}' if called else _losing(losses)} {_does(losses, trouble)}"


def troubles_of(loss: DomainLoss) -> str:
    """All that losing one domain does; empty where it can be lost."""
    does = ", and ".join(_does([loss], trouble) for trouble in loss.trouble)
    return f"{_losing([loss])} {does}" if does else ""


def _in_brief(loss: DomainLoss) -> Iterator[str]:
    """What losing one domain leaves, a phrase for each trouble."""
    for trouble in loss.trouble:
        number = _pods(loss, trouble)
        if trouble == "short":
            worst = min(loss.short, key=_how_short)
            name = f"{worst.workload.namespace}/{worst.workload.name}"
            left = f"{worst.ready:,} of {worst.wanted:,} ready"
            degraded = count_of(len(loss.short), "workload")
            yield f"{name} degraded, {left}" if len(loss.short) == 1 else f"{degraded} degraded, worst {name} {left}"
        elif trouble == "pending":
            yield f"{count_of(number, 'pod')} pending"
        elif trouble == "budget":
            yield f"{count_of(number, 'budget')} broken by preemption"
        elif trouble == "lost":
            yield f"{count_of(number, 'pod')} lost for good ({some_of(loss.not_made_again, _MAX_NAMED)})"
        else:
            yield f"{count_of(number, 'pod')} not made"


def _losing(losses: Sequence[DomainLoss]) -> str:
    return f"losing {listed(losses, 'or')}{', silent already,' if losses[0].already_lost else ''}"


def _does(losses: Sequence[DomainLoss], trouble: Trouble) -> str:
    numbers = [_pods(loss, trouble) for loss in losses]
    if trouble == "lost":
        named = f": {some_of(losses[0].not_made_again, _MAX_NAMED)}" if len(losses) == 1 else ""
        return f"takes {_most(numbers, 'pod')} for good{named}"
    if trouble == "pending":
        return f"leaves {_most(numbers, 'pod')} pending"
    if trouble == "unmade":
        return f"leaves {_most(numbers, 'pod')} not made: {losses[0].not_made[0].message}"
    if trouble == "budget":
        budgets = list(dict.fromkeys(name for loss in losses for name in loss.broken_budgets))
        return f"breaks {count_of(len(budgets), 'budget')} by preemption: {some_of(budgets, _MAX_NAMED)}"
    return _short(losses)


def _short(losses: Sequence[DomainLoss]) -> str:
    worst, where = min(
        ((workload, loss) for loss in losses for workload in loss.short), key=lambda pair: _how_short(pair[0])
    )
    figures, name = f"{worst.ready:,} of {worst.wanted:,} ready", worst.workload.called
    if len({(workload.workload, workload.ready) for loss in losses for workload in loss.short}) == 1:
        return f"{f'leaves {name} degraded' if worst.ready else f'stops {name}'}: {figures}"
    place = f" without {domain_called(where)}" if len(losses) > 1 else ""
    number = _most([len(loss.short) for loss in losses], "workload")
    return f"leaves {number} degraded, at worst {name}{place}: {figures}"


def _most(numbers: Sequence[int], noun: str = "") -> str:
    """``3 pods``, ``up to 3 pods`` where not all are the same."""
    number = count_of(max(numbers), noun) if noun else f"{max(numbers):,}"
    return number if len(set(numbers)) == 1 else f"up to {number}"


def listed(losses: Sequence[DomainLoss], conjunction: str) -> str:
    """``zone a``, ``zone a, b or 3 others``; the key is left out where the values contain it."""
    key, names = domain_noun(losses[0].topology_key), [domain_name(loss) for loss in losses]
    if len(names) > _MAX_NAMED:
        *some, last = *names[:_MAX_NAMED], f"{len(names) - _MAX_NAMED:,} others"
    else:
        *some, last = sorted(names)
    text = f"{', '.join(some)} {conjunction} {last}" if some else last
    return text if all(key in name for name in names) else f"{key} {text}"


def domain_name(loss: DomainLoss) -> str:
    """The domain's value, which may be empty."""
    return loss.domain or EMPTY


def domain_called(loss: DomainLoss) -> str:
    """``zone a``; the value alone where it contains the key."""
    key, name = domain_noun(loss.topology_key), domain_name(loss)
    return name if key in name else f"{key} {name}"
