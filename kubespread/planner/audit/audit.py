"""Every workload looked at: what its constraints count, what a lost zone leaves of it, whether it could grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kubespread.controllers.statefulset import ordinal_of
from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner.audit.afresh import Afresh
from kubespread.planner.audit.causes import finding
from kubespread.planner.audit.counting import Spread, spreads
from kubespread.planner.audit.groups import Group, groups
from kubespread.planner.audit.one_domain import in_one_domain
from kubespread.planner.audit.unscheduled import gated, scheduled_by_others
from kubespread.planner.living import Applicant
from kubespread.planner.reports.audit import LEVELS, AuditedWorkload, AuditFinding, DomainPods, WorstLoss
from kubespread.planner.world.editing import apply
from kubespread.planner.world.reporting import workload_text
from kubespread.planner.world.world import World
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.snapshot.edits.types import Scale

NOT_MODELLED = ("time: pods are judged where they are, not by how they came there",)


@dataclass(frozen=True, slots=True)
class _Next:
    """Whether a workload's next pod finds a node, and why not; None where nobody can say."""

    fits: bool | None
    message: str = ""
    """kube-scheduler's, or why nobody can say."""


def audits(
    world: World, is_asked: Callable[[WorkloadName], bool], on_progress: Callable[[int], None] | None = None
) -> tuple[list[AuditedWorkload], tuple[str, ...]]:
    """All that are asked about, in no order, and what the cluster's source lacks to judge them; ``world`` stays as it
    is. ``on_progress`` is told after each how many were looked at.
    """
    known = dict(world.assumed)
    auditor = _Auditor(world)
    rows: list[AuditedWorkload] = []
    for group in groups(world, is_asked):
        rows.append(auditor.audited(group))
        if on_progress is not None:
            on_progress(len(rows))
    # Whether pods are ready was taken for granted before, and nobody asks here.
    return rows, (*auditor.gaps, *(each for each in world.assumed if each not in known))


