"""What losing each domain of a topology key does to the workloads of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
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


class ShortWorkload(Report, frozen=True, gc=False):
    """A workload that has fewer ready pods than desired and than before its domain was lost, while the Node objects of
    the domain still exist or once they are deleted.
    """

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    wanted: int
    """Desired pods."""
    ready_before: int
    """Pods that are ready before the domain is lost."""
    ready: int
    """Pods that are ready on working nodes, while the Node objects of the lost domain still exist."""
    ready_after_removal: int
    """The same once these are deleted."""
    why: str
    """kube-scheduler's message, or why its controller makes no other pod, while the Node objects are still there; where
    it is not short then, once they are deleted.
    """
    why_after_removal: str
    """The same once they are deleted; where it is not short then, before."""
    controller_unknown: bool = False
    """Whether its controller is not modeled and may make other pods, so that this is not known."""

    @property
    def is_short(self) -> bool:
        """While the Node objects are there."""
        return self.ready < min(self.wanted, self.ready_before)

    @property
    def is_short_after_removal(self) -> bool:
        """Once they are deleted."""
        return self.ready_after_removal < min(self.wanted, self.ready_before)

    @property
    def fewest_ready(self) -> int:
        """In the worse end state."""
        return min(self.ready, self.ready_after_removal)


class LostWorkload(Report, frozen=True, gc=False):
    """A workload that loses pods with a domain, or gets some of those that waited."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    wanted: int
    """Desired pods."""
    ready_before: int
    """Pods that are ready before the domain is lost."""
    ready: int
    """Pods that are ready on working nodes, while the Node objects of the lost domain still exist."""
    ready_after_removal: int
    """The same once these are deleted."""
    ready_at_first: int = 0
    """Pods that are ready elsewhere at the moment the domain falls silent, before any of its own is made again."""
    pending: int = 0
    """Pods without a node, those beyond as many as before, while the Node objects of the lost domain still exist."""
    pending_after_removal: int = 0
    """The same once these are deleted."""
    ready_when_grown: int | None = None
    """Ready pods once the autoscaler that was asked for has added its nodes; null where none was."""
    lacking_when_grown: int | None = None
    """Pods without a node or not made then, those beyond as many as before; null likewise."""

    @property
    def fewest_ready(self) -> int:
        """In the worse end state."""
        return min(self.ready, self.ready_after_removal)

    @property
    def is_short(self) -> bool:
        """Whether it has fewer than before, and than desired, in either end state."""
        return self.fewest_ready < min(self.wanted, self.ready_before)


