"""``kubespread pending``: everything that is stuck, and the least that frees it."""

from __future__ import annotations

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import PendingAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workloads import WorkloadsOptions
from kubespread.cli.stdout import stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.render.formats import chosen_format


@grouped
def pending(
    *,
    asked: WorkloadsOptions,
    scheduling: SchedulerOptions,
    answer: PendingAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show the pods without a node, grouped by cause, with the smallest change that frees each group.

    A change is proven by making it and letting all pods of the group be placed. Pods that fit as things are, wait
    behind scheduling gates, lack a claim or name another scheduler are groups of their own. -v also names the pods and
    kubectl's commands. Exits with 1 when any pod is pending.

    \b
    Examples:
      kubespread pending -A
      kubespread pending -n shop -l tier=web -v
      kubespread pending -A -S cluster.json.gz --fail zone=c
      kubespread pending -A -o json | jq -r '.groups[].change.options[]?'
    """
    import kubespread
    from kubespread.render.pending.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.pending(
            opened, scheduling.scheduler(), namespace=asked.namespace_in(opened), selector=asked.selector or ""
        )
    answering = Answering(opened, scheduling.scheduler(), chosen, answer, speaking)
    if not answering.give("pending", report, conclusion(report)):
        return ExitCode.NO_CLUSTER
    return ExitCode.NO if report.groups else ExitCode.YES
