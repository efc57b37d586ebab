"""``kubespread survive``: what losing each zone does to the workloads of a cluster."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.survival import SurvivalOptions
from kubespread.cli.waiting import waiting


@grouped
def survive(
    *,
    survival: SurvivalOptions,
    scheduling: SchedulerOptions,
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("survive")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Lose each zone in turn, and show which pods find another node, which stay pending and which workloads run short.

    All nodes in a domain fail: they are tainted, their pods are deleted unless they tolerate that, and kube-scheduler
    places the replacements that controllers create. Then the Node objects are deleted too, as a cloud provider
    eventually does. Each domain is lost by itself. The exit code is 0 whatever the answer, unless --fail-on is given.

    \b
    Examples:
      kubespread survive -A
      kubespread survive -n shop -l tier=web --fail-on pending
      kubespread survive -A --key zone --key hostname -S cluster.json.gz
      kubespread survive -A --add-node node-7:3@zone=c --scale shop/deploy/web=12
    """
    import kubespread

    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting("losing domains", quiet=speaking.quiet) as on_progress:
        report = kubespread.survive(
            opened,
            survival.key or (),
            scheduling.scheduler(),
            namespace=survival.namespace_in(opened),
            selector=survival.selector or "",
            preemption=not no_preemption,
            on_progress=on_progress,
        )
    report = report.requiring(survival.failures(report))
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("survive", report, is_yes=True)
