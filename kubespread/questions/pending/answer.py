"""Pending pods of a cluster: grouped by cause, each group with the smallest change that frees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from shlex import quote

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName, full_name
from kubespread.kube.quantity import shorten
from kubespread.kube.versions import KubeVersion
from kubespread.questions.causes import bars
from kubespread.questions.causes.own_pods import claims_at_fault, older_revision
from kubespread.questions.commands import Commands
from kubespread.questions.patches import commands_for
from kubespread.questions.pending import Pending, PendingFor, PendingReport, StuckGroup
from kubespread.questions.remedies.change import Change, QuestionEdits
from kubespread.questions.remedies.edited_worlds import (
    AlikePods,
    EditedWorlds,
    FreeAll,
    RevisePod,
    pod_reviser,
    victims_of,
)
from kubespread.questions.remedies.families import FAMILIES, StuckPod, notes_on
from kubespread.questions.remedies.search import Attempts, TriedChange, least_change, most_trials, options
from kubespread.questions.room import free
from kubespread.questions.scene import Scene
from kubespread.reports.advice import Suggestion
from kubespread.reports.outcome import UnmadePods
from kubespread.scheduler.cluster.columns import Mask, canonical, requests_of
from kubespread.scheduler.evaluation import Evaluation, evaluate, keep_order
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import behind_gates, count_of, says, short_key, some_of
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.difference import NOTHING_LOST, Baseline, ongoing_rollout_notes
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

_MAX_DOMAINS, _MAX_WRONG, _MAX_NODES, _MAX_REASONS = 2, 2, 2, 4
_NO_CHANGE: Mapping[PendingFor, str] = {
    "refused": "none: no node is at fault",
    "gated": "none: no node is at fault",
    "nominated": "none: waits for its node",
    "otherScheduler": "not judged: another scheduler places them",
    "fits": "none: should schedule by itself",
    "preempts": "none: room is made for it",
}
_GATED = "Scheduling is blocked due to non-empty scheduling gates"
"""The message of the condition PodScheduled of a pod with gates, as the API server writes it."""


class Waits(Struct, frozen=True):
    """The cause for which a pod waits."""

    cause: PendingFor
    why: str
    """``maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 2 tainted)``."""
    message: str = ""
    """kube-scheduler's message; empty without one."""
    evaluation: Evaluation | None = None
    """Evaluation of a pod that fits nowhere."""
    victims: tuple[NamespacedName, ...] = ()
    """Pods preempted for it."""


def cause_of(world: World, waiting: Waiting) -> Waits:
    """Find the cause in the cluster as it is, before any pod is placed."""
    pod = waiting.pod
    if gates := pod.spec.scheduling_gates:
        return Waits("gated", behind_gates([gate.name for gate in gates]), _GATED)
    scheduled = world.settings.scheduler_of(pod)
    if scheduled is None:
        return Waits("otherScheduler", f'scheduler "{pod.spec.scheduler_name}", which is not modeled')
    try:
        evaluation = evaluate(scheduled[1], world.cluster, waiting.template)
    except SchedulingError as error:
        return Waits("refused", str(error), str(error))
    message = evaluation.message or ""
    if not message:
        fitting = int(evaluation.feasible.sum())
        return Waits("fits", f"{says(fitting, 'node', 'have')} room")
    if pod.status.nominated_node_name:
        return Waits("nominated", f"nominated to {pod.status.nominated_node_name}, waits for room there", message)
    if evaluation.rejection is not None:
        return Waits("refused", ", ".join(evaluation.rejection.reasons), message, evaluation)
    if evaluation.error is not None or not len(evaluation.cluster):
        return Waits("refused", message, message)
    causes = [_decisive(evaluation), *map(str, filter(None, [older_revision(evaluation)]))]
    return Waits("filtered", "; ".join(causes), message, evaluation)


def _decisive(evaluation: Evaluation) -> str:
    """Name the reasons that rule out all nodes; else the one that rules out most, and the obstacles of the others."""
    reasons = bars.reasons_of(evaluation)
    if (by_volume := bars.confined_by_volume(evaluation, reasons)) is not None:
        return by_volume
    if everywhere := [reason for reason in reasons if reason.rejected.all()]:
        return _everywhere(evaluation, everywhere, reasons)
    decisive = bars.decisive(evaluation, reasons, reasons)
    if decisive is None:
        every_node = np.ones(len(evaluation.cluster), dtype=np.bool_)
        return f"each node for several reasons: {_wrong(every_node, reasons, _MAX_REASONS)}"
    if isinstance(decisive, bars.Failing) and decisive.words is bars.SELECTION:
        return bars.left_by_selection(evaluation, reasons, decisive)
    others = [reason for reason in reasons if reason is not decisive]
    if isinstance(decisive, bars.Barring):
        return _constraint_text(decisive, others)
    return _failure_text(decisive, others, evaluation)


