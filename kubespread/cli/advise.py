"""``kubespread advise``: the smallest changes that make a pod fit, each proven."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.advising import AdvisingOptions
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import PodArgument, WorkloadOptions
from kubespread.cli.pod import check_asked, pods_asked_about
from kubespread.cli.waiting import waiting


@grouped
def advise(
    pod: PodArgument = None,
    *,
    workload: WorkloadOptions,
    advising: AdvisingOptions,
    scheduling: SchedulerOptions,
    no_preemption: NoPreemptionOption = False,
    answer: Annotated[AnswerOptions, formats_of("advise")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find the smallest changes that make a pod or all its replicas fit, each verified by running the engine again.

    Changes to constraints, cordons, node labels, taints, tolerations, requests, node selectors and affinity are tried,
    as are evictions and added nodes: each change alone, at the smallest size that suffices, then two and three together
    if none suffices alone. A change that leaves another pod without a node closes no gap, and is listed apart. Each
    comes with the option that reproduces it and as a patch; -v shows all patches. Cluster edits are applied first.

    \b
    Examples:
      kubespread advise pod.yaml -S cluster.yaml
      kubespread advise pod/web-0 -n shop
      kubespread advise deploy/web -n shop
      kubespread advise deploy/web -n shop --replicas 12 -v
      kubespread advise pod.yaml -S cluster/ -o json | jq -r '.advice.enough[0].options[]'
    """
    import kubespread

    pods = pods_asked_about(pod, workload, source.sources)
    check_asked(pods, workload, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.advise(
            opened,
            pods,
            advising.desired,
            scheduling.scheduler(),
            **workload.keywords(),
            preemption=not no_preemption,
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("advise", report)
