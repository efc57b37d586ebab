"""``kubespread audit``: how every workload is spread, which constraints do not hold, and why."""

from __future__ import annotations

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AuditAnswerOptions, SpeakingOptions
from kubespread.cli.options.auditing import AuditOptions, WorkloadsArgument
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.stdout import stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.cli.watch import watchable
from kubespread.render.formats import chosen_format


@grouped
@watchable
def audit(
    *,
    workloads: WorkloadsArgument = None,
    auditing: AuditOptions,
    scheduling: SchedulerOptions,
    answer: AuditAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Look at every workload: its constraints, own or default, their skew, and the cause of what does not hold.

    The cause is found by placing the pods afresh, first as things are, then with one thing otherwise: without volumes,
    cordons, taints or requests, with labels, without the score of one plugin. The first change that makes them even
    names it. At risk are workloads that one zone would take, and those whose next pod fits nowhere.

    \b
    Examples:
      kubespread audit -A
      kubespread audit -n shop deploy/web --why
      kubespread audit -A --fail-on risk -S cluster.json.gz
      kubespread audit -A -q -o prometheus > /var/lib/node_exporter/textfile/kubespread.prom
      kubespread audit -A -w
    """
    import kubespread
    from kubespread.render.audit.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.audit(
            opened,
            workloads or (),
            scheduling.scheduler(),
            namespace=auditing.namespace_in(opened, workloads or ()),
            selector=auditing.selector or "",
        )
    answering = Answering(opened, scheduling.scheduler(), chosen, answer, speaking)
    if not answering.give("audit", report, conclusion(report), in_full=answer.why):
        return ExitCode.NO_CLUSTER
    return ExitCode.NO if auditing.fails(report) else ExitCode.YES
