"""What has to change for a pod, or for all replicas of a workload, to fit."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.candidate.input.sources import PodGiven, read_once
from kubespread.questions.advise.one_pod import judge_pod
from kubespread.questions.advise.patches import with_patches
from kubespread.questions.advise.question import Advise
from kubespread.questions.advise.replicas import Replicas, judge_replicas
from kubespread.questions.advise.report import AdviseReport
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.question import asks
from kubespread.questions.remedies.advice import advice
from kubespread.questions.remedies.candidates import FAMILIES
from kubespread.questions.resolving import given_pods, resolve
from kubespread.questions.scene import Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.question import Simulate
from kubespread.reports.constraint_counts import constraint_reports
from kubespread.reports.parts import PodReference
from kubespread.scheduler.building import framework
from kubespread.snapshot.snapshot import Snapshot


@asks(Advise)
def advise(
    snapshot: Snapshot,
    pod: PodGiven | Sequence[PodGiven],
    replicas: int | None = None,
    scheduler: Scheduler | None = None,
    *,
    name: str | None = None,
    namespace: str | None = None,
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    preemption: bool = True,
) -> AdviseReport:
    """The smallest changes after which ``pod`` fits some node of ``snapshot``, or all ``replicas`` of it find one.

    Each is found by making it and asking the engine again. Combinations are looked for only where no single change
    suffices. Raises ManifestError, SnapshotError and UsageError.
    """
    question = Advise(
        pods=tuple(given_pods(pod)), replicas=replicas, named=name, namespace=namespace, recursive=recursive,
        template_path=template_path, settings=tuple(set), preemption=preemption,
    )  # fmt: skip
    return ask(snapshot, question, scheduler)


def answer(question: Advise, scene: Scene) -> AdviseReport:
    """Of one pod, or of as many replicas as are asked about."""
    scheduler, preempts = scene.scheduler, question.preemption
    pods = [read_once(pod, question.template_path) for pod in question.pods]
    resolved = resolve(
        scene.snapshot, pods, scheduler, question.choosing, settings=question.settings, preempts=preempts
    )
    candidate, replicas = resolved.candidates[0], question.replicas
    if replicas is None and candidate.workload is not None and not candidate.is_daemon:
        replicas = candidate.replicas
    if replicas is None:
        judged = judge_pod(resolved, scheduler, preempts=preempts)
    else:
        placing = Simulate(
            pods=tuple(pods), replicas=replicas, named=question.named, namespace=question.namespace,
            recursive=question.recursive, template_path=question.template_path, settings=question.settings,
            preemption=preempts, deals=1,
        )  # fmt: skip
        assumed = resolved.cluster.assumed
        judged = judge_replicas(
            resolved, Replicas(placing, replicas, scene.snapshot, scheduler, assumed, candidate.workload)
        )
    stuck, pod, profile = judged.stuck, judged.pod, judged.profile
    advised = None
    if stuck is not None:
        advised = with_patches(*advice(stuck, FAMILIES, judged.asker), resolved, question.settings, question.named)
    evaluation = None if stuck is None else stuck.evaluation
    unknown = not_modelled(pod, framework(profile), judged.cluster, profile)
    return AdviseReport(
        kube_version=str(profile.version),
        cluster=scene.source,
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        workload=judged.workload,
        replicas=judged.replicas,
        placed=judged.placed,
        nodes=len(judged.cluster),
        fitting=judged.fitting,
        message=judged.message,
        victims=judged.victims,
        constraints=() if evaluation is None else tuple(constraint_reports(evaluation.states, evaluation.feasible)),
        conclusion=None if evaluation is None else bars(evaluation),
        advice=advised,
        admission=tuple(judged.admission),
        not_modelled=(*unknown, *(() if stuck is None else Advise.never_modelled)),
        notes=tuple(judged.notes),
        gaps=resolved.gaps_of(candidate),
    )
