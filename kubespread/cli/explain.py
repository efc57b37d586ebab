"""``kubespread explain``: one pod, one cluster, every node's verdict with its arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.explaining import ExplainingOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import PodArgument, WorkloadOptions
from kubespread.cli.pod import check_asked, pods_asked_about
from kubespread.cli.waiting import waiting
from kubespread.cli.watch import watchable


@grouped
@watchable
def explain(
    pod: PodArgument = None,
    *,
    workload: WorkloadOptions,
    scheduling: SchedulerOptions,
    explaining: ExplainingOptions,
    answer: Annotated[AnswerOptions, formats_of("explain")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show which nodes a pod fits and why the others fail, constraint by constraint with the numbers.

    The cluster is the one in the current kubeconfig context, or comes from --snapshot. POD is a manifest, or KIND/NAME
    in the cluster. Every filter plugin is run on every node, so each node shows all of its reasons, not only
    kube-scheduler's first one.

    \b
    Examples:
      kubespread explain pod.yaml
      kubespread explain pod/web-0 -n shop --context prod
      kubespread explain pod.yaml -S cluster.yaml
      kubectl get nodes,pods,ns,svc,rs,sts,rc,pvc,pv,sc,pc,limits,quota -A -o json | kubespread explain pod.yaml -S -
      kubespread explain deployment.yaml -S cluster/ -o json | jq .message
      kubespread explain - -S cluster.yaml --node node-7 < pod.yaml
    """
    import kubespread
    from kubespread.views.formats import SENTENCES

    pods = pods_asked_about(pod, workload, source.sources)
    check_asked(pods, workload, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet)
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    in_sentences = bool(explaining.node) and answering.written.is_for_people
    with waiting(quiet=speaking.quiet):
        report = kubespread.explain(
            opened,
            pods,
            scheduling.scheduler(),
            preemption=explaining.preemption,
            pods=explaining.pods or in_sentences,
            **workload.keywords(),
        ).sorted_by(explaining.sort.value)
    if explaining.node:
        report = report.only(explaining.node)
    look = replace(answering.look(), all_nodes=explaining.all_nodes, by=explaining.by)
    writer = SENTENCES if in_sentences else None
    return answering.give("explain", report, look=look, writer=writer)
