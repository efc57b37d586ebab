"""``kubespread rebalance``: which pods to evict so that spread constraints hold again."""

from __future__ import annotations

from typing import Annotated

import typer

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import RebalanceAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.rebalancing import RebalancingOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.stdout import stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError
from kubespread.render.formats import chosen_format


@grouped
def rebalance(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD]...",
            show_default=False,
            help="KIND/NAME in the cluster (deploy/web, sts/db). Default: all workloads of the namespace.",
        ),
    ] = None,
    *,
    rebalancing: RebalancingOptions,
    scheduling: SchedulerOptions,
    answer: RebalanceAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find the fewest evictions, and their order, after which the topology spread constraints hold again.

    Each replacement is placed as kube-scheduler would place it, and no disruption budget is violated. The plan is
    printed with the kubectl commands that carry it out; nothing is evicted. Only pods of Deployments, ReplicaSets,
    ReplicationControllers and StatefulSets are evicted, each at most once. Where a smaller workload would do, the pods
    that should go first are named too.

    \b
    Examples:
      kubespread rebalance deploy/web
      kubespread rebalance -A -S cluster.json.gz
      kubespread rebalance -n shop --soft --descheduler policy.yaml
      kubespread rebalance deploy/web --uncordon node-7 -o json | jq '.steps[].pod'
    """
    import kubespread

    if [rebalancing.descheduler, *source.sources].count("-") > 1:
        raise UsageError("standard input can be read only once")
    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.rebalance(
            opened,
            workloads or (),
            scheduling.scheduler(),
            namespace=rebalancing.namespace_in(opened, workloads or ()),
            selector=rebalancing.selector or "",
            soft=rebalancing.soft,
            descheduler=rebalancing.descheduler,
        )
    from kubespread.render.rebalance.conclusion import conclusion

    answering = Answering(opened, scheduling.scheduler(), chosen, answer, speaking)
    if not answering.give("rebalance", report, conclusion(report)):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.holds else ExitCode.NO
