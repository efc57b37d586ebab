"""Verification of promises: each is decided by another question, and compared with a number of its answer."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial
from shlex import quote
from typing import NamedTuple

from kubespread.candidate.replicas import autoscalers_of
from kubespread.candidate.sources import Reference
from kubespread.errors import Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler, PodDisruptionBudget
from kubespread.kube.api.kinds import owner_kind
from kubespread.kube.owners import WorkloadName, WorkloadReference, full_name
from kubespread.kube.quantity import NANO, IntOrString, parse, scaled_value, shorten
from kubespread.kube.well_known import ZONE
from kubespread.questions.audit import Audit, AuditedWorkload, counts_text
from kubespread.questions.audit.standing import groups
from kubespread.questions.capacity import Capacity
from kubespread.questions.commands import Commands
from kubespread.questions.plan.playing import Steps, after_steps
from kubespread.questions.removable import Removable
from kubespread.questions.scene import Inquiry, Scene
from kubespread.questions.selection import Selection
from kubespread.questions.simulate import Simulate
from kubespread.questions.survive import NONE_READY, LostDomain, Survive
from kubespread.questions.verify import Clause, ClauseState, VerifiedClause, Verify, VerifyReport
from kubespread.reports.outcome import WorkloadChange, phrase
from kubespread.scenario.promises import HPA_MAX, NODES_DELETED, Promise
from kubespread.scenario.reading import Scenario, Step, parse_step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.wording import count_of, domain_noun
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import ready_pods
from kubespread.world.reporting.happenings import desired_replicas, workload_of


def answer(question: Verify, scene: Scene) -> VerifyReport:
    """Verify the promises; the scene's world is not changed.

    Raises ManifestError for names that are not in the cluster, before any question is asked, and UsageError without
    promises.
    """
    promises = question.promises
    if promises is None:
        raise UsageError("verify needs a file of promises")
    notes, source = scene.notes, scene.source
    # No other question applies manifests.
    commands = Commands(scene.snapshot, scene.scheduler, question)
    namespace = promises.namespace or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE
    if question.filename:
        step = Step(" ".join(("apply", *question.filename)), Apply(question.filename))
        apply = Scenario((step,), preemption=question.preemption)
        after = after_steps(scene.snapshot, apply, scheduler=scene.scheduler, namespace=namespace)
        scene = scene.move(after)
    asking = _Asking(scene, question, namespace)
    if faults := [fault for promise in promises.promises for fault in asking.chosen_for(promise)]:
        raise ManifestError(promises.file or "<promises>", faults)
    return VerifyReport(
        kube_version=str(scene.release),
        cluster=source,
        preemption=question.preemption,
        file=promises.file,
        clauses=tuple(
            row
            for promise in promises.promises
            for row in asking.part(promise.path, partial(_rows, asking, commands, promise))
        ),
        gaps=(*asking.unread, *asking.remarks("gaps")),
        not_modelled=Verify.never_modelled,
        notes=tuple(dict.fromkeys((*notes, *asking.remarks("notes")))),
        unfinished=scene.budget.missing("promise", len(asking.parts), asking.missing),
    )


class _Asking(Inquiry):
    """Questions behind the promises about one cluster, each asked once for all of its workloads."""

    def __init__(self, scene: Scene, question: Verify, namespace: str) -> None:
        super().__init__(scene)
        self.question, self.namespace, self.world = question, namespace, scene.world
        self.chosen: dict[str, Sequence[WorkloadName]] = {}
        self.unread: dict[str, None] = {}

    def chosen_for(self, promise: Promise) -> Iterator[Fault]:
        """Choose its workloads, and yield faults in their names and in its topology keys."""
        names = () if promise.workload is None else (str(promise.workload),)
        field = "workload" if names else "selector" if promise.selector else "namespace"
        try:
            selection = Selection.parse(promise.namespace, promise.selector, names, self.namespace)
            self.chosen[promise.path] = (
                [] if promise.cluster else selection.with_replicas_in(self.world, self.scene.edited_snapshot)
            )
            for field, key in promise.keys:  # noqa: B007 - the one that is wrong
                check_topology_keys([self.full(key)], self.scene.edited_snapshot.nodes)
        except UsageError as error:
            path, line = f"{promise.path}.{field}", promise.line(field)
            yield from (Fault(text, path, line) for text in str(error).split("\n"))

    def full(self, key: str) -> str:
        return full_topology_key(key, self.scene.edited_snapshot.nodes)

    @cached_property
    def workloads(self) -> tuple[WorkloadName, ...]:
        return tuple(dict.fromkeys(name for names in self.chosen.values() for name in names))

    @cached_property
    def with_pods(self) -> Collection[WorkloadName]:
        """Workloads that have pods or are to have some."""
        return {group.name for group in groups(self.world, frozenset(self.workloads).__contains__)}

    @cached_property
    def settled_world(self) -> World:
        """The cluster that nodes are drained in."""
        baseline, _ = self.scene.asking(self.question).baseline()
        return baseline.world


class _Result(NamedTuple):
    """Outcome of one clause."""

    state: ClauseState
    says: str
    margin: float | None = None


_Row = tuple[Clause, str, Sequence[str], Callable[[_Asking], _Result]]
"""One clause as in the file, the words of the command that shows the answer, and the function that judges it."""


def _rows(asking: _Asking, commands: Commands, promise: Promise) -> Iterator[VerifiedClause]:
    workloads: Sequence[WorkloadName | None] = asking.chosen[promise.path] or [None]
    rows = [(workload, row) for workload in workloads for row in _promises(promise, workload)]
    today, until = asking.question.today or datetime.datetime.now(datetime.UTC).date(), promise.until
    why = f": {promise.reason}" if promise.reason else ""
    for workload, (clause, promised, words, judge) in rows:
        try:
            result = judge(asking)
        except KubespreadError as error:
            result = _Result("unknown", str(error).replace("\n", "; "))
        is_exempt, is_over = result.state == "broken" and until is not None, until is not None and until < today
        until_when = f" (accepted until {until}{', which is over' if is_over else ''}{why})" if is_exempt else ""
        yield VerifiedClause(
            line=promise.line(clause),
            clause=clause,
            workload=workload,
            promised=promised,
            state="accepted" if is_exempt and not is_over else result.state,
            says=f"{result.says}{until_when}",
            margin=result.margin,
            command=commands.ask(
                *words, namespace=None if workload is None or clause == "drain" else workload.namespace
            ),
        )


def _promises(promise: Promise, workload: WorkloadName | None) -> Iterator[_Row]:
    """Yield the clauses about one workload, or about the cluster."""
    if workload is None:
        for resource, amount in promise.room.items():
            yield "room", f"{resource} {amount}", ("capacity",), partial(_room, resource, amount)
        return
    about, key, ready, back = _reference(workload), promise.survives, promise.ready, promise.back
    audit, survive = ("audit", quote(about)), ("survive", quote(about), "--key", quote(key))
    judge_loss, any_one = partial(_loss_outcome, workload, key), f"any {domain_noun(key)}"
    if ready is not None:
        judge = partial(judge_loss, "", ready) if key else partial(_ready, workload, ready)
        yield ("ready", f"{ready}, {any_one}" if key else f"{ready}", survive if key else audit, judge)
    if key and back:
        deleted = ("--nodes-deleted",) if back == NODES_DELETED else ()
        yield ("back", f"{back}, {any_one}", (*survive, *deleted), partial(judge_loss, back, None))
    elif key and ready is None:
        yield ("survives", any_one, survive, partial(judge_loss, "", None))
    for key, most in promise.spread.items():
        yield ("spread", f"{key} {most}", (*audit, "--key", quote(key)), partial(_spread, workload, key, most))
    if promise.fits is not None:
        simulate = ("simulate", quote(about), "--replicas", "max")
        yield ("fits", f"{promise.fits}", simulate, partial(_fits, workload, promise.fits))
    if promise.rollout is not None:
        plan = ("plan", quote(f"rollout {about}"))
        yield ("rollout", f"{promise.rollout}", plan, partial(_rollout, workload, promise.rollout))
    if promise.drain:
        yield ("drain", promise.drain, ("removable", "--force"), partial(_drain, workload))


def _reference(workload: WorkloadName) -> str:
    """``deploy/web``."""
    return str(WorkloadReference(workload.kind, workload.name))


def _judge(says: str, margin: int, promised: object, why: str = "", *, is_known: bool = True) -> _Result:
    """Judge whether it holds, else ``why`` not, and by how much."""
    state: ClauseState = "held" if margin >= 0 else "broken" if is_known else "unknown"
    return _Result(state, f"{says}, {promised} promised{why if margin < 0 else ''}", margin)


def _loss_outcome(workload: WorkloadName, key: str, back: str, ready: IntOrString | None, asking: _Asking) -> _Result:
    """Judge whether so many pods are ready at the worst moment; without a number, as many in the end as before."""
    deleted = back == NODES_DELETED
    question = Survive(keys=(asking.full(key),), nodes_deleted=deleted, preemption=asking.question.preemption)
    report = asking.answer(question, (key, deleted))
    now = ready_pods(asking.settled_world, workload)
    untouched = WorkloadChange(workload, desired_replicas(asking.settled_world, workload), now, now, now)
    rows = [
        (loss, next((row for row in loss.workloads if row.workload == workload), untouched)) for loss in report.standing
    ]
    part = "" if report.unfinished is None else report.unfinished.sentence
    if not rows:
        return (
            _Result("unknown", part) if part else _Result("broken", "no domain is left to lose: none of them answers")
        )

    def margin_of(loss: LostDomain, row: WorkloadChange) -> int:
        if ready is None:
            lost_pods = sum(trouble.count for trouble in loss.get("lost") if trouble.subject == workload)
            return -max(row.lacks, row.pending + row.unmade, lost_pods)
        return row.fewest_ready - scaled_value(ready, row.wanted, round_up=True)

    def badness(row: tuple[LostDomain, WorkloadChange]) -> tuple[bool, bool, int, str]:
        """Sort key, the worst first: certain failures before unknown ones, as for survive; equals by name."""
        margin = margin_of(*row)
        return margin >= 0, row[1].controller_unknown, margin, row[0].name

    loss, worst = min(rows, key=badness)
    if ready is None and workload in report.untested:
        return _Result("unknown", NONE_READY)
    is_at_first = ready is not None and worst.fewest_ready < worst.ready
    when = "at first" if is_at_first else "once its nodes are deleted" if deleted else "while its nodes are silent"
    left = worst.fewest_ready if is_at_first else worst.ready
    why = "" if is_at_first or not worst.why else f": {worst.why.removesuffix('.')}"
    safe, of = sum(margin_of(*row) >= 0 for row in rows), count_of(len(rows), domain_noun(loss.topology_key))
    result = _judge(
        f"losing {loss.name} leaves {left:,} of {worst.wanted:,} ready {when}",
        margin_of(loss, worst),
        f"{worst.enough if ready is None else scaled_value(ready, worst.wanted, round_up=True):,}",
        f"{why}; {f'{safe:,}' if safe else 'none'} of {of} {'can be lost' if ready is None else 'keep it'}",
        is_known=is_at_first or not worst.controller_unknown,
    )
    return _Result("unknown", part) if part and result.state == "held" else result


def _audit(key: str, workload: WorkloadName, asking: _Asking) -> AuditedWorkload | None:
    """The workload's row in an audit; None if it is to have no pods."""
    if workload not in asking.with_pods:
        return None
    names = tuple(f"{name.namespace}/{_reference(name)}" for name in asking.workloads if name in asking.with_pods)
    question = Audit(workloads=names, key=key, preemption=asking.question.preemption)
    report = asking.answer(question, ("audit", key))
    for row in report.workloads:
        if row.workload == workload:
            return row
    raise UsageError("it is not audited" if report.unfinished is None else report.unfinished.sentence)


