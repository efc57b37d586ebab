"""``kubespread upgrade``: a pool replaced node by node, as disruption budgets allow."""

from __future__ import annotations

from dataclasses import replace

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside, note_source
from kubespread.cli.options.answer import SpeakingOptions, UpgradeAnswerOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.upgrading import DrainedClusterOptions, PoolArgument, UpgradeOptions
from kubespread.cli.page import write_page
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.render.formats import chosen_format


@grouped
def upgrade(
    pool: PoolArgument = None,
    *,
    upgrading: UpgradeOptions,
    scheduling: SchedulerOptions,
    answer: UpgradeAnswerOptions,
    source: DrainedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Replace the nodes of a pool: cordon, drain as budgets allow, delete, add a copy, and show where that is blocked.

    Pods that are evicted are placed, and ready, before the next is. A pod without a node does not hold up the upgrade
    by itself, a budget does. Where it is blocked, single changes are tried that may get it through: a surge, one more
    replica, a node more. Those that do when all is done again are named. Exits with 0 when every node is replaced and
    no pod is left pending.

    \b
    Examples:
      kubespread upgrade cloud.google.com/gke-nodepool=default-pool
      kubespread upgrade pool=a --surge 1 --batch 2 -S cluster.json.gz
      kubespread upgrade pool=a --scale shop/deploy/web=4
    """
    import kubespread
    from kubespread.render.upgrade.conclusion import conclusion

    nodes = upgrading.asked(pool)
    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
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
        )
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, report)
        note_beside(report, conclusion(report), chosen)
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers)
    write_page(answer.html, report, opened, scheduling.scheduler())
    emit(chosen.writers["upgrade"].load()(report, replace(look, in_full=speaking.verbose > 0)))
    if opened.faults or (answer.strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.complete and not report.pending else ExitCode.NO
