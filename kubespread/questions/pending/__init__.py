"""Pods that find no node: why, and the least that frees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.question import AutoscalerName, InstanceTypesFile, NodeGroupsFile, WorkloadsQuestion
from kubespread.regex import regex
from kubespread.reports.advice import Suggestion
from kubespread.reports.autoscaling import AutoscalingReport, autoscaler_sentence, why_waiting
from kubespread.reports.columns import Col
from kubespread.reports.outcome import UnmadePods
from kubespread.reports.parts import Judgment, OfWorkloads, Report
from kubespread.wording import count_of, says, some_of, verb_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

_MAX_NAMED = 3
_LETTER = regex(r"(?:[A-Z]|C\d+) ")

PendingFor = Literal["filtered", "refused", "gated", "nominated", "otherScheduler", "fits", "preempts"]
LATER: Collection[PendingFor] = ("fits", "preempts", "nominated")
"""Causes of pods that get a node without intervention."""


class StuckGroup(Report, frozen=True):
    """Pods that wait for the same thing and that one change frees."""

    cause: Annotated[PendingFor, Col()]
    """Cause for which the pods wait.

    ``filtered``: no node fits. ``refused``: the pod itself is at fault, such as a missing claim. ``gated``,
    ``nominated``, ``otherScheduler``, ``fits``: it waits for something else. ``preempts``: kube-scheduler makes room
    for it.
    """
    why: Annotated[str, Col()]
    """``maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 2 tainted)``."""
    message: Annotated[str, Col()]
    """kube-scheduler's message for the first of the pods; for gated ones, that of their condition PodScheduled. Empty
    without one.
    """
    pods: Annotated[tuple[NamespacedName, ...], Col(value=len)]
    """NAMESPACE/name, in the order kube-scheduler tries them."""
    workloads: Annotated[tuple[WorkloadName, ...], Col()]
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a bare pod."""
    change: Suggestion | None
    """Least change found to free them; null if none frees more, or none was looked for.

    ``placed`` counts these pods with a node then: after an edit, with all pending pods in the queue; after a change of
    the pods, with them alone.
    """
    fitting: int = 0
    """Number of them that find a node without any change, placed one after another without other workloads' pods."""
    victims: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods preempted for them, now or with the change."""
    no_change: str = ""
    """Reason why there is no change, ``none of 12 changes tried gets all of them placed``; empty where there is one."""
    command: Annotated[str, Col(is_command=True)] = ""
    """Command that shows the change; empty without one.

    It places the replicas of the first workload for a change of the pods, else it shows the pods still pending.
    """

    @property
    def freed(self) -> Annotated[int, Col(header="FREES")]:
        """Number of pods that the change frees."""
        return 0 if self.change is None else self.change.placed or 0

    @property
    def told(self) -> Annotated[str, Col(header="SMALLEST-CHANGE")]:
        """The change with its remarks, or the reason there is no change."""
        if self.change is None:
            return self.no_change
        preempting = [f"preempts {count_of(len(self.victims), 'pod')}"] if self.victims else []
        change, remarks = self.change.options_text or self.change.change, "; ".join([*self.change.notes, *preempting])
        return f"{change} ({remarks})" if remarks else change

    @property
    def commands(self) -> Annotated[str, Col(is_command=True, hide_empty=True)]:
        """kubectl commands that make the change."""
        return "" if self.change is None else "\n".join(self.change.commands)

    @property
    def sentence(self) -> str:
        """``6 pods of Deployment/web pending: maxSkew 1 over zone: fewest pods, 0, in zone c``."""
        whose = some_of([workload.short_name for workload in self.workloads], _MAX_NAMED)
        return f"{count_of(len(self.pods), 'pod')} of {whose} pending: {self.why}"

    @property
    def remedy(self) -> str | None:
        """``set nodeTaintsPolicy[zone]=Honor: 6 of 6 find a node``, and the effect on other pods."""
        if self.change is None or not self.freed:
            return None
        # A letter says nothing where its constraint is not shown.
        is_lettered = _LETTER.match(self.change.brief)
        change = self.change.options_text if is_lettered else self.change.brief or self.change.change
        return "; ".join((f"{change}: {self.freed:,} of {len(self.pods):,} find a node", *self.change.consequences))


class PendingReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "PendingReport"
    nodes: int
    pods: int = 0
    """Number of pods in the cluster as read, including pending ones."""
    pending: int
    """Number of pending pods."""
    groups: tuple[StuckGroup, ...]
    """The largest first."""
    not_made: tuple[UnmadePods, ...] = ()
    """Desired pods that the API server refuses, and others of the same workloads that do not exist yet."""
    autoscaling: AutoscalingReport | None = None
    """Nodes that the autoscaler adds for all pending pods of the cluster, including other workloads'; null without one,
    and if none is pending.
    """
    still_pending: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods still pending with the autoscaler's nodes; empty without one."""

    def judge(self) -> Judgment:
        if self.autoscaling is None:
            return "no" if self.groups else "yes"
        provisioned_for = {pod for kind in self.autoscaling.pending for pod in kind.pods}
        is_unknown = self.autoscaling.unknown_groups and provisioned_for.issuperset(self.still_pending)
        return "yes" if not self.still_pending else "unknown" if is_unknown else "no"

    def worst_finding(self) -> str:
        return next((group.sentence for group in self.groups), "")

    @property
    def scaling_lines(self) -> Iterator[str]:
        """Yield ``karpenter adds 2 nodes: 3 of 4 pods placed; still waiting: web-3``, and why it waits."""
        scaled = self.autoscaling
        if scaled is None:
            return
        adds = f"{scaled.autoscaler} adds {count_of(scaled.added_nodes, 'node') if scaled.added_nodes else 'no node'}"
        waited = {pod for group in self.groups for pod in group.pods}
        placed = f"{len(waited.difference(self.still_pending)):,} of {count_of(self.pending, 'pod')} placed"
        left = f"; still waiting: {some_of(self.still_pending, _MAX_NAMED)}" if self.still_pending else ""
        yield autoscaler_sentence(scaled) if scaled.unknown_groups else f"{adds}: {placed}{left}"
        yield from why_waiting(scaled)

    def sentences(self) -> Iterator[str]:
        """Yield the numbers of pending pods and of freed ones, then preempted pods and pods that are not created."""
        if self.groups:
            yield from self.scaling_lines
            yield self._headline
        else:
            yield "all pods that exist have a node" if self.not_made else "all pods have a node"
        for group in (group for group in self.groups if group.victims):
            change = "" if group.change is None else f" with {group.change.brief}"
            victims = f"{count_of(len(group.victims), 'pod')}: {some_of(group.victims, _MAX_NAMED)}"
            whose = some_of([workload.short_name for workload in group.workloads], 1)
            yield f"pods of {whose} find a node{change} by preempting {victims}"
        for unmade in self.not_made:
            enough = f"; {unmade.enough} would be enough" if unmade.enough else ""
            more = f"{count_of(unmade.count, 'more pod')} of {unmade.workload.short_name}"
            yield f"{more} not created: {unmade.message}{enough}"

    @property
    def _headline(self) -> str:
        headline = f"{count_of(self.pending, 'pod')} pending for {count_of(len(self.groups), 'cause')}"
        changes = [group.freed for group in self.groups if group.freed]
        placed = sum(len(group.pods) for group in self.groups if group.cause in ("fits", "preempts"))
        if changes:
            them = "it" if self.pending == 1 else f"{sum(changes):,} of them"
            return f"{headline}; {says(len(changes), 'change', 'free')} {them}"
        if not placed:
            return f"{headline}; no change was found that frees any"
        other = "" if placed == self.pending else ", and no change was found that frees any other"
        return f"{headline}; {placed:,} of them {verb_of(placed, 'find')} a node as things are{other}"


