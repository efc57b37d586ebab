"""``kubespread map``: the topology of a cluster, drawn in the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.mapping import MappingOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import WorkloadOptions
from kubespread.cli.pod import check_asked, pods_asked_about
from kubespread.cli.waiting import waiting


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
    answer: Annotated[AnswerOptions, formats_of("map")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Draw the topology of a cluster: domains as boxes, nodes as cells, pods as marks.

    With a WORKLOAD, the pods that its first spread constraint counts are marked (without constraints, its own), and
    each domain shows its current skew: matching pods minus the minimum, against maxSkew. Without one, the map shows how
    full each node is: the requested share of its fullest resource.

    \b
    Examples:
      kubespread map
      kubespread map deploy/web -n shop
      kubespread map deploy/web --by load --key zone --key pool -S cluster.json.gz
      kubespread map --drain zone=a --ignore-daemonsets
      kubespread map -o csv -S cluster.json.gz
    """
    import kubespread

    is_about = bool(pod or workload.filename or workload.kustomize)
    by = mapping.shown(has_workload=is_about)
    pods = pods_asked_about(pod, workload, source.sources) if is_about else []
    check_asked(pods, workload, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.topology_map(
            opened, pods or None, scheduling.scheduler(), keys=mapping.key or (), **workload.keywords()
        )
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    look = replace(answering.look(), map_by=by)
    return answering.give("map", report, is_yes=True, look=look)
