"""``kubespread simulate``: N replicas, where they land, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside_each, note_source
from kubespread.cli.options.answer import SimulateAnswerOptions, SpeakingOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.playing import ThenOptions
from kubespread.cli.options.requirements import RequirementOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import PodsArgument, SelectionOptions
from kubespread.cli.page import write_page
from kubespread.cli.pod import pods_asked_about
from kubespread.cli.stderr import complain, say
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.cli.then import check_then, simulate_then
from kubespread.cli.waiting import is_watched
from kubespread.cli.watch import watchable
from kubespread.render.formats import chosen_format

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError
    from kubespread.planner.reports.simulate import SimulateReport


@grouped
@watchable
def simulate(
    pod: PodsArgument = None,
    *,
    placing: ThenOptions,
    requirements: RequirementOptions,
    workload: SelectionOptions,
    scheduling: SchedulerOptions,
    answer: SimulateAnswerOptions,
    source: EditedClusterOptions,
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
      kubespread simulate -f shop/ -R -l tier=web -S cluster.json.gz
      kubespread simulate --all -A --from-scratch
      kubespread simulate web.yaml --replicas 40 --autoscaler ca --node-groups groups.yaml
      kubespread simulate job/train --gang 8 --same topology.kubernetes.io/zone
      kubespread simulate web.yaml --then scale=9 --then rollout --then fail=zone=a
      helm template shop ./chart | kubespread simulate --require-placed all
      kubespread simulate web.yaml --replicas 15 -o name | cut -f2 | sort | uniq -c
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs
    from kubespread.render.simulate.conclusion import conclusion
    from kubespread.snapshot.topology_keys import full_topology_key

    check_then(placing, requirements, workload, answer)
    required, desired = requirements.required(), placing.desired()
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
    if placing.then:
        return simulate_then(opened, pods, placing, desired, workload, scheduling, answer, speaking)
    required = required.with_keys(lambda key: full_topology_key(key, opened.nodes))
    refused: list[KubespreadError] = []

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    def ask(on_progress: Callable[[int], None] | None = None) -> tuple[SimulateReport, ...]:
        return kubespread.simulate(
            opened,
            pods,
            desired,
            scheduling.scheduler(),
            until_full=placing.as_many_as_fit,
            from_scratch=placing.from_scratch,
            ties=placing.ties.value,
            seed=placing.seed,
            sample=placing.sample,
            runs=placing.runs,
            keys=required.keys,
            preemption=answer.preemption,
            autoscaler=placing.autoscaler,
            node_groups=placing.node_groups,
            gang=placing.gang,
            same=placing.same,
            name=workload.name,
            namespace=workload.namespace,
            selector=workload.selector or "",
            recursive=workload.recursive,
            template_path=workload.template_path or "",
            set=workload.settings or (),
            on_refused=on_refused,
            on_progress=on_progress,
        )

    reports = ask() if speaking.quiet or not is_watched() else _with_progress(ask)
    chosen = chosen_format(answer.output, is_terminal=stdout_is_terminal())
    whose = [f"{report.pod.namespace}/{report.subject}: " if len(reports) > 1 else "" for report in reports]
    if not speaking.quiet:
        if speaking.verbose:
            note_source(opened, reports[0])
        answers = [(prefix, report, conclusion(report)) for prefix, report in zip(whose, reports, strict=True)]
        note_beside_each(answers, chosen)
    look = replace(
        look_of_stdout(color=answer.color, headers=not answer.no_headers),
        in_full=speaking.verbose > 0 or workload.name is not None,
    )
    write_page(answer.html, reports, opened, scheduling.scheduler())
    emit(chosen.writers["simulate"].load()(reports, look))
    failures = [
        f"requirement not met: {prefix}{failure}"
        for prefix, report in zip(whose, reports, strict=True)
        for failure in required.failures(report)
    ]
    met = ["every requirement is met"] if required.is_any and not speaking.quiet else []
    for said in failures or met:
        say(said)
    if refused:
        return ExitCode.BAD_INPUT
    if opened.faults or (answer.strict and any(report.gaps for report in reports)):
        return ExitCode.NO_CLUSTER
    if failures:
        return ExitCode.NO
    return (
        ExitCode.YES
        if required.judges_placed or (all(map(_is_placed, reports)) or _is_scaled_for(reports))
        else ExitCode.NO
    )


def _with_progress(ask: Callable[..., tuple[SimulateReport, ...]]) -> tuple[SimulateReport, ...]:
    from kubespread.render.progress import PlacingProgress

    with PlacingProgress() as progress:
        return ask(on_progress=progress.on_progress)


def _is_scaled_for(reports: Sequence[SimulateReport]) -> bool:
    """Whether an autoscaler makes room for every replica that found none."""
    account = next((report.autoscaling for report in reports if report.autoscaling is not None), None)
    pending = sum(report.pending for report in reports)
    return account is not None and account.waiting == pending and account.left == 0


def _is_placed(report: SimulateReport) -> bool:
    """Every replica that was asked for; of as many as fit at least one."""
    return report.present + report.placed > 0 if report.replicas is None else report.pending == 0
