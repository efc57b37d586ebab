"""Placement of replicas one after another: their nodes, the reasons some stay pending, and the resulting spread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.question import (
    CHOSEN,
    REPLICAS,
    REQUIREMENTS,
    AutoscalerName,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    PodQuestion,
    Preemption,
    Seed,
    WorkloadOption,
)
from kubespread.reports.autoscaling import AutoscalingReport, autoscaler_sentence
from kubespread.reports.columns import Col, Readers
from kubespread.reports.gang import GangReport, gang_outcome, gang_sentences
from kubespread.reports.parts import (
    ClusterReport,
    ConstraintReport,
    DomainChange,
    Judgment,
    PodReference,
    PreemptedPod,
    PreemptionReport,
    Report,
    SkewChange,
    letter,
    preempted_pods,
)
from kubespread.reports.rollout import RolloutReport, rollout_sentence
from kubespread.wording import behind_gates, count_of, says, short_key, some_of, verb_of, without_gates

if TYPE_CHECKING:
    from kubespread.candidate.sources import Surroundings
    from kubespread.questions.commands import Commands


class Placement(Report, frozen=True, gc=False):
    """One placed replica. ``ties`` nodes shared the best total; kube-scheduler's own order, or a seed, decided."""

    replica: Annotated[int, Col(readers=Readers.SPREADSHEET)]
    """From 0, in the order of placement."""
    pod: Annotated[str, Col()]
    """Name of the pod."""
    node: Annotated[str, Col()]
    total: Annotated[int, Col()]
    """The node's total score; 0 if only one node fits and none is scored."""
    ties: Annotated[int, Col()]
    """Number of nodes with that total."""


class DeletedReplica(Report, frozen=True, gc=False):
    """A replica that the workload's controller deletes, as fewer are desired than run."""

    pod: str
    """Name of the pod."""
    node: str


class Loss(Report, frozen=True):
    """The domain with the most replicas, and the number that remain if it is lost."""

    domain: str
    """A value of the topology key."""
    remaining: int
    """Replicas in other domains, or on nodes without the label."""


class NodeReplicas(Report, frozen=True):
    """A node with replicas of the workload in the end."""

    name: str
    """Name of the node."""
    domains: dict[str, str]
    """Values of the topology keys of ``worstLoss`` on the node."""
    present: int
    """Number of replicas already there; of a rollout, the old pods that remain."""
    placed: int
    """Number of replicas placed there."""


class Sampling(Report, frozen=True):
    """Search of a large cluster, which ends once enough nodes fit."""

    nodes: int
    """Number of nodes to look at without that limit."""
    enough: int
    """Number of fitting nodes that end the search, in a run with a seed; without one all that fit are scored."""


class Limits(Report, frozen=True):
    """Number of additional replicas that each limit allows by itself; the least is how many fit."""

    nodes: int
    """Number of replicas with a node, ignoring quotas."""
    quota: int | None
    """Number of replicas that ResourceQuotas allow; null without one."""
    binding: Literal["nodes", "quota", "both"] = "nodes"
    """Limit that is reached first."""

    def __post_init__(self) -> None:
        quota = self.nodes + 1 if self.quota is None else self.quota
        binding = "both" if quota == self.nodes else "quota" if quota < self.nodes else "nodes"
        msgspec.structs.force_setattr(self, "binding", binding)

    @property
    def sentence(self) -> str:
        """``quotas bind first: they allow 3 more, the nodes have room for 14``."""
        quota, nodes = f"{self.quota or 0:,}", f"{self.nodes:,}"
        if self.binding == "both":
            return f"quotas and nodes bind at once: both allow {nodes} more"
        if self.binding == "quota":
            return f"quotas bind first: they allow {quota} more, the nodes have room for {nodes}"
        return f"the nodes bind first: they have room for {nodes} more, quotas allow {quota}"


class PlacedByEdits(Report, frozen=True):
    """Pods of the workload that were pending in the cluster as read."""

    pending: int
    """Number of these pods."""
    nodes: dict[str, int]
    """Number of them that each node took after the edits; they count as running."""

    def __str__(self) -> str:
        placed = [f"{count:,} on {node}" for node, count in self.nodes.items()]
        number = f"{sum(self.nodes.values()):,}" if placed else "none"
        where = f": {some_of(placed, _MAX_NODES)}" if placed else ""
        return f"{number} of {count_of(self.pending, 'pod')} that were pending placed by the edits{where}"


class SimulateReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "SimulateReport"
    scheduler_name: str
    pod: PodReference
    workload: str | None = None
    """Kind/name of the replicas' workload."""
    replicas: Annotated[int | None, Col(short="WANT", value=lambda number: "max" if number is None else number)]
    """Number of desired replicas; null for as many as fit."""
    present: Annotated[int, Col(header="RUNNING", short="RUN")] = 0
    """Number of replicas already running that stay where they are."""
    outdated: int = 0
    """Number of running replicas of an older revision; a waiting rollout's new pods are placed beside them."""
    deleted: tuple[DeletedReplica, ...] = ()
    """Replicas deleted because fewer are desired than run."""
    rollout: RolloutReport | None = None
    """Rollout that replaces running replicas. ``placements`` are its new pods; other ``replicas`` run the old template
    or wait.
    """
    placed: Annotated[int, Col()]
    """Number of replicas placed."""
    placements: tuple[Placement, ...]
    """In order."""
    stopped: str | None
    """kube-scheduler's message for the first replica without a node, else the API server's for the first it refuses;
    null without either.
    """
    conclusion: str | None = None
    """Sentence on the one cause that keeps that replica pending; null if there are several causes."""
    gates: tuple[str, ...] = ()
    """Scheduling gates of the replicas, which kube-scheduler does not try: ``placements`` is as if they had none."""
    seed: int | None = None
    """Seed of everything left to chance; null if kube-scheduler's own order, and names, decide."""
    created: int | None = None
    """Number of replicas that exist in the end, pending ones included; of a rollout its new pods. Null for as many as
    fit.
    """
    running: int = 0
    """Number of replicas with a node in the end, present and placed."""
    pending: Annotated[int, Col(bad=True)] = 0
    """Number of existing replicas without a node; of a rollout its new pods."""
    not_created: Annotated[int, Col(bad=True, hide_empty=True)] = 0
    """Number of replicas that the API server refuses, for instance by quota."""
    not_made_yet: Annotated[int, Col(header="NOT-CREATED-YET", bad=True, hide_empty=True)] = 0
    """Number of replicas that a StatefulSet has yet to create, as it waits for an earlier one."""
    preempts: bool = True
    """True if replicas that fit nowhere preempt others of lower priority; not for as many as fit, nor with gangs."""
    preempted: tuple[PreemptedPod, ...] = ()
    """Preempted pods, in order. Their replacements are not placed."""
    required_placed: int | None = None
    """Number of replicas that must have a node, if required."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Constraints after the last placement."""
    distribution: tuple[tuple[DomainChange, ...], ...] = ()
    """Change of each domain, per constraint, in the order of ``constraints``."""
    skew: tuple[SkewChange, ...] = ()
    """Change per constraint, in the order of ``constraints``."""
    worst_loss: dict[str, Loss] = msgspec.field(default_factory=dict)
    """Worst loss by topology key."""
    nodes: tuple[NodeReplicas, ...] = ()
    """Nodes with replicas of the workload, by name."""
    sampling: Sampling | None = None
    """Only if kube-scheduler would not look at every node."""
    preemption: PreemptionReport | None = None
    """Preemption for the first replica that needs it, or, for as many as fit, for one more."""
    gang: GangReport | None = None
    """Only for replicas placed together or not at all."""
    autoscaling: AutoscalingReport | None = None
    """Nodes that the autoscaler adds for pending replicas of all workloads together; null without one or any need."""
    limits: Limits | None = None
    """Limits on as many as fit of one workload; else null."""
    admission: tuple[str, ...] = ()
    by_edits: PlacedByEdits | None = None
    """Outcome for pods that were pending before the edits; null without any."""

    @property
    def namespace(self) -> Annotated[str, Col(readers=Readers.RECORDS)]:
        return self.pod.namespace

    @property
    def subject(self) -> Annotated[str, Col(header="WORKLOAD", readers=Readers.RECORDS)]:
        """Kind/name of the workload or bare pod."""
        return self.workload or f"Pod/{self.pod.name}"

    @property
    def skews(self) -> Annotated[str, Col(header="SKEW", readers=Readers.TERMINAL, hide_empty=True)]:
        """``A zone 1 · B hostname 3 > 1``: with the comparison if a hard constraint is violated."""
        phrases = (
            f"{letter(position)} {short_key(change.topology_key)} {change.range_after}"
            f"{change.exceeds if change.is_violated else ''}"
            for position, change in enumerate(self.skew)
        )
        return " · ".join(phrases)

    @property
    def surviving(self) -> Annotated[int | None, Col(header="SURVIVE", readers=Readers.TERMINAL, hide_empty=True)]:
        """Number of replicas left if the fullest domain of ``grouping`` is lost."""
        return None if self.grouping is None else self.worst_loss[self.grouping].remaining

    @property
    def why(self) -> Annotated[str | None, Col(readers=Readers.RECORDS)]:
        """Reason the next replica stays pending: its scheduling gates, the one cause, or kube-scheduler's message."""
        return behind_gates(self.gates) or self.conclusion or self.stopped

    def __post_init__(self) -> None:
        running = self.present + self.placed
        exist = self.replicas if self.created is None else self.created
        pending = self.rollout.pending if self.rollout is not None else max(0, (exist or 0) - running)
        msgspec.structs.force_setattr(self, "running", running)
        msgspec.structs.force_setattr(self, "pending", pending)

    @property
    def lacking(self) -> list[str]:
        """Phrases for replicas without a node, by reason; empty if all have one."""
        counts = {"pending": self.pending, "not created": self.not_created, "not created yet": self.not_made_yet}
        return [f"{count:,} {what}" for what, count in counts.items() if count]

    def is_about_nodes(self, key: str) -> bool:
        """True if the domains of ``key`` are the nodes themselves."""
        return key == HOSTNAME or (bool(self.nodes) and all(node.domains.get(key) == node.name for node in self.nodes))

    @property
    def grouping(self) -> str | None:
        """First topology key, of the gang, constraints and zone, that is wider than a node and set on a node; else
        None.
        """
        shared = self.gang.topology_key if self.gang is not None else None
        keys = (*([shared] if shared else []), *(constraint.topology_key for constraint in self.constraints), ZONE)
        return next((key for key in keys if key in self.worst_loss and not self.is_about_nodes(key)), None)

    @property
    def per_node(self) -> dict[str, int]:
        """Number of replicas placed on each node, in the order of the first placement there."""
        return Counter(placement.node for placement in self.placements)

    def judge(self) -> Judgment:
        if self.gates:
            return "no"
        if self.unmet or not self._is_enough:
            return "unknown" if not self.unmet and self._may_be_scaled_for else "no"
        return "yes"

    @property
    def _may_be_scaled_for(self) -> bool:
        """True if an autoscaler with unknown machines could give a node to everything that lacks one."""
        is_known = self.autoscaling is None or not self.autoscaling.unknown_groups
        return not is_known and self.required_placed is None and not self.not_created

    def merge(self, others: Sequence[SimulateReport]) -> SimulateReport:
        """The report, combined with other runs."""
        rollouts = [other.rollout for other in others if other.rollout is not None]
        return msgspec.structs.replace(
            self,
            skew=tuple(
                own.merge(same) for own, *same in zip(self.skew, *(other.skew for other in others), strict=True)
            ),
            rollout=None if self.rollout is None else self.rollout.merge(rollouts),
        )

    @property
    def _is_enough(self) -> bool:
        """True if every requested replica has a node, an autoscaler's included; for as many as fit at least one."""
        if self.required_placed is not None:
            return self.running >= self.required_placed
        if self.replicas is None:
            return self.running > 0
        if self.rollout is not None and (not self.rollout.complete or self.rollout.stuck_runs):
            return False
        is_scaled_for = self.autoscaling is not None and self.autoscaling.pods_left == 0 and not self.not_created
        return is_scaled_for or not self.lacking

    def sentences(self) -> Iterator[str]:
        first, *others = sentences_of(self)
        yield from (without_gates(self.gates, first), *others)


