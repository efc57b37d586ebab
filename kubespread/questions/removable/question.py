"""What is asked of nodes that are to go."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from kubespread.questions.question import Argument, DrainingQuestion, PriceFile

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.removable.report import RemovableReport


class Removable(DrainingQuestion["RemovableReport"], frozen=True, kw_only=True):
    """Find the nodes that can be drained and deleted, alone and together, and say what blocks each of the others.

    A node can go when a drain can evict all its pods within their budgets and kube-scheduler places the replacements,
    without breaking a budget by preemption; kubectl refuses nodes with pods that have no controller. Control plane
    nodes, the last node of a domain that a hard constraint counts, and local data that goes are remarked on. Nodes are
    removed together greedily, those with the fewest pods first, without control plane nodes and the last of a domain:
    another order may find more. Of nodes that budgets alone keep it says with which change of a budget they could go.

    \b
    Examples:
      kubespread removable
      kubespread removable pool=old --no-delete-emptydir-data
      kubespread removable -S cluster.json.gz -o json
      kubespread removable --scale shop/deploy/web=3
      kubespread removable --prices prices.yaml --delete-node pool=old
      kubespread removable -o name | head -n 1 | xargs kubectl drain --ignore-daemonsets
    """

    name = "removable"
    summary = "Find the nodes that can be drained and deleted."
    yes, no = "some node can go", "none can"
    never_modelled = (
        "autoscalers: none adds the nodes again, or removes them by rules of its own",
        "an order by price, which may save more than the one by pods",
    )
    hands_out = True
    doing = "draining nodes"
    outputs = {"name": "prints a line for each group of nodes to drain together and delete before the next"}
    is_watched = True
    by_place = "nodes"

    nodes: Annotated[
        tuple[str, ...], Argument("Nodes to ask about: a name, or labels (pool=a). Default: all.", metavar="[NODES]...")
    ] = ()
    prices: PriceFile = None

    most: int | None = None
    """Ask about no more nodes than these: those with the fewest pods."""
    remedies: bool = True
    """Whether to look for changes of budgets with which nodes that they keep could go."""

    def next_command(self, report: RemovableReport, commands: Commands) -> str:
        node = quote(next(iter((*report.together.nodes, *(row.name for row in report.rows)))))
        first = report.rows[0]
        if len(report.rows) == 1 and first.remedy is not None:
            return commands.of_nodes("removable", node, first.remedy)
        return commands.of_nodes("plan", f"--drain {node}", f"--delete-node {node}")
