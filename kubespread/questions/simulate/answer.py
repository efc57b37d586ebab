"""Replicas of workloads on a cluster: how each grows, shrinks or is rolled out, and the reports of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

import msgspec

from kubespread.candidate.input.sources import PodGiven, read_once
from kubespread.errors import UsageError
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.questions.queue.manner import MAX_RUNS, check_deals
from kubespread.questions.scene import Scene
from kubespread.questions.simulate.autoscaling import with_autoscaling
from kubespread.questions.simulate.demand import pod_group_gaps
from kubespread.questions.simulate.placing import Queue
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import Limits, SimulateReport
from kubespread.reports.parts import Unfinished
from kubespread.snapshot.topology_keys import full_topology_key

G = TypeVar("G", bound=PodGiven)


def answer(question: Simulate, scene: Scene) -> tuple[SimulateReport, ...]:
    """All workloads in question, placed in one queue; raises the first refusal unless ``on_refused`` is given."""
    if not 1 <= question.runs <= MAX_RUNS:
        raise UsageError(f"runs must be from 1 to {MAX_RUNS}, not {question.runs}")
    check_deals(question.deals)
    required = question.requirements.with_keys(lambda key: full_topology_key(key, scene.snapshot.nodes))
    autoscaler = _autoscaler(question)
    reports = _placed(question, scene, autoscaler)
    return tuple(map(required.judged, reports)) if required.is_any else reports


def _placed(question: Simulate, scene: Scene, autoscaler: Autoscaler | None) -> tuple[SimulateReport, ...]:
    scheduler = scene.scheduler
    read = partial(read_once, template_path=question.template_path)
    # Other processes pose the question too, and standard input can be read only once.
    question = _with_pods(question, (read(pod) if pod == STDIN else pod for pod in question.pods))
    queue = Queue.posing(question, scene, scene.on_progress, scene.on_refused)
    posed = queue.posed
    resolved = posed.resolved
    # Progress is that of the first run's replicas.
    of_runs = msgspec.structs.replace(scene, on_progress=None)
    reports = queue.reports(lambda ways: of_runs.tasks(queue, ways, _with_pods(question, map(read, question.pods))))
    if question.as_many_as_fit and len(reports) == 1:
        reports = (_limited(reports[0], posed.demands[0].growth.created.copies, question, scene),)
    if autoscaler is not None:
        reports = with_autoscaling(question, posed, reports, scheduler, autoscaler)
    return tuple(
        msgspec.structs.replace(
            report,
            cluster=scene.source,
            gaps=tuple(dict.fromkeys((*resolved.gaps_of(candidate), *pod_group_gaps(resolved), *report.gaps))),
            not_modelled=(*report.not_modelled, *_random_ties(report, resolved.version)),
            unfinished=_unfinished(report, scene, question.runs),
        )
        for report, candidate in zip(reports, resolved.candidates, strict=True)
    )


def _limited(report: SimulateReport, quota: int | None, question: Simulate, scene: Scene) -> SimulateReport:
    """The report of as many as fit, with what binds first, and how many the other limit would allow."""
    nodes = report.placed
    if quota is not None and nodes >= quota:
        alone = msgspec.structs.replace(question, runs=1)
        unlimited = Queue.posing(alone, scene, on_refused=lambda _: None, counts_quotas=False)
        (free,) = unlimited.reports(lambda ways: map(unlimited, ways))
        nodes = free.placed
    return msgspec.structs.replace(report, limits=Limits(nodes=nodes, quota=quota))


def _with_pods(question: Simulate, pods: Iterable[PodGiven]) -> Simulate:
    return msgspec.structs.replace(question, pods=tuple(pods))


def _unfinished(report: SimulateReport, scene: Scene, runs: int) -> Unfinished | None:
    missing = () if report.runs is None else range(report.runs.count + 1, runs + 1)
    return scene.unfinished("run", runs, [f"run {number}" for number in missing])


def _autoscaler(question: Simulate) -> Autoscaler | None:
    """The autoscaler that adds nodes, None for none. Raises UsageError."""
    name = question.autoscaler
    if name is None:
        if question.node_groups is not None or question.instance_types is not None:
            raise UsageError("node groups and instance types are for an autoscaler: say which, ca or karpenter")
        return None
    try:
        return Autoscaler(name)
    except ValueError:
        raise UsageError(f"unknown autoscaler {name!r}: expected {' or '.join(Autoscaler)}") from None


def _random_ties(report: SimulateReport, version: KubeVersion) -> Iterator[str]:
    """Up to 1.34 any of the equal nodes may be taken, so a pod's node cannot be foretold."""
    has_ties = any(placement.ties > 1 for placement in report.placements)
    if has_ties and report.seed is None and not version.since(35):
        yield f"kube-scheduler {version} takes any of the nodes with equal scores, at random (--seed does, too)"
