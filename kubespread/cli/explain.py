"""``kubespread explain``: one pod, one cluster, every node's verdict with its arithmetic."""

from __future__ import annotations

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside, note_source
from kubespread.cli.options.answer import ExplainAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import PodArgument, WorkloadOptions
from kubespread.cli.page import write_page
from kubespread.cli.pod import pods_asked_about
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.cli.watch import watchable
from kubespread.render.formats import chosen_format


@grouped
@watchable
def explain(
    pod: PodArgument = None,
    *,
    workload: WorkloadOptions,
    scheduling: SchedulerOptions,
    answer: ExplainAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show which nodes a pod fits and why the others fail, constraint by constraint with the numbers.

    The cluster is that of the current kubeconfig context, or comes from --snapshot. POD is a manifest, or KIND/NAME of
    something in the cluster. Every filter plugin is asked about every node, so a node shows all of its reasons and not
    only kube-scheduler's first one.

    \b
    Examples:
      kubespread explain pod.yaml
      kubespread explain pod/web-0 -n shop --context prod
      kubespread explain pod.yaml -S cluster.yaml
      kubectl get nodes,pods,services,rs,sts,rc -A -o json | kubespread explain pod.yaml -S -
      kubespread explain deployment.yaml -S cluster/ -o json | jq .message
      kubespread explain - -S cluster.yaml --node node-7 < pod.yaml
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs
    from kubespread.render.explain import sentences
    from kubespread.render.explain.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    names_pods = answer.pods or bool(answer.node and chosen.is_for_people)
    pods = pods_asked_about(pod, workload, source.sources)
    check_inputs(
        pods,
        scheduling.scheduler_config,
        scheduling.kube_version,
        scheduling.feature_gates,
        recursive=workload.recursive,
        settings=workload.settings or (),
    )
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.explain(
            opened,
            pods,
            scheduling.scheduler(),
            preemption=answer.preemption,
            pods=names_pods,
            name=workload.name,
            namespace=workload.namespace,
            recursive=workload.recursive,
            template_path=workload.template_path or "",
            set=workload.settings or (),
        ).sorted_by(answer.sort.value)
    if answer.node:
        report = report.only(answer.node)
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, report)
        note_beside(report, conclusion(report), chosen)
    write = sentences.write if answer.node and chosen.is_for_people else chosen.writers["explain"].load()
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers, all_nodes=answer.all_nodes, by=answer.by)
    write_page(answer.html, report, opened, scheduling.scheduler())
    emit(write(report, look))
    if opened.faults or (answer.strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.schedulable else ExitCode.NO
