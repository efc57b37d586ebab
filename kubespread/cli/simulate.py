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
    ClusterOptions,
    NoHeadersOption,
    PreemptionOption,
    SchedulerOptions,
    SpeakingOptions,
    StrictOption,
    WorkloadOptions,
    grouped,
)
from kubespread.cli.output import emit, note, note_beside, note_source, stdout_is_terminal
from kubespread.cli.pod import manifest_paths
from kubespread.cli.requirements import Requirements, count
from kubespread.cli.stderr import complain

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError
    from kubespread.planner.reports.simulate import SimulateReport


class TieBreak(StrEnum):
    SCHEDULER = "scheduler"
    NAME = "name"


class Output(StrEnum):
    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    CSV = "csv"


@grouped
def simulate(
    pod: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POD]...",
            show_default=False,
            help="Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads of a "
            "manifest are placed. "
            "Default: standard input when piped, else pod.yaml.",
        ),
    ] = None,
    *,
    replicas: Annotated[
        str | None,
        typer.Option(
            "--replicas",
            metavar="N",
            show_default=False,
            help="Desired replicas, or 'max': as many as fit (default: the workload's own).",
        ),
    ] = None,
    until_full: Annotated[bool, typer.Option("--until-full", help="The same as --replicas max.")] = False,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Also re-place the replicas already running.")
    ] = False,
    ties: Annotated[
        TieBreak,
        typer.Option(
            "--ties",
            case_sensitive=False,
            help="Who gets a pod among equal scores: kube-scheduler's own order, or the name.",
        ),
    ] = TieBreak.SCHEDULER,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", show_default=False, help="Break ties at random, seeded with N.")
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="K", min=1, help="Run K times with successive seeds and report the range.")
    ] = 1,
    require_placed: Annotated[
        str | None,
        typer.Option(
            "--require-placed", metavar="N|all", show_default=False, help="Fail unless N replicas (or all) are placed."
        ),
    ] = None,
    max_skew: Annotated[
        list[str] | None,
        typer.Option(
            "--max-skew", metavar="KEY=N", show_default=False, help="Fail if the final skew over KEY is above N."
        ),
    ] = None,
    min_domains: Annotated[
        list[str] | None,
        typer.Option(
            "--min-domains",
            metavar="KEY=N",
            show_default=False,
            help="Fail unless replicas use at least N domains of KEY.",
        ),
    ] = None,
    survive: Annotated[
        list[str] | None,
        typer.Option(
            "--survive",
            metavar="KEY=N",
            show_default=False,
            help="Fail unless N replicas survive the loss of any one KEY domain.",
        ),
    ] = None,
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
            help="Format (default: a picture on a terminal, columns in a pipe). 'name' prints "
            "namespace/pod<TAB>node lines.",
        ),
    ] = None,
    no_headers: NoHeadersOption = False,
    strict: StrictOption = False,
    source: ClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Place replicas one after another as kube-scheduler would, and show where they land and what stops them.

    Several workloads are placed by priority, then in the order given, each finding those before it in the cluster. A
    workload that runs in the cluster already is grown from the replicas it has. Among equal scores the first node in
    kube-scheduler's own order is taken, as far as it can be known; --seed and --runs show what else could come of it.

    \b
    Examples:
      kubespread simulate web.yaml --replicas 15 --max-skew zone=1 --survive zone=9
      kubespread simulate deploy/web --replicas 30 --require-placed all
      kubespread simulate web.yaml --until-full -S cluster.json.gz
      helm template shop ./chart | kubespread simulate --require-placed all
      kubespread simulate web.yaml --replicas 15 -o name | cut -f2 | sort | uniq -c
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs
    from kubespread.render.simulation import MAX_REPLICAS
    from kubespread.snapshot.topology_keys import full_topology_key

    required = Requirements.parse(require_placed, max_skew, min_domains, survive)
    full = until_full or replicas == MAX_REPLICAS
    wanted = None if full or replicas is None else count("--replicas", replicas, "a number from 0, or max")
    paths = manifest_paths(pod or [], source.sources)
    check_inputs(paths, scheduling.scheduler_config, scheduling.kube_version, scheduling.feature_gates)
    opened = open_cluster(source, quiet=speaking.quiet)
    required = required.with_keys(lambda key: full_topology_key(key, opened.nodes))
    refused: list[KubespreadError] = []

    def hear(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    ask = partial(
        kubespread.simulate_together,
        opened,
        paths,
        wanted,
        scheduling.scheduler(),
        until_full=full,
        from_scratch=from_scratch,
        ties=ties.value,
        seed=seed,
        runs=runs,
        keys=required.keys,
        preemption=preemption,
        name=workload.name,
        namespace=workload.namespace,
        on_refused=hear,
    )
    reports = ask() if speaking.quiet or not sys.stderr.isatty() else _with_progress(ask)
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, reports[0])
        for report in reports:
            _notes(report, output, name_it=len(reports) > 1)
    emit(_render(reports, output, headers=not no_headers))
    failures = [(report, failure) for report in reports for failure in required.failures(report)]
    for report, failure in failures:
        note(f"requirement not met: {f'{_name(report)}: ' if len(reports) > 1 else ''}{failure}")
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
        return ask(on_progress=progress.on_progress)


def _name(report: SimulateReport) -> str:
    """As --name takes it."""
    return f"{report.pod.namespace}/{report.subject}"


def _is_placed(report: SimulateReport) -> bool:
    """Every replica that was asked for; of as many as fit at least one."""
    return report.present + report.placed > 0 if report.replicas is None else report.pending == 0


def _notes(report: SimulateReport, output: Output | None, *, name_it: bool) -> None:
    if output in (Output.JSON, Output.YAML):
        return
    whose = f"{_name(report)}: " if name_it else ""
    note_beside(report, whose)
    if output is not Output.TABLE and not stdout_is_terminal():
        from kubespread.render.simulation import conclusion

        for line in conclusion(report):
            note(f"{whose}{line}")


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
            return simulation.csv(reports, headers=headers)
    if output is Output.TABLE or (output is None and stdout_is_terminal()):
        return "\n".join(map(simulation.picture, reports))
    return simulation.columns(reports, headers=headers)