class _Auditor:
    def __init__(self, world: World) -> None:
        self._world = world
        self._zone = world.living.nodes.label(ZONE)
        self.gaps: dict[str, None] = {}

    def audited(self, group: Group) -> AuditedWorkload:
        world = self._world
        placed = [
            (pod, position)
            for pod in group.pods
            if (position := world.living.nodes.index.get(pod.spec.node_name)) is not None
        ]
        template = group.template(world)
        scheduled = world.surroundings.scheduler_of(template)
        found: list[Spread] = []
        following, findings = _Next(None), list[AuditFinding]()
        zones = self._zones(placed)
        if scheduled is not None:
            plugins = scheduled[1]
            found, following = self._asked(group, template, plugins)
            afresh = Afresh(world.cluster, plugins, template, placed, 0)
            findings += self._exceeded(found, afresh)
            findings += self._uncounted(found, placed)
            findings += in_one_domain(found, afresh)
            self.gaps.update(dict.fromkeys(_default_gaps(world, template, plugins)))
        if following.fits is False:
            findings.append(AuditFinding(level="risk", cause="noRoom", topology_key=None, detail=following.message))
        findings += scheduled_by_others(group.pods, template, world.surroundings.scheduler_of)
        if barred := list(gated(group.pods, template)):
            findings += barred
            following = _Next(False)
        findings.sort(key=lambda each: -LEVELS.index(each.level))
        return AuditedWorkload(
            workload=workload_text(group.name),
            level=findings[0].level if findings else "ok",
            replicas=group.replicas(world),
            placed=len(placed),
            pending=sum(not pod.spec.node_name for pod in group.pods),
            constraints=tuple(each.report() for each in found),
            zones=zones,
            worst_loss=dict(self._worst_losses(found, [position for _, position in placed])),
            next_fits=following.fits,
            findings=tuple(findings),
        )

    def _zones(self, placed: Sequence[tuple[Pod, int]]) -> tuple[DomainPods, ...]:
        column = self._zone
        codes = column.codes[[position for _, position in placed]]
        counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
        return tuple(DomainPods(column.values[code], int(counts[code])) for code in column.sorted_codes.tolist())

    def _worst_losses(self, found: Sequence[Spread], positions: Sequence[int]) -> Iterator[tuple[str, WorstLoss]]:
        for key in dict.fromkeys((ZONE, HOSTNAME, *(each.counted.constraint.topology_key for each in found))):
            column = self._world.living.nodes.label(key)
            codes = column.codes[positions]
            there = codes[codes >= 0]
            if len(there):
                most = int(np.bincount(there).argmax())
                yield key, WorstLoss(column.values[most], len(positions) - int(np.count_nonzero(there == most)))

    def _asked(self, group: Group, template: Pod, plugins: Framework) -> tuple[list[Spread], _Next]:
        """What its constraints count, and whether its next pod fits."""
        try:
            placing = Applicant(self._world.living, template, plugins).placing()
        except SchedulingError as error:
            return [], _Next(False, str(error))
        found = spreads(placing.states)
        if template.spec.has_scheduled_volumes and group.name.kind == "StatefulSet":
            return found, self._with_own_claims(group, plugins)
        return found, _tried(placing)

    def _with_own_claims(self, group: Group, plugins: Framework) -> _Next:
        """Of a StatefulSet whose pods have claims of their own: the first that waits, as nobody comes before it."""
        waiting = [pod for pod in group.pods if not pod.spec.node_name]
        if not waiting:
            return self._grown(group)
        first = min(waiting, key=lambda pod: ordinal_of(pod, group.name.name) or 0)
        try:
            return _tried(Applicant(self._world.living, first, plugins).placing())
        except SchedulingError as error:
            return _Next(False, str(error))

    def _grown(self, group: Group) -> _Next:
        """It is scaled up by one, while no pods of others wait that could take the room."""
        world, name = self._world.fork(), group.name
        world.queue.waiting.clear()
        try:
            apply(world, Scale(POD_CREATORS[name.kind], name.name, group.replicas(world) + 1, name.namespace), "")
        except KubespreadError as error:
            return _Next(None, str(error))
        waiting = [each for each in world.waiting if world.book.owner_of(each.pod) in group.owners]
        return _Next(False, world.message(waiting[0])) if waiting else _Next(True)

    def _exceeded(self, found: Sequence[Spread], afresh: Afresh) -> Iterator[AuditFinding]:
        for at, spread in enumerate(found):
            if spread.state in ("violated", "uneven"):
                yield finding(spread, replace(afresh, at=at))

    def _uncounted(self, found: Sequence[Spread], placed: Sequence[tuple[Pod, int]]) -> Iterator[AuditFinding]:
        """Nodes without the key of a constraint that holds: pods there count nowhere, and hard ones let none come."""
        names = self._world.living.nodes.names
        for spread in found:
            column, constraint = spread.counted.column, spread.counted.constraint
            if column.is_everywhere or constraint.source == "system" or not spread.is_even:
                continue
            on = {position for _, position in placed if column.absent[position]}
            lacking = np.flatnonzero(column.absent).tolist()
            if on or constraint.is_hard:
                shown = sorted(names[position] for position in on or lacking)
                said = f"{', '.join(shown[:3])}{f' and {len(shown) - 3} more' if len(shown) > 3 else ''}"
                yield AuditFinding(
                    level="risk", cause="missingLabel", topology_key=constraint.topology_key, detail=said
                )


def _tried(placing: Placing) -> _Next:
    return _Next(True) if placing.feasible().any() else _Next(False, placing.evaluation().message or "")


def _default_gaps(world: World, template: Pod, plugins: Framework) -> Iterator[str]:
    """What is lacking to know the default constraints of pods without any of their own."""
    for plugin in plugins.running:
        if isinstance(plugin, PodTopologySpread):
            yield from plugin.gaps(world.cluster, template)
