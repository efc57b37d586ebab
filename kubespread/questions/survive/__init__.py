"""Effects on the workloads of a cluster of losing zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import (
    AUTOSCALERS,
    AutoscalerName,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    WorkloadsQuestion,
)
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.outcome import Outcome, badness, in_brief, kinds_of, of_unknown, phrase, sentences
from kubespread.reports.parts import Judgment, OfWorkloads, preempted_pods
from kubespread.wording import EMPTY, count_of, domain_noun, says, short_key, some_of, verb_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

NONE_READY = "none of its pods is ready before anything is lost"
_MAX_NAMED = 3


class LostDomain(Outcome, frozen=True, kw_only=True):
    """One domain with all nodes failed: tainted, silent, and with ``nodesDeleted`` deleted. Only pods of the selected
    workloads count.
    """

    name: str
    """``zone a``: key and domain, which have columns of their own."""
    topology_key: Annotated[str, Col(header="KEY", readers=Readers.RECORDS, text=short_key)]
    domain: Annotated[str, Col(value=lambda domain: domain or EMPTY, fit=Fit.NAMES)]
    """Value of the topology key; of a pair ``a+b``."""
    size: Annotated[int, Col(header="NODES")]
    """Number of nodes in the domain."""
    already_lost: bool = False
    """True if none of its nodes was ready before."""

    @property
    def values(self) -> Sequence[str]:
        """The domain, or both of a pair; label values have no plus sign."""
        return self.domain.split("+")

    def fails(self, key: str) -> bool:
        """True if the condition ``key`` of ``--fail-on`` is met."""
        return bool(kinds_of(self)) if key == "any" else key in kinds_of(self)


class SurviveReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "SurviveReport"
    workloads: int
    """Number of selected workloads, without bare pods and workloads with a pod per node."""
    nodes: int
    pending_before: int
    """Number of their pods pending before a loss, after the pods that fit are placed."""
    placed_first: str = ""
    """``3 pending pods are counted as placed first``, and whom they preempt; empty for none."""
    untested: tuple[WorkloadName, ...] = ()
    """NAMESPACE/Kind/name of selected workloads without a ready pod before a loss, so that no loss tests them."""
    losses: tuple[LostDomain, ...]
    """By topology key, in the given order, and domain."""
    pairs: bool = False
    """True if two domains are lost at a time."""
    nodes_deleted: bool = False
    """True if Node objects of a lost domain are deleted; else they stay, silent."""
    autoscaler: str | None = None
    """Autoscaler that adds nodes, which count in the verdict; null for none."""

    def by_key(self) -> Iterator[tuple[str, tuple[LostDomain, ...]]]:
        for key in dict.fromkeys(loss.topology_key for loss in self.losses):
            yield key, tuple(loss for loss in self.losses if loss.topology_key == key)

    @property
    def standing(self) -> list[LostDomain]:
        """Losses of domains that are not lost already, the worst first."""
        return sorted((loss for loss in self.losses if not loss.already_lost), key=badness)

    @property
    def standing_by_key(self) -> Mapping[str, Sequence[LostDomain]]:
        """These losses of each topology key, the key with the worst first."""
        keys = dict.fromkeys(loss.topology_key for loss in self.standing)
        return {key: [loss for loss in self.standing if loss.topology_key == key] for key in keys}

    def judge(self) -> Judgment:
        verdicts = {loss.verdict for loss in self.losses}
        if "no" in verdicts or not (self.standing or self.unfinished is not None):
            return "no"
        return "unknown" if self.untested or "unknown" in verdicts else "yes"

    def sentences(self) -> Iterator[str]:
        """Yield how many domains of each key can be lost, the outcome of the worst loss, then each kind of trouble."""
        yield from self._headlines()
        if self.placed_first:
            yield self.placed_first
        for text in dict.fromkeys(note for loss in self.losses for note in loss.notes):
            yield f"{self._losing([loss for loss in self.losses if text in loss.notes])}: {text}"
        yield from sentences(self.losses, self._losing, *map(in_brief, self.standing[:1]))
        for _, losses in self.by_key():
            if before := [loss for loss in losses if loss.already_lost]:
                yield f"{loss_names(before, 'and')} {verb_of(len(before), 'are')} lost already"
        if self.autoscaler is not None:
            yield f"{self.autoscaler} adds {self._added_nodes()}"
        yield from of_unknown(*self.losses)
        for workload in self.asked[:_MAX_NAMED]:
            yield from self._at_first(workload)
        for loss in [loss for loss in self.standing if loss.preempted][:_MAX_NAMED]:
            yield f"losing {loss.name} preempts {preempted_pods(loss.preempted, _MAX_NAMED)}"
        if self.pending_before:
            stay = verb_of(self.pending_before, "stay")
            yield f"{says(self.pending_before, 'pod', 'were')} already pending and {stay} so"
        if self.untested and not self.needs_tests:
            yield self.not_tested

    def _headlines(self) -> Iterator[str]:
        if self.needs_tests:
            yield self.not_tested
            if sum(name.kind != "Pod" for name in self.untested) == self.workloads:
                return
        for position, standing in enumerate(self.standing_by_key.values()):
            yield self._can_be_lost(standing) if position else self.worst_of(standing)

    def _at_first(self, workload: WorkloadName) -> Iterator[str]:
        """Yield the fewest ready pods before others are placed, if losing any domain leaves fewer than in the end."""
        changes = ((loss, change) for loss in self.standing for change in loss.workloads if change.workload == workload)
        if dips := [(loss, change) for loss, change in changes if change.fewest_ready < change.ready]:
            loss, change = min(dips, key=lambda dip: (dip[1].fewest_ready, dip[0].name))
            left = f"{change.fewest_ready:,} of {change.wanted:,} ready at first"
            yield f"losing {loss.name} leaves {left} ({workload.short_name})"

    @property
    def needs_tests(self) -> bool:
        """True if only untested workloads keep the answer from yes."""
        return bool(self.untested) and self.judge() == "unknown" and not any(loss.troubles for loss in self.losses)

    @property
    def not_tested(self) -> str:
        names = some_of([name.short_name for name in self.untested], _MAX_NAMED)
        return f"not known for {names}: {NONE_READY}"

    def worst_of(self, standing: Sequence[LostDomain]) -> str:
        """Sentence on how many of a key's domains can be lost, and on the outcome of the worst loss."""
        can, worst = self._can_be_lost(standing), in_brief(standing[0])
        return f"{can}. {standing[0].name}: {worst}" if worst else can

    def _can_be_lost(self, standing: Sequence[LostDomain]) -> str:
        """``2 of 3 zones can be lost``."""
        safe, key = sum(not loss.troubles for loss in standing), domain_noun(standing[0].topology_key)
        of = f"{count_of(len(standing), 'pair')} of {key}s" if self.pairs else count_of(len(standing), key)
        subject = f"any one of {of}" if safe == len(standing) else f"{f'{safe:,}' if safe else 'none'} of {of}"
        grown = "" if self.autoscaler is None else f"once {self.autoscaler} has added nodes, "
        return f"{'apart from that, ' if self.needs_tests else ''}{grown}{subject} can be lost"

    def _losing(self, losses: Sequence[Outcome]) -> str:
        """``losing any zone`` for all of a key that can be, else ``losing zone a or b``."""
        for key, standing in self.standing_by_key.items():
            if len(losses) > 1 and [*losses] == standing:
                return f"losing any {'pair' if self.pairs else domain_noun(key)}"
        return f"losing {loss_names(losses, 'or')}"

    def _added_nodes(self) -> str:
        """``1 node``, ``up to 2 nodes`` where not all losses have as many."""
        joined = {len(loss.nodes.joined) for loss in self.losses}
        if not any(joined):
            return "no nodes"
        most = count_of(max(joined), "node")
        return most if len(joined) == 1 else f"up to {most}"


