"""Replicas of workloads on a cluster: how each grows, shrinks or is rolled out, and the reports of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar, overload

import msgspec

from kubespread.candidate.input.sources import PodGiven, read_once
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.questions.question import asks
from kubespread.questions.queue.manner import MAX_RUNS, Ties, check_deals
from kubespread.questions.scene import Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.autoscaling import GroupsGiven, with_autoscaling
from kubespread.questions.simulate.demand import pod_group_gaps
from kubespread.questions.simulate.placing import Queue
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import Limits, SimulateReport
from kubespread.questions.tasks import Workers
from kubespread.reports.parts import Unfinished
from kubespread.scenario.instance_types import InstanceTypesGiven
from kubespread.scenario.prices import PricesGiven
from kubespread.snapshot.snapshot import Snapshot
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


@overload
def simulate(
    snapshot: Snapshot, pods: PodGiven, replicas: int | None = ..., scheduler: Scheduler = ...,
    *, until_full: bool = ..., from_scratch: bool = ..., ties: Ties = ..., seed: int | None = ...,
    sample: bool = ..., runs: int = ..., deals: int | None = ..., keys: Sequence[str] = ...,
    preemption: bool | None = ..., autoscaler: str | None = ..., node_groups: GroupsGiven = ...,
    instance_types: InstanceTypesGiven | None = ..., prices: PricesGiven | None = ...,
    gang: int | None = ..., same: str | None = ...,
    name: str | None = ..., namespace: str | None = ..., selector: str = ..., recursive: bool = ...,
    template_path: str = ..., set: Sequence[str] = ..., jobs: int | None = ..., timeout: float | None = ...,
    on_progress: Callable[[int], None] | None = ..., on_refused: Callable[[KubespreadError], None] | None = ...,
) -> SimulateReport: ...  # fmt: skip
@overload
def simulate(
    snapshot: Snapshot, pods: list[G] | tuple[G, ...], replicas: int | None = ..., scheduler: Scheduler = ...,
    *, until_full: bool = ..., from_scratch: bool = ..., ties: Ties = ..., seed: int | None = ...,
    sample: bool = ..., runs: int = ..., deals: int | None = ..., keys: Sequence[str] = ...,
    preemption: bool | None = ..., autoscaler: str | None = ..., node_groups: GroupsGiven = ...,
    instance_types: InstanceTypesGiven | None = ..., prices: PricesGiven | None = ...,
    gang: int | None = ..., same: str | None = ...,
    name: str | None = ..., namespace: str | None = ..., selector: str = ..., recursive: bool = ...,
    template_path: str = ..., set: Sequence[str] = ..., jobs: int | None = ..., timeout: float | None = ...,
    on_progress: Callable[[int], None] | None = ..., on_refused: Callable[[KubespreadError], None] | None = ...,
) -> tuple[SimulateReport, ...]: ...  # fmt: skip


@asks(Simulate)
def simulate(
    snapshot: Snapshot,
    pods: PodGiven | list[G] | tuple[G, ...],
    replicas: int | None = None,
    scheduler: Scheduler | None = None,
    *,
    until_full: bool = False,
    from_scratch: bool = False,
    ties: Ties = "scheduler",
    seed: int | None = None,
    sample: bool = False,
    runs: int = 1,
    deals: int | None = None,
    keys: Sequence[str] = (),
    preemption: bool | None = None,
    autoscaler: str | None = None,
    node_groups: GroupsGiven = None,
    instance_types: InstanceTypesGiven | None = None,
    prices: PricesGiven | None = None,
    gang: int | None = None,
    same: str | None = None,
    name: str | None = None,
    namespace: str | None = None,
    selector: str = "",
    recursive: bool = False,
    template_path: str = "",
    set: Sequence[str] = (),
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_refused: Callable[[KubespreadError], None] | None = None,
) -> SimulateReport | tuple[SimulateReport, ...]:
    """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop it.

    A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them; anything
    else has to be one workload and gives its report. All stand in one queue, by priority, then in the order given, and
    each pod finds those before it in the cluster. ``replicas`` is each workload's own number unless given. A workload
    that runs in the cluster already is grown to that number from the replicas it has; a template that differs from the
    running one takes those away first.

    With ``preemption=None`` replicas preempt where a number of them is asked for; True also says why that does not
    help, where it helps none of them. ``node_groups`` is the path of a NodeGroups file, or the groups,
    ``instance_types`` that of an InstanceTypes file, or the types.

    Raises ManifestError, SnapshotError and UsageError.
    """
    question = Simulate(
        pods=tuple(pods) if isinstance(pods, list | tuple) else (pods,), replicas=replicas, until_full=until_full,
        from_scratch=from_scratch, ties=ties, seed=seed, sample=sample, runs=runs, deals=deals, keys=tuple(keys),
        preemption=preemption is not False, tells_preemption=bool(preemption),
        autoscaler=autoscaler,  # type: ignore[arg-type]  # what is none is found when it is asked
        node_groups=node_groups, instance_types=instance_types, prices=prices, gang=gang, same=same,
        named=name, namespace=namespace, selector=selector,
        recursive=recursive, template_path=template_path, settings=tuple(set),
    )  # fmt: skip
    reports = ask(snapshot, question, scheduler, on_progress, on_refused, Workers(jobs), timeout)
    return reports if isinstance(pods, list | tuple) else question.alone(reports)
