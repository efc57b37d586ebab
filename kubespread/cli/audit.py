"""``kubespread audit``: how every workload is spread, which constraints do not hold, and why."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.auditing import AuditOptions, WorkloadsArgument
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.waiting import waiting
from kubespread.cli.watch import watchable


@grouped
@watchable
def audit(
    *,
    workloads: WorkloadsArgument = None,
    auditing: AuditOptions,
    scheduling: SchedulerOptions,
    answer: Annotated[AnswerOptions, formats_of("audit")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    The cause is found by placing the pods from scratch, first as things are, then with one thing changed: without
    volumes, cordons, taints or requests, with labels added, without one plugin's score. The first change that makes
    them even is the cause. Workloads that losing one zone would wipe out, and those whose next pod fits nowhere, are at
    risk.

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

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("auditing workloads", quiet=speaking.quiet) as on_progress:
        report = kubespread.audit(
            opened,
            workloads or (),
            scheduling.scheduler(),
            namespace=auditing.namespace_in(opened, workloads or ()),
            selector=auditing.selector or "",
            on_progress=on_progress,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    look = answering.look(in_full=auditing.why)
    return answering.give("audit", report, conclusion(report), is_yes=not auditing.fails(report), look=look)