def _everywhere(
    evaluation: Evaluation, everywhere: Sequence[bars.BarringReason], reasons: Sequence[bars.BarringReason]
) -> str:
    """All of the reasons that hold everywhere, since none alone is the cause."""
    parts = [_constraint_text(reason, []) for reason in everywhere if isinstance(reason, bars.Barring)]
    failing = [reason for reason in everywhere if isinstance(reason, bars.Failing)]
    if any(reason.words is bars.SELECTION for reason in failing):
        parts.append(bars.selected_nowhere(evaluation))
    others = [reason for reason in reasons if reason not in everywhere]
    resources = [reason for reason in failing if reason.words.is_resource]
    parts += (_shortage_text(resource.words.short, others, evaluation) for resource in resources)
    rest = [reason for reason in failing if reason.words is not bars.SELECTION and reason not in resources]
    if rest:
        count = len(evaluation.cluster)
        parts.append(f"{bars.all_nodes(count)} {bars.join_phrases([_adjective(reason, count) for reason in rest])}")
    every_node = np.ones(len(evaluation.cluster), dtype=np.bool_)
    if not bars.rejected_only_by(reasons, everywhere).any():
        parts.append(_wrong(every_node, others, _MAX_REASONS))
    return "; ".join(parts)


def _constraint_text(barring: bars.Barring, others: Sequence[bars.BarringReason]) -> str:
    """``maxSkew 1 over zone: fewest pods, 0, in zone c (nodes: 2 tainted)``."""
    counted = barring.counted
    constraint, column = counted.constraint, counted.column
    key = short_key(constraint.topology_key)
    limit = f"maxSkew {constraint.max_skew} over {key}"
    if not column.present.any():
        return f"{limit}: no node has the label {constraint.topology_key}"
    domains = int(np.count_nonzero(counted.is_domain))
    if constraint.min_domains is not None and domains < constraint.min_domains:
        return f"{limit}: {count_of(domains, key)}, minDomains {constraint.min_domains}"
    if not domains:
        return f"{limit}: no {key} counts"
    minimum = counted.global_minimum
    emptiest = counted.is_domain & (counted.counts == minimum)
    names = sorted(column.values[code] or '""' for code in np.flatnonzero(emptiest))
    where = f"{key} {', '.join(names)}" if len(names) <= _MAX_DOMAINS else f"{len(names)} {key}s"
    emptiest_nodes: Mask = column.present & np.isin(column.codes, np.flatnonzero(emptiest))
    wrong = _wrong(emptiest_nodes, others)
    return f"{limit}: fewest pods, {minimum:,}, in {where}{f' (nodes: {wrong})' if wrong else ''}"


def _wrong(among: Mask, others: Sequence[bars.BarringReason], most: int = _MAX_WRONG) -> str:
    """Count nodes by obstacle, most first: ``2 tainted, 1 cordoned``."""
    counts = [(int(np.count_nonzero(nodes & among)), words) for other in others for nodes, words in _adjectives(other)]
    wrong = [f"{count} {words(count)}" for count, words in sorted(counts, key=lambda pair: -pair[0]) if count]
    return ", ".join(wrong[:most])


def _adjectives(reason: bars.BarringReason) -> Iterator[tuple[Mask, Callable[[int], str]]]:
    """The rejected nodes, by the adjective for them."""
    if isinstance(reason, bars.Failing):
        yield reason.rejected, partial(_adjective, reason)
        return
    present = reason.counted.column.present
    yield reason.rejected & present, lambda _: f"over {reason.limit}"
    yield reason.rejected & ~present, lambda _: f"without a {short_key(reason.counted.constraint.topology_key)} label"


def _adjective(failing: bars.Failing, count: int) -> str:
    return "tainted" if failing.words is bars.TAINT else failing.words.brief_of(count)


def _failure_text(failing: bars.Failing, others: Sequence[bars.BarringReason], evaluation: Evaluation) -> str:
    """``needs 4Gi memory on one node; most free on one: 3.1Gi``; for any other reason how many nodes it rules out."""
    if failing.words.is_resource:
        return _shortage_text(failing.words.short, others, evaluation)
    count, total = int(np.count_nonzero(failing.rejected)), len(evaluation.cluster)
    sentence = f"{count:,} of {total:,} nodes {_adjective(failing, count)}"
    wrong = _wrong(~failing.rejected, others)
    return f"{sentence}; {wrong}" if wrong else sentence


