"""``kubespread explain``: one pod, one cluster, every node's verdict with its arithmetic."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options import (
    DEFAULT_CHUNK_SIZE,
    DEFAULT_REQUEST_TIMEOUT,
    AsGroupOption,
    AsOption,
    ChunkSizeOption,
    ClusterOption,
    ContextOption,
    DebugOption,
    KubeconfigOption,
    NamespaceOption,
    QuietOption,
    RequestTimeoutOption,
    SnapshotOption,
    UserOption,
    VerboseOption,
    parse_duration,
)
from kubespread.cli.output import emit, environment, note, stdin_is_piped, stdout_is_terminal, terminal_width, wants_color
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.planner.report import ExplainReport
    from kubespread.snapshot.snapshot import Snapshot

_DEFAULT_POD = "pod.yaml"
_STDIN = "-"


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


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def explain(
    pod: Annotated[
        str | None,
        typer.Argument(
            metavar="[POD]",
            show_default=False,
            help="Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, deploy/web). "
            "Without it: standard input when piped, else pod.yaml.",
        ),
    ] = None,
    snapshot: SnapshotOption = None,
    namespace: NamespaceOption = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", show_default=False, help="Which workload, when the manifest holds several (NAME or Kind/NAME)."
        ),
    ] = None,
    scheduler_config: Annotated[
        str | None,
        typer.Option("--scheduler-config", metavar="FILE", show_default=False, help="KubeSchedulerConfiguration to schedule with."),
    ] = None,
    scheduler_name: Annotated[
        str | None,
        typer.Option("--scheduler-name", metavar="NAME", show_default=False, help="Profile to use, instead of the pod's schedulerName."),
    ] = None,
    kube_version: Annotated[
        str | None,
        typer.Option(
            "--kube-version",
            metavar="1.X[.Y]",
            show_default=False,
            help="Release to behave like, 1.18 to 1.36, instead of the cluster's own (where unknown, 1.36).",
        ),
    ] = None,
    feature_gates: Annotated[
        str | None,
        typer.Option("--feature-gates", metavar="NAME=true|false,...", show_default=False, help="Feature gates set on that release."),
    ] = None,
    preemption: Annotated[bool, typer.Option("--preemption", help="When no node fits, predict what preemption would do.")] = False,
    output: Annotated[
        Output | None,
        typer.Option(
            "-o",
            "--output",
            case_sensitive=False,
            show_default=False,
            help="Format. Without it: a table on a terminal, plain columns in a pipe. 'name' prints the nodes that fit, best first.",
        ),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", metavar="NAME", show_default=False, help="Explain this node in full, in sentences. Repeatable."),
    ] = None,
    all_nodes: Annotated[bool, typer.Option("--all-nodes", help="Show every node in the table, however many there are.")] = False,
    sort: Annotated[Sort, typer.Option("--sort", case_sensitive=False, help="Order of the nodes.")] = Sort.SCORE,
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Leave out the headers of tables, columns and csv.")] = False,
    color: Annotated[Color, typer.Option("--color", case_sensitive=False, help="Colour the table.")] = Color.AUTO,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")] = False,
    context: ContextOption = None,
    kubeconfig: KubeconfigOption = None,
    cluster: ClusterOption = None,
    user: UserOption = None,
    as_user: AsOption = None,
    as_group: AsGroupOption = None,
    request_timeout: RequestTimeoutOption = DEFAULT_REQUEST_TIMEOUT,
    chunk_size: ChunkSizeOption = DEFAULT_CHUNK_SIZE,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    debug: DebugOption = False,  # noqa: ARG001 - read by main()
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
    from kubespread.snapshot.kubeconfig import Access

    sources = [str(source) for source in snapshot or ()]
    path = _manifest_path(pod, sources)
    if [path, *sources].count(_STDIN) > 1:
        raise UsageError("standard input can be read only once: POD and --snapshot both ask for it")
    timeout = parse_duration(request_timeout)
    access = Access(kubeconfig, context, cluster, user, as_user, tuple(as_group or ()), timeout, chunk_size)
    opened = open_cluster(sources, access, quiet=quiet)
    report = kubespread.explain(
        opened,
        path,
        scheduler_config,
        kube_version,
        preemption,
        name=name,
        namespace=namespace,
        scheduler_name=scheduler_name,
        feature_gates=feature_gates,
    ).sorted_by(sort.value)
    if node:
        report = report.only(node)
    if not quiet:
        _notes(opened, report, output, verbose)
    emit(_render(report, output, color, in_full=bool(node), all_nodes=all_nodes, headers=not no_headers))
    if strict and report.gaps:
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.schedulable else ExitCode.NO


def _manifest_path(pod: str | None, sources: list[str]) -> str:
    """POD, else standard input when something is piped into it and the snapshot does not want it, else pod.yaml."""
    if pod is not None:
        return pod
    if stdin_is_piped() and _STDIN not in sources:
        return _STDIN
    if Path(_DEFAULT_POD).is_file():
        return _DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run where there is a {_DEFAULT_POD}")


def _notes(cluster: Snapshot, report: ExplainReport, output: Output | None, verbose: int) -> None:
    is_text = output not in (Output.JSON, Output.YAML)
    if verbose:
        skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(cluster.skipped.items())) or "none"
        origin = cluster.origin
        known = {"from": origin.source, "taken": origin.time, "server": origin.server_version, "resourceVersion": origin.resource_version}
        if any(known.values()):
            note(", ".join(f"{name} {value}" for name, value in known.items() if value))
        note(f"read {len(cluster.nodes)} nodes, {len(cluster.pods)} pods; of no use to scheduling: {skipped}")
        note(f"profile {report.scheduler_name}, kube-scheduler v{report.kube_version}")
    if is_text:
        said_beside = {
            "note": report.notes,
            "admission": report.admission,
            "gap": report.gaps,
            "not modelled": report.not_modelled,
        }
        for prefix, texts in said_beside.items():
            for text in texts:
                note(f"{prefix}: {text}")
        if output is not Output.TABLE and not stdout_is_terminal():
            from kubespread.render.arithmetic import preemption, sampling

            for said in (report.message, preemption(report), sampling(report)):
                if said:
                    note(said)


def _render(report: ExplainReport, output: Output | None, color: Color, *, in_full: bool, all_nodes: bool, headers: bool) -> str:
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