def _ready(workload: WorkloadName, promised: IntOrString, asking: _Asking) -> _Result:
    row = _audit("", workload, asking)
    ready, replicas = (0, 0) if row is None else (row.ready, row.replicas)
    least = scaled_value(promised, replicas, round_up=True)
    return _judge(f"{ready:,} of {count_of(replicas, 'pod')} ready", ready - least, f"{least:,}")


def _spread(workload: WorkloadName, key: str, most: int, asking: _Asking) -> _Result:
    """Judge the worst skew of the workload's own constraints over ``key``; without one, the skew of all its pods."""
    key = asking.full(key)
    row = _audit(key, workload, asking)
    if row is None or not row.placed:
        return _Result("held" if row is None else "unknown", "it has no pods on nodes", most if row is None else None)
    over_key = (constraint for constraint in row.constraints if constraint.topology_key == key)
    own = [constraint for constraint in over_key if constraint.source == "pod"]
    if own:
        worst = max(own, key=lambda constraint: constraint.skew)
        skew, text = worst.skew, counts_text(worst.counts, worst)
    else:
        counts = row.zones if key == ZONE else row.domains
        pods = [domain.pods for domain in counts]
        skew, text = max(pods, default=0) - min(pods, default=0), counts_text(counts)
    return _judge(f"skew {skew:,} ({text})", most - skew, f"{most:,}")


