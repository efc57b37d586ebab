"""What has to change for a pod, or for all replicas of a workload, to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from kubespread.candidate.input.sources import PodGiven, read_once
from kubespread.questions.advise.one_pod import Advised, OnePod, advise_pod
from kubespread.questions.advise.patches import with_patches
from kubespread.questions.advise.question import Advise
from kubespread.questions.advise.replicas import Replicas, advise_replicas
from kubespread.questions.advise.report import AdviseReport
from kubespread.questions.question import asks
from kubespread.questions.remedies.edited_worlds import EditedWorlds
from kubespread.questions.resolving import Resolved, given_pods, resolve, reviser
from kubespread.questions.scene import Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.worlds import world_of
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
        advised = _of_one_pod(resolved, scheduler, preempts=preempts)
    else:
        placing = Simulate(
            pods=tuple(pods), replicas=replicas, named=question.named, namespace=question.namespace,
            recursive=question.recursive, template_path=question.template_path, settings=question.settings,
            preemption=preempts, deals=1,
        )  # fmt: skip
        assumed = resolved.cluster.assumed
        advised = advise_replicas(
            resolved, Replicas(placing, replicas, scene.snapshot, scheduler, assumed, candidate.workload)
        )
    report = with_patches(advised, resolved, question.settings, question.named)
    return structs.replace(
        report, cluster=scene.source, gaps=tuple(dict.fromkeys((*resolved.gaps_of(candidate), *report.gaps)))
    )


def _of_one_pod(resolved: Resolved, scheduler: Scheduler, *, preempts: bool) -> Advised:
    candidate, profile = resolved.candidates[0], resolved.profiles[0]
    plugins = framework(profile)
    worlds = EditedWorlds(
        lambda: world_of(resolved.snapshot, scheduler, preempts=preempts, assumed=resolved.cluster.assumed),
        candidate.pod.metadata.namespace,
    )
    asker = OnePod(candidate.pod, resolved.cluster, plugins, reviser(resolved), worlds, preempts)
    advised = advise_pod(resolved.cluster, candidate.pod, plugins, profile, asker)
    workload = candidate.workload
    return replace(
        advised,
        report=structs.replace(
            advised.report,
            workload=None if workload is None else f"{workload.kind}/{workload.name}",
            admission=candidate.admission,
            notes=candidate.notes,
        ),
    )
