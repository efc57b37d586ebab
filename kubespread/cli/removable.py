"""``kubespread removable``: which nodes can go, alone and together, and what holds the others."""

from __future__ import annotations

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import RemovableAnswerOptions, SpeakingOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.removable import NodesArgument, RemovableClusterOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.stdout import stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.render.formats import chosen_format


@grouped
def removable(
    *,
    nodes: NodesArgument = None,
    scheduling: SchedulerOptions,
    answer: RemovableAnswerOptions,
    source: RemovableClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find the nodes that can be drained and deleted, alone and together, and say what holds each of the others.

    A node can go when a drain evicts all its pods as budgets allow and kube-scheduler places what controllers make
    instead. A node of the control plane and the last node of a domain are held, as are pods with local data or without
    a controller. Together nodes go greedily, those with the fewest pods first: another order may find more.

    \b
    Examples:
      kubespread removable
      kubespread removable pool=old --delete-emptydir-data
      kubespread removable -S cluster.json.gz -o json
      kubespread removable --scale shop/deploy/web=3
    """
    import kubespread
    from kubespread.render.removable.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.removable(
            opened,
            nodes or (),
            scheduling.scheduler(),
            ignore_daemonsets=source.ignore_daemonsets,
            delete_emptydir_data=source.delete_emptydir_data,
            force=source.force,
        )
    answering = Answering(opened, scheduling.scheduler(), chosen, answer, speaking)
    if not answering.give("removable", report, conclusion(report)):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if any(row.alone for row in report.rows) else ExitCode.NO
