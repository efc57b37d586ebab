"""``kubespread survive``: what losing each zone does to the workloads of a cluster."""

from __future__ import annotations

from dataclasses import replace

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside, note_source
from kubespread.cli.options.answer import SpeakingOptions, SurviveAnswerOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.survival import SurvivalOptions
from kubespread.cli.page import write_page
from kubespread.cli.stderr import say
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.render.formats import chosen_format


@grouped
def survive(
    *,
    survival: SurvivalOptions,
    scheduling: SchedulerOptions,
    answer: SurviveAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Lose each zone in turn, and show which pods find another node, which stay pending and which workloads run short.

    All nodes of a domain fail: they are tainted, their pods are deleted as far as they do not tolerate that, and
    controllers make others that kube-scheduler places. Then the Node objects are deleted too, as a cloud provider does
    in the end. Each domain is lost by itself. The exit code is 0 whatever the answer, unless --fail-on asks for more.

    \b
    Examples:
      kubespread survive -A
      kubespread survive -n shop -l tier=web --fail-on pending
      kubespread survive -A --key zone --key hostname -S cluster.json.gz
      kubespread survive -A --add-node node-7:3@zone=c --scale shop/deploy/web=12
    """
    import kubespread
    from kubespread.render.survive.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.survive(
            opened,
            survival.key or (),
            scheduling.scheduler(),
            namespace=survival.namespace_in(opened),
            selector=survival.selector or "",
        )
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, report)
        note_beside(report, conclusion(report), chosen)
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers)
    write_page(answer.html, report, opened, scheduling.scheduler())
    emit(chosen.writers["survive"].load()(report, replace(look, in_full=speaking.verbose > 0)))
    failures = survival.failures(report)
    for failure in failures:
        say(f"requirement not met: {failure}")
    if opened.faults or (answer.strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.NO if failures else ExitCode.YES
