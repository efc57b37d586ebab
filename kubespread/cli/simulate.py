"""``kubespread simulate``: N replicas, where they land, and whether that is good enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.playing import ThenOptions
from kubespread.cli.options.requirements import RequirementOptions
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.options.workload import PodsArgument, SelectionOptions
from kubespread.cli.pod import check_asked, pods_asked_about
from kubespread.cli.stderr import complain, say
from kubespread.cli.then import check_then, simulate_then
from kubespread.cli.waiting import OnProgress, waiting
from kubespread.cli.watch import watchable

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError
    from kubespread.questions.simulate.report import SimulateReport


@grouped
@watchable
def simulate(
    pod: PodsArgument = None,
    *,
    placing: ThenOptions,
    requirements: RequirementOptions,
    workload: SelectionOptions,
    scheduling: SchedulerOptions,
    answer: Annotated[AnswerOptions, formats_of("simulate")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Place replicas one after another as kube-scheduler would, and show where they land and what stops them.

    Several workloads are placed by priority, then in the order given, each with the earlier ones already in the
    cluster. A workload already in the cluster is scaled up from the replicas it has. Ties go to the first node in
    kube-scheduler's own order, as far as it can be known; --seed and --runs show the other possible outcomes.

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
    from kubespread.snapshot.topology_keys import full_topology_key

    check_then(placing, answer)
    required, desired, preempts = requirements.required(), placing.desired(), placing.preempts()
    pods = pods_asked_about(pod, workload, source.sources)
    check_asked(pods, workload, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet)
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    if placing.then:
        return simulate_then(answering, opened, pods, placing, workload)
    required = required.with_keys(lambda key: full_topology_key(key, opened.nodes))
    refused: list[KubespreadError] = []

    def on_refused(error: KubespreadError) -> None:
        complain(str(error))
        refused.append(error)

    def ask(on_progress: OnProgress | None) -> tuple[SimulateReport, ...]:
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
            deals=placing.deals,
            keys=required.keys,
            preemption=preempts,
            autoscaler=placing.autoscaler,
            node_groups=placing.node_groups,
            gang=placing.gang,
            same=placing.same,
            selector=workload.selector or "",
            **workload.keywords(),
            on_refused=on_refused,
            on_progress=on_progress,
        )

    with waiting("placing replicas", quiet=speaking.quiet) as on_progress:
        reports = ask(on_progress)
    whose = [f"{report.pod.namespace}/{report.subject}: " if len(reports) > 1 else "" for report in reports]
    reports = tuple(map(required.judged, reports))
    code = answering.give_each(
        "simulate",
        reports,
        list(zip(whose, reports, strict=True)),
        look=answering.look(in_full=workload.name is not None),
    )
    if required.is_any and not speaking.quiet and not any(report.unmet for report in reports):
        say("every requirement is met")
    return ExitCode.BAD_INPUT if refused else code
