"""Asks for each promise the question that decides it, each question once for all promises that it decides."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from shlex import quote
from typing import Any, Literal, TypeVar

import msgspec

from kubespread.candidate.replicas import autoscalers_of
from kubespread.candidate.sources import Reference
from kubespread.errors import EngineError, Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.cluster_objects import HorizontalPodAutoscaler, PodDisruptionBudget
from kubespread.kube.api.kinds import POD_CREATORS, of_pods
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import Named, NamespacedName, WorkloadName, is_active
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.audit.standing import groups
from kubespread.questions.autoscaling.asked import autoscaler_of, growth, with_files_read
from kubespread.questions.capacity.question import Capacity
from kubespread.questions.commands import Commands, option_of
from kubespread.questions.plan.playing import Steps, after_steps
from kubespread.questions.plan.report import PlanReport
from kubespread.questions.question import AUTOSCALER_TYPES
from kubespread.questions.scene import Inquiry, Scene
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.survive.question import Survive
from kubespread.questions.survive.report import SurviveReport
from kubespread.questions.verify import clauses
from kubespread.questions.verify.clauses import Found
from kubespread.questions.verify.question import Verify
from kubespread.questions.verify.report import Clause, VerifiedClause, VerifyReport
from kubespread.questions.workloads_asked import WorkloadsAsked
from kubespread.scenario import promises as terms
from kubespread.scenario.reading import Scenario, Step, parse_step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.world.events.editing import exists, not_found
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas, workload_of
from kubespread.world.store.owners import in_order

Data = dict[str, Any]


A = TypeVar("A")
_Judging = Callable[[Clause, WorkloadName | None, str, Sequence[str], Callable[[], Found]], VerifiedClause]
_KINDS = frozenset(row.kind for row in POD_CREATORS.values() if row.has_replicas)


def answer(question: Verify, scene: Scene) -> VerifyReport:
    """Nothing happens in the scene's world. Raises ManifestError for what is not in the cluster, before anything is
    asked, and UsageError where nothing is promised.
    """
    promises = question.promises
    if promises is None:
        raise UsageError("verify needs a file of promises")
    notes, source = scene.notes, scene.source
    # No other question applies manifests.
    commands = Commands(scene.snapshot, scene.scheduler, question)
    question = msgspec.structs.replace(question, **with_files_read(question))
    if question.filename:
        scene = _with_manifests(question, scene)
    # What no autoscaler can be asked with is wrong with the question, not with a promise.
    growth(question, scene.now)
    verifying = _Verifying(question, scene, commands)
    today = question.today or datetime.datetime.now(datetime.UTC).date()
    verifying.check(promises)
    rows = [_judged(row, promises.promises[row.promise - 1], today) for row in verifying.rows()]
    return VerifyReport(
        kube_version=str(scene.release),
        cluster=source,
        preemption=question.preemption,
        file=promises.file,
        promises=len(promises.promises),
        clauses=tuple(rows),
        applied=question.filename,
        gaps=verifying.said("gaps"),
        not_modelled=verifying.said("not_modelled"),
        notes=tuple(dict.fromkeys((*notes, *verifying.said("notes")))),
        unfinished=scene.unfinished("promise", len(verifying.asked), verifying.missing),
    )


def _with_manifests(question: Verify, scene: Scene) -> Scene:
    """The question about the cluster in which the manifests were applied. Raises ManifestError and UsageError."""
    words = " ".join(map(quote, question.filename))
    apply = Scenario((Step(f"apply {words}", Apply(question.filename)),), preemption=question.preemption)
    then = after_steps(scene.snapshot, apply, scheduler=scene.scheduler, namespace=_namespace(question, scene))
    return msgspec.structs.replace(scene, given=then)


def _namespace(question: Verify, scene: Scene) -> str:
    """That of names without one."""
    given = (question.promises.namespace if question.promises is not None else None) or question.namespace
    return given or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE


def _judged(row: VerifiedClause, promise: terms.Promise, today: datetime.date) -> VerifiedClause:
    """With what is said of the exemption: it is over when its last day is."""
    if promise.until is None:
        return row
    is_accepted = row.state == "broken" and today <= promise.until
    return msgspec.structs.replace(
        row,
        state="accepted" if is_accepted else row.state,
        until=promise.until.isoformat(),
        reason=promise.reason or None,
    )


class _Verifying(Inquiry):
    """The promises about one cluster, and the answers that decide them."""

    def __init__(self, question: Verify, scene: Scene, commands: Commands) -> None:
        super().__init__(scene)
        self._question, self._world = question, scene.world
        self._namespace = _namespace(question, scene)
        self._autoscaled: Data = {name: getattr(question, name) for name in AUTOSCALER_TYPES}
        self._lacking: dict[str, None] = {}
        self._commands = commands
        self._promises: Sequence[terms.Promise] = ()
        self._chosen: dict[str, Sequence[WorkloadName]] = {}

    def check(self, promises: terms.Promises) -> None:
        """Go on with these. Raises ManifestError for workloads and topology keys that the cluster does not have."""
        self._promises, faults = promises.promises, list[Fault]()
        for promise in promises.promises:
            field = "workload" if promise.workload is not None else "namespace"
            try:
                self._chosen[promise.path] = self._workloads(promise)
                for field, key in promise.keys:  # noqa: B007 - the one that is wrong
                    check_topology_keys([self._full(key)], self.scene.now.nodes)
            except UsageError as error:
                path, line = f"{promise.path}.{field}", promise.line(field)
                faults += (Fault(text, path, line) for text in str(error).split("\n"))
        if faults:
            raise ManifestError(promises.file or "<promises>", faults)

    def _full(self, key: str) -> str:
        return full_topology_key(key, self.scene.now.nodes)

    def _has_replicas(self, name: WorkloadName) -> bool:
        """Of another kind, whether what it loses is made again."""
        if name.kind in POD_CREATORS:
            return name.kind in _KINDS
        return any(map(self._world.makes_others, self._world.owners_below(name)))

    def _workloads(self, promise: terms.Promise) -> Sequence[WorkloadName]:
        """Raises UsageError where there are none."""
        if promise.workload is not None:
            name = self._world.meant(promise.workload.within(self._namespace))
            if not exists(self._world, name):
                raise not_found(self._world, name)
            return [name]
        if promise.namespace is None:
            return []
        whose = WorkloadsAsked.of(promise.namespace, promise.selector)
        names = list(filter(self._has_replicas, whose.chosen_in(self._world)))
        if not names:
            raise whose.none_found(self.scene.now)
        return names

    def rows(self) -> list[VerifiedClause]:
        """What becomes of each thing that is promised, as far as there is time."""
        return [
            row
            for number, promise in enumerate(self._promises, 1)
            for row in self.part(f"{number}: {promise.whose}", partial(self._clauses, number, promise))
        ]

    def _clauses(self, number: int, promise: terms.Promise) -> Iterator[VerifiedClause]:
        of = partial(self._clause, number, promise)
        for workload in self._chosen[promise.path]:
            yield from self._survivals(of, promise, workload)
            yield from self._others(of, promise, workload)
        for resource, amount in promise.room.items():
            yield of("room", None, f"{resource} {amount}", ("capacity",), partial(self._room, resource, amount))

    def _clause(
        self,
        number: int,
        promise: terms.Promise,
        clause: Clause,
        workload: WorkloadName | None,
        promised: str,
        words: Sequence[str],
        find: Callable[[], Found],
    ) -> VerifiedClause:
        """One thing that is promised, as ``find`` finds it; ``words`` are those of the command that shows it."""
        try:
            found = find()
        except EngineError:
            # No promise is at fault, and none would fare better.
            raise
        except KubespreadError as error:
            found = Found("unknown", str(error).replace("\n", "; "))
        namespace = None if workload is None else workload.namespace
        return VerifiedClause(
            promise=number,
            line=promise.line(clause),
            clause=clause,
            workload=workload,
            promised=promised,
            state=found.state,
            says=found.says,
            margin=found.margin,
            needed=found.needed,
            unit=found.unit if found.needed is not None else "",
            step=found.step,
            command=self._commands.of(*words, *found.words, namespace=namespace),
        )

    def _survivals(self, of: _Judging, promise: terms.Promise, workload: WorkloadName) -> Iterator[VerifiedClause]:
        """What is promised of each domain that may be lost."""
        survives, ready, back = promise.survives, promise.ready, promise.back
        if survives is None:
            return
        after = [option_of(str(edit)) for edit in _edits_of(survives)]
        words = ("survive", quote(_reference(workload)), "--key", quote(survives.topology_key), *after)
        if ready is not None:
            yield of(
                "ready",
                workload,
                f"{ready}, {survives}",
                words,
                lambda: self._once_done(
                    survives, clauses.ready_without(self._survive(survives, "while silent"), workload, ready)
                ),
            )
        if back is not None or ready is None:
            clause: Clause = "survives" if back is None else "back"
            promised = f"{survives}" if back is None else f"{back}, {survives}"
            when = back or terms.BACKS[self._question.autoscaler is not None]
            deleted = ("--nodes-deleted",) if when == "nodes deleted" else ()
            yield of(
                clause,
                workload,
                promised,
                (*words, *deleted),
                lambda: self._once_done(survives, clauses.back(self._survive(survives, when), workload)),
            )

    def _others(self, of: _Judging, promise: terms.Promise, workload: WorkloadName) -> Iterator[VerifiedClause]:
        """What is promised of the pods as they are, of more replicas, of a rollout and of drains."""
        reference, ready, fits, least = quote(_reference(workload)), promise.ready, promise.fits, promise.rollout
        if ready is not None and promise.survives is None:
            yield of(
                "ready",
                workload,
                f"{ready}",
                ("audit", reference),
                lambda: clauses.ready_now(self._audited("", workload), ready),
            )
        for key, most in promise.spread.items():
            words = ("audit", reference, "--key", quote(key))
            yield of("spread", workload, f"{key} {most}", words, partial(self._spread, workload, key, most))
        if fits is not None:
            yield of("fits", workload, f"{fits}", ("simulate", reference), lambda: self._fits(workload, fits))
        if least is not None:
            yield of(
                "rollout",
                workload,
                f"{least}",
                ("plan", quote(f"rollout {reference}"), "--steps"),
                lambda: clauses.rollout(self._played(f"rollout {workload.namespace}/{_reference(workload)}"), least),
            )
        if promise.drain:
            yield of("drain", workload, terms.NEVER_BLOCKED, ("plan",), lambda: self._drain(workload))

    def _survive(self, survives: terms.Survives, when: terms.Back) -> SurviveReport:
        """One answer for all workloads of which it is promised; nodes are added once the silent ones are deleted."""
        told = (
            name for promise in self._promises if promise.survives == survives for name in self._chosen[promise.path]
        )
        is_deleted = when == "nodes deleted"
        question = Survive(
            keys=(self._full(survives.topology_key),),
            told=tuple(dict.fromkeys(told)),
            nodes_deleted=is_deleted,
            preemption=self._question.preemption,
            **(self._autoscaled if is_deleted else {}),
        )
        return self.of(question, "losing domains", (survives, when), self._after(survives))

    def _after(self, survives: terms.Survives) -> Scene:
        return msgspec.structs.replace(self.scene, given=self.scene.snapshot.edited(*_edits_of(survives)))

    def _once_done(self, survives: terms.Survives, found: Found) -> Found:
        """What holds after an edit is not known where that is not done in full."""
        if not survives.after:
            return found
        if found.state == "held" and self._after(survives).undone:
            return Found("unknown", f"{survives.after}: not done in full, so what follows is not known")
        return msgspec.structs.replace(found, says=f"{survives.after}, then {found.says}")

    def _audited(self, key: str, workload: WorkloadName) -> AuditedWorkload:
        """Its row in one answer for all workloads that this is asked of."""
        asked = (
            name
            for promise in self._promises
            if any(self._full(own) == key for own in promise.spread)
            or (not key and promise.ready is not None and promise.survives is None)
            for name in self._chosen[promise.path]
        )
        # An audit refuses those that have no pods and are to have none.
        audited = {group.name for group in groups(self._world, frozenset(asked).__contains__)}
        if workload not in audited:
            return clauses.without_pods(workload)
        names = tuple(f"{name.namespace}/{_reference(name)}" for name in sorted(audited, key=in_order))
        question = Audit(workloads=names, key=key, preemption=self._question.preemption)
        report = self.of(question, "auditing workloads", ("audit", key))
        row = next((row for row in report.workloads if row.workload == workload), None)
        if row is None:
            raise UsageError(report.unfinished.sentence if report.unfinished is not None else "it is not audited")
        return row

    def _spread(self, workload: WorkloadName, key: str, most: int) -> Found:
        full = self._full(key)
        return clauses.spread(self._audited(full, workload), full, most)

    def _fits(self, workload: WorkloadName, wanted: terms.Fits) -> Found:
        desired, beside = desired_replicas(self._world, workload), ""
        replicas = desired
        if isinstance(wanted, terms.Multiple):
            replicas, beside = wanted.of(desired), f" ({wanted} {desired:,})"
        elif isinstance(wanted, int):
            replicas = wanted
        elif wanted == terms.HPA_MAX:
            objects = self._world.workloads.objects
            if gap := self._gap(HorizontalPodAutoscaler, "how many replicas it may get is not known"):
                return gap
            autoscalers = list(autoscalers_of(workload, objects))
            replicas = max((autoscaler.most for autoscaler in autoscalers), default=desired)
            named = next((autoscaler.text for autoscaler in autoscalers if autoscaler.most == replicas), "")
            beside = f" (the most of {named})" if named else " (no autoscaler)"
        report = self._simulated(workload, replicas)
        is_alone = not (report.lacking or report.preempted)
        return clauses.fits(report, self._simulated(workload, "max") if is_alone else None, beside)

    def _simulated(self, workload: WorkloadName, replicas: int | Literal["max"]) -> SimulateReport:
        question = Simulate(
            pods=(Reference(of_pods(workload.kind), workload.name, workload.namespace),),
            replicas=replicas,
            namespace=workload.namespace,
            preemption=self._question.preemption,
            **({} if replicas == "max" else self._autoscaled),
        )
        reports: Sequence[SimulateReport] = self.of(question, "placing replicas", (workload, replicas))
        return reports[0]

    def _played(self, *steps: str) -> PlanReport:
        growing = {**self._autoscaled, "autoscaler": autoscaler_of(self._question)}
        parsed = tuple(parse_step(step, None) for step in steps)
        scenario = Scenario(parsed, preemption=self._question.preemption, **growing)
        return self.of(Steps(scenario, self._namespace), f"playing {steps[0]}", steps)

    def _drain(self, workload: WorkloadName) -> Found:
        world = self._settled.world
        pods = [pod for pod in world.book if pod.spec.node_name and workload_of(world, pod) == workload]
        if not pods and not desired_replicas(world, workload):
            return Found("held", clauses.NO_PODS)
        if gap := self._gap(PodDisruptionBudget, "whether one keeps its pods is not known"):
            return gap
        nodes = sorted({pod.spec.node_name for pod in pods if is_active(pod)})
        # Whether kubectl refuses for other pods is no workload's promise.
        drains = [(node, self._played(f"drain {node} --force", f"delete-node {node}")) for node in nodes]
        return clauses.drain(drains, workload, {NamespacedName.of(pod) for pod in pods})

    @cached_property
    def _settled(self) -> Baseline:
        """The cluster that nodes are drained in."""
        baseline, _ = self.scene.asking(self._question, "draining nodes").settled("any node is drained")
        return baseline

    def _room(self, resource: str, promised: terms.Room) -> Found:
        return clauses.room(self.of(Capacity(), "adding up what is free"), resource, promised)

    def _gap(self, kind: type[ApiObject], consequence: str) -> Found | None:
        """That a promise cannot be judged without the objects of a kind; None where they were read."""
        gap = next(iter(self._world.workloads.objects.gap(kind, consequence)), None)
        if gap is None:
            return None
        self._lacking[gap] = None
        return Found("unknown", gap)

    def said(self, name: Literal["gaps", "not_modelled", "notes"]) -> tuple[str, ...]:
        """With the objects that are lacking."""
        return tuple(dict.fromkeys((*(self._lacking if name == "gaps" else ()), *super().said(name))))


def _edits_of(survives: terms.Survives) -> Sequence[Edit]:
    # No edit reads a file: the promises may be another's.
    return [parse(survives.after, None)] if survives.after else ()


def _reference(workload: WorkloadName) -> str:
    """``deploy/web``."""
    return str(Named(workload.kind, workload.name))
