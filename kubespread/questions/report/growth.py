"""Workloads that an autoscaler may ask more of than the cluster takes: all at their maximum, and one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler, ScaledObject
from kubespread.kube.owners import WorkloadName
from kubespread.snapshot.edits.pods import Scale
from kubespread.world.events.editing import apply, exists
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas, unmade_pods


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


def at_maximum(baseline: Baseline, scaled: Sequence[tuple[WorkloadName, str, int]]) -> AtMaximum:
    """Scaled up one after another, at least one."""
    trial = baseline.trial()
    for name, _, most in scaled:
        difference = trial.after(partial(apply, edit=Scale(name.kind, name.name, most, name.namespace), namespace=""))
    waiting, unmade = difference.waiting, list(unmade_pods(trial.world, difference.unmade))
    lacking = Counter(difference.pending)
    lacking.update(difference.not_made)
    message = trial.world.message(waiting[0]) if waiting else unmade[0].message if unmade else ""
    return AtMaximum(
        tuple(scaled), dict(lacking), sum(row.count for row in unmade), bool(difference.preempted), message
    )  # fmt: skip
