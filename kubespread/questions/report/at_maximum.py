"""Workloads at the maximum of their autoscalers: the pods that then lack a node, and what adds nodes for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from shlex import quote

from msgspec import Struct

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler, ScaledObject
from kubespread.kube.owners import Named, WorkloadName
from kubespread.questions.autoscaling.asked import Growth, grown
from kubespread.questions.commands import Commands
from kubespread.questions.report.report import ReportLine
from kubespread.reports.autoscaling import scaled_sentences
from kubespread.snapshot.edits.pods import Scale
from kubespread.wording import count_of, some_of
from kubespread.world.events.editing import apply, exists
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas, unmade_pods

_MAX_NAMED = 3


class AtMaximum(Struct, frozen=True):
    """Workloads at the maximum of their autoscalers, and what finds no node then that had one before."""

    scaled: tuple[tuple[WorkloadName, str, int], ...]
    """Each with its autoscaler, ``HorizontalPodAutoscaler web``, and its maximum."""
    lacking: dict[WorkloadName, int]
    """Pods more without a node, or not made, by workload; others may have lost theirs."""
    unmade: int
    """How many of them the API server does not let be made."""
    preempts: bool
    """Whether pods made room for others, so that those lack pods that others took the room of."""
    message: str
    """kube-scheduler's for the first pod that waits, or the API server's for the first that it refuses."""
    growth: str = ""
    """What the autoscaler that is asked for adds then, which counts in the rest; else what Karpenter would add by the
    cluster's NodePools, which does not. Empty where nothing is added.
    """


def growing(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[tuple[WorkloadName, str, int]]:
    """Workloads with an autoscaler that may ask for more replicas than they are to have, by name."""
    objects = world.workloads.objects
    targets = [
        *(
            WorkloadName(each.spec.scale_target_ref.kind, each.metadata.namespace, each.spec.scale_target_ref.name)
            for each in objects.of(HorizontalPodAutoscaler)
        ),
        *(
            WorkloadName(
                each.spec.scale_target_ref.kind or "Deployment", each.metadata.namespace,
                each.spec.scale_target_ref.name,
            )
            for each in objects.of(ScaledObject)
        ),
    ]  # fmt: skip
    for name in sorted(dict.fromkeys(targets)):
        if is_asked(name) and exists(world, name):
            most = max(autoscalers_of(name, objects), key=lambda autoscaler: autoscaler.most)
            # At 0 it does nothing.
            if 0 < desired_replicas(world, name) < most.most:
                yield name, most.text, most.most


def at_maximum(baseline: Baseline, scaled: Sequence[tuple[WorkloadName, str, int]], growth: Growth | None) -> AtMaximum:
    """Scaled up one after another, at least one; then ``growth`` adds nodes, which count where they are asked for."""
    trial = baseline.trial()
    for name, _, most in scaled:
        difference = trial.after(partial(apply, edit=Scale(name.kind, name.name, most, name.namespace), namespace=""))
    new = grown(growth, trial.world) if difference.waiting else None
    if new is not None and not new.report.assumed_from:
        difference = difference.and_then(new.world)
    world, waiting = difference.world, difference.waiting
    unmade = list(unmade_pods(world, difference.unmade))
    lacking = Counter(difference.pending)
    lacking.update(difference.not_made)
    message = world.message(waiting[0]) if waiting else unmade[0].message if unmade else ""
    return AtMaximum(
        tuple(scaled), dict(lacking), sum(row.count for row in unmade), bool(difference.preempted), message,
        "" if new is None else "; ".join(scaled_sentences([new.report])),
    )  # fmt: skip


def of_growth(together: AtMaximum, alone: Iterable[AtMaximum], commands: Commands) -> Iterator[ReportLine]:
    """A line for each autoscaler that cannot reach its maximum alone, and one for all of them together."""
    for one in alone:
        if not one.lacking:
            continue
        ((workload, text, most),) = one.scaled
        yield ReportLine(
            key=f"scaling/{workload}",
            area="scaling",
            question="report",
            level="warning",
            what=f"{workload.called}: {text} may ask for {count_of(most, 'replica')}, "
            f"which leaves {_missing(one)}: {one.message}{_with(one)}",
            extent=sum(one.lacking.values()),
            workloads=tuple(one.lacking),
            command=commands.of("pending", *commands.autoscaling, _scaling(workload, most)),
        )
    if together.lacking and len(together.scaled) > 1:
        scaling = (_scaling(name, most) for name, _, most in together.scaled)
        yield ReportLine(
            key="scaling/all",
            area="scaling",
            question="report",
            level="warning",
            what=f"{len(together.scaled):,} autoscaled workloads, all at their maximum, leave "
            f"{_missing(together)}: {some_of([name.called for name in together.lacking], _MAX_NAMED)}{_with(together)}",
            extent=sum(together.lacking.values()),
            workloads=tuple(together.lacking),
            command=commands.of("pending", *commands.autoscaling, *scaling),
        )


def _missing(grown: AtMaximum) -> str:
    waiting = sum(grown.lacking.values()) - grown.unmade
    parts = [(waiting, "without a node"), (grown.unmade, "not created")]
    return " and ".join(f"{count_of(pods, 'pod')} {how}" for pods, how in parts if pods)


def _with(grown: AtMaximum) -> str:
    return f"; {grown.growth}" if grown.growth else ""


def _scaling(workload: WorkloadName, most: int) -> str:
    return f"--scale {quote(f'{Named(workload.kind, workload.name, workload.namespace)}={most}')}"
