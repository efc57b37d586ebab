"""Every workload looked at: what its constraints count, what a lost zone leaves of it, whether it could grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner.audit.afresh import Afresh, Otherwise, Placed
from kubespread.planner.audit.causes import Staying, first_that_ends, of_exceeded
from kubespread.planner.audit.counting import Spread, spreads
from kubespread.planner.audit.effects import Effect, Exceeded, pods_in_domains
from kubespread.planner.audit.groups import groups
from kubespread.planner.audit.next_pod import UNKNOWN, NextPod, of_placing, with_own_claims
from kubespread.planner.audit.one_domain import in_one_domain
from kubespread.planner.audit.outlook import Outlook
from kubespread.planner.audit.revisions import RevisionsOf
from kubespread.planner.audit.standing import Standing, missing
from kubespread.planner.audit.unscheduled import gated, scheduled_by_others
from kubespread.planner.living import Applicant
from kubespread.planner.reports.audited import LEVELS, AuditedWorkload, AuditFinding, WorstLoss
from kubespread.planner.reports.parts import PreemptedPod
from kubespread.planner.world.reporting import workload_text
from kubespread.planner.world.world import World
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.wording import some_of

NOT_MODELLED = ("time: pods are judged where they are, not by how they came there",)
_MAX_NAMED = 3


def audits(
    world: World, is_asked: Callable[[WorkloadName], bool], on_progress: Callable[[int], None] | None = None
) -> tuple[list[AuditedWorkload], tuple[PreemptedPod, ...], tuple[str, ...]]:
    """All that are asked about, in no order, who has to go for pods that wait, and what the cluster's source lacks to
    judge them; ``world`` stays as it is. ``on_progress`` is told after each how many were looked at.
    """
    revisions_of = RevisionsOf(world)
    outlook = Outlook(world, revisions_of)
    rows: list[AuditedWorkload] = []
    for group in groups(world, is_asked):
        audited = _Audited(world, Standing.of(world, group, revisions_of(group), outlook), outlook)
        rows.append(audited.row())
        if on_progress is not None:
            on_progress(len(rows))
    return rows, outlook.made_room, tuple(world.assumed)


class _Audited:
    """One workload."""

    def __init__(self, world: World, standing: Standing, outlook: Outlook) -> None:
        self._world, self._standing, self._outlook = world, standing, outlook
        self._group, self._nodes = standing.group, world.living.nodes
        self._positions = [position for _, position in standing.placed]

    def row(self) -> AuditedWorkload:
        standing, group = self._standing, self._group
        scheduler_of, template = self._world.surroundings.scheduler_of, standing.template
        scheduled = scheduler_of(template) if template is not None else None
        found, following, findings = list[Spread](), UNKNOWN, list(missing(standing, self._outlook))
        if template is not None and scheduled is not None:
            plugins = scheduled[1]
            found, following = self._asked(template, plugins)
            afresh = Afresh(self._world.cluster, plugins, template, standing.placed, standing.going)
            findings += self._exceeded(found, afresh)
            findings += self._uncounted(found)
            findings += in_one_domain(found, afresh, lambda effect: self._staying(effect, template, following))
        if following.fits is False and not standing.awaited:
            findings.append(AuditFinding(level="risk", cause="noRoom", topology_key=None, detail=following.message))
        if template is not None:
            findings += scheduled_by_others(group.pods, template, scheduler_of)
            if barred := list(gated(group.pods, template)):
                findings += barred
                following = NextPod(False)
        findings.sort(key=lambda each: -LEVELS.index(each.level))
        losses = dict(self._worst_losses(found))
        return AuditedWorkload(
            workload=workload_text(group.name),
            level=findings[0].level if findings else "ok",
            replicas=standing.replicas,
            placed=len(standing.placed),
            ready=standing.ready,
            pending=len(group.waiting),
            placeable=standing.placeable,
            terminating=len(group.terminating),
            rollout=standing.rollout,
            constraints=tuple(each.report() for each in found),
            zones=pods_in_domains(self._world.cluster, ZONE, self._positions),
            worst_loss=losses,
            left=losses[ZONE].remaining if ZONE in losses else None,
            next_fits=following.fits,
            findings=tuple(findings),
        )

    def _worst_losses(self, found: Sequence[Spread]) -> Iterator[tuple[str, WorstLoss]]:
        for key in dict.fromkeys((ZONE, HOSTNAME, *(each.counted.constraint.topology_key for each in found))):
            column = self._nodes.label(key)
            codes = column.codes[self._positions]
            there = codes[codes >= 0]
            if len(there):
                most = int(np.bincount(there).argmax())
                remaining = len(codes) - int(np.count_nonzero(there == most))
                yield key, WorstLoss(column.values[most], remaining)

    def _asked(self, template: Pod, plugins: Framework) -> tuple[list[Spread], NextPod]:
        """What its constraints count, and whether its next pod fits."""
        try:
            placing = Applicant(self._world.living, template, plugins).placing()
        except SchedulingError as error:
            return [], NextPod(False, str(error))
        found = spreads(placing.states)
        if template.spec.has_scheduled_volumes and self._group.name.kind == "StatefulSet":
            return found, with_own_claims(self._world, self._group, plugins)
        return found, of_placing(placing)

    def _staying(self, effect: Effect, template: Pod, following: NextPod) -> Staying:
        """What comes of pods that stay: once nothing changes any more, and of one that is alone, with another one."""
        world = self._outlook.settled if self._standing.is_changing else None
        if world is not None:
            pods = self._outlook.pods(self._group)
            nodes = [at for pod in pods if (at := world.living.nodes.index.get(pod.spec.node_name)) is not None]
            yield "underWay", effect.judged(Placed(world.cluster, template, nodes, len(pods)), _BY_ITSELF, afresh=False)
        if len(self._positions) == 1 and following.fits is not None:
            node = following.choose()
            nodes = self._positions if node is None else [*self._positions, node]
            placed = Placed(self._world.cluster, template, nodes, 2)
            yield "onePod", effect.judged(placed, Otherwise("with a second pod"), afresh=False)

    def _exceeded(self, found: Sequence[Spread], afresh: Afresh) -> Iterator[AuditFinding]:
        for at, spread in enumerate(found):
            if spread.state in ("violated", "uneven"):
                effect = Exceeded(afresh, spread, at)
                staying = self._staying(effect, afresh.template, UNKNOWN)
                told = first_that_ends(effect, afresh, staying, of_exceeded(effect))
                yield AuditFinding(
                    level="violated" if spread.counted.constraint.is_hard else "uneven",
                    cause=told.cause,
                    topology_key=spread.counted.constraint.topology_key,
                    constraint=at,
                    detail=told.detail,
                    trials=told.trials,
                )

    def _uncounted(self, found: Sequence[Spread]) -> Iterator[AuditFinding]:
        """Nodes without the key of a constraint that holds: pods there count nowhere, and hard ones let none come."""
        for spread in found:
            column, constraint = spread.counted.column, spread.counted.constraint
            if column.is_everywhere or constraint.source == "system" or not spread.is_even:
                continue
            on = {position for position in self._positions if column.absent[position]}
            lacking = np.flatnonzero(column.absent).tolist()
            if on or constraint.is_hard:
                yield AuditFinding(
                    level="risk",
                    cause="missingLabel",
                    topology_key=constraint.topology_key,
                    detail=some_of(sorted(self._nodes.names[position] for position in on or lacking), _MAX_NAMED),
                )


_BY_ITSELF = Otherwise("once what waits is placed and rollouts are done")
