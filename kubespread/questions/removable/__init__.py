"""Nodes of a cluster that can be removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Struct

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.question import Argument, DrainingQuestion
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.outcome import TROUBLES, Outcome, TroubleKind, phrases, uneven
from kubespread.reports.parts import Judgment, Report, ScheduledReport
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

_MAX_NAMED, _MAX_REMEDIES, _MAX_OF_GROUP = 4, 3, 3
RemarkKind = Literal["controlPlane", "lastOfDomain", "localStorage"]


class Meaning(Struct, frozen=True):
    """One value of a field, in words."""

    word: str
    """Text on a screen."""
    means: str
    """Text for the documentation."""


REMARKS: Mapping[RemarkKind, Meaning] = {
    "controlPlane": Meaning("control plane", "its role"),
    "lastOfDomain": Meaning("last of its domain", "the last node of a domain that a hard constraint counts"),
    "localStorage": Meaning("local data", "its drain deletes data in emptyDir volumes"),
}


class Remark(Report, frozen=True):
    """Fact to know before removing a node, which does not block it."""

    meanings: ClassVar = {"kind": REMARKS}

    kind: RemarkKind
    detail: str
    """Label behind the remark, or the domain."""
    pods: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods concerned, if any."""


def kind_words(kinds: Iterable[TroubleKind]) -> str:
    return ", ".join(TROUBLES[kind].word for kind in kinds)


class NodeRemoval(Outcome, frozen=True, kw_only=True):
    """A node that is drained and deleted while all others stay.

    If kubectl refuses, it is drained all the same, to find other obstacles. No workloads are listed if all its pods
    certainly find another node without moving others.
    """

    name: Annotated[str, Col(header="NODE", fit=Fit.NAMES)]
    domain: Annotated[str | None, Col(header="ZONE", readers=Readers.TERMINAL | Readers.PIPES)]
    """Zone of the node."""
    pods: Annotated[int, Col()]
    """Number of pods that a drain would evict."""
    place: Annotated[int | None, Col(header="TOGETHER", is_number=True)] = None
    """Position in the order in which nodes go together, from 1; null if it stays."""
    stays: str = ""
    """Reason a node that can go alone does not go with others."""
    ties: tuple[str, ...] = ()
    """Preemptions for its pods with a choice among equal victims, decided by name; in the notes too."""
    remarks: tuple[Remark, ...] = ()
    remedy: str | None = None
    """Options with which it can go alone, if only disruption budgets block it; null if none is found.

    An example is ``--budget NAMESPACE/NAME:maxUnavailable=1``. They are verified by draining it with them.
    """

    @property
    def alone(self) -> Annotated[bool, Col(good=True)]:
        """True if it can go while all other nodes stay."""
        return self.verdict == "yes"

    @property
    def kinds(
        self,
    ) -> Annotated[
        list[TroubleKind],
        Col(header="HELD-BY", text=kind_words, fit=Fit.SENTENCE, hide_empty=True, readers=Readers.ALL & ~Readers.PAGES),
    ]:
        """Kinds of trouble, the worst first."""
        return list(dict.fromkeys(trouble.kind for trouble in self.troubles))

    @property
    def kept_back(self) -> str:
        """Words for why a node that can go alone stays."""
        return self.stays if self.stays == self.set_apart or not self.stays else f"after the others, {self.stays}"

    @property
    def set_apart(self) -> str:
        """Words for why it cannot go with others: a control plane node, or the last of its domain."""
        apart = [remark for remark in self.remarks if remark.kind in ("controlPlane", "lastOfDomain")]
        texts = (
            f"the last node of {remark.detail}" if remark.kind == "lastOfDomain" else f"control plane: {remark.detail}"
            for remark in apart
        )
        return "; ".join(texts)


class Together(Report, frozen=True):
    """Nodes drained and deleted in one cluster, in groups that are cordoned at once; without control plane nodes and
    the last node of a domain.
    """

    nodes: tuple[str, ...]
    """In the order they are drained."""
    groups: tuple[Outcome, ...]
    """Outcome of each group of nodes."""
    untried: int
    """Number of nodes that can go alone and were not tried, after many failed in a row or time was up."""

    @property
    def by_group(self) -> list[tuple[str, ...]]:
        """The nodes of each group, in order."""
        nodes = iter(self.nodes)
        return [tuple(islice(nodes, len(group.nodes.left))) for group in self.groups]

    @property
    def moves(self) -> int:
        """Number of pods placed elsewhere, some more than once."""
        return sum(group.placed for group in self.groups)


class RemovableReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "RemovableReport"
    nodes: int
    pending_before: int = 0
    """Pods pending before any node goes, once the cluster has settled."""
    rows: tuple[NodeRemoval, ...]
    """Tried nodes: the ones that go together, in their order, others that can go alone, then the rest.

    The last two are listed with the fewest pods first, then by name.
    """
    together: Together

    def judge(self) -> Judgment:
        # Any of the untried nodes may go.
        if any(row.alone for row in self.rows) or self.unfinished is not None:
            return "yes"
        return "unknown" if any(row.verdict == "unknown" for row in self.rows) else "no"

    def sentences(self) -> Iterator[str]:
        """Yield how many can go alone, which together and in which order, and the effects."""
        together, alone = self.together, [row.name for row in self.rows if row.alone]
        if len(self.rows) == 1:
            yield self._single_sentence(self.rows[0])
        elif not alone:
            can = "is known to be able to go" if self.judge() == "unknown" else "can go"
            yield f"none of {count_of(len(self.rows), 'node')} {can}"
        elif len(alone) == 1:
            yield f"1 of {count_of(len(self.rows), 'node')} can go alone: {alone[0]}"
        else:
            yield from _together_lines(together, f"{len(alone):,} of {count_of(len(self.rows), 'node')} can go alone")
        yield from self._remedies()
        if lost_pods := list(dict.fromkeys(pod for row in self.rows if row.alone for pod in row.lost)):
            yield f"{count_of(len(lost_pods), 'pod')} would be lost for good: {some_of(lost_pods, _MAX_NAMED)}"
        yield from (f"together they leave {text}" for text in uneven(together.groups))
        if preempted := sum(len(group.preempted) for group in together.groups):
            yield f"together they preempt {count_of(preempted, 'pod')}, each of which finds another node"

    def _single_sentence(self, row: NodeRemoval) -> str:
        if row.alone:
            return f"{row.name} can go"
        cannot = "is not known to be able to" if row.verdict == "unknown" else "cannot"
        return f"{row.name} {cannot} go: {'; '.join(phrases(row))}"

    def _remedies(self) -> Iterator[str]:
        """Yield options with which nodes that budgets block can go, the options for most nodes first."""
        freed: dict[str, list[str]] = {}
        for row in self.rows:
            if row.remedy is not None:
                freed.setdefault(row.remedy, []).append(row.name)
        ordered = sorted(freed.items(), key=lambda item: -len(item[1]))
        for remedy, nodes in ordered[:_MAX_REMEDIES]:
            if len(self.rows) == 1:
                yield f"with {remedy} it can go"
            else:
                yield f"{count_of(len(nodes), 'node')} could go alone with {remedy}: {some_of(nodes, _MAX_NAMED)}"
        if rest := ordered[_MAX_REMEDIES:]:
            more = sum(len(nodes) for _, nodes in rest)
            yield f"{count_of(more, 'more node')} could go alone with other budgets changed"


_CORDONED = " (cordon a whole group first)"


def _steps(together: Together) -> str:
    """``cordon and drain a, b, c and 2 more, then d (cordon a whole group first)``."""
    first, *rest = (some_of(group, _MAX_OF_GROUP) for group in together.by_group)
    later = [*rest[:_MAX_NAMED], *([count_of(len(rest) - _MAX_NAMED, "more group")] if rest[_MAX_NAMED:] else [])]
    # Pods of a group's first node would land on those that go next.
    is_one_by_one = all(len(group) == 1 for group in together.by_group)
    return ", then ".join([f"cordon and drain {first}", *later]) + ("" if is_one_by_one else _CORDONED)


def _together_lines(together: Together, alone: str) -> Iterator[str]:
    if not together.nodes:
        yield f"{alone}, none together"
    else:
        headline, steps = f"{alone}, {len(together.nodes):,} together", _steps(together)
        # Many names would bury the answer.
        if len(together.nodes) <= _MAX_NAMED and not together.untried:
            yield f"{headline}: {steps}"
            return
        yield headline
        yield f"to take them together: {steps}"
    if together.untried:
        yield f"together with these, {count_of(together.untried, 'other')} that can go alone were not tried"


_LONGEST_COMMAND = 300


class Removable(DrainingQuestion[RemovableReport], frozen=True, kw_only=True):
    """Find the nodes that can be drained and deleted, alone and together, and say why the others cannot.

    A node can go when a drain can evict all its pods within their budgets and kube-scheduler places the replacements,
    without breaking a budget by preemption; kubectl refuses nodes with pods that have no controller. Remarks name
    control plane nodes, the last node of a domain that a hard constraint counts, and local data that is lost. Nodes are
    removed together greedily, those with the fewest pods first, without control plane nodes and the last of a domain:
    another order may find more. For nodes blocked by budgets alone, it names the change of a budget with which they
    could go.

    \b
    Examples:
      kubespread removable
      kubespread removable pool=old --no-delete-emptydir-data
      kubespread removable -S cluster.json.gz -o json
      kubespread removable --scale shop/deploy/web=3
      kubespread removable -o name | head -n 1 | xargs kubectl drain --ignore-daemonsets
    """

    name = "removable"
    summary = "Find the nodes that can be drained and deleted."
    yes, no = "some node can go", "none can"
    never_modelled = ("autoscalers: none adds the nodes again, or removes them by rules of its own",)
    hands_out = True
    doing = "draining nodes"
    outputs = {"name": "prints a line for each group of nodes to drain together and delete before the next"}
    by_place = "nodes"

    nodes: Annotated[
        tuple[str, ...], Argument("Nodes to ask about: a name, or labels (pool=a). Default: all.", metavar="[NODES]...")
    ] = ()

    most: int | None = None
    """Most nodes to try, the nodes with the fewest pods; None: all."""
    remedies: bool = True
    """True to look for changes of budgets that block nodes."""

    def next(self, report: RemovableReport, commands: Commands) -> str:
        first, groups = report.rows[0], report.together.by_group
        if not first.alone:
            if len(report.rows) > 1:
                return commands.of_nodes("removable", quote(first.name))
            if first.remedy is not None:
                return commands.of_nodes("removable", quote(first.name), first.remedy)
            goes = f"--drain {quote(first.name)}", f"--delete-node {quote(first.name)}"
            waiting = next((trouble.subject for trouble in first.get("pending") if first.is_done), None)
            return commands.of_workload("explain", waiting, *goes) if isinstance(waiting, WorkloadName) else ""
        events = [
            f"--{verb} {quote(name)}"
            for group in groups or [(first.name,)]
            for verb in (*(["cordon"] if len(group) > 1 else []), "drain", "delete-node")
            for name in group
        ]
        command = commands.of_nodes("plan", *events)
        return command if len(command) <= _LONGEST_COMMAND else commands.same("-o", "name")
