"""What has to change for a pod that fits nowhere: the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.planner.advise.advice import advice
from kubespread.planner.advise.candidates import FAMILIES
from kubespread.planner.advise.change import Asker, Change
from kubespread.planner.advise.one_pod import OnePod
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.bars import bars
from kubespread.planner.explain import constraint_reports
from kubespread.planner.honesty import not_modelled
from kubespread.planner.reports.advise import AdviseReport
from kubespread.planner.reports.parts import PodReference
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.profile.profile import Profile

NOT_TRIED = (
    "requests other than cpu and memory, host ports, volumes and labels that say what a machine is, such as its zone, "
    "are left as they are",
    "combinations are tried up to a few hundred, those of small changes first",
)


@dataclass(frozen=True, slots=True)
class Advised:
    """The answer, and the changes it suggests by what it says of them."""

    report: AdviseReport
    changes: Mapping[str, Change]


def advise_pod(cluster: Cluster, pod: Pod, plugins: Framework, profile: Profile, asker: OnePod) -> Advised:
    """About one pod, admitted already. ``asker`` asks about the same pod and cluster."""
    report = blank(cluster, pod, plugins, profile)
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        # Nothing is judged then, so nothing tells what could be changed.
        return Advised(msgspec.structs.replace(report, message=str(error)), {})
    fitting = int(evaluation.feasible.sum())
    if fitting and evaluation.error is None:
        return Advised(msgspec.structs.replace(report, fitting=fitting), {})
    report = msgspec.structs.replace(report, message=evaluation.message)
    if evaluation.error is None and (placed := asker.by_preemption(pod)) is not None:
        return Advised(msgspec.structs.replace(report, victims=placed.victims), {})
    return advised(report, Stuck(evaluation, profile.version), asker)


def blank(cluster: Cluster, pod: Pod, plugins: Framework, profile: Profile) -> AdviseReport:
    """A report that does not say yet what has to change."""
    return AdviseReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        nodes=len(cluster),
        not_modelled=tuple(not_modelled(pod, plugins, cluster, profile)),
    )


def advised(report: AdviseReport, stuck: Stuck, asker: Asker) -> Advised:
    """The report with all that was tried."""
    found, changes = advice(stuck, FAMILIES, asker)
    evaluation = stuck.evaluation
    report = msgspec.structs.replace(
        report,
        conclusion=bars(evaluation),
        constraints=tuple(constraint_reports(evaluation.states, evaluation.feasible)),
        advice=found,
        not_modelled=(*report.not_modelled, *NOT_TRIED),
    )
    return Advised(report, changes)