_MAX_NODES = _MAX_PODS = 3


def sentences_of(report: SimulateReport) -> Iterator[str]:
    """Yield sentences on the outcome, its alternatives, the cause of pending replicas, and the autoscaler."""
    if report.deleted:
        yield f"{len(report.deleted):,} deleted, {report.running:,} left"
        yield from deletion_sentences(report)
        return
    if report.rollout is not None:
        yield f"rolled out: {rollout_sentence(report.rollout)}"
    already = f", {report.present:,} already running" if report.present else ""
    if report.gang is not None:
        yield gang_outcome(report.gang, report.running, report.replicas)
    elif report.replicas is None:
        yield f"{report.placed:,} fit{already}"
    elif sentence := nothing_to_place(report):
        yield sentence
    elif report.outdated:
        yield f"{waiting_revision_clause(report)}{beside_placed(report)}; {outdated_clause(report)}"
    else:
        missing = max(0, report.replicas - report.present)
        yield f"{report.placed:,} of {missing:,} placed{already}{beside_placed(report)}"
    yield from alternatives(report)
    yield from cause(report)
    if report.autoscaling is not None:
        yield autoscaler_sentence(report.autoscaling)


def beside_placed(report: SimulateReport) -> str:
    """Clause on preempted pods, missing replicas and an unmet requirement."""
    unmade = {"not created": report.not_created, "not created yet": report.not_made_yet}
    parts = [f"{count:,} {what}" for what, count in unmade.items() if count]
    if report.preempted:
        parts.append(f"preempting {preempted_pods(report.preempted, _MAX_PODS)}")
    unmet = () if report.lacking else report.unmet
    return "".join([*(f", {part}" for part in parts), *(f"; {text}" for text in unmet)])


