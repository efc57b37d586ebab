"""``kubespread removable``: which nodes can go, alone and together, and what holds the others."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.removable import NodesArgument, RemovableClusterOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.waiting import waiting


@grouped
def removable(
    *,
    nodes: NodesArgument = None,
    scheduling: SchedulerOptions,
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("removable")],
    source: RemovableClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find the nodes that can be drained and deleted, alone and together, and say what blocks each of the others.

    A node can go when a drain can evict all its pods within their budgets and kube-scheduler places the replacements,
    without breaking a budget by preemption. Control plane nodes, the last node of a domain that a hard constraint
    counts, and nodes with pods that have local data or no controller are blocked. Nodes are removed together greedily,
    those with the fewest pods first: another order may find more.

    \b
    Examples:
      kubespread removable
      kubespread removable pool=old --delete-emptydir-data
      kubespread removable -S cluster.json.gz -o json
      kubespread removable --scale shop/deploy/web=3
    """
    import kubespread

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("draining nodes", quiet=speaking.quiet) as on_progress:
        report = kubespread.removable(
            opened,
            nodes or (),
            scheduling.scheduler(),
            ignore_daemonsets=source.ignore_daemonsets,
            delete_emptydir_data=source.delete_emptydir_data,
            force=source.force,
            preemption=not no_preemption,
            on_progress=on_progress,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("removable", report)