def _fits(workload: WorkloadName, promised: IntOrString, asking: _Asking) -> _Result:
    """Judge whether so many replicas find a node without preempting others."""
    replicas, note = desired_replicas(asking.world, workload), ""
    if promised == HPA_MAX:
        objects = asking.world.workloads.objects
        for gap in objects.gap(HorizontalPodAutoscaler, "how many replicas it may get is not known"):
            asking.unread[gap] = None
            return _Result("unknown", gap)
        autoscalers = autoscalers_of(workload, objects)
        most = ((autoscaler.most, f" as the most of {autoscaler.text}") for autoscaler in autoscalers)
        replicas, note = max(most, default=(replicas, ""))
    elif isinstance(promised, int):
        replicas = promised
    pods = (Reference(owner_kind(workload.kind), workload.name, workload.namespace),)
    question = Simulate(pods=pods, replicas="max", namespace=workload.namespace)
    (report,) = asking.answer(question, ("fits", workload))
    if report.gates:
        return _Result("broken", report.answer[0])
    says, why = f"{count_of(report.running, 'replica')} fit", f": {report.stopped}" if report.stopped else ""
    return _judge(says, report.running - replicas, f"{replicas:,}{note}", why)


def _rollout(workload: WorkloadName, promised: IntOrString, asking: _Asking) -> _Result:
    """Judge whether a restart completes with so many pods ready all the time."""
    step = parse_step(f"rollout {workload.namespace}/{_reference(workload)}", None)
    question = Steps(Scenario((step,), preemption=asking.question.preemption))
    (played,) = asking.answer(question, step.text).steps
    if played.failed is not None or not played.rollouts:
        return _Result("unknown", played.failed or "it has no pods to replace")
    rollout = played.rollouts[0]
    if not rollout.complete or rollout.stuck_runs:
        chance = f" in {rollout.stuck_runs} of {rollout.runs} runs" if rollout.may_get_stuck else ""
        return _Result("broken", f"its rollout does not get done{chance}: {rollout.wedged_on or rollout.stuck_on}")
    least, fewest = scaled_value(promised, rollout.replicas, round_up=True), rollout.fewest_ready
    says = f"{fewest:,} of {count_of(rollout.replicas, 'pod')} ready at worst while it is rolled out"
    return _judge(says, fewest - least, f"{least:,}")


