"""``kubespread play``: a scenario, step by step, and what becomes of the cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.playing import PlayingOptions, judged
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.waiting import waiting

if TYPE_CHECKING:
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
    answer: Annotated[AnswerOptions, formats_of("play")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Play a scenario step by step, and show what each step does to pods and their spread.

    Steps can scale, roll out, roll back or apply workloads; drain, cordon, taint, label, fail, restore, add or remove
    nodes; and delete pods. After each step the controllers and kube-scheduler run until nothing changes anymore.
    Rollouts are shown pass by pass. Options that edit the cluster are applied before the first step.

    \b
    Examples:
      kubespread play rollout.yaml
      kubespread play zone-outage.yaml -S cluster.json.gz --fail-on pending
      kubespread play zone-outage.yaml -S cluster.json.gz --at 2 --explain deploy/web
      kubespread play maintenance.yaml -o json | jq '.steps[].happened.pending'
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs
    from kubespread.scenario.reading import read_scenario

    asked = [playing.explain] if playing.explain is not None else []
    check_inputs(asked, scheduling.scheduler_config, scheduling.kube_version, scheduling.feature_gates)
    read = read_scenario(scenario)
    if playing.no_preemption:
        read = replace(read, preemption=False)
    opened = open_cluster(source, quiet=speaking.quiet)
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    if playing.explain is not None:
        return _explained(answering, opened, read, playing, playing.explain)
    with waiting(quiet=speaking.quiet):
        report = kubespread.play(opened, read, answering.scheduler, namespace=playing.namespace, deals=playing.deals)
    report, is_yes = judged(playing.fail_on, report)
    return answering.give("play", report, is_yes=is_yes)


def _explained(
    answering: Answering, opened: Snapshot, scenario: Scenario, playing: PlayingOptions, pod: str
) -> ExitCode:
    """A pod at one moment of the scenario."""
    import kubespread

    then = kubespread.after_steps(opened, scenario, playing.at, answering.scheduler, namespace=playing.namespace)
    namespace = playing.namespace or scenario.namespace
    report = kubespread.explain(then, pod, answering.scheduler, namespace=namespace)
    return replace(answering, cluster=then).give("explain", report)
