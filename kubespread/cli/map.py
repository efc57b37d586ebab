"""``kubespread map``: the topology of a cluster, drawn in the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside, note_source
from kubespread.cli.options.answer import MapAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.mapping import MappingOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import WorkloadOptions
from kubespread.cli.page import write_page
from kubespread.cli.pod import pods_asked_about
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.render.formats import chosen_format


@grouped
def map_(
    pod: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD]",
            show_default=False,
            help="Whose pods to mark: KIND/NAME in the cluster (deploy/web, deploy web), a manifest, or '-' for "
            "standard input.",
        ),
    ] = None,
    *,
    mapping: MappingOptions,
    workload: WorkloadOptions,
    scheduling: SchedulerOptions,
    answer: MapAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Draw the topology of a cluster: domains as boxes, nodes as cells, pods as marks.

    With a WORKLOAD the pods that its first spread constraint counts are marked (without constraints, its own), and each
    domain shows its skew as it is now: matching pods minus the minimum, against maxSkew. Without one the map shows how
    much of its fullest resource pods request on each node.

    \b
    Examples:
      kubespread map
      kubespread map deploy/web -n shop
      kubespread map deploy/web --by load --key zone --key pool -S cluster.json.gz
      kubespread map --drain zone=a --ignore-daemonsets
      kubespread map -o csv -S cluster.json.gz
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs
    from kubespread.render.map.conclusion import conclusion

    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    is_about = bool(pod or workload.filename or workload.kustomize)
    by = mapping.shown(has_workload=is_about)
    pods = pods_asked_about(pod, workload, source.sources) if is_about else []
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
        report = kubespread.topology_map(
            opened,
            pods or None,
            scheduling.scheduler(),
            keys=mapping.key or (),
            name=workload.name,
            namespace=workload.namespace,
            recursive=workload.recursive,
            template_path=workload.template_path or "",
            set=workload.settings or (),
        )
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, report)
        note_beside(report, conclusion(report), chosen)
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers)
    write_page(answer.html, report, opened, scheduling.scheduler())
    emit(chosen.writers["map"].load()(report, replace(look, in_full=speaking.verbose > 0, map_by=by)))
    return ExitCode.NO_CLUSTER if opened.faults or (answer.strict and report.gaps) else ExitCode.YES
