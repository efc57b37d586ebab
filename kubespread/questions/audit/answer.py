"""Spread of workloads: counts of their constraints, pods left after the loss of a zone, and room for one more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, limits
from kubespread.controllers.disruption import selector_of
from kubespread.controllers.statefulset import ordinal_of
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import is_terminating
from kubespread.kube.selector import from_label_selector
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions import audit as rows
from kubespread.questions.audit import Audit, causes
from kubespread.questions.audit.standing import (
    Outlook,
    RevisionsOf,
    Standing,
    WorkloadGroup,
    gate_findings,
    groups,
    make_finding,
    missing,
    scheduled_by_others,
)
from kubespread.questions.causes.own_pods import is_intended, mismatch_of, nearest
from kubespread.questions.scene import Scene
from kubespread.questions.selection import Selection, nothing_to_say
from kubespread.reports.parts import PreemptedPod
from kubespread.scheduler.evaluation import outranks_any
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.topology_keys import check_topology_keys, domain_notes, full_topology_key
from kubespread.wording import count_of, some_of
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.store.waiting import Applicant

_MAX_NAMED = 3
_BY_ITSELF = causes.Variant("once what waits is placed and rollouts are done")


def answer(question: Audit, scene: Scene) -> rows.AuditReport:
    """Audit the workloads; the scene's world is not changed."""
    work, now = _Auditing.build(question, scene), scene.edited_snapshot
    selected = work.selected
    reported = {group.name for group in work.groups}
    # Pods without a controller share a row if they share their labels.
    if missing := [name for name in work.named if name.kind != "Pod" and name not in reported]:
        raise UsageError(*map(nothing_to_say, missing))
    if not work.groups:
        # Workloads of no replicas have nothing to spread; one that is named was meant to have.
        if selected.names:
            raise selected.no_workload_error(now)
        selected.check_any(scene.world, now)
    audited = list(scene.tasks(work, range(len(work.groups))))
    worst_first = sorted((row for row, _ in audited), key=lambda row: (-rows.LEVELS.index(row.level), row.workload))
    return rows.AuditReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        asked=tuple(work.named),
        namespace=selected.report_namespace,
        selector=selected.text,
        preemption=question.preemption,
        nodes=len(now.nodes),
        topology_key=work.key or ZONE,
        workloads=tuple(worst_first),
        gaps=scene.gaps(work.assumed),
        not_modelled=Audit.never_modelled,
        notes=(*scene.notes, *domain_notes([work.key] if work.key else [], now.nodes)),
        made_room=next((made_room for _, made_room in audited if made_room), ()),
        unfinished=scene.budget.missing(
            "workload", len(work.groups), [group.name for group in work.groups[len(audited) :]]
        ),
    )


class _Auditing:
    """The workloads of a world in which nothing happens, by number."""

    def __init__(self, world: World, selected: Selection, key: str | None) -> None:
        """``key`` is the topology key of the question."""
        self._world, self.selected, self.key = world, selected, key
        self.assumed = world.assumed
        self.named = selected.named_in(world)
        self._revisions_of = RevisionsOf(world)
        self._outlook = Outlook(world, self._revisions_of)
        self.groups = list(groups(world, selected.filter_in(world)))
        budgets = world.objects.get(PodDisruptionBudget)
        self._budgets = [(budget.metadata, selector_of(budget)) for budget in budgets]

    @classmethod
    def build(cls, question: Audit, scene: Scene) -> Self:
        nodes = scene.edited_snapshot.nodes
        key = full_topology_key(question.key, nodes) if question.key else None
        check_topology_keys([key] if key else [], nodes)
        return cls(scene.world, question.selection_in(scene.snapshot), key)

    def __call__(self, number: int) -> tuple[rows.AuditedWorkload, tuple[PreemptedPod, ...]]:
        """Audit a workload; with the pods preempted in the end, if that was played by now."""
        world, group, outlook = self._world, self.groups[number], self._outlook
        standing = Standing.build(world, group, self._revisions_of(group), outlook)
        row = _WorkloadAudit(world, standing, outlook, self.key).row()
        return replace(row, budgets=self._protecting(standing.template)), outlook.made_room

    def _protecting(self, template: Pod | None) -> tuple[str, ...] | None:
        """Names of the budgets that select the workload's pods; None if unknown."""
        if template is None or not self._world.objects.knows(PodDisruptionBudget):
            return None
        namespace, labels = template.metadata.namespace, template.metadata.labels
        return tuple(
            budget.name
            for budget, selector in self._budgets
            if budget.namespace == namespace and selector.matches(labels)
        )


