"""A scenario played: one step after another, each until nothing changes any more.

What a scenario's manifests and settings become in a world: admitted workloads with their templates.

Source of the order of events within a step: `World.settle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.applied import apply_manifest, with_manifest_objects
from kubespread.candidate.candidate import Candidate, revise
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.replicas import is_rolled_out, refuse_update
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import Reference, Source, Sources, Surroundings, missing_namespace, read_sources
from kubespread.controllers.deployment import is_one_template, without_hash
from kubespread.deadline import check
from kubespread.errors import KubespreadError, SnapshotError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.api.kinds import KIND_OF, NAMESPACED, WORKLOADS, owner_kind
from kubespread.kube.api.meta import ApiObject, ObjectMeta
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkload
from kubespread.kube.owners import WorkloadName, WorkloadReference, full_name, is_active, is_ready
from kubespread.questions.plan import OF_STEPS, PlanReport, PlanStep
from kubespread.questions.scene import Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import as_snapshot
from kubespread.reports.outcome import GonePod, Outcome, PlacedPod
from kubespread.reports.rollout import RolloutReport
from kubespread.scenario.reading import Scenario, ScenarioGiven, Step, read_scenario
from kubespread.scenario.verbs import Apply, Ready, Restore, Rollback, Rollout, Stuck
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import Edit, OfNodes, Verb, nodes_of_target
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of
from kubespread.world.events.applying import AppliedWorkload, apply_workload, roll_back
from kubespread.world.events.controllers import rollout_of_cluster
from kubespread.world.events.draining import restore
from kubespread.world.events.editing import apply as edit
from kubespread.world.events.editing import exists, not_found
from kubespread.world.events.rollouts import resumed_report
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Difference, Event, Grow, Trial
from kubespread.world.reporting.outcomes import current_troubles, outcome
from kubespread.world.store.chance import Chance, notes_on_runs, run_count, seeds
from kubespread.world.store.happenings import Departure, Happenings
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import on_node, running_since

_MAX_RUNS = 10_000
_PARTLY_KNOWN = (
    "the snapshot does not say what its template holds beside what scheduling reads (saved by an older kubespread, or "
    "anonymized): taken to be unchanged, and not rolled out"
)


class Steps(Struct, frozen=True):
    """Question that plays the steps of a scenario, for other questions."""

    scenario: Scenario
    namespace: str | None = None
    runs: int | None = None
    seed: int | None = None

    @property
    def preempts(self) -> bool:
        return self.scenario.preemption

    @property
    def autoscaler(self) -> Any:
        return self.scenario.autoscaler

    @property
    def node_groups(self) -> Any:
        return self.scenario.node_groups

    @property
    def instance_types(self) -> Any:
        return self.scenario.instance_types

    def answer(self, scene: Scene) -> PlanReport:
        """Play the steps in the scene's world, which is then as after the last one.

        Raises UsageError, ManifestError and SnapshotError before anything is played.
        """
        if self.runs is not None and not 1 <= self.runs <= _MAX_RUNS:
            raise UsageError(f"runs must be from 1 to {_MAX_RUNS}, not {self.runs}")
        since = monotonic()
        playing = Playing.build(self, scene)
        took = monotonic() - since
        playing.check()
        report, happenings = playing.play()
        count = run_count(happenings) if self.runs is None else self.runs
        others = list(scene.tasks(playing, list(seeds(self.seed, count)), took=took))
        missing = [f"run {number}" for number in range(len(others) + 2, count + 1)]
        return replace(
            report.merge(others) if others else report,
            cluster=scene.source,
            gaps=scene.gaps(scene.world.assumed),
            notes=(*scene.notes, *report.notes, *notes_on_runs(self.seed, len(others) + 1)),
            unfinished=scene.budget.missing("run", count, missing),
        )

    full_answer = answer


def after_steps(
    snapshot: Snapshot,
    scenario: ScenarioGiven,
    steps: int | None = None,
    scheduler: Scheduler | None = None,
    *,
    namespace: str | None = None,
) -> Snapshot:
    """The cluster after some ``steps`` of ``scenario``, by default all, to ask other questions about.

    ``namespace`` is for names without one if the scenario has none. Raises what `plan` raises, and UsageError for a
    number of steps that the scenario does not have.
    """
    read = read_scenario(scenario)
    if steps is not None and not 0 <= steps <= len(read.steps):
        raise UsageError(f"step {steps}: the scenario has {count_of(len(read.steps), 'step')}")
    question = Steps(replace(read, steps=read.steps[:steps]), namespace, runs=1)
    scene = Scene(snapshot, scheduler or Scheduler(), question)
    question.answer(scene)
    return as_snapshot(scene.world, scene.edited_snapshot)


class Playing(Struct, frozen=True):
    """A scenario in a world. Called with a seed, it plays that run in a world of its own."""

    scenario: Scenario
    world: World
    begun: World
    """World before the first step."""
    snapshot: Snapshot
    """Snapshot of the world."""
    scheduler: Scheduler
    namespace: str
    """Namespace of names without one."""
    grow: Grow | None

    @classmethod
    def build(cls, question: Steps, scene: Scene) -> Self:
        scenario, now, world = question.scenario, scene.edited_snapshot, scene.world
        namespace = scenario.namespace or question.namespace or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE
        world.settings = replace(world.settings, chance=Chance.from_seed(question.seed))
        return cls(scenario, world, world.fork(), now, scene.scheduler, namespace, scene.grow)

    @property
    def assumed(self) -> dict[str, None]:
        return self.world.assumed

    def __call__(self, seed: int) -> PlanReport:
        world = self.begun.fork()
        world.settings = replace(world.settings, chance=Chance.from_seed(seed))
        report, _ = replace(self, world=world).play()
        return report

    def check(self) -> None:
        """Check the nodes, workloads and manifests of the steps, unless an earlier step may add them; the world is not
        changed.

        Raises UsageError with a line for every step that names something missing, and ManifestError for the first
        manifest that the API server would refuse.
        """
        faults, brings_nodes, applies = list[str](), False, False
        for place, step in enumerate(self.scenario.steps):
            try:
                self._check(step, brings_nodes=brings_nodes, applies=applies)
            except UsageError as error:
                faults.append(f"step {place + 1} ({step.text}): {error}")
            brings_nodes |= step.action.brings_nodes
            applies |= isinstance(step.action, Apply)
        try:
            self._check_workloads(self.scenario.stuck, applies=applies)
        except UsageError as error:
            faults.append(f"spec.readiness: {error}")
        if faults:
            raise UsageError(*faults)

    def _check(self, step: Step, *, brings_nodes: bool, applies: bool) -> None:
        """Check one step, less strictly if earlier ones bring nodes or apply manifests."""
        check()
        action, nodes = step.action, self.world.living.nodes.objects
        if isinstance(action, AddNode) and not brings_nodes:
            action.change(nodes)
        elif isinstance(action, OfNodes) and not brings_nodes:
            nodes_of_target(action.target, nodes)
        named = [*action.workloads] if isinstance(action, Stuck) else []
        if isinstance(action, Rollout | Rollback):
            named.append(action.workload)
        elif isinstance(action, Scale):
            named.append(WorkloadReference(action.kind, action.name, action.namespace))
        self._check_workloads(named, applies=applies)
        if isinstance(action, Apply):
            self._read_manifests(action)
        elif isinstance(action, Rollout) and exists(self.world, action.workload.in_namespace(self.namespace)):
            self._rolled_out(action)

    def _check_workloads(self, workloads: Sequence[WorkloadReference], *, applies: bool) -> None:
        if applies:
            return
        for name in self._resolve_names(workloads):
            if not exists(self.world, name):
                raise not_found(self.world, name)

    def play(self) -> tuple[PlanReport, list[Happenings]]:
        """Play the steps once, in the world; the report, and the happenings before the first step and in each.

        A step that fails is reported, and the next one is played: `check` finds mistakes before.
        """
        world = self.world
        stuck = frozenset(self._resolve_names(self.scenario.stuck))
        world.settings = replace(world.settings, stuck=stuck)
        before = world.cluster
        # The steps happen in the world itself, and are compared with a fork.
        baseline = Baseline.settle(world, self.grow)
        trial = Trial(replace(baseline, world=world.fork()), world)
        start = Difference(trial.baseline, world, (baseline.happenings,))
        report = PlanReport(
            kube_version=str(self.scheduler.release(self.snapshot.origin.release)),
            name=self.scenario.name or None,
            node_count=len(before),
            preemption=world.settings.preempts,
            waiting=tuple(current_troubles(world)),
            start=outcome(Outcome, "before the first step", start, before),
            steps=tuple(self._step(trial, number, step) for number, step in enumerate(self.scenario.steps, 1)),
            gaps=tuple(world.assumed),
            not_modelled=OF_STEPS,
        )
        return report, [baseline.happenings, *trial.happened]

    def _step(self, trial: Trial, number: int, step: Step) -> PlanStep:
        failed: list[str] = []
        rollouts: Sequence[RolloutReport | None] = ()

        def happen(_: World) -> None:
            nonlocal rollouts
            failed.clear()
            try:
                rollouts = self._apply(step.action, failed)
            except KubespreadError as error:
                failed.append(str(error))

        played = played_step(trial, number, step.text, happen, title=step.name or None)
        reports = [rollout for rollout in rollouts if rollout is not None]
        if played.nodes.joined:
            # Those of an autoscaler, for which the rollouts went on.
            reports = [resumed_report(self.world, rollout) for rollout in reports]
        return replace(played, failed="; ".join(failed) or None, rollouts=tuple(reports))

    def _resolve_names(self, names: Iterable[WorkloadReference]) -> Iterator[WorkloadName]:
        return (self.world.resolve_name(name.in_namespace(self.namespace)) for name in names)

    def _switch_readiness(self, step: Stuck) -> None:
        """Switch readiness from now on. Unready pods of a workload that is no longer stuck become ready at once."""
        world, named = self.world, set(self._resolve_names(step.workloads))
        if not isinstance(step, Ready):
            world.settings = replace(world.settings, stuck=world.settings.stuck | named)
            return
        ready = named | {owner for name in named for owner in world.owners_below(name)}
        world.settings = replace(world.settings, stuck=world.settings.stuck - ready)
        since = running_since(world.timestamp, ready=True)
        pods = [pod for owner in sorted(ready, key=in_order) for pod in world.book.pods_of(owner) if pod.spec.node_name]
        unready = [pod for pod in pods if is_active(pod) and not is_ready(pod)]
        world.change_pods((pod, on_node(pod, pod.spec.node_name, since)) for pod in unready)

    def _apply(self, verb: Verb, refused: list[str]) -> Sequence[RolloutReport | None]:
        """Apply one verb, adding to ``refused`` why some of several objects are not taken. Raises KubespreadError."""
        world = self.world
        match verb:
            case Edit():
                edit(world, verb, self.namespace)
            case Stuck():
                self._switch_readiness(verb)
            case Restore():
                nodes = nodes_of_target(verb.target, world.living.nodes.objects)
                restore(world, [node.metadata.name for node in nodes])
            case Rollout():
                return [apply_workload(world, self._rolled_out(verb))]
            case Rollback():
                return [roll_back(world, verb.workload.in_namespace(self.namespace))]
            case Apply():
                return self._apply_manifests(verb, refused)
        return ()

    def _apply_manifests(self, step: Apply, refused: list[str]) -> Sequence[RolloutReport | None]:
        world, (objects, workloads, notes) = self.world, self._read_manifests(step)
        missing = self._missing_namespaces(objects, workloads)
        if self.scenario.creates_namespaces:
            notes = (*notes, *(f"namespace {name} is created" for name in missing))
            labels = ((name, {"kubernetes.io/metadata.name": name}) for name in missing)
            created = [Namespace(metadata=ObjectMeta(name=name, labels=own)) for name, own in labels]
            objects, missing = [*created, *objects], {}
        refused += missing.values()
        world.add_objects(obj for obj in objects if _namespace_of(obj) not in missing)
        for note in notes:
            world.happenings.note(note)
        allowed = (workload for workload in workloads if workload.pod.metadata.namespace not in missing)
        return [apply_workload(world, workload) for workload in allowed]

    def _read_manifests(self, step: Apply) -> tuple[Sequence[ApiObject], Sequence[AppliedWorkload], Sequence[str]]:
        """Read new or changed objects (budgets, Services, PriorityClasses), the workloads in order, and notes.

        Raises KubespreadError for objects that the API server would refuse.
        """
        now = self._current
        surroundings = replace(
            self._surroundings(now, self.namespace, step.settings), recursive=True, allows_no_workload=True
        )
        read = read_sources(step.manifests, surroundings)
        if read.errors:
            raise read.errors[0]
        sources = (*read.manifests, *read.workload_sources)
        if not read.skipped and all(isinstance(source, Manifest) and not source.items for source in sources):
            # As kubectl says it.
            raise UsageError("no objects passed to apply")
        surroundings, notes = with_manifest_objects(surroundings, read.manifests)
        workloads = [self._read_workload(source, surroundings) for source in _sources(read, surroundings)]
        self.world.assume(read.gaps)
        return tuple(_new_objects(now, surroundings.snapshot)), workloads, (*read.notes, *notes)

    def _missing_namespaces(
        self, objects: Sequence[ApiObject], workloads: Sequence[AppliedWorkload]
    ) -> Mapping[str, str]:
        """Namespaces of applied objects that neither exist nor are applied, with the API server's answer."""
        now, brought = self._current, {obj.metadata.name for obj in objects if isinstance(obj, Namespace)}
        used = {*map(_namespace_of, objects), *(workload.pod.metadata.namespace for workload in workloads)}
        answers = {name: missing_namespace(now, name) for name in sorted(used - brought - {""})}
        refusal = "nothing is created in it without --create-namespaces"
        return {name: f"{answer}; {refusal}" for name, answer in answers.items() if answer}

    def _rolled_out(self, step: Rollout) -> AppliedWorkload:
        """The workload with the template of its manifest, with fields set, or restarted. Raises KubespreadError."""
        now, name = self._current, step.workload.in_namespace(self.namespace)
        surroundings = self._surroundings(now, name.namespace, step.settings)
        if step.manifest is None:
            restarted_at = "" if step.settings else self.world.timestamp
            return self._reload(name, surroundings, restarted_at)
        surroundings = replace(surroundings, name=f"{name.namespace}/{name.kind}/{name.name}", one_only=True)
        read = read_sources([step.manifest], surroundings)
        if read.errors:
            raise read.errors[0]
        return self._read_workload(read.choose(surroundings)[0], surroundings)

    @property
    def _current(self) -> Snapshot:
        return as_snapshot(self.world, self.snapshot)

    def _surroundings(self, snapshot: Snapshot, namespace: str, settings: Sequence[str]) -> Surroundings:
        return Surroundings(
            snapshot,
            self.scheduler.release(snapshot.origin.release),
            context_namespace=namespace,
            admission=self.scheduler.admission_plugins,
            settings=parse_settings(settings),
        )

    def _read_workload(self, source: Source, surroundings: Surroundings) -> AppliedWorkload:
        if isinstance(source, Reference):
            name = WorkloadName(source.kind.kind, source.namespace or surroundings.context_namespace, source.name)
            return self._reload(name, surroundings)
        candidate, now = apply_manifest(source, surroundings), surroundings.snapshot
        self.world.assume((*candidate.gaps, *candidate.admission_gaps))
        refuse_update(candidate, now)
        is_other = is_rolled_out(candidate, now)
        if is_other is None and candidate.workload is not None and isinstance(candidate.object, LabelSelectingWorkload):
            self.world.assume([f"{candidate.workload.kind}/{candidate.workload.name}: {_PARTLY_KNOWN}"])
        workload = _of_candidate(candidate, is_other=bool(is_other))
        return _with_earlier_template(self.world, workload) if is_other else workload

    def _reload(self, name: WorkloadName, surroundings: Surroundings, restarted_at: str = "") -> AppliedWorkload:
        row, now = owner_kind(name.kind), surroundings.snapshot
        if row.foreign:
            raise UsageError(f"how the controller of a {name.kind} replaces pods is not modeled")
        if reason := now.origin.unread.get(name.kind):
            raise SnapshotError(f'{row.resource} "{name.name}" cannot be looked up: {reason}')
        if row.cls is Pod or not row.is_stored:
            raise UsageError(f"a {name.kind} cannot be applied again by name: name its manifest")
        obj = now.objects.find(row.cls, name.name, name.namespace)
        if obj is None:
            raise not_found(self.world, name)
        candidate = revise(obj, row, surroundings, restarted_at)
        self.world.assume(candidate.admission_gaps)
        return _of_candidate(candidate, is_other=candidate.template is not None)


