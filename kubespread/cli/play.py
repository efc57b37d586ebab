"""``kubespread play``: a scenario, step by step, and what becomes of the cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside, note_origin
from kubespread.cli.options.answer import PlayAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.playing import PlayingOptions, is_no
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.page import write_page
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError
from kubespread.render.formats import chosen_format

if TYPE_CHECKING:
    from kubespread.planner.reports.play import PlayReport
    from kubespread.scenario.types import Scenario
    from kubespread.snapshot.snapshot import Snapshot


@grouped
def play(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", show_default=False, help="File of kind Scenario, YAML or JSON; '-' for standard input."
        ),
    ],
    *,
    playing: PlayingOptions,
    scheduling: SchedulerOptions,
    answer: PlayAnswerOptions,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Play a scenario step by step, and show what each step does to pods and to their spread.

    Steps scale, roll out, roll back, apply, drain, cordon, taint, label, fail and restore nodes, add and remove them
    and delete pods. After each one the controllers and kube-scheduler work until nothing changes any more. Rollouts are
    shown pass by pass. Options that edit the cluster are applied before the first step.

    \b
    Examples:
      kubespread play rollout.yaml
      kubespread play zone-outage.yaml -S cluster.json.gz --fail-on pending
      kubespread play zone-outage.yaml -S cluster.json.gz --at 2 --explain deploy/web
      kubespread play maintenance.yaml -o json | jq '.steps[].happened.pending'
    """
    from kubespread.candidate.inputs import check_inputs
    from kubespread.scenario.reading import read_scenario

    if playing.at is not None and playing.explain is None:
        raise UsageError("--at says when, --explain POD what: give both")
    if [scenario, playing.explain, *source.sources].count("-") > 1:
        raise UsageError("standard input can be read only once")
    asked = [playing.explain] if playing.explain is not None else []
    check_inputs(asked, scheduling.scheduler_config, scheduling.kube_version, scheduling.feature_gates)
    read = read_scenario(scenario)
    if playing.no_preemption:
        read = replace(read, preemption=False)
    opened = open_cluster(source, quiet=speaking.quiet)
    if playing.explain is not None:
        return _explained(opened, read, playing, scheduling, answer)
    import kubespread

    with waiting(quiet=speaking.quiet):
        report = kubespread.play(opened, read, scheduling.scheduler(), namespace=playing.namespace)
    write_page(answer.html, report, opened, scheduling.scheduler())
    show(report, opened, answer.output, speaking, headers=not answer.no_headers, color=answer.color)
    if opened.faults or (answer.strict and report.gaps):
        return ExitCode.NO_CLUSTER
    return ExitCode.NO if is_no(playing.fail_on, report) else ExitCode.YES


def show(
    report: PlayReport, opened: Snapshot, output: str | None, speaking: SpeakingOptions, *, headers: bool, color: str
) -> None:
    """Write the answer, and what is said beside it."""
    from kubespread.render.play.rows import answer as answered

    chosen = chosen_format(output, is_terminal=stdout_is_terminal())
    if not speaking.quiet:
        if speaking.verbose:
            note_origin(opened)
        note_beside(report, [answered(report)], chosen)
    look = replace(look_of_stdout(color=color, headers=headers), in_full=speaking.verbose > 0)
    emit(chosen.writers["play"].load()(report, look))


def _explained(
    opened: Snapshot, scenario: Scenario, playing: PlayingOptions, scheduling: SchedulerOptions,
    answer: PlayAnswerOptions,
) -> int:  # fmt: skip
    """A pod at one moment of the scenario."""
    import kubespread

    assert playing.explain is not None
    scheduler = scheduling.scheduler()
    then = kubespread.after_steps(opened, scenario, playing.at, scheduler, namespace=playing.namespace)
    namespace = playing.namespace or scenario.namespace
    report = kubespread.explain(then, playing.explain, scheduler, namespace=namespace)
    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers)
    write_page(answer.html, report, then, scheduler)
    emit(chosen.writers["explain"].load()(report, look))
    return ExitCode.YES if report.schedulable else ExitCode.NO
