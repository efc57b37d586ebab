"""What is asked of pods without a node."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from kubespread.questions.question import (
    AUTOSCALER_TYPES,
    AutoscalerName,
    Function,
    InstanceTypesFile,
    NodeGroupsFile,
    WorkloadsQuestion,
)

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
    function = Function(
        """The pods of ``snapshot`` without a node, by what keeps them from one, each group with the least change that
        frees it.

        A change is proven by making it and letting all pods of the group be placed. Pods that fit as things are, that
        have scheduling gates, lack a claim or name another scheduler are groups of their own. With an
        ``autoscaler`` the report also says which nodes it adds for all that wait, and who still waits then.

        ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all of the namespace are asked about, and
        without a namespace those of all.

        Raises UsageError, SnapshotError and ManifestError.
        """,
        "snapshot scheduler",
        "workloads namespace selector preemption autoscaler node_groups instance_types on_progress",
        types=AUTOSCALER_TYPES,
    )

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