class DomainLoss(Report, frozen=True):
    """One domain whose nodes all fail: first they are tainted and do not answer, then their Node objects are deleted.

    Only pods of the workloads that are asked about count. Those of DaemonSets and of nodes themselves go with their
    nodes and never count.
    """

    topology_key: str
    domain: str
    """The value that is lost; of a pair ``a+b``."""
    nodes: int
    """How many nodes have it."""
    lost: int
    """Pods on its nodes that are deleted while the Node objects still exist: without those that tolerate it forever and
    those that the node controller does not evict.
    """
    placed: int
    """Pods that found a node while the Node objects are still there."""
    pending: int
    """Pods without a node then, of each workload those that it has more of than before."""
    pending_after_removal: int
    """The same once the Node objects are deleted."""
    preempted: int
    """Pods on other nodes that were preempted by then, of any workload."""
    not_made_again: tuple[NamespacedName, ...]
    """NAMESPACE/name of pods that no known controller recreates, those that earlier steps took too, unless they evicted
    or deleted them.
    """
    message: str | None
    """kube-scheduler's, for the first of the pods that are pending then; null where none is."""
    short: tuple[ShortWorkload, ...]
    """Workloads with fewer ready pods than desired, in either end state."""
    notes: tuple[str, ...]
    message_after_removal: str | None = None
    """The same once the Node objects are deleted."""
    lost_after_removal: int = 0
    """Pods on its nodes that are deleted, at the latest with the Node objects."""
    evictions: tuple[NodeEviction, ...] = ()
    """The order in which its nodes lose their pods: one after another, at a limited rate for each zone."""
    already_lost: bool = False
    """Whether none of its nodes answered before: then only their deletion takes pods."""
    trouble: tuple[Trouble, ...] = ()
    """The damage that the loss leaves in either end state: pods ``lost`` for good, pods ``unmade`` though their
    workloads are not short, ``pending`` pods, ``short`` workloads, or a ``budget`` that preemption broke. Empty
    where the domain can be lost.
    """
    not_made: tuple[UnmadePods, ...] = ()
    """Pods that workloads should have and that do not exist, of each those that it lacks more of than before."""
    not_made_after_removal: tuple[UnmadePods, ...] = ()
    """The same once the Node objects are deleted."""
    broken_budgets: tuple[str, ...] = ()
    """NAMESPACE/name of the disruption budgets that preemption broke by then."""
    made_room: tuple[PreemptedPod, ...] = ()
    """The ``preempted`` pods, in order."""
    workloads: tuple[LostWorkload, ...] = ()
    """Those that it touches, whether they are degraded or not, by namespace, kind and name; without single pods."""
    landed: tuple[LandedPods, ...] = ()
    """Where pods of the workloads that are asked about find a node because of the loss, while the Node objects are
    there.
    """
    landed_after_removal: tuple[LandedPods, ...] = ()
    """The same once these are deleted: the earlier ones that are still there, and those that find a node only then."""
    loads: tuple[NodeLoad, ...] = ()
    """Of the nodes outside of the domain, where the loss changes it while the Node objects are there, in the order of
    the cluster.
    """
    autoscaling: AutoscalingReport | None = None
    """What an autoscaler adds, outside of what is lost, for the pods that wait once the Node objects are deleted; null
    without one, and where no pod waits.
    """
    still_pending: int | None = None
    """Pods without a node then, of each workload those that it has more of than before; null where ``autoscaling`` is.
    """
    trouble_when_grown: tuple[Trouble, ...] | None = None
    """What is left of ``trouble`` once the Node objects are deleted and the autoscaler that was asked for has added its
    nodes; null where none was asked for.
    """

    @property
    def remaining(self) -> tuple[Trouble, ...]:
        """What counts in the verdict."""
        return self.trouble if self.trouble_when_grown is None else self.trouble_when_grown

    @property
    def values(self) -> Sequence[str]:
        """The domain, or both of a pair."""
        return self.domain.split("+")

    @property
    def may_pass(self) -> bool:
        """Whether all that is wrong is that workloads are short that may have other pods again, or that pods wait that
        new nodes may take of which nothing tells what they are like.
        """
        if self.remaining == ("short",):
            return all(short.controller_unknown for short in self.short)
        is_for_nodes = self.trouble_when_grown is not None and {*self.remaining} <= {"pending", "short"}
        return is_for_nodes and self.autoscaling is not None and bool(self.autoscaling.unknown_groups)

    @property
    def unmade(self) -> tuple[int, int]:
        """How many pods are not made in each end state, of workloads that are not short."""
        short = {short.workload for short in self.short}
        before, after = (
            sum(row.count for row in rows if row.workload not in short)
            for rows in (self.not_made, self.not_made_after_removal)
        )
        return before, after

    def __post_init__(self) -> None:
        leaves: dict[Trouble, object] = {
            "lost": self.not_made_again,
            "unmade": any(self.unmade),
            "pending": self.pending or self.pending_after_removal,
            "short": self.short,
            "budget": self.broken_budgets,
        }
        msgspec.structs.force_setattr(self, "trouble", tuple(trouble for trouble, is_left in leaves.items() if is_left))


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
    autoscaler: str | None = None
    """The autoscaler that was asked for, whose nodes count in the verdict; null for none."""

    def by_key(self) -> Iterator[tuple[str, tuple[DomainLoss, ...]]]:
        """The losses of each topology key."""
        for key in dict.fromkeys(loss.topology_key for loss in self.losses):
            yield key, tuple(loss for loss in self.losses if loss.topology_key == key)

    def judged(self) -> Judgment:
        if any(loss.remaining and not loss.may_pass for loss in self.losses):
            return "no"
        if any(loss.remaining for loss in self.losses):
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
        safe = sum(not loss.trouble for loss in alike)
        can = f"{safe or 'none'} of {_all_of(alike, in_pairs=self.pairs)} can be lost"
        return f"{can}. {domain_name(worst)}: {'; '.join(_in_brief(worst))}"

    def share(self) -> Share:
        return Share(sum(bool(loss.remaining) for loss in self.losses), len(self.losses), "losses")

    def worst(self, trouble: Trouble | None = None) -> str | None:
        """What the worst loss does, of one trouble or of any; None where no loss has it."""
        bad = [loss for loss in self.losses if (trouble in loss.remaining if trouble else loss.remaining)]
        if not bad:
            return None
        loss = min(bad, key=badness)
        does = trouble_of([loss], trouble or loss.remaining[0])
        return does if loss.autoscaling is None else f"{does}; {_losing([loss])}: {grown_text([loss])}"