def _shortage_text(resource: str, others: Sequence[bars.BarringReason], evaluation: Evaluation) -> str:
    """``needs 2 cpu on one node; most free on one: 1, but 16 on c1 (cordoned)``.

    It shows the most room on a node that nothing else rejects, and nodes with enough room; or the most room on any
    node, if something else rejects all.
    """
    is_open = ~np.logical_or.reduce(
        [np.zeros(len(evaluation.cluster), dtype=np.bool_), *(other.rejected for other in others)]
    )
    available, request = free(evaluation.cluster, resource), requests_of(evaluation.pod)[0].get(resource, 0)
    needs = shorten(canonical(resource, request), up=True)
    most_free = shorten(canonical(resource, int((available[is_open] if is_open.any() else available).max())))
    sentence = f"needs {needs} {resource} on one node; most free on one: {most_free}"
    elsewhere = ~is_open & (available >= request)
    if not is_open.any() or not elsewhere.any():
        return sentence
    most = shorten(canonical(resource, int(available[elsewhere].max())))
    return f"{sentence}, but {most} on {_nodes_text(evaluation, elsewhere, others)}"


def _nodes_text(evaluation: Evaluation, nodes: Mask, others: Sequence[bars.BarringReason]) -> str:
    """``c1 (cordoned) and g1 (tainted gpu)``; of many nodes, their number and their obstacles."""
    names = evaluation.cluster.nodes.names
    positions = sorted(np.flatnonzero(nodes).tolist(), key=names.__getitem__)
    if len(positions) > _MAX_NODES:
        return f"{len(positions):,} nodes ({_wrong(nodes, others)})"
    by_state: dict[str, list[str]] = {}
    for node in positions:
        by_state.setdefault(_state(evaluation, node, others), []).append(names[node])
    return bars.join_phrases([f"{bars.join_phrases(alike)} ({state})" for state, alike in by_state.items()])


def _state(evaluation: Evaluation, node: int, others: Sequence[bars.BarringReason]) -> str:
    return ", ".join(
        other.complaint(node) if isinstance(other, bars.Barring) else bars.in_brief(evaluation, other.words, node)
        for other in others
        if other.rejected[node]
    )


_OF_A_FAMILY = 4
"""Changes per family that are tried on large clusters."""
_MOST_VICTIMS = 2
_FIT = "fits once the others run"


class _Stuck(Struct, frozen=True):
    """Identical pods, and the cause for which they wait."""

    kind: AlikePods
    waits: Waits
    fitting: int = 0
    """Number of them that find a node without any change, placed after earlier pods of their workload."""


def answer(question: Pending, scene: Scene) -> PendingReport:
    """Group the pending pods by cause, and look for the changes that free them."""
    selection = question.selection_in(scene.snapshot)
    now, world = scene.edited_snapshot, scene.world
    is_selected = selection.filter_in(world)
    under_way = ongoing_rollout_notes(world, is_selected)
    groups = _groups(scene, is_selected, Commands(scene.snapshot, scene.scheduler, question))
    if not groups:
        selection.check_any(world, now)
    scaled, after = None, world
    if scene.grow is not None and world.waiting:
        after = world.fork()
        scaled = scene.grow(after, NOTHING_LOST)
    return PendingReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **selection.as_reported(world),
        preemption=question.preemption,
        nodes=len(world.living.nodes.objects),
        pods=len(scene.snapshot.pods),
        pending=sum(len(group.pods) for group in groups),
        groups=tuple(groups),
        not_made=tuple(_not_made(world, groups, is_selected)),
        autoscaling=scaled,
        still_pending=() if scaled is None else tuple(_waiting_in(after, is_selected)),
        gaps=scene.gaps(world.assumed),
        not_modelled=Pending.never_modelled,
        notes=(*scene.notes, *under_way),
    )


