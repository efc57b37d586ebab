"""Workloads at the maximum of their autoscalers: the pods that then lack a node, and what adds nodes for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler, ScaledObject
from kubespread.kube.owners import Named, WorkloadName
from kubespread.questions.autoscaling.asked import grown
from kubespread.questions.commands import Commands
from kubespread.questions.report.report import ReportLine
from kubespread.reports.autoscaling import AutoscalingReport, scaled_sentences
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.snapshot.edits.pods import Scale
from kubespread.wording import count_of, some_of
from kubespread.world.events.editing import apply, exists
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas, unmade_pods

_MAX_NAMED = 3
_MOST_ON_NEW_NODES = 1_000
"""So many pods more than the nodes may take an autoscaler is asked about."""


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
    growth: str
    """What the autoscaler of nodes adds then, which counts in the rest; empty without one, and where no pod waits."""
    asked_about: int
    """The pods that the autoscaler is asked about where these are not all that wait, else 0."""
    untold: int
    """How many others may find a node on those that it adds."""
    withheld: Mapping[WorkloadName, int]
    """How many pods of each workload were counted without making them."""


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
                each.spec.scale_target_ref.kind or "Deployment",
                each.metadata.namespace,
                each.spec.scale_target_ref.name,
            )
            for each in objects.of(ScaledObject)
        ),
    ]
    for name in sorted(dict.fromkeys(targets)):
        if is_asked(name) and exists(world, name):
            most = max(autoscalers_of(name, objects), key=lambda autoscaler: autoscaler.most)
            # At 0 it does nothing.
            if 0 < desired_replicas(world, name) < most.most:
                yield name, most.text, most.most


def at_maximum(
    baseline: Baseline, scaled: Sequence[tuple[WorkloadName, str, int]], autoscale: partial[AutoscalingReport] | None
) -> AtMaximum:
    """Scaled up one after another, at least one; then ``autoscale`` adds nodes."""
    trial = baseline.trial()
    trial.world.surroundings = replace(
        trial.world.surroundings, most_waiting=_most_waiting(trial.world, scaled, has_growth=autoscale is not None)
    )
    for name, _, most in scaled:
        difference = trial.after(partial(apply, edit=Scale(name.kind, name.name, most, name.namespace), namespace=""))
    withheld = {name: sum(map(trial.world.withheld, trial.world.owners_below(name))) for name, _, _ in scaled}
    asked_about = len(difference.waiting) if any(withheld.values()) else 0
    new = grown(autoscale, trial.world) if difference.waiting else None
    if new is not None:
        difference = difference.and_then(new.world)
    world, waiting = difference.world, difference.waiting
    unmade = list(unmade_pods(world, difference.unmade))
    lacking = Counter(difference.pending)
    lacking.update(difference.not_made)
    # Those that are withheld wait where one like them does.
    lacking.update({name: count for name, count in withheld.items() if count and name in difference.pending})
    untold = sum(count for name, count in withheld.items() if name not in difference.pending)
    message = world.message(waiting[0]) if waiting else unmade[0].message if unmade else ""
    return AtMaximum(
        tuple(scaled),
        dict(lacking),
        sum(row.count for row in unmade),
        bool(difference.preempted),
        message,
        "" if new is None else "; ".join(scaled_sentences([new.report])),
        asked_about,
        untold,
        withheld,
    )


def _most_waiting(world: World, scaled: Sequence[tuple[WorkloadName, str, int]], *, has_growth: bool) -> int | None:
    """One pod more than all nodes together may take, with some that an autoscaler adds: the next ones wait like it.
    None where a profile does not look at what fits.
    """
    pods = (pod for name, _, _ in scaled for owner in world.owners_below(name) for pod in world.book.of(owner))
    profiles = [scheduled[0] for pod in pods if (scheduled := world.surroundings.scheduler_of(pod)) is not None]
    if any(NodeResourcesFit.name not in profile.filters for profile in profiles):
        return None
    return int(world.cluster.nodes.allowed_pods.sum()) + 1 + (_MOST_ON_NEW_NODES if has_growth else 0)


def of_growth(together: AtMaximum, alone: Iterable[AtMaximum], commands: Commands) -> Iterator[ReportLine]:
    """A line for each autoscaler that cannot reach its maximum alone, and one for all of them together."""
    for one in alone:
        if not (one.lacking or one.untold):
            continue
        ((workload, text, most),) = one.scaled
        yield ReportLine(
            key=f"scaling/{workload}",
            area="scaling",
            question="report",
            level="warning" if one.lacking else "notice",
            what=f"{workload.called}: {text} may ask for {count_of(most, 'replica')}, "
            f"which leaves {_missing(one)}{f': {one.message}' if one.message else ''}{_with(one)}",
            extent=sum(one.lacking.values()) or one.untold,
            workloads=tuple(one.lacking) or (workload,),
            command=commands.of("pending", *_scaling(one)),
        )
    if together.lacking and len(together.scaled) > 1:
        yield ReportLine(
            key="scaling/all",
            area="scaling",
            question="report",
            level="warning",
            what=f"{len(together.scaled):,} autoscaled workloads, all at their maximum, leave "
            f"{_missing(together)}: {some_of([name.called for name in together.lacking], _MAX_NAMED)}{_with(together)}",
            extent=sum(together.lacking.values()),
            workloads=tuple(together.lacking),
            command=commands.of("pending", *_scaling(together)),
        )


def _missing(grown: AtMaximum) -> str:
    waiting = sum(grown.lacking.values()) - grown.unmade
    parts = [(waiting, "without a node"), (grown.unmade, "not created"), (grown.untold, "not looked at")]
    return " and ".join(f"{count_of(pods, 'pod')} {how}" for pods, how in parts if pods)


def _with(grown: AtMaximum) -> str:
    which = f"asked about {count_of(grown.asked_about, 'pod')}, " if grown.asked_about else ""
    return f"; {which}{grown.growth}" if grown.growth else ""


def _scaling(grown: AtMaximum) -> Iterator[str]:
    """To as many replicas as were made: what more say is the same."""
    for name, _, most in grown.scaled:
        replicas = most - grown.withheld[name]
        yield f"--scale {quote(f'{Named(name.kind, name.name, name.namespace)}={replicas}')}"
