"""``kubespread upgrade``: a pool replaced node by node, as disruption budgets allow."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.upgrading import DrainedClusterOptions, PoolArgument, UpgradeOptions
from kubespread.cli.waiting import waiting


@grouped
def upgrade(
    pool: PoolArgument = None,
    *,
    upgrading: UpgradeOptions,
    scheduling: SchedulerOptions,
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("upgrade")],
    source: DrainedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Replace the nodes in a pool: cordon, drain as budgets allow, delete, add a copy, and show what blocks it.

    Each evicted pod's replacement is placed and ready before the next eviction. A pod without a node does not block the
    upgrade by itself, but a budget can. When the upgrade does not get through, single changes are tried on a full
    replay: a surge, one more replica, one more node. Those that help are named. Exits with 0 when every node is
    replaced, no pod is left pending that did not wait before, and no budget is broken by preemption.

    \b
    Examples:
      kubespread upgrade cloud.google.com/gke-nodepool=default-pool
      kubespread upgrade pool=a --surge 1 --batch 2 -S cluster.json.gz
      kubespread upgrade pool=a --scale shop/deploy/web=4
    """
    import kubespread

    nodes = upgrading.asked(pool)
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.upgrade(
            opened,
            nodes,
            scheduling.scheduler(),
            surge=upgrading.surge,
            batch=upgrading.batch,
            ignore_daemonsets=source.ignore_daemonsets,
            delete_emptydir_data=source.delete_emptydir_data,
            force=source.force,
            preemption=not no_preemption,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("upgrade", report)