def played_step(trial: Trial, number: int, name: str, event: Event, **fields: Any) -> PlanStep:
    """Play ``event`` as the next step in the trial's world, and report its outcome."""
    before = trial.world.cluster
    difference = trial.advance(event)
    step = difference.happened[-1]
    return outcome(
        PlanStep,
        name,
        difference,
        before,
        has_skew=True,
        number=number,
        pods_gone=tuple(_gone_pods(step.departures)),
        pods_placed=tuple(PlacedPod(pod=full_name(pod), node=pod.spec.node_name) for pod in step.placed),
        **fields,
    )


def _gone_pods(departures: Iterable[Departure]) -> Iterator[GonePod]:
    """Yield pods that left, for a report."""
    for departure in departures:
        yield GonePod(
            pod=full_name(departure.pod),
            node=departure.pod.spec.node_name or None,
            why=departure.why,
            lost_for_good=departure.is_lost_for_good,
            made_room_for=None if departure.made_room_for is None else full_name(departure.made_room_for),
            broken_budgets=departure.broken_budgets,
        )


def _sources(read: Sources, surroundings: Surroundings) -> Iterator[Source]:
    """Every workload, or the named one; manifests may hold none at all."""
    workload_sources = [
        source for source in read.workload_sources if not isinstance(source, Manifest) or source.workloads
    ]
    yield from replace(read, workload_sources=workload_sources).choose(surroundings) if workload_sources else ()