_MAX_NAMED = 3
_TROUBLES: Sequence[Trouble] = get_args(Trouble)


def badness(loss: DomainLoss) -> tuple[bool, Sequence[int], Sequence[int], int, str]:
    """Sorts losses, the worst first: by what stays for good, then by what ends with the Node objects."""
    passing, for_good = ([-pods for pods in state] for state in zip(*map(partial(_pods, loss), _TROUBLES), strict=True))
    return not loss.remaining, for_good, passing, -loss.lost_after_removal, loss.domain


def _sentences(report: SurviveReport) -> Iterator[str]:
    """What losing the worst domains does and how many can be lost, for each topology key, the worst first."""
    ranked = [item for _, losses in report.by_key() for item in _of_key(losses, in_pairs=report.pairs)]
    growth = [
        f"{_losing(alike)}: {grown_text(alike)}" for _, losses in report.by_key() for alike in _grown_alike(losses)
    ]
    without = "" if report.autoscaler is None else f"without {report.autoscaler}, "
    if report.autoscaler is not None:
        for _, losses in report.by_key():
            yield _outcome(losses, report)
        yield from growth
    yield from (f"{without}{sentence}" for _, sentence in sorted(ranked, key=lambda item: item[0]))
    yield from of_unknown(short for loss in report.losses for short in loss.short)
    for loss in sorted((loss for loss in report.losses if loss.made_room), key=badness)[:_MAX_NAMED]:
        yield f"losing {_listed([loss], 'or')} preempts {preempted_pods(loss.made_room, _MAX_NAMED)}"
    if report.pending_before:
        yield f"{says(report.pending_before, 'pod', 'were')} already pending"


def _outcome(losses: Sequence[DomainLoss], report: SurviveReport) -> str:
    """``once nodes are deleted and karpenter has added others, 2 of 3 zones can be lost``."""
    standing = [loss for loss in losses if not loss.already_lost]
    safe, all_of = sum(not loss.remaining for loss in standing), _all_of(standing, in_pairs=report.pairs)
    can = f"any one of {all_of}" if safe == len(standing) else f"{safe or 'none'} of {all_of}"
    return f"once the nodes are deleted and {report.autoscaler} has added others, {can} can be lost"


def _all_of(standing: Sequence[DomainLoss], *, in_pairs: bool) -> str:
    """``3 zones``."""
    key = domain_noun(standing[0].topology_key) if standing else "domain"
    return f"{count_of(len(standing), 'pair')} of {key}s" if in_pairs else count_of(len(standing), key)


def _grown_alike(losses: Sequence[DomainLoss]) -> Iterator[Sequence[DomainLoss]]:
    """Losses after which nodes are added: those that leave pods pending, the worst first, and those that do not."""
    scaled = [loss for loss in losses if loss.autoscaling is not None]
    bad = sorted((loss for loss in scaled if loss.still_pending), key=lambda loss: -(loss.still_pending or 0))
    return filter(None, (bad, [loss for loss in scaled if not loss.still_pending]))


def grown_text(losses: Sequence[DomainLoss]) -> str:
    """``karpenter adds up to 2 nodes, 1 pod still pending: it may have 3 nodes and has them``."""
    scaled = [loss.autoscaling for loss in losses if loss.autoscaling is not None]
    whole = msgspec.structs.replace(scaled[0], groups=tuple(group for report in scaled for group in report.groups))
    left = [loss.still_pending or 0 for loss in losses]
    adds = _most([report.added for report in scaled], "node") if any(report.added for report in scaled) else "no node"
    zones = Counter(group.zone for group in whole.groups for _ in range(group.added) if group.zone)
    where = ", ".join(f"{number:,} in {zone}" for zone, number in sorted(zones.items())) if len(losses) == 1 else ""
    reasons = dict.fromkeys(reason for report in scaled for kind in report.pending for reason in report.reasons(kind))
    why = f": {some_of(list(reasons), _MAX_NAMED)}" if any(left) and reasons else ""
    unknown = list(dict.fromkeys(name for report in scaled for name in report.unknown_groups))
    waiting = _most(left, "pod") if any(left) else "none"
    still = whether_taken(unknown, waiting) if unknown else f"{waiting} still pending"
    return f"{whole.autoscaler} adds {adds}{f' ({where})' if where else ''}, {still}{why}"


