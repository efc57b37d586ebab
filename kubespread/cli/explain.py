"""``kubespread explain``: one pod, one cluster, every node's verdict with its arithmetic."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options import (
    ClusterOptions,
    Color,
    ColorOption,
    NoHeadersOption,
    PodArgument,
    PreemptionOption,
    SchedulerOptions,
    SpeakingOptions,
    StrictOption,
    WorkloadOptions,
    grouped,
)
from kubespread.cli.output import (
    emit,
    environment,
    note,
    note_beside,
    note_source,
    stdout_is_terminal,
    terminal_width,
    wants_color,
)
from kubespread.cli.pod import manifest_path

if TYPE_CHECKING:
    from kubespread.planner.reports.explain import ExplainReport
    from kubespread.snapshot.snapshot import Snapshot


class Output(StrEnum):
    TABLE = "table"
    WIDE = "wide"
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    CSV = "csv"


class Sort(StrEnum):
    SCORE = "score"
    NAME = "name"
    SKEW = "skew"


@grouped
def explain(
    pod: PodArgument = None,
    *,
    workload: WorkloadOptions,
    scheduling: SchedulerOptions,
    preemption: PreemptionOption = False,
    output: Annotated[
        Output | None,
        typer.Option(
            "-o",
            "--output",
            case_sensitive=False,
            show_default=False,
            help="Format (default: a table on a terminal, plain columns in a pipe). 'name' prints the nodes that "
            "fit, best first.",
        ),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node", metavar="NAME", show_default=False, help="Explain this node in full, in sentences. Repeatable."
        ),
    ] = None,
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Show every node in the table, however many there are.")
    ] = False,
    sort: Annotated[Sort, typer.Option("--sort", case_sensitive=False, help="Order of the nodes.")] = Sort.SCORE,
    no_headers: NoHeadersOption = False,
    color: ColorOption = Color.AUTO,
    strict: StrictOption = False,
    source: ClusterOptions,
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

    path = manifest_path(pod, source.sources)
    check_inputs([path], scheduling.scheduler_config, scheduling.kube_version, scheduling.feature_gates)
    opened = open_cluster(source, quiet=speaking.quiet)
    report = kubespread.explain(
        opened, path, scheduling.scheduler(), preemption=preemption, name=workload.name, namespace=workload.namespace
    ).sorted_by(sort.value)
    if node:
        report = report.only(node)
    if not speaking.quiet:
        _notes(opened, report, output, speaking.verbose)
    emit(_render(report, output, color, in_full=bool(node), all_nodes=all_nodes, headers=not no_headers))
    if opened.faults or (strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.schedulable else ExitCode.NO


def _notes(cluster: Snapshot, report: ExplainReport, output: Output | None, verbose: int) -> None:
    is_text = output not in (Output.JSON, Output.YAML)
    if verbose:
        note_source(cluster, report)
    if is_text:
        note_beside(report)
        if output is not Output.TABLE and not stdout_is_terminal():
            from kubespread.render.arithmetic import preemption, sampling

            for said in (report.message, preemption(report.preemption), sampling(report)):
                if said:
                    note(said)


def _render(
    report: ExplainReport, output: Output | None, color: Color, *, in_full: bool, all_nodes: bool, headers: bool
) -> str:
    from kubespread.render import structured

    match output:
        case Output.JSON:
            return structured.json(report)
        case Output.YAML:
            return structured.yaml(report)
        case Output.NAME:
            return structured.names(report)
        case Output.CSV:
            return structured.csv(report, headers=headers)
    terminal = stdout_is_terminal()
    if in_full:
        from kubespread.render import sentences

        return sentences.nodes(report)
    wide = output is Output.WIDE
    if output is Output.PLAIN or (output is not Output.TABLE and not terminal):
        from kubespread.render import plain

        return plain.columns(report, wide=wide, headers=headers)
    from kubespread.render import table

    return table.table(
        report,
        width=terminal_width() if terminal else None,
        color=wants_color(color.value, environment(), is_terminal=terminal),
        wide=wide,
        all_nodes=all_nodes,
        headers=headers,
    )