def _groups(scene: Scene, is_selected: Callable[[WorkloadName], bool], commands: Commands) -> list[StuckGroup]:
    """Groups, the largest first. After each cause, progress reports the number of pods that were judged."""
    world = scene.world
    by_workload: dict[WorkloadName, list[AlikePods]] = {}
    for kind in _kinds(world, is_selected):
        by_workload.setdefault(workload_of(world, kind.waiting[0].pod), []).append(kind)
    by_cause: dict[tuple[str, str], list[_Stuck]] = {}
    for kinds in by_workload.values():
        for stuck in _stuck_together(world, kinds):
            by_cause.setdefault((stuck.waits.cause, stuck.waits.why), []).append(stuck)
    groups: list[StuckGroup] = []
    freeing = _Freeing(world, scene.edited_snapshot, scene.release, commands, scene.snapshot.edits)
    for alike in sorted(by_cause.values(), key=lambda alike: -sum(len(stuck.kind) for stuck in alike)):
        groups += freeing.groups(alike)
        if scene.budget.on_progress is not None:
            scene.budget.on_progress(sum(len(group.pods) for group in groups))
    return sorted(groups, key=lambda group: (-len(group.pods), group.cause == "fits", group.why))


def _waiting_in(world: World, is_selected: Callable[[WorkloadName], bool]) -> Iterator[NamespacedName]:
    waiting = (waiting.pod for waiting in world.waiting)
    return (full_name(pod) for pod in waiting if is_selected(workload_of(world, pod)))


def _not_made(
    world: World, groups: Iterable[StuckGroup], is_selected: Callable[[WorkloadName], bool]
) -> Iterator[UnmadePods]:
    """Yield pods that the API server will refuse once controllers make them, and other missing pods of ``groups``."""
    missing = [row for row in unmade_pods(world, list(unmade(world))) if is_selected(row.workload)]
    if not missing:
        return
    after, stuck = world.fork(), {workload for group in groups for workload in group.workloads}
    Baseline.settle(after)
    refused = {row.workload: row for row in unmade_pods(after, [row for row in unmade(after) if row.is_refused])}
    yield from (refused.get(row.workload, row) for row in missing if row.workload in refused.keys() | stuck)


def _kinds(world: World, is_selected: Callable[[WorkloadName], bool]) -> list[AlikePods]:
    """The selected waiting pods, in kube-scheduler's order; pods with gates come last."""
    ordered = {key_of(waiting.pod): waiting for waiting in (*world.queue.in_order(), *world.waiting)}
    return AlikePods.kinds(waiting for waiting in ordered.values() if is_selected(workload_of(world, waiting.pod)))


def _stuck_together(world: World, kinds: Sequence[AlikePods]) -> Iterator[_Stuck]:
    """Find the causes for which the pods of a workload wait.

    Where one fits, or makes room for itself, all are placed one after another: later ones may no longer find a node, or
    find one only now.
    """
    alone = [cause_of(world, kind.waiting[0]) for kind in kinds]
    pairs = list(zip(kinds, alone, strict=True))
    if not any(waits.cause == "fits" or _preempts(world, kind, waits) for kind, waits in pairs):
        yield from map(_Stuck, kinds, alone)
        return
    after = world.fork()
    after.queue.waiting = _waiting(kinds)
    after.settle()
    for kind, waits in pairs:
        unplaced = [waiting for waiting in kind.waiting if key_of(waiting.pod) in after.queue.waiting]
        victims = victims_of(after.happenings.departures, _waiting([kind]).keys())
        preempting = f"preempting {some_of(victims, _MOST_VICTIMS)}" if victims else ""
        if not unplaced and victims:
            yield _Stuck(kind, replace(waits, cause="preempts", why=preempting, victims=victims), len(kind))
        elif not unplaced:
            yield _Stuck(kind, waits if waits.cause == "fits" else replace(waits, cause="fits", why=_FIT), len(kind))
        elif len(unplaced) == len(kind) and waits.cause != "fits":
            yield _Stuck(kind, waits)
        else:
            fitting = len(kind) - len(unplaced)
            then, fit = cause_of(after, unplaced[0]), f"{fitting:,} of {len(kind):,} fit"
            why = f"{fit}, {preempting}; {then.why}" if victims else f"{fit}; {then.why}"
            yield _Stuck(kind, replace(then, why=why, victims=victims), fitting)


def _preempts(world: World, kind: AlikePods, waits: Waits) -> bool:
    if waits.cause != "filtered":
        return False
    budgets = world.budgets.current(world.time) if world.settings.preempts else ()
    return world.queue.preemption_candidate(kind.waiting[0], world.living, lambda: budgets, keep_order) is not None


def _waiting(kinds: Iterable[AlikePods]) -> dict[PodKey, Waiting]:
    return {key_of(waiting.pod): waiting for kind in kinds for waiting in kind.waiting}


