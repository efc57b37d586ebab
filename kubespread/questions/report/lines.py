"""What each question's answer contributes to a report: its bad rows as lines, its own words and numbers.

Running pods on nodes where kube-scheduler would not put them any more: their own selectors, taints and affinity. Nobody
evicts them for it; but a pod that is made again may not come back, and what it asks for is not what it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from shlex import quote
from typing import Literal

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.quantity import parse, rounded
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.audit.report import (
    CAUSES,
    AuditedWorkload,
    AuditFinding,
    AuditReport,
    counts_text,
    sentence,
    without_budget,
)
from kubespread.questions.capacity.report import CapacityReport
from kubespread.questions.commands import Commands
from kubespread.questions.pending.report import PendingReport, StuckGroup
from kubespread.questions.remedies.families import SHORT
from kubespread.questions.removable.certain import KEPT, Cause, KeptNode
from kubespread.questions.removable.report import RemovableReport
from kubespread.questions.report.areas import Area
from kubespread.questions.report.report import Badness, ReportLine
from kubespread.questions.room import PODS
from kubespread.questions.survive.report import SurviveReport, can_be_lost
from kubespread.reports.autoscaling import AutoscalingReport, whether_taken
from kubespread.reports.outcome import badness, in_brief, phrases
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import Counted, State, Status
from kubespread.scheduler.plugins.inter_pod_affinity import AFFINITY, ANTI_AFFINITY, InterPodAffinity
from kubespread.scheduler.plugins.node_affinity import CONFLICT, NodeAffinity, NodeAffinityState
from kubespread.scheduler.plugins.node_properties import TaintToleration
from kubespread.wording import count_of, domain_noun, says, short_key, some_of
from kubespread.world.events.world import World
from kubespread.world.reporting.tight_budgets import TightBudget, WorkloadOf

Rule = Literal["nodeAffinity", "taint", "podAffinity", "podAntiAffinity"]
_OF_NODES = "node.kubernetes.io/"
"""Where the taints begin that say how a node is: cordoned, not ready, under pressure."""


class Stray(Struct, frozen=True):
    """A pod that breaks one rule of its own."""

    pod: NamespacedName
    workload: WorkloadName
    node: str
    rule: Rule
    detail: str = ""
    """The first taint that it does not tolerate."""


def strays(world: World, workload: WorkloadOf) -> Iterator[Stray]:
    """By pod, in the cluster's order; pods of schedulers that are not modeled are not judged."""
    judges: dict[int, _Judge] = {}
    for pod in world.book:
        position = world.living.nodes.index.get(pod.spec.node_name)
        if position is None or (name := workload(pod)) is None:
            continue
        scheduled = world.surroundings.scheduler_of(pod)
        if scheduled is None:
            continue
        plugins = scheduled[1]
        judge = judges.get(id(plugins))
        if judge is None:
            judge = judges[id(plugins)] = _Judge(world, plugins)
        for rule, detail in judge.broken(pod, position):
            yield Stray(NamespacedName.of(pod), name, pod.spec.node_name, rule, detail)


_NOWHERE: Mask = np.zeros(1, dtype=np.bool_)


def _passing(state: State | Status) -> Mask | None:
    """The nodes that a filter lets a pod on, one entry for all where none is; None where all are."""
    if isinstance(state, Status):
        return _NOWHERE if state is CONFLICT else None
    judged = state.filter() if isinstance(state, NodeAffinityState) else None
    return None if judged is None else judged.passes