def _drain(workload: WorkloadName, asking: _Asking) -> _Result:
    """Judge whether each node by itself can go as far as the workload is concerned."""
    # Whether kubectl refuses for other pods is no workload's promise.
    question = Removable(force=True, remedies=False, preemption=asking.question.preemption)
    report = asking.answer(question, "removable")
    if not asking.world.objects.knows(PodDisruptionBudget):
        return _Result("unknown", "no PodDisruptionBudget objects: whether one keeps its pods is not known")
    pods = [pod for pod in asking.settled_world.book if workload_of(asking.settled_world, pod) == workload]
    own, nodes = ({workload, *map(full_name, pods)}, {pod.spec.node_name for pod in pods if pod.spec.node_name})
    rows = [row for row in report.rows if row.name in nodes]
    refusals = [(row, trouble) for row in rows for trouble in row.troubles if trouble.subject in own]
    of, bad = f"{count_of(len(nodes), 'node')} with its pods", {row.name for row, _ in refusals}
    if refusals:
        (row, trouble), is_known = refusals[0], any(trouble.certain for _, trouble in refusals)
        says = f"draining {row.name} ({len(bad):,} of {of}): {phrase(row, trouble.kind)}"
        return _Result("broken" if is_known else "unknown", says, -len(bad))
    if report.unfinished is not None:
        return _Result("unknown", report.unfinished.sentence)
    return _Result("held", f"{of} can be drained")


def _room(resource: str, promised: str, asking: _Asking) -> _Result:
    """Judge the usable amount: behind taints too, not on cordoned or silent nodes or where another resource is full."""
    report = asking.answer(Capacity(), "capacity")
    row = next((row for row in report.resources if row.resource == resource), None)
    whole = parse("0" if row is None else row.allocatable)
    if row is None or not whole.nano:
        return _Result("broken", f"no node has any {resource}")
    usable = sum((parse(part.amount) for part in row.stranded if part.tolerable), parse(row.usable))
    left = shorten(str(usable))
    if promised.endswith("%"):
        margin = 100 * usable.nano - int(promised[:-1]) * whole.nano
        says = f"{100 * usable.nano / whole.nano:.1f} % left ({left} of {shorten(row.allocatable)})"
        return _judge(says, margin, promised)._replace(margin=round(margin / whole.nano, 1))
    margin = usable.nano - parse(promised).nano
    return _judge(f"{left} left", margin, promised)._replace(margin=margin / NANO)