class _Freeing(Struct, dict=True):
    """Search for changes that free pods; each group may take half of the trials that are left."""

    world: World
    snapshot: Snapshot
    version: KubeVersion
    commands: Commands
    edits: Sequence[Edit]
    """The question's edits."""
    _tried: int = 0

    @cached_property
    def _revise(self) -> RevisePod:
        return pod_reviser(self.snapshot, self.version)

    @cached_property
    def _worlds(self) -> EditedWorlds:
        return EditedWorlds(lambda: self.world, DEFAULT_NAMESPACE)

    def groups(self, alike: Sequence[_Stuck]) -> Iterator[StuckGroup]:
        """One group; or several, where a change frees all pods of some kinds and not all of the others."""
        waits = alike[0].waits
        if waits.cause != "filtered":
            fault = "" if waits.evaluation is None else claims_at_fault(waits.evaluation)
            yield self._group(alike, None, f"none: {fault}" if fault else _NO_CHANGE[waits.cause])
            return
        ranked = sorted(alike, key=lambda stuck: -len(stuck.kind))
        goal = FreeAll(self._worlds, [stuck.kind for stuck in ranked], self._revise)
        evaluation = ranked[0].waits.evaluation
        assert evaluation is not None
        several = len(goal) if len(goal) > 1 else None
        fitting = sum(stuck.fitting for stuck in alike)
        edits = QuestionEdits(self.edits, workload=workload_of(self.world, ranked[0].kind.pod))
        stuck_there = StuckPod(
            evaluation, self.version, several, fitting, None if fitting else several, edits, goal.rivals
        )
        trials = Attempts.build(goal, stuck_there, max(0, most_trials(stuck_there) - self._tried) // 2)
        # The cheapest change that frees all of them, else the cheapest that frees most of them.
        best = least_change(stuck_there, trials, FAMILIES, _OF_A_FAMILY) or trials.most_helpful()
        self._tried += trials.count
        free = goal.freed_pods(best.change) if best is not None else frozenset()
        whole = [stuck for stuck in alike if _waiting([stuck.kind]).keys() <= free]
        if whole and len(whole) < len(alike):
            yield from self.groups(whole)
            yield from self.groups([stuck for stuck in alike if stuck not in whole])
            return
        if best is None:
            yield self._group(alike, None, trials.why_none)
        else:
            yield self._group(alike, best, victims=goal.victims(best.change))

    def _group(
        self,
        alike: Sequence[_Stuck],
        best: TriedChange | None,
        no_change: str = "",
        victims: Sequence[NamespacedName] = (),
    ) -> StuckGroup:
        """Group with the ``best`` change, which preempts ``victims``, or with the reason for ``no_change``."""
        waits = alike[0].waits
        pods = [waiting.pod for stuck in alike for waiting in stuck.kind.waiting]
        workloads = dict.fromkeys(workload_of(self.world, pod) for pod in pods)
        return StuckGroup(
            cause=waits.cause,
            why=waits.why,
            message=waits.message,
            pods=tuple(map(full_name, pods)),
            workloads=tuple(workloads),
            change=None if best is None else self._suggestion(best, alike[0], len(pods), tuple(workloads)),
            fitting=sum(stuck.fitting for stuck in alike),
            victims=tuple(dict.fromkeys((*(pod for stuck in alike for pod in stuck.waits.victims), *victims))),
            no_change=no_change,
            command="" if best is None else self._command(best.change, next(iter(workloads)), full_name(pods[0])),
        )

    def _command(self, change: Change, workload: WorkloadName, pod: NamespacedName) -> str:
        if not options(change):
            return ""
        edits = (str(edit).partition(" ") for edit in change.edits)
        words = [f"--{verb} {quote(rest)}" for verb, _, rest in edits]
        words += [f"--set {quote(setting)}" for setting in change.settings]
        if not change.settings:
            return self.commands.ask("pending", *words)
        kind = POD_CREATORS.get(workload.kind)
        reference = f"{kind.short}/{workload.name}" if kind is not None and kind.has_replicas else f"po/{pod.name}"
        return self.commands.ask("simulate", quote(reference), *words, namespace=workload.namespace)

    def _suggestion(self, best: TriedChange, stuck: _Stuck, pods: int, workloads: Sequence[WorkloadName]) -> Suggestion:
        change, answer = best.change, best.answer
        return Suggestion(
            change=change.text,
            brief=change.brief or change.text,
            family=change.family,
            options=options(change),
            nodes=None,
            placed=min(answer.count, pods),
            consequences=answer.consequences,
            notes=()
            if stuck.waits.evaluation is None
            else tuple(notes_on(StuckPod(stuck.waits.evaluation, self.version), change)),
            commands=commands_for(change, workloads, self.snapshot),
        )