class _Judge:
    """The filters of one profile that look at a pod's own rules."""

    def __init__(self, world: World, plugins: Framework) -> None:
        self._world = world
        running = plugins.running
        self._node_affinity = next((plugin for plugin in running if isinstance(plugin, NodeAffinity)), None)
        self._taints = next((plugin for plugin in running if isinstance(plugin, TaintToleration)), None)
        self._pod_affinity = next((plugin for plugin in running if isinstance(plugin, InterPodAffinity)), None)
        self._allowed: dict[object, Mask | None] = {}
        self._around: dict[int, Counted | None] = {}

    def broken(self, pod: Pod, position: int) -> Iterator[tuple[Rule, str]]:
        spec = pod.spec
        if self._node_affinity is not None and (spec.node_selector or spec.affinity is not None):
            key = self._node_affinity.signature(pod)
            if key not in self._allowed:
                self._allowed[key] = _passing(self._node_affinity.prepare(self._world.cluster, pod))
            passing = self._allowed[key]
            if passing is not None and not passing[min(position, len(passing) - 1)]:
                yield "nodeAffinity", ""
        if self._taints is not None:
            taints = self._world.living.nodes.objects[position].spec.taints
            lacking = untolerated(taints, spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self._taints.compares)
            lacking = [taint for taint in lacking if not taint.key.startswith(_OF_NODES)]
            if lacking:
                first = lacking[0]
                yield "taint", f"{first.key}{f'={first.value}' if first.value else ''}:{first.effect}"
        if spec.affinity is not None and (reason := self._apart(pod, position)):
            yield reason, ""

    def _apart(self, pod: Pod, position: int) -> Rule | None:
        """Which of its own terms other pods break, the pod itself not counted."""
        kind = self._world.cluster.kinds.number_of(pod)
        if kind not in self._around:
            plugin = self._pod_affinity
            state = None if plugin is None else plugin.prepare(self._world.cluster, pod)
            self._around[kind] = state if isinstance(state, Counted) else None
        state = self._around[kind]
        if state is None:
            return None
        state.move_one(kind, position, -1)
        judged = state.filter(np.array([position]))
        state.move_one(kind, position, 1)
        if judged is None or not (row := judged.rows.item(0)):
            return None
        status = judged.table[row - 1]
        return "podAffinity" if status is AFFINITY else "podAntiAffinity" if status is ANTI_AFFINITY else None


_MAX_NAMED, _MANY_NAMED = 3, 12
"""How many names follow a sentence, and how many where they are what it says."""
_LETTER = re.compile(r"(?:[A-Z]|C\d+) ")
_NUMBER = re.compile(r"\d[\d,]*")
_LATER = frozenset({"fits", "preempts", "nominated"})
"""Why pods wait that get a node without anybody's doing."""


def of_pending(report: PendingReport, pods: Mapping[NamespacedName, Pod], commands: Commands) -> Iterator[ReportLine]:
    """A line for each cause that pods wait for; none is missing that an autoscaler adds a node for."""
    scaled = report.autoscaling
    for group in report.groups:
        whom = some_of([workload.called for workload in group.workloads], _MAX_NAMED)
        number = count_of(len(group.pods), "pod")
        left = [pod for pod in group.pods if pod in report.still_pending]
        namespaces = {workload.namespace for workload in group.workloads}
        yield ReportLine(
            # Who waits for the same cause changes, and so do the numbers in it.
            key=f"running/pending/{group.cause}/{_NUMBER.sub('#', group.why)}",
            area="running",
            question="pending",
            level="notice" if group.cause in _LATER or (scaled is not None and not left) else "critical",
            what=f"{number} of {whom} pending: {group.why}{'' if scaled is None else _after_growth(scaled, left)}",
            extent=len(group.pods),
            workloads=group.workloads,
            # A pod that waits has done so since it was there.
            since=min((since for pod in group.pods if (since := pods[pod].metadata.creation_timestamp)), default=None),
            command=commands.of("pending", namespace=namespaces.pop() if len(namespaces) == 1 else None),
            remedy=_freeing(group),
        )


def _after_growth(scaled: AutoscalingReport, left: Sequence[NamespacedName]) -> str:
    """``; karpenter adds 2 nodes, 1 of them still pending: it may have 3 nodes and has them``."""
    kinds = [kind for kind in scaled.pending if not set(kind.pods).isdisjoint(left)]
    reasons = some_of(list(dict.fromkeys(reason for kind in kinds for reason in scaled.reasons(kind))), _MAX_NAMED)
    why, them = f": {reasons}" if reasons else "", f"{f'{len(left):,}' if left else 'none'} of them"
    if scaled.unknown_groups and kinds:
        return f"; {scaled.autoscaler}: {whether_taken(scaled.unknown_groups, them)}{why}"
    adds = count_of(scaled.added, "node") if scaled.added else "no node"
    return f"; {scaled.autoscaler} adds {adds}, {them} still pending{why}"