class Pending(WorkloadsQuestion["PendingReport"], frozen=True, kw_only=True):
    """Show the pods without a node, grouped by cause, with the smallest change that unblocks each group.

    Each change is verified by making it and placing all pods in the group. Pods that already fit, wait behind
    scheduling gates, lack a claim or name another scheduler form separate groups. -v also shows the pods and the
    kubectl commands. Exits with 1 when any pod is pending; with --autoscaler when any still is with the nodes that it
    adds.

    \b
    Examples:
      kubespread pending -A
      kubespread pending -n shop -l tier=web -v
      kubespread pending -A -S cluster.json.gz --fail zone=c
      kubespread pending -A --autoscaler karpenter --instance-types types.yaml
      kubespread pending -A -o json | jq -r '.groups[].change.options[]?'
    """

    name = "pending"
    summary = "Show pods without a node, by cause, and what unblocks them."
    yes, no = "nothing is pending", "something is"
    never_modelled = ("each group is freed by itself: what one change leaves for the others is not looked at",)
    doing = "pods looked at"
    outputs = {"name": "prints namespace/pod lines", "prometheus": ""}

    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None

    def next(self, report: PendingReport, commands: Commands) -> str:
        tried = next((group.command for group in report.groups if group.command), "")
        worst = next(iter(report.groups), None)
        if tried or worst is None:
            return tried
        if worst.cause in ("fits", "preempts"):
            pod = worst.pods[0]
            return commands.ask("explain", quote(f"pod/{pod.name}"), namespace=pod.namespace)
        return commands.of_workload("explain", worst.workloads[0], "--fix") if worst.cause == "filtered" else ""