def loss_names(losses: Sequence[Outcome], conjunction: str) -> str:
    """``zone a``, ``zone a, b or 3 more zones``."""
    first, *others = (loss.name for loss in losses)
    noun, _, _ = first.rpartition(" ")
    rest = [name.removeprefix(f"{noun} ") for name in others]
    if len(rest) >= _MAX_NAMED:
        rest = [*rest[: _MAX_NAMED - 1], count_of(len(rest) - _MAX_NAMED + 1, f"more {noun}" if noun else "other")]
    *some, last = first, *rest
    return f"{', '.join(some)} {conjunction} {last}" if some else last


class Survive(WorkloadsQuestion[SurviveReport], frozen=True, kw_only=True):
    """Lose each zone in turn, and show which pods find another node, which stay pending and which workloads degrade.

    All nodes in a domain fall silent: they are tainted, their pods are deleted unless they tolerate that, and
    kube-scheduler places the replacements that controllers create. The Node objects stay, so a lost zone still counts
    as a domain of spread constraints, without pods. With --nodes-deleted they are deleted too, as a cloud provider
    eventually does. Each domain is lost by itself, with --pairs each two together. --autoscaler adds nodes afterwards,
    outside of the lost domain. --fail-on narrows what ends with exit code 1.

    \b
    Examples:
      kubespread survive -A
      kubespread survive -n shop -l tier=web --fail-on pending
      kubespread survive -A --key zone --key hostname -S cluster.json.gz
      kubespread survive -A --fail zone=a
      kubespread survive -A --nodes-deleted
      kubespread survive -A --autoscaler karpenter --instance-types types.yaml --fail-on any
      kubespread survive -A --add-node node-7:3@zone=c --scale shop/deploy/web=12
    """

    name = "survive"
    summary = "Lose each zone in turn, and show which pods stay pending."
    yes, no = "each domain can be lost, or nothing that --fail-on names happens", "some domain cannot, or it does"
    never_modelled = (
        "how long it takes: pods on silent nodes are deleted after about 6 minutes, at a limited rate per zone",
        "which pod of a zone is lost first: in the order of the nodes, and of more than 20 pods a few at once",
        AUTOSCALERS,
        "the order in which pods are made again: as they were lost, where another may leave others pending",
    )
    hands_out = True
    doing = "losing domains"
    outputs = {"name": "prints the degraded workloads, the worst first", "prometheus": ""}
    by_place = "keys"

    keys: Annotated[
        tuple[str, ...],
        Option(
            "Lose each domain of this topology key (default: zone, else what pods are spread over, else hostname).",
            ("--key",),
            "KEY",
        ),
    ] = ()
    pairs: Annotated[bool, Option("Lose every two domains of a key together, instead of each by itself.")] = False
    nodes_deleted: Annotated[
        bool, Option("Also delete the Node objects of a lost domain; by default they stay, silent.")
    ] = False
    domains: Mapping[str, tuple[str, ...]] = {}
    """Domains to lose by topology key; of a missing key all."""
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    fail_on: Annotated[
        tuple[Literal["pending", "short", "lost", "any"], ...],
        Option(
            "Exit with 1 only when losing some domain leaves pods pending or workloads degraded (short), "
            "loses pods for good (lost), or any of these.",
            is_for_scripts=True,
        ),
    ] = ()

    def check(self, report: SurviveReport) -> Iterator[str]:
        losses = sorted(report.losses, key=badness)
        for key in dict.fromkeys(self.fail_on):
            if bad := [loss for loss in losses if loss.fails(key)]:
                kind = kinds_of(bad[0])[0] if key == "any" else key
                yield f"--fail-on {key}: losing {bad[0].name}: {phrase(bad[0], kind)}"

    def next(self, report: SurviveReport, commands: Commands) -> str:
        from kubespread.questions.commands import option_of

        worst = min(report.losses, key=badness, default=None)
        if worst is None or not worst.troubles:
            return ""
        verbs = ("fail", "delete-node") if report.nodes_deleted else ("fail",)
        words = [option_of(f"{verb} {worst.topology_key}={value}") for verb in verbs for value in worst.values]
        # A plan begins with the settled cluster too; an edited one lacks pods that controllers have yet to create.
        return commands.of_nodes("plan", *words)