def _freeing(group: StuckGroup) -> str | None:
    change = group.change
    if change is None or not group.freed:
        return None
    harm = "".join(f"; {consequence}" for consequence in change.consequences)
    # A letter says nothing where its constraint is not shown.
    text = " ".join(change.options) if _LETTER.match(change.brief) else change.brief or change.change
    return f"{text}: {group.freed:,} of {len(group.pods):,} find a node{harm}"


def of_audit(report: AuditReport, zones: int, commands: Commands) -> Iterator[ReportLine]:
    """A line for each finding, except of what `of_pending` tells; one for workloads that nothing keeps in several of so
    many ``zones``, wherever they are now, and one for those that no budget protects.
    """
    free = [row.workload for row in report.workloads if row.replicas > 1 and _is_free(row)]
    if zones > 1 and free:
        have = "workload of several pods has" if len(free) == 1 else "workloads of several pods have"
        yield ReportLine(
            key="spread/unconstrained",
            area="spread",
            question="audit",
            level="notice",
            what=f"{len(free):,} {have} no constraint over zones, not even by default: "
            f"{some_of([name.called for name in free], _MAX_NAMED)}",
            extent=len(free),
            workloads=tuple(free),
            command=commands.of("audit"),
        )
    if bare := report.unprotected:
        yield ReportLine(
            key="budgets/unprotected",
            area="budgets",
            question="audit",
            level="notice",
            what=without_budget(bare, _MANY_NAMED),
            extent=len(bare),
            workloads=bare,
            command=commands.of("audit"),
        )
    closed: dict[str, list[AuditedWorkload]] = {}
    for row in report.workloads:
        for finding in row.findings:
            if finding.cause == "noRoom":
                closed.setdefault(sentence(row, finding), []).append(row)
            elif not (row.pending and CAUSES[finding.cause].is_pending):
                yield _found(row, finding, commands)
    for said, rows in closed.items():
        yield _without_room(said, rows, commands)


def _is_free(row: AuditedWorkload) -> bool:
    """Whether no constraint in force is over zones; not known of a pod that is rejected before they are looked at."""
    is_known = bool(row.constraints) or row.next_fits is True
    return is_known and all(constraint.topology_key != ZONE for constraint in row.constraints)


def _without_room(said: str, rows: Sequence[AuditedWorkload], commands: Commands) -> ReportLine:
    """Of many workloads that are alike. Nobody has asked for that pod yet: none is missing."""
    first = rows[0].workload
    return ReportLine(
        key=f"scaling/noRoom/{first}",
        area="scaling",
        question="audit",
        level="notice",
        what=f"{some_of([row.called for row in rows], _MAX_NAMED)}: {said}",
        extent=len(rows),
        workloads=tuple(row.workload for row in rows),
        command=commands.of_workload("explain", first),
    )


def _found(row: AuditedWorkload, finding: AuditFinding, commands: Commands) -> ReportLine:
    area, level, what, extent = _judged(row, finding)
    key = f"/{short_key(finding.topology_key)}" if finding.topology_key else ""
    if finding.constraint is not None:
        key = f"{key}/{finding.constraint}"
    return ReportLine(
        key=f"{area}/{what}/{row.workload}{key}",
        area=area,
        question="audit",
        level=level,
        what=f"{row.called}: {sentence(row, finding)}",
        extent=extent,
        workloads=(row.workload,),
        command=commands.of_workload("audit", row.workload, "--why"),
        remedy=_ending(finding),
    )