_Rank = tuple[bool, int, int]
_NONE: _Rank = (True, len(_TROUBLES), 0)


def _of_key(losses: Sequence[DomainLoss], *, in_pairs: bool) -> Iterator[tuple[_Rank, str]]:
    """Sentences about the domains of one key, the worst first, each with its rank among those of other keys: what stays
    for good comes before what ends with the Node objects, then the worse trouble, then what concerns more pods.
    """
    standing, gone = ([loss for loss in losses if loss.already_lost is lost] for lost in (False, True))
    all_of = _all_of(standing, in_pairs=in_pairs)
    groups: dict[tuple[Trouble, bool, bool, bool], list[DomainLoss]] = {}
    for loss in sorted(losses, key=badness):
        for trouble in loss.trouble:
            before, after = _pods(loss, trouble)
            groups.setdefault((trouble, before > 0, after > 0, loss.already_lost), []).append(loss)
    some = "any pair" if in_pairs else f"any {domain_noun(losses[0].topology_key)}"
    ranked = sorted(
        (_rank(alike, key[0]), trouble_of(alike, key[0], some if 1 < len(alike) == len(standing) else ""))
        for key, alike in groups.items()
    )
    if not groups and standing:
        ranked = [(_NONE, f"any one of {all_of} can be lost: no pod stays pending, no workload is degraded")]
    elif standing:
        (rank, sentence), safe = ranked[0], sum(not loss.trouble for loss in standing)
        ranked[0] = rank, f"{f'{safe:,}' if safe else 'none'} of {all_of} can be lost: {sentence}"
    yield from ranked
    if gone:
        yield _NONE, f"{_listed(gone, 'and')} {verb_of(len(gone), 'are')} lost already"


def _rank(losses: Sequence[DomainLoss], trouble: Trouble) -> _Rank:
    pods = [_pods(loss, trouble) for loss in losses]
    is_for_good = any(after for _, after in pods)
    return not is_for_good, _TROUBLES.index(trouble), -max(after if is_for_good else before for before, after in pods)


def _pods(loss: DomainLoss, trouble: Trouble) -> tuple[int, int]:
    """How many pods a trouble concerns while the Node objects are there, and once they are deleted."""
    if trouble == "pending":
        return loss.pending, loss.pending_after_removal
    if trouble == "lost":
        return len(loss.not_made_again), len(loss.not_made_again)
    if trouble == "unmade":
        return loss.unmade
    if trouble == "budget":
        return len(loss.broken_budgets), len(loss.broken_budgets)
    enough = [min(workload.wanted, workload.ready_before) for workload in loss.short]
    return (
        sum(max(0, least - workload.ready) for least, workload in zip(enough, loss.short, strict=True)),
        sum(max(0, least - workload.ready_after_removal) for least, workload in zip(enough, loss.short, strict=True)),
    )


def _how_short(short: ShortWorkload) -> tuple[bool, float, int]:
    """Sorts workloads, the worst first: those that stay short for good, by the share of their pods that is left."""
    remaining = short.ready_after_removal if short.is_short_after_removal else short.ready
    return not short.is_short_after_removal, remaining / short.wanted, -short.wanted


def trouble_of(losses: Sequence[DomainLoss], trouble: Trouble, called: str = "") -> str:
    """What losing any of some domains does, for one trouble that all of them have in the same end states; domains that
    are ``called`` something together are not listed.
    """
    return f"{f'losing {called}' if called else _losing(losses)} {_does(losses, trouble)}"


def troubles_of(loss: DomainLoss) -> str:
    """All that losing one domain does; empty where it can be lost."""
    does = ", and ".join(_does([loss], trouble) for trouble in loss.trouble)
    return f"{_losing([loss])} {does}" if does else ""