def _new_objects(before: Snapshot, after: Snapshot) -> Iterator[ApiObject]:
    """Objects that are new or changed, except pods, nodes and workloads."""
    for cls, objects in after.objects.by_type.items():
        unchanged = {id(obj) for obj in before.objects.get(cls)}
        if cls not in WORKLOADS:
            yield from (obj for obj in objects if id(obj) not in unchanged)


def _namespace_of(obj: ApiObject) -> str:
    return obj.metadata.namespace if isinstance(obj, NAMESPACED) else ""


def _of_candidate(candidate: Candidate, *, is_other: bool) -> AppliedWorkload:
    creator = candidate.object
    row = KIND_OF.get(type(creator)) if creator is not None else None
    has_replicas = row is not None and row.has_replicas
    return AppliedWorkload(
        candidate.pod,
        candidate.workload,
        creator if row is not None else None,
        creator.spec.replicas if has_replicas else None,  # type: ignore[union-attr]  # the row says that it has the field
        is_other,
        candidate.replicas,
    )


def _with_earlier_template(world: World, workload: AppliedWorkload) -> AppliedWorkload:
    """A Deployment that returns to an earlier template gets exactly that one: its ReplicaSet exists already."""
    obj, name = workload.object, workload.name
    if not isinstance(obj, Deployment) or name is None or (applied := obj.spec.template) is None:
        return workload
    rollout = world.rollouts.get(name) or rollout_of_cluster(world, name)
    templates = [without_hash(replica_set.spec.template) for replica_set in rollout.replica_sets]
    alike = (template for template in templates if template is not None and template.unread == applied.unread)
    same = next((template for template in alike if is_one_template(template, applied) is not False), None)
    if same is None:
        return workload
    return replace(workload, object=replace(obj, spec=replace(obj.spec, template=same)))
