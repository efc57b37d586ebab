"""``kubespread rebalance``: which pods to evict so that spread constraints hold again."""

from __future__ import annotations

from typing import Annotated

import typer

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.rebalancing import RebalancingOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.waiting import waiting


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
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("rebalance")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find the fewest evictions, and their order, after which the topology spread constraints hold again.

    Each replacement is placed as kube-scheduler would place it, and no disruption budget is violated. The plan is
    printed with the kubectl commands that carry it out; nothing is evicted. Only pods of Deployments, ReplicaSets,
    ReplicationControllers and StatefulSets are evicted, each at most once. Where scaling down would also work, the pods
    to delete first are named too.

    \b
    Examples:
      kubespread rebalance deploy/web
      kubespread rebalance -A -S cluster.json.gz
      kubespread rebalance -n shop --soft --descheduler policy.yaml
      kubespread rebalance deploy/web --uncordon node-7 -o json | jq '.steps[].pod'
    """
    import kubespread

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("trying evictions", quiet=speaking.quiet) as on_progress:
        report = kubespread.rebalance(
            opened,
            workloads or (),
            scheduling.scheduler(),
            namespace=rebalancing.namespace_in(opened),
            selector=rebalancing.selector or "",
            soft=rebalancing.soft,
            descheduler=rebalancing.descheduler,
            preemption=not no_preemption,
            on_progress=on_progress,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("rebalance", report)