def _judged(row: AuditedWorkload, finding: AuditFinding) -> tuple[Area, Badness, str, int]:
    """Where it belongs, how bad it is, what it is and of what extent."""
    if (badness := CAUSES[finding.cause].badness) is not None:
        missing = row.replicas - (row.ready if finding.cause == "notReady" else row.placed)
        # What is refused is the pod that comes after one that goes: all are there.
        area: Area = "losses" if finding.cause == "refused" else "running"
        return area, badness, finding.cause, max(1, missing) if badness == "critical" else 1
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        exceeded = constraint.skew - constraint.max_skew
        return "spread", "warning" if finding.level == "violated" else "notice", finding.level, exceeded
    if finding.cause == "missingLabel":
        return "spread", "notice", "missingLabel", 1
    if finding.cause == "missesOwnPods":
        return "spread", "warning", "missesOwnPods", row.replicas
    return "spread", "notice" if row.placed < 2 else "warning", "oneDomain", row.placed


def _ending(finding: AuditFinding) -> str | None:
    """The last trial, where it ended what was found."""
    last = finding.trials[-1] if finding.trials else None
    if last is None or not last.holds or finding.cause == "unknown":
        return None
    return f"{last.how}: {counts_text(last.counts)}"


def not_lost(chosen: Mapping[str, Sized], domains: Mapping[str, Sized], commands: Commands) -> Iterator[str]:
    """A note where only the ``chosen`` ones were lost of all ``domains`` of a key."""
    fewer = {key: names for key, names in chosen.items() if len(names) < len(domains[key])}
    if fewer:
        lost = [f"{len(names):,} of {count_of(len(domains[key]), domain_noun(key))}" for key, names in fewer.items()]
        every = commands.of("survive", *[f"--key {quote(SHORT.get(key, key))}" for key in fewer])
        command = f"; for all of them: {every}" if every else ""
        yield f"only {' and '.join(lost)} were lost, those with the most to lose{command}"


def of_survive(report: SurviveReport, domains: Mapping[str, Sized], commands: Commands) -> Iterator[ReportLine]:
    """A line for the worst domain of each key; of its ``domains`` some may not be lost."""
    for key, losses in report.by_key():
        standing = sorted((loss for loss in losses if not loss.already_lost), key=badness)
        if not standing or not standing[0].troubles:
            continue
        worst, others = standing[0], len(domains[key]) - len(standing)
        left = in_brief(worst) if report.autoscaler is None else "; ".join(phrases(worst))
        untried = f" ({says(others, 'other', 'were')} not tried)" if others else ""
        yield ReportLine(
            key=f"losses/{short_key(key)}",
            area="losses",
            question="survive",
            level="warning",
            what=f"{can_be_lost(standing)}{untried}; losing {worst.name}: {left}",
            extent=max(worst.pending, sum(change.lacks for change in worst.degraded)) + len(worst.lost),
            workloads=tuple(change.workload for change in worst.degraded),
            nodes=(worst.domain,) if key == HOSTNAME else (),
            command=commands.of("survive", "--key", quote(SHORT.get(key, key))),
        )


def of_budgets(budgets: Iterable[TightBudget], commands: Commands) -> Iterator[ReportLine]:
    """A line for each budget that lets no pod go."""
    for budget in budgets:
        never = "never lets a pod go" if budget.is_for_good else "lets no pod go now"
        nodes = count_of(len(budget.nodes), "node")
        yield ReportLine(
            key=f"budgets/{budget.name}",
            area="budgets",
            question="report",
            level="warning",
            what=f"PodDisruptionBudget {budget.name.called} {never}, on {nodes}: {budget.message}",
            extent=len(budget.pods),
            workloads=budget.workloads,
            nodes=budget.nodes,
            command=commands.of_nodes("removable", quote(budget.nodes[0])),
        )


def of_kept_nodes(kept: Iterable[KeptNode], number: int, commands: Commands) -> Iterator[ReportLine]:
    """A line for each reason for which nodes are not drained, of so many nodes."""
    by_cause: dict[Cause, list[KeptNode]] = {}
    for node in kept:
        by_cause.setdefault(node.cause, []).append(node)
    for cause, nodes in by_cause.items():
        level, says_of_nodes = KEPT[cause]
        pods = [pod.called for node in nodes for pod in node.pods]
        yield ReportLine(
            key=f"drains/{cause}",
            area="drains",
            question="report",
            level=level,
            what=f"{len(nodes):,} of {count_of(number, 'node')} {says_of_nodes}"
            f"{f': {some_of(pods, _MAX_NAMED)}' if pods else ''}",
            extent=len(nodes),
            nodes=tuple(node.node for node in nodes),
            command=commands.of_nodes("removable", *[quote(node.node) for node in nodes[:_MAX_NAMED]]),
        )


