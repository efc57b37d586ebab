"""The nodes of a pool replaced by new ones."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from kubespread.questions.plan import PlanReport
from kubespread.questions.question import (
    AUTOSCALERS,
    Argument,
    AutoscalerName,
    DrainingQuestion,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
)

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands


class Upgrade(DrainingQuestion[PlanReport], frozen=True, kw_only=True):
    """Replace the nodes in a pool: cordon, drain as budgets allow, delete, add a copy, and show the obstacles.

    Each evicted pod's replacement is placed and ready before the next eviction. A pod without a node does not block the
    upgrade by itself, but a budget can. When the upgrade does not get through, single changes are tried on a full
    replay: a surge, one more replica, one more node. Those that help are named. Exits with 0 when every node is
    replaced, no pod is left pending that did not wait before, and no budget is broken by preemption. With
    --autoscaler nodes are added whenever pods wait.

    \b
    Examples:
      kubespread upgrade cloud.google.com/gke-nodepool=default-pool
      kubespread upgrade pool=a --surge 1 --batch 2 -S cluster.json.gz
      kubespread upgrade pool=a --scale shop/deploy/web=4
      kubespread upgrade pool=a --to 8x16@node.kubernetes.io/instance-type=m6i.2xlarge --surge 1
      kubespread upgrade pool=a --autoscaler ca --node-groups groups.yaml
    """

    name = "upgrade"
    summary = "Replace the nodes in a pool as budgets allow."
    yes, no = "all are replaced", "it is blocked or pods stay pending"
    never_modelled = (
        "timeouts: whoever upgrades a pool may give up on a budget after an hour or so and delete the pods",
        AUTOSCALERS,
    )
    outputs = {"name": "prints the workloads that are worse"}
    hands_out = True
    doing = "playing upgrades"
    by_place = "nodes"

    nodes: Annotated[str, Argument("Nodes to replace: a name, or labels (pool=a).", metavar="NODES")]
    to: Annotated[
        str,
        Option(
            "New nodes, instead of copies: a size (8x16: 8 CPUs, 16 GiB), or a node or Node manifest to "
            "copy, each in the zone of the old one.",
            metavar="CPUxGI|TEMPLATE[@KEY=VALUE]",
            is_path=True,
        ),
    ] = ""
    surge: Annotated[
        int, Option("New nodes that join before the ones they replace are drained.", metavar="N", least=0)
    ] = 0
    batch: Annotated[int, Option("Nodes replaced at a time.", metavar="N", least=1)] = 1
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    remedies: bool = True
    """True to look for changes that get a blocked upgrade through."""

    def next(self, report: PlanReport, commands: Commands) -> str:
        if report.verdict == "yes":
            return ""
        for remedy in report.remedies:
            return commands.same(*shlex.split(remedy.options))
        first = report.steps[0]
        nodes = first.name.removeprefix("replace ").split(", ")
        # No other question can start from the cluster of a later batch.
        if first.is_done or " more" in nodes[-1]:
            return ""
        return commands.of_nodes("removable", *map(shlex.quote, nodes))