def totals(reports: Sequence[SimulateReport]) -> str:
    kinds = {
        "placed": [report.placed for report in reports],
        "pending": [report.pending for report in reports],
        "not created": [report.not_created for report in reports],
        "not created yet": [report.not_made_yet for report in reports],
    }
    sums = {what: sum(counts) for what, counts in kinds.items()}
    parts = [f"{count:,} {what}" for what, count in sums.items() if count or what in ("placed", "pending")]
    if preempted := [pod for report in reports for pod in report.preempted]:
        parts.append(f"preempting {preempted_pods(preempted, _MAX_PODS)}")
    if gated := [report.placed for report in reports if report.gates]:
        parts.append(f"{sum(gated):,} of these only without their scheduling gates")
    return f"{len(reports):,} workloads: {', '.join(parts)}"


def nothing_to_place(report: SimulateReport) -> str | None:
    """Sentence if no more replicas are desired than run; else None."""
    if not report.present or report.present != report.replicas:
        return None
    by_edits = 0 if report.by_edits is None else sum(report.by_edits.nodes.values())
    ending = f"{by_edits:,} of them placed by the edits" if by_edits else "nothing to place"
    return f"{report.present:,} of {count_of(report.present, 'replica')} already running, {ending}"


def waiting_revision_clause(report: SimulateReport) -> str:
    """Clause on how many pods of a waiting rollout find a node."""
    new = count_of((report.replicas or 0) - report.present, "new pod")
    return f"{report.placed:,} of {new} of the current revision placed"


def outdated_clause(report: SimulateReport) -> str:
    """Clause on the pods that the rollout will replace."""
    some = "the" if report.outdated == report.present else f"{report.outdated:,} of the"
    running = f"{report.present:,} that {verb_of(report.present, 'run')}"
    return f"{some} {running} {verb_of(report.outdated, 'are')} of an older one"


def deletion_sentences(report: SimulateReport) -> Iterator[str]:
    """Yield a sentence on replicas deleted because fewer are desired than run."""
    if report.deleted:
        named = [f"{victim.pod} on {victim.node}" for victim in report.deleted[:_MAX_NODES]]
        rest = len(report.deleted) - len(named)
        more = f" and {rest} more" if rest else ""
        yield f"deleted first: {', '.join(named)}{more}"


def alternatives(report: SimulateReport) -> Iterator[str]:
    """Yield the effect of edits on pending pods, and of preemption."""
    if report.by_edits is not None:
        yield str(report.by_edits)
    if report.preemption is not None and not report.preempted:
        yield report.preemption.sentence


def cause(report: SimulateReport) -> Iterator[str]:
    """Yield sentences on the gang and the limits, kube-scheduler's message, and the cause if it is a single one."""
    if report.gang is not None:
        yield from gang_sentences(report.gang)
        if report.gang.pod_group is None or not report.gang.fits:
            return
    if report.limits is not None and report.limits.quota is not None:
        yield report.limits.sentence
    if report.stopped is not None:
        yield report.stopped
    if report.conclusion is not None:
        whom = "the next one stops" if report.replicas is None else f"{report.pending:,} pending"
        yield f"{whom}: {report.conclusion}"


_GANGS = "Gangs"


class WhatIf(Struct, frozen=True):
    """Place every workload as gangs of ``size``, whatever its pods declare."""

    size: int
    topology_key: str = ""