_RULES: Mapping[Rule, tuple[str, str]] = {
    "nodeAffinity": ("violate", "node selector or node affinity"),
    "taint": ("do not tolerate", "node's taint"),
    "podAffinity": ("violate", "pod affinity"),
    "podAntiAffinity": ("violate", "anti-affinity"),
}
"""What the pods do, and to what of their own."""


def of_strays(strays: Iterable[Stray], commands: Commands) -> Iterator[ReportLine]:
    """A line for each rule of a workload that its running pods no longer meet."""
    by_rule: dict[tuple[WorkloadName, Rule], list[Stray]] = {}
    for stray in strays:
        by_rule.setdefault((stray.workload, stray.rule), []).append(stray)
    for (workload, rule), pods in by_rule.items():
        first = pods[0]
        breaks, own = _RULES[rule]
        whose = "its own" if len(pods) == 1 else "their own"
        detail = f" ({first.detail})" if first.detail else ""
        named = some_of([f"{stray.pod.name} on {stray.node}" for stray in pods], _MAX_NAMED)
        yield ReportLine(
            key=f"rules/{rule}/{workload}",
            area="rules",
            question="report",
            level="notice",
            what=f"{workload.called}: {says(len(pods), 'pod', breaks)} {whose} {own}{detail}: {named}",
            extent=len(pods),
            workloads=(workload,),
            nodes=tuple(dict.fromkeys(stray.node for stray in pods)),
            command=commands.of(
                "explain", quote(f"pod/{first.pod.name}"), "--node", quote(first.node), namespace=first.pod.namespace
            ),
        )


def of_capacity(report: CapacityReport, commands: Commands) -> Iterator[ReportLine]:
    """A line for each resource some of which is free where no pod can use it."""
    for resource in report.resources:
        # Tainted nodes are there for others.
        stranded = [part for part in resource.stranded if part.cause != "tainted"]
        free, lost = parse(resource.free).nano, sum(parse(part.amount).nano for part in stranded)
        percent = 100 * lost // free if free else 0
        if resource.resource != PODS and percent >= _MUCH:
            where = [
                f"{rounded(part.amount)} on {count_of(part.nodes, 'node')} ({_STRANDED[part.cause]}"
                f"{f' {part.detail}' if part.detail else ''})"
                for part in stranded
            ]
            yield ReportLine(
                key=f"room/stranded/{resource.resource}",
                area="room",
                question="capacity",
                level="notice",
                what=f"{percent}% of the free {resource.resource} can be used by no pod: {some_of(where, _MAX_NAMED)}",
                extent=percent,
                command=commands.of_nodes("capacity"),
            )


_STRANDED: Mapping[str, str] = {
    "cordoned": "cordoned",
    "pods": "no pod more is allowed",
    "resource": "no",
    "remainder": "too little is left",
    "rejected": "rejected:",
}
_MUCH = 10
"""Percent of what is free."""


def of_removable(report: RemovableReport, commands: Commands) -> Iterator[ReportLine]:
    """One line, where nodes can go."""
    alone = [row.name for row in report.rows if row.alone]
    if alone:
        tried = "" if len(report.rows) == report.nodes else f" tried, those with the fewest pods, of {report.nodes:,}"
        going = report.together.nodes
        together = f"{len(going):,} together: {some_of(going, _MAX_NAMED)}" if going else "none together"
        yield ReportLine(
            key="room/removable",
            area="room",
            question="removable",
            level="notice",
            what=f"{len(alone):,} of {count_of(len(report.rows), 'node')}{tried} can go alone, {together}",
            extent=len(going),
            nodes=going,
            command=commands.of_nodes("removable", *map(quote, () if not tried else going[:_MAX_NAMED])),
        )
