"""``kubespread pending``: everything that is stuck, and the least that frees it."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workloads import WorkloadsOptions
from kubespread.cli.waiting import waiting


@grouped
def pending(
    *,
    asked: WorkloadsOptions,
    scheduling: SchedulerOptions,
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("pending")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show the pods without a node, grouped by cause, with the smallest change that unblocks each group.

    Each change is verified by making it and placing all pods in the group. Pods that already fit, wait behind
    scheduling gates, lack a claim or name another scheduler form separate groups. -v also shows the pods and the
    kubectl commands. Exits with 1 when any pod is pending.

    \b
    Examples:
      kubespread pending -A
      kubespread pending -n shop -l tier=web -v
      kubespread pending -A -S cluster.json.gz --fail zone=c
      kubespread pending -A -o json | jq -r '.groups[].change.options[]?'
    """
    import kubespread

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("pods looked at", quiet=speaking.quiet) as on_progress:
        report = kubespread.pending(
            opened,
            scheduling.scheduler(),
            namespace=asked.namespace_in(opened),
            selector=asked.selector or "",
            preemption=not no_preemption,
            on_progress=on_progress,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("pending", report)