class Simulate(PodQuestion[Any], frozen=True, kw_only=True):
    """Place replicas one after another as kube-scheduler would, and show where they land and why some stay pending.

    Several workloads are placed by priority, then in the order given, each with the earlier ones already in the
    cluster. A workload already in the cluster is scaled up from the replicas it has. Ties go to the first node in
    kube-scheduler's own order, as far as it can be known; --seed shows another possible outcome.

    \b
    Examples:
      kubespread simulate web.yaml --replicas 15 --require-placed all
      kubespread simulate web.yaml --replicas max -S cluster.json.gz
      kubespread simulate -A --from-scratch
      kubespread simulate web.yaml --replicas 40 --autoscaler ca --node-groups groups.yaml
      kubespread simulate job/train --gang 8:topology.kubernetes.io/zone
      helm template shop ./chart | kubespread simulate --require-placed all
    """

    name = "simulate"
    summary = "Place replicas as kube-scheduler would; show what stops them."
    yes, no = "all replicas are placed, or as many as required", "fewer are"
    doing = "placing replicas"
    outputs = {"table": "a picture", "name": "prints namespace/pod<TAB>node lines"}
    by_place = "pods replicas"

    pods: Annotated[
        tuple[Any, ...],
        WorkloadOption(
            "Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads "
            "in a manifest are placed. Default: standard input when piped, else pod.yaml.",
            metavar="[POD]...",
            is_several=True,
        ),
    ]
    selector: Annotated[
        str,
        Option(
            "Place only workloads with these labels (app=web,tier!=db).",
            ("-l", "--selector"),
            "LABELS",
            says={CHOSEN: "by labels"},
        ),
    ] = ""
    replicas: Annotated[
        int | Literal["max"] | None,
        Option(
            "Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).",
            metavar="N",
            least=0,
            says={REPLICAS: "a number"},
        ),
    ] = None
    from_scratch: Annotated[bool, Option("Also re-place the replicas already running.")] = False
    seed: Seed = None
    preemption: Preemption = True
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    gang: Annotated[
        str | None,
        Option(
            "Place N replicas together or none of them; with a topology key, in one of its domains. With "
            "--replicas, a multiple of N: one gang after another.",
            metavar="N[:KEY]",
            heading=_GANGS,
        ),
    ] = None
    require_placed: Annotated[
        int | Literal["all"] | None,
        Option(
            "Fail unless N replicas (or all) are placed.",
            metavar="N|all",
            heading=REQUIREMENTS,
            least=0,
            is_for_scripts=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raises UsageError for an invalid gang, and for nodes that are added for as many as fit."""
        if (gangs := self.as_gangs) is not None:
            if self.count is not None and (self.count == 0 or self.count % gangs.size):
                raise UsageError(f"replicas must be a multiple of the gang of {gangs.size}, not {self.count}")
            if self.autoscaler is not None:
                raise UsageError("--gang and --autoscaler do not go together: that is not modeled of gangs")
        if self.as_many_as_fit and self.autoscaler is not None:
            raise UsageError("--autoscaler and --replicas max do not go together: as many as fit leaves none pending")

    @property
    def as_many_as_fit(self) -> bool:
        return self.replicas == "max"

    @property
    def count(self) -> int | None:
        """Number of replicas, if given."""
        return None if self.replicas == "max" else self.replicas

    @property
    def as_gangs(self) -> WhatIf | None:
        if self.gang is None:
            return None
        size, colon, key = self.gang.partition(":")
        if not re.fullmatch("[1-9][0-9]{0,8}", size) or (colon and not key):
            raise UsageError(f"invalid --gang {self.gang!r}: expected N or N:KEY, such as 8:zone")
        return WhatIf(int(size), key)

    @classmethod
    def report(cls) -> type[SimulateReport]:
        return SimulateReport

    def check(self, report: SimulateReport) -> Iterator[str]:
        """Yield how many of the required replicas lack a node."""
        placed = self.require_placed
        if placed == "all" and report.lacking:
            what = "are not placed" if report.not_created or report.not_made_yet else "are pending"
            lacking = (report.replicas or 0) - report.running
            yield f"--require-placed all: {lacking} of {count_of(report.replicas or 0, 'replica')} {what}"
        elif isinstance(placed, int) and report.running < placed:
            yield f"--require-placed {placed}: {says(report.running, 'replica', 'are placed')}"

    @property
    def surroundings(self) -> Surroundings:
        return replace(super().surroundings, selector=self.selector, one_only=False)

    @property
    def preempts(self) -> bool:
        return self.preemption

    def next(self, report: Sequence[SimulateReport], commands: Commands) -> str:
        worst = next((workload_report for workload_report in report if workload_report.lacking), None)
        if worst is not None and worst.gang is not None:
            # What would help replicas one by one need not help all at once.
            return ""
        if len(report) == 1 and worst is not None:
            return self.ask(commands, "explain", "--fix")
        there = worst or next(iter(report), None)
        if there is None or not there.present or self.settings or self.from_scratch:
            return ""
        kind, _, name = there.subject.partition("/")
        workload = WorkloadName(kind, there.pod.namespace, name)
        if worst is not None:
            return commands.of_workload("explain", workload, "--fix")
        scaled = [] if self.count is None else [f"--scale {quote(f'{workload}={self.count}')}"]
        return commands.of_workload("survive", workload, *scaled)