def _in_brief(loss: DomainLoss) -> Iterator[str]:
    """What losing one domain leaves, a phrase for each trouble."""
    for trouble in loss.trouble:
        before, after = _pods(loss, trouble)
        if trouble == "short":
            worst = min(loss.short, key=_how_short)
            name = f"{worst.workload.namespace}/{worst.workload.name}"
            left = f"{worst.fewest_ready:,} of {worst.wanted:,} ready"
            degraded = count_of(len(loss.short), "workload")
            yield f"{name} degraded, {left}" if len(loss.short) == 1 else f"{degraded} degraded, worst {name} {left}"
        elif trouble == "pending":
            then = "" if before == after else _when(bool(before), bool(after), f"{after:,}")
            yield f"{count_of(before or after, 'pod')} pending{then}"
        elif trouble == "budget":
            yield f"{count_of(before, 'budget')} broken by preemption"
        elif trouble == "lost":
            yield f"{count_of(before, 'pod')} lost for good ({some_of(loss.not_made_again, _MAX_NAMED)})"
        else:
            yield f"{count_of(max(before, after), 'pod')} not made"


def _losing(losses: Sequence[DomainLoss]) -> str:
    return f"{'deleting the nodes of' if losses[0].already_lost else 'losing'} {_listed(losses, 'or')}"


def _does(losses: Sequence[DomainLoss], trouble: Trouble) -> str:
    if trouble == "lost":
        lost = _most([len(loss.not_made_again) for loss in losses], "pod")
        named = f": {some_of(losses[0].not_made_again, _MAX_NAMED)}" if len(losses) == 1 else ""
        return f"takes {lost} for good{named}"
    if trouble == "pending":
        before, after = [loss.pending for loss in losses], [loss.pending_after_removal for loss in losses]
        leaves = f"leaves {_most(before if any(before) else after, 'pod')} pending"
        then = "also" if before == after else _most(after)
        return f"{leaves}{'' if losses[0].already_lost else _when(any(before), any(after), then)}"
    if trouble == "unmade":
        made = _most([max(loss.unmade) for loss in losses], "pod")
        why = next(row.message for loss in losses for row in (*loss.not_made, *loss.not_made_after_removal))
        return f"leaves {made} not made: {why}"
    if trouble == "budget":
        budgets = list(dict.fromkeys(name for loss in losses for name in loss.broken_budgets))
        return f"breaks {count_of(len(budgets), 'budget')} by preemption: {some_of(budgets, _MAX_NAMED)}"
    return _short(losses)


def _short(losses: Sequence[DomainLoss]) -> str:
    worst, where = min(
        ((workload, loss) for loss in losses for workload in loss.short), key=lambda pair: _how_short(pair[0])
    )
    before, after = worst.ready, worst.ready_after_removal
    then = "also" if before == after else f"{after:,}"
    when = "" if where.already_lost else _when(worst.is_short, worst.is_short_after_removal, then)
    figures = f"{before if worst.is_short else after:,} of {worst.wanted:,} ready{when}"
    name = worst.workload.called
    if (
        len(
            {
                (workload.workload, workload.ready, workload.ready_after_removal)
                for loss in losses
                for workload in loss.short
            }
        )
        == 1
    ):
        return f"{f'leaves {name} degraded' if min(before, after) else f'stops {name}'}: {figures}"
    place = f" without {domain_name(where)}" if len(losses) > 1 else ""
    number = _most([len(loss.short) for loss in losses], "workload")
    return f"leaves {number} degraded, at worst {name}{place}: {figures}"


def _when(before: bool, after: bool, then: str) -> str:
    """In which end states it holds; ``then`` describes the second where it holds in both."""
    if before and after:
        return f", {then} once the nodes are deleted"
    return " until the nodes are deleted" if before else " once the nodes are deleted"


def _most(numbers: Sequence[int], noun: str = "") -> str:
    """``3 pods``, ``up to 3 pods`` where not all are the same."""
    number = count_of(max(numbers), noun) if noun else f"{max(numbers):,}"
    return number if len(set(numbers)) == 1 else f"up to {number}"


def _listed(losses: Sequence[DomainLoss], conjunction: str) -> str:
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
