"""``kubespread audit``: how every workload is spread, which constraints do not hold, and why."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.auditing import AuditOptions, WorkloadsArgument
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
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
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("audit")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    The cause is tried, not guessed: pods that wait are placed and rollouts finished, then the pods are placed from
    scratch, as things are and with one thing changed: without terminating pods, volumes, minDomains, cordons, taints,
    affinity or requests, with labels added, without one plugin's score. The first change that ends it is the cause.
    At risk are workloads that losing one zone would wipe out, also those of one pod, and those with pods that are
    pending, not created or not ready, with a stuck rollout, or whose next pod fits nowhere. Rollouts under way are
    named.

    \b
    Examples:
      kubespread audit -A
      kubespread audit -n shop deploy/web --why
      kubespread audit -A --fail-on risk -S cluster.json.gz
      kubespread audit -A -q -o prometheus > /var/lib/node_exporter/textfile/kubespread.prom
      kubespread audit -A -w
    """
    import kubespread

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("auditing workloads", quiet=speaking.quiet) as on_progress:
        report = kubespread.audit(
            opened,
            workloads or (),
            scheduling.scheduler(),
            namespace=auditing.namespace_in(opened),
            selector=auditing.selector or "",
            preemption=not no_preemption,
            on_progress=on_progress,
        )
    report = report.requiring(auditing.failures(report))
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    look = answering.look(in_full=auditing.why)
    return answering.give("audit", report, is_yes=not report.count("violated"), look=look)