class NextPod(Struct, frozen=True):
    fits: bool | None
    """None if that is unknown."""
    message: str = ""
    """Message of kube-scheduler, or of the API server that refuses the pod; empty if it fits."""
    is_refused: bool = False
    choose: Callable[[], int | None] = lambda: None
    """Function for its node; None without one."""
    fitting: str = ""
    """``3 of 3 nodes``; empty if unknown."""


UNKNOWN = NextPod(None)


def next_pod_with_claims(world: World, group: WorkloadGroup, plugins: Framework) -> NextPod:
    """Result for the next pod of a StatefulSet with a claim per pod: the first pending one, else one more."""
    if not group.waiting:
        return _next_pod(world, group)
    first = min(group.waiting, key=lambda pod: ordinal_of(pod, group.name.name) or 0)
    try:
        return placing_result(Applicant(world.living, first, plugins).placing())
    except SchedulingError as error:
        return NextPod(False, str(error))


def placing_result(placing: Placing) -> NextPod:
    feasible = placing.feasible()
    fitting = f"{int(feasible.sum()) or 'none'} of {count_of(len(feasible), 'node')}"
    if not feasible.any():
        return NextPod(False, placing.evaluation().message or "", fitting=fitting)

    def choose() -> int | None:
        try:
            choice = placing.choose(first_in_heap)
        except SchedulingError:
            return None
        return None if choice is None else choice.node

    return NextPod(True, choose=choose, fitting=fitting)


def _next_pod(now: World, group: WorkloadGroup) -> NextPod:
    """Result of scaling the workload up by one, with no other pods waiting that could take the room."""
    world, name = now.fork(), group.name
    world.queue.waiting.clear()
    try:
        apply(world, Scale(name.kind, name.name, group.replicas(world) + 1, name.namespace), "")
    except KubespreadError as error:
        return NextPod(None, str(error))
    waiting = [waiting for waiting in world.waiting if world.book.owner_of(waiting.pod) in group.owners]
    if waiting:
        return NextPod(False, world.message(waiting[0]))
    placed: list[Pod] = [pod for pod in world.happenings.placed if world.book.owner_of(pod) in group.owners]
    return NextPod(True, choose=lambda: world.living.nodes.index[placed[-1].spec.node_name] if placed else None)


