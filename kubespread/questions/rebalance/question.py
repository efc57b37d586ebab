"""Question about evictions after which constraints hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kubespread.questions.question import Option, WorkloadsQuestion

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.rebalance.report import RebalanceReport


class Rebalance(WorkloadsQuestion["RebalanceReport"], frozen=True, kw_only=True):
    """Find the fewest evictions, and their order, after which the topology spread constraints hold again.

    Each replacement is placed as kube-scheduler would place it, and no disruption budget is violated. The plan is
    printed with the kubectl commands that carry it out; nothing is evicted. Only pods of Deployments, ReplicaSets,
    ReplicationControllers and StatefulSets are evicted, each at most once.

    \b
    Examples:
      kubespread rebalance deploy/web
      kubespread rebalance -A -S cluster.json.gz
      kubespread rebalance -n shop --soft --descheduler policy.yaml
      kubespread rebalance deploy/web --uncordon node-7 -o json | jq '.steps[].pod'
    """

    name = "rebalance"
    summary = "Find the fewest evictions after which constraints hold."
    yes, no = "all constraints hold or can", "no plan found"
    never_modelled = (
        "replacements that come up while others are evicted: each step waits for the one before",
        "plans that evict a replacement again, or pods of workloads that are not asked about",
    )
    doing = "trying evictions"
    outputs = {
        "table": "tables and commands",
        "name": "prints the pods to evict, one namespace/pod a line",
        "csv": "has a row per eviction",
    }
    by_place = "workloads"

    soft: Annotated[
        bool, Option("Also satisfy soft constraints (ScheduleAnyway), including the scheduler's built-in ones.")
    ] = False
    descheduler: Annotated[
        str | None,
        Option(
            "Also show what the descheduler would do with this DeschedulerPolicy, round by round.",
            metavar="FILE",
            is_path=True,
        ),
    ] = None

    def next_command(self, report: RebalanceReport, commands: Commands) -> str:
        # The evictions themselves come next where there are any.
        stuck = [] if report.steps else [name for obstacle in report.obstacles for name in obstacle.workloads]
        return next((commands.of_workload("audit", name, "--why") for name in stuck), "")
