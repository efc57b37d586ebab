"""cluster-autoscaler, loop by loop: which group one node of helps, how many it adds, and who is placed then.

Source of the rules: cluster-autoscaler 1.36.1 (core/scaleup/orchestrator). Among several groups that help it takes one
by its expander; here that is least-waste, and of several that waste the same the name that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Pod
from kubespread.questions.autoscaling import scaling_up
from kubespread.questions.autoscaling.estimating import Option, estimate
from kubespread.questions.autoscaling.growing import helps
from kubespread.questions.autoscaling.pending import PodGroup
from kubespread.questions.autoscaling.scaling_up import Decision
from kubespread.questions.autoscaling.templates import ZoneGroup
from kubespread.reports.autoscaling import ScalingLoop
from kubespread.world.events.world import World

NOT_MODELLED = (
    "cluster-autoscaler: expanders other than least-waste, balancing of similar node groups, priorities below its "
    "cutoff, back-off, quotas of the cloud, time, scale-down",
)


def loops(world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> Iterator[ScalingLoop]:
    """Let the world grow until nothing waits, no group helps, or nodes that came helped nobody."""

    def decide(pending: Sequence[PodGroup]) -> Decision | None:
        option = _chosen(world, groups, daemons, pending)
        return None if option is None else Decision([(option.group, option.nodes)], option.pods, option.why)

    return scaling_up.loops(world, decide)


def _chosen(
    world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod], pending: Sequence[PodGroup]
) -> Option | None:
    options = []
    for group in groups:
        if group.template is None or group.room == 0:
            continue
        helped = helps(world.cluster, daemons, group.trial(), pending)
        option = estimate(world.cluster, daemons, group, helped) if helped else None
        if option is not None:
            options.append(option)
    return min(options, key=lambda option: (option.waste, option.group.name), default=None)