class _WorkloadAudit:
    """Audit of one workload."""

    def __init__(self, world: World, standing: Standing, outlook: Outlook, key: str | None) -> None:
        self._world, self._standing, self._outlook, self._key = world, standing, outlook, key
        self._group, self._nodes = standing.group, world.living.nodes
        self._positions = [position for _, position in standing.placed]

    def row(self) -> rows.AuditedWorkload:
        standing, group = self._standing, self._group
        scheduler_of, template = self._world.settings.scheduler_of, standing.template
        scheduled = scheduler_of(template) if template is not None else None
        constraints, following, findings = list[causes.CountedSpread](), UNKNOWN, list[rows.AuditFinding]()
        if template is not None and scheduled is not None:
            plugins = scheduled[1]
            constraints, following = self._judge(template, plugins)
            afresh = causes.PodsToPlace(self._world.cluster, plugins, template, standing.placed, standing.going)
            ghosts = list(self._missing_own_pods(constraints, template))
            findings += ghosts
            spreads_nothing = {finding.topology_key for finding in ghosts}
            findings += (
                finding
                for finding in self._misplacements(constraints, afresh, following)
                if finding.constraint is not None or finding.topology_key not in spreads_nothing
            )
            findings += self._uncounted_nodes(constraints, afresh)
        findings = [*missing(standing, self._outlook, following.fitting), *findings]
        if following.fits is False and not standing.awaited:
            findings.append(self._without_next(following))
        if template is not None:
            findings += scheduled_by_others(group, template, scheduler_of)
            if barred := list(gate_findings(group, template)):
                findings += barred
                following = NextPod(False)
        findings.sort(key=lambda finding: -rows.LEVELS.index(finding.level))
        losses, key = dict(self._worst_losses(constraints)), self._key or ZONE
        row = rows.AuditedWorkload(
            workload=group.name,
            level=findings[0].level if findings else "ok",
            replicas=standing.replicas,
            placed=len(standing.placed),
            ready=standing.ready,
            pending=len(group.waiting),
            placeable=standing.placeable,
            terminating=len(group.terminating),
            rollout=standing.rollout,
            constraints=tuple(constraint.report() for constraint in constraints),
            zones=causes.pods_in_domains(self._world.cluster, ZONE, self._positions),
            domains=causes.pods_in_domains(self._world.cluster, key, self._positions),
            worst_loss=losses,
            left=losses[key].remaining if key in losses else None,
            next_fits=following.fits,
            findings=tuple(replace(finding, subject=group.name) for finding in findings),
        )
        worded = (replace(finding, text=finding.text or rows.misplaced_text(row, finding)) for finding in row.findings)
        return replace(row, findings=tuple(worded))

    def _worst_losses(self, constraints: Sequence[causes.CountedSpread]) -> Iterator[tuple[str, rows.WorstLoss]]:
        of_question = () if self._key is None else (self._key,)
        of_constraints = (spread.counted.constraint.topology_key for spread in constraints)
        for key in dict.fromkeys((ZONE, HOSTNAME, *of_question, *of_constraints)):
            column = self._nodes.label(key)
            codes = column.codes[self._positions]
            present = codes[codes >= 0]
            if len(present):
                counts = np.bincount(present, minlength=len(column.values))
                most = int(column.sorted_codes[counts[column.sorted_codes].argmax()])
                remaining = len(codes) - int(counts[most])
                yield key, rows.WorstLoss(column.values[most], remaining)

    def _judge(self, template: Pod, plugins: Framework) -> tuple[list[causes.CountedSpread], NextPod]:
        """Count its constraints' pods, and try its next pod."""
        try:
            placing = Applicant(self._world.living, template, plugins).placing()
        except SchedulingError as error:
            return [], NextPod(False, str(error))
        constraints = causes.spreads(placing.states)
        api_server, pods = self._world.api_server, self._group.pods
        if pods and (refusal := api_server.refusal_of_successor(template, pods[0])):
            return constraints, NextPod(False, refusal, is_refused=True)
        kind = self._group.name.kind
        if template.spec.has_scheduled_volumes and (kind == "StatefulSet" or kind not in POD_CREATORS):
            return constraints, next_pod_with_claims(self._world, self._group, plugins)
        return constraints, placing_result(placing)

    def _without_next(self, following: NextPod) -> rows.AuditFinding:
        """Say that the next pod fits nowhere; of a Deployment, that no rollout completes where one begins with it."""
        if following.is_refused:
            return make_finding("refused", following.message)
        standing, world = self._standing, self._outlook.end
        deployment, template = self._world.workloads.deployments.get(self._group.name), standing.template
        scheduled = None if template is None else self._world.settings.scheduler_of(template)
        if deployment is not None and template is not None and world is not None and scheduled is not None:
            surge, unavailable = limits(deployment)
            is_idle = standing.rollout is None and standing.ready == standing.replicas
            # Unready pods go first, terminating ones too; pods of the new revision may be counted apart.
            is_idle = is_idle and not any(map(is_terminating, world.book))
            if surge and not unavailable and is_idle and TEMPLATE_HASH not in template.spec.counted_keys:
                evaluation = Applicant(world.living, template, scheduled[1]).placing().evaluation()
                if evaluation.message and not outranks_any(evaluation.cluster, template):
                    pods = standing.replicas
                    return make_finding("noRollout", evaluation.message, surge=surge, unavailable=0, new=0, pods=pods)
        return make_finding("noRoom", following.message)

    def _staying(self, effect: causes.PlacementEffect, following: NextPod) -> causes.Staying:
        """Yield results without moving pods: after all pending changes, and of a single pod with a second one."""
        world, template = self._outlook.end if self._standing.is_changing else None, effect.afresh.template
        if world is not None:
            pods = self._outlook.pods(self._group)
            nodes = [
                position for pod in pods if (position := world.living.nodes.index.get(pod.spec.node_name)) is not None
            ]
            yield (
                "underWay",
                effect.judge(causes.PlacedByQueue(world.cluster, template, nodes, len(pods)), _BY_ITSELF, afresh=False),
            )
        if len(self._positions) == 1 and following.fits is not None:
            node = following.choose()
            nodes = self._positions if node is None else [*self._positions, node]
            placed = causes.PlacedByQueue(self._world.cluster, template, nodes, 2)
            yield "onePod", effect.judge(placed, causes.Variant("with a second pod"), afresh=False)

    def _misplacements(
        self, constraints: Sequence[causes.CountedSpread], afresh: causes.PodsToPlace, following: NextPod
    ) -> Iterator[rows.AuditFinding]:
        """Yield findings for constraints that do not hold, and for pods that are all in one domain."""
        for position, spread in enumerate(constraints):
            if spread.state in ("violated", "uneven"):
                exceeded = causes.ExceededSkew.build(afresh, spread, position)
                why = causes.cause_of(exceeded, self._staying(exceeded, UNKNOWN))
                yield rows.AuditFinding(
                    level=spread.state,
                    code=why.cause,
                    topology_key=exceeded.key,
                    constraint=position,
                    numbers={"skew": spread.skew, "maxSkew": spread.counted.constraint.max_skew},
                    detail=why.detail,
                    trials=why.trials,
                )
        in_one = causes.InOneDomain.find(afresh, constraints, self._key)
        if in_one is not None:
            why = causes.cause_of(in_one, self._staying(in_one, following))
            yield rows.AuditFinding(
                code=why.cause, topology_key=in_one.key, detail=why.detail or in_one.domain, trials=why.trials
            )

    def _missing_own_pods(
        self, constraints: Sequence[causes.CountedSpread], template: Pod
    ) -> Iterator[rows.AuditFinding]:
        """Yield findings for constraints that miss the workload's pods, unless they count others on purpose."""
        written, namespace = template.spec.topology_spread_constraints, template.metadata.namespace
        own = [spread for spread in constraints if spread.counted.constraint.source == "pod"]
        counts_own = any(spread.counted.constraint.self_match for spread in own)
        for spread, declared in zip(own, written, strict=False) if self._standing.replicas > 1 else ():
            selector = from_label_selector(declared.label_selector)
            if spread.counted.constraint.self_match or selector.matches(template.metadata.labels):
                continue
            others = [
                pod
                for pod in self._world.cluster.running.pods
                if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels)
            ]
            if not is_intended(declared, others, counts_own=counts_own):
                labels, select = template.metadata.labels, nearest(selector, template.metadata.labels) or None
                why, key = mismatch_of(selector, labels), declared.topology_key
                yield make_finding("missesOwnPods", why, key, select=select, pods=self._standing.replicas)

    def _uncounted_nodes(
        self, constraints: Sequence[causes.CountedSpread], afresh: causes.PodsToPlace
    ) -> Iterator[rows.AuditFinding]:
        """Find nodes without the key of a constraint that holds: with its pods, else closed by it alone."""
        for spread in constraints:
            column, constraint = spread.counted.column, spread.counted.constraint
            if column.is_everywhere or constraint.source == "system" or not spread.is_even:
                continue
            on = {position for position in self._positions if column.absent[position]}
            lacking: Iterable[int] = on
            if not on and constraint.is_hard:
                lacking = np.flatnonzero(column.absent & afresh.open_nodes).tolist()
            if nodes := sorted(self._nodes.names[position] for position in lacking):
                yield make_finding("missingLabel", some_of(nodes, _MAX_NAMED), constraint.topology_key)
