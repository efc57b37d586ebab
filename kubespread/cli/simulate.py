"""``kubespread simulate``: N replicas, where they land, and whether that is good enough."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
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
    FeatureGatesOption,
    KubeconfigOption,
    KubeVersionOption,
    NameOption,
    NamespaceOption,
    NoHeadersOption,
    PreemptionOption,
    QuietOption,
    RequestTimeoutOption,
    SchedulerConfigOption,
    SchedulerNameOption,
    SnapshotOption,
    StrictOption,
    UserOption,
    VerboseOption,
    parse_duration,
)
from kubespread.cli.output import emit, note, note_beside, note_source, stdout_is_terminal
from kubespread.cli.pod import manifest_paths
from kubespread.cli.requirements import Requirements, count
from kubespread.cli.stderr import complain

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError
    from kubespread.planner.simulation_report import SimulateReport

_MAX = "max"


class Output(StrEnum):
    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    CSV = "csv"


def simulate(
    pod: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POD]...",
            show_default=False,
            help="Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads of a manifest are placed. "
            "Without any: standard input when piped, else pod.yaml.",
        ),
    ] = None,
    replicas: Annotated[
        str | None,
        typer.Option(
            "--replicas",
            metavar="N",
            show_default=False,
            help="How many there should be; 'max': as many as fit. Without it: the workload's.",
        ),
    ] = None,
    until_full: Annotated[bool, typer.Option("--until-full", help="The same as --replicas max.")] = False,
    from_scratch: Annotated[bool, typer.Option("--from-scratch", help="Place also the replicas that run already.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", show_default=False, help="Break ties at random from N on.")] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="K", min=1, help="Repeat with the seeds that follow and report the range.")] = 1,
    require_placed: Annotated[
        str | None, typer.Option("--require-placed", metavar="N|all", show_default=False, help="Fail unless so many replicas are placed.")
    ] = None,
    max_skew: Annotated[
        list[str] | None, typer.Option("--max-skew", metavar="KEY=N", show_default=False, help="Fail when the skew over KEY ends above N.")
    ] = None,
    min_domains: Annotated[
        list[str] | None,
        typer.Option("--min-domains", metavar="KEY=N", show_default=False, help="Fail unless N domains of KEY are used."),
    ] = None,
    survive: Annotated[
        list[str] | None,
        typer.Option("--survive", metavar="KEY=N", show_default=False, help="Fail unless N remain without any one domain of KEY."),
    ] = None,
    snapshot: SnapshotOption = None,
    namespace: NamespaceOption = None,
    name: NameOption = None,
    scheduler_config: SchedulerConfigOption = None,
    scheduler_name: SchedulerNameOption = None,
    kube_version: KubeVersionOption = None,
    feature_gates: FeatureGatesOption = None,
    preemption: PreemptionOption = False,
    output: Annotated[
        Output | None,
        typer.Option(
            "-o",
            "--output",
            case_sensitive=False,
            show_default=False,
            help="Format. Without it: a picture on a terminal, columns in a pipe. 'name' prints pod<TAB>node lines.",
        ),
    ] = None,
    no_headers: NoHeadersOption = False,
    strict: StrictOption = False,
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
    """Place replicas one after another as kube-scheduler would, and show where they land and what stops them.

    Several workloads are placed by priority, then in the order given, each finding those before it in the cluster. A
    workload that runs in the cluster already is grown from the replicas it has. Equal scores go to the smallest name,
    because kube-scheduler's own choice among equals cannot be known; --seed and --runs show what else could come of it.

    \b
    Examples:
      kubespread simulate web.yaml --replicas 15
      kubespread simulate deploy/web --replicas 30 --survive topology.kubernetes.io/zone=20
      kubespread simulate web.yaml --until-full -S cluster.json.gz
      helm template shop ./chart | kubespread simulate --require-placed all
      kubespread simulate web.yaml --replicas 15 -o name | cut -f2 | sort | uniq -c
    """
    import kubespread
    from kubespread.snapshot.kubeconfig import Access

    required = Requirements.parse(require_placed, max_skew, min_domains, survive)
    full = until_full or replicas == _MAX
    sources = [str(source) for source in snapshot or ()]
    paths = manifest_paths(pod or [], sources)
    timeout = parse_duration(request_timeout)
    access = Access(kubeconfig, context, cluster, user, as_user, tuple(as_group or ()), timeout, chunk_size)
    wanted = None if full or replicas is None else count("--replicas", replicas, "a number from 0, or max")
    opened = open_cluster(sources, access, quiet=quiet)
    refused: list[KubespreadError] = []

    def hear(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    ask = partial(
        kubespread.simulate_together,
        opened,
        paths,
        wanted,
        scheduler_config,
        kube_version,
        preemption,
        until_full=full,
        from_scratch=from_scratch,
        seed=seed,
        runs=runs,
        keys=required.keys,
        name=name,
        namespace=namespace,
        scheduler_name=scheduler_name,
        feature_gates=feature_gates,
        refused=hear,
    )
    reports = ask() if quiet or not sys.stderr.isatty() else _with_progress(ask)
    if not quiet:
        if verbose:
            note_source(opened, reports[0])
        for report in reports:
            _notes(report, output, name_it=len(reports) > 1)
    emit(_render(reports, output, headers=not no_headers))
    failures = [(report, failure) for report in reports for failure in required.failures(report)]
    for report, failure in failures:
        note(f"assertion failed: {f'{_name(report)}: ' if len(reports) > 1 else ''}{failure}")
    if refused:
        return ExitCode.BAD_INPUT
    if opened.faults or (strict and any(report.gaps for report in reports)):
        return ExitCode.NO_CLUSTER
    if failures:
        return ExitCode.NO
    return ExitCode.YES if require_placed is not None or all(map(_is_placed, reports)) else ExitCode.NO


def _with_progress(ask: Callable[..., tuple[SimulateReport, ...]]) -> tuple[SimulateReport, ...]:
    from kubespread.render.progress import PlacingProgress

    with PlacingProgress() as progress:
        return ask(heard=progress.heard)


def _name(report: SimulateReport) -> str:
    return report.workload or f"Pod/{report.pod.name}"


def _is_placed(report: SimulateReport) -> bool:
    """Every replica that was asked for; of as many as fit at least one."""
    return report.present + report.placed > 0 if report.replicas is None else report.pending == 0


def _notes(report: SimulateReport, output: Output | None, *, name_it: bool) -> None:
    if output in (Output.JSON, Output.YAML):
        return
    note_beside(report)
    if output is not Output.TABLE and not stdout_is_terminal():
        from kubespread.render.simulation import conclusion

        for line in conclusion(report):
            note(f"{_name(report)}: {line}" if name_it else line)


def _render(reports: Sequence[SimulateReport], output: Output | None, *, headers: bool) -> str:
    from kubespread.render import simulation, structured

    match output:
        case Output.JSON:
            return structured.json(reports[0]) if len(reports) == 1 else structured.json_list(reports)
        case Output.YAML:
            return structured.yaml(reports[0]) if len(reports) == 1 else structured.yaml_list(reports)
        case Output.NAME:
            return "".join(map(simulation.names, reports))
        case Output.CSV:
            return "".join(simulation.csv(report, headers=headers and report is reports[0]) for report in reports)
    if output is Output.TABLE or (output is None and stdout_is_terminal()):
        return "\n".join(map(simulation.picture, reports))
    return "\n".join(simulation.columns(report, headers=headers) for report in reports)
