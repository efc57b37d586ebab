"""Question about pods without a node."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from kubespread.questions.question import AutoscalerName, InstanceTypesFile, NodeGroupsFile, WorkloadsQuestion

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.pending.report import PendingReport


_PLACED = ("fits", "preempts")
"""Causes of pods that find a node as things are."""


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
    is_watched = True

    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None

    def next_command(self, report: PendingReport, commands: Commands) -> str:
        tried = next((group.command for group in report.groups if group.command), "")
        worst = next(iter(report.groups), None)
        if tried or worst is None:
            return tried
        if worst.cause in _PLACED:
            pod = worst.pods[0]
            return commands.of("explain", quote(f"pod/{pod.name}"), namespace=pod.namespace)
        return commands.of_workload("explain", worst.workloads[0], "--fix")
