"""Question about nodes that are to go."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import Argument, DrainingQuestion

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.removable.report import RemovableReport


_LONGEST_COMMAND = 300


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
      kubespread removable -o name | head -n 1 | xargs kubectl drain --ignore-daemonsets
    """

    name = "removable"
    summary = "Find the nodes that can be drained and deleted."
    yes, no = "some node can go", "none can"
    never_modelled = ("autoscalers: none adds the nodes again, or removes them by rules of its own",)
    hands_out = True
    doing = "draining nodes"
    outputs = {"name": "prints a line for each group of nodes to drain together and delete before the next"}
    is_watched = True
    by_place = "nodes"

    nodes: Annotated[
        tuple[str, ...], Argument("Nodes to ask about: a name, or labels (pool=a). Default: all.", metavar="[NODES]...")
    ] = ()

    most: int | None = None
    """Ask about no more nodes than these: those with the fewest pods."""
    remedies: bool = True
    """True to look for changes of budgets with which nodes that they keep could go."""

    def next_command(self, report: RemovableReport, commands: Commands) -> str:
        first, groups = report.rows[0], report.together.by_group
        if not first.alone:
            if len(report.rows) > 1:
                return commands.of_nodes("removable", quote(first.name))
            if first.remedy is not None:
                return commands.of_nodes("removable", quote(first.name), first.remedy)
            goes = f"--drain {quote(first.name)}", f"--delete-node {quote(first.name)}"
            waiting = next((trouble.subject for trouble in first.of("pending") if first.is_done), None)
            return commands.of_workload("explain", waiting, *goes) if isinstance(waiting, WorkloadName) else ""
        events = [
            f"--{verb} {quote(name)}"
            for group in groups or [(first.name,)]
            for verb in (*(["cordon"] if len(group) > 1 else []), "drain", "delete-node")
            for name in group
        ]
        command = commands.of_nodes("plan", *events)
        return command if len(command) <= _LONGEST_COMMAND else commands.same("-o", "name")
