"""A scenario played: one step after another, each until nothing changes any more.

What a scenario's manifests and settings become in a world: admitted workloads with their templates.

Source of the order of events within a step: `World.settle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate, Surroundings, from_manifest, revised
from kubespread.candidate.companions import with_manifest_objects
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.replicas import refuse_update, runs_another_template, scheduled_alike
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import Choosing, Reference, Source, Sources, read_sources
from kubespread.controllers.deployment import without_hash
from kubespread.errors import KubespreadError, SnapshotError, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT, POD_CREATORS, WORKLOADS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.kube.taint import DrainFlags
from kubespread.kube.versions import KubeVersion
from kubespread.questions.play.question import Play
from kubespread.questions.play.report import PlayReport, StepReport
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.upgrade.answer import replace_nodes
from kubespread.questions.upgrade.report import UpgradeReport
from kubespread.questions.worlds import as_snapshot
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.happened import RolloutReport
from kubespread.scenario.types import Scenario, Step
from kubespread.scenario.verbs import Apply, Restore, Rollback, Rollout, Upgrade
from kubespread.snapshot.edits.verb import Edit, OfNodes, Verb, nodes_of_target
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.applying import AppliedWorkload, apply_workload, rolled_back
from kubespread.world.events.controllers import rollout_of_cluster
from kubespread.world.events.draining import restore
from kubespread.world.events.editing import apply as edit
from kubespread.world.events.editing import not_found
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Trial
from kubespread.world.reporting.happenings import happened
from kubespread.world.store.happenings import Happenings
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import on_node, running_since


class Manifests(Struct, frozen=True):
    """Reads the manifests of a scenario's steps."""

    snapshot: Snapshot
    """Where the world came from."""
    scheduler: Scheduler

    def applied(self, world: World, step: Apply, namespace: str) -> Applied:
        """The workloads of the manifests, and their other objects."""
        now = self._now(world)
        choosing = Choosing(step.name, None, recursive=True, none_will_do=True)
        read = read_sources(step.given, now, choosing, namespace)
        if read.errors:
            raise read.errors[0]
        given = (*read.manifests, *read.bearing)
        if not read.skipped and all(isinstance(source, Manifest) and not source.items for source in given):
            # As kubectl says it.
            raise UsageError("no objects passed to apply")
        brought, notes = with_manifest_objects(now, read.manifests, namespace)
        surroundings = replace(self._surroundings(brought, namespace, step.settings), name=step.name)
        workloads = [
            _with_replicas(self._wanted(world, brought, source, surroundings), step.replicas)
            for source in _sources(read, choosing, namespace)
        ]
        world.assume(read.gaps)
        return Applied(tuple(_new_objects(now, brought)), workloads, (*read.notes, *notes))

    def rolled_out(self, world: World, step: Rollout, namespace: str) -> AppliedWorkload:
        """The workload with the template of its manifest, with fields set, or restarted."""
        now, name = self._now(world), step.workload.within(namespace)
        surroundings = self._surroundings(now, name.namespace, step.settings)
        if step.manifest is None:
            restarted_at = "" if step.settings else world.timestamp
            return self._stored(world, now, name, surroundings, restarted_at)
        choosing = Choosing(f"{name.namespace}/{name.kind}/{name.name}", one_only=True)
        read = read_sources([step.manifest], now, choosing, name.namespace)
        if read.errors:
            raise read.errors[0]
        source = read.chosen(choosing, name.namespace)[0]
        return self._wanted(world, now, source, replace(surroundings, name=choosing.name))

    def _now(self, world: World) -> Snapshot:
        return as_snapshot(world, self.snapshot)

    def _surroundings(self, snapshot: Snapshot, namespace: str, settings: Sequence[str]) -> Surroundings:
        return Surroundings(
            snapshot.objects,
            self.scheduler.release(snapshot.origin.release),
            context_namespace=namespace,
            admission=self.scheduler.admission_plugins(resource_quota=False),
            settings=parse_settings(settings),
        )

    def _wanted(self, world: World, now: Snapshot, source: Source, surroundings: Surroundings) -> AppliedWorkload:
        if isinstance(source, Reference):
            name = WorkloadName(source.kind.kind, source.namespace or surroundings.context_namespace, source.name)
            return self._stored(world, now, name, surroundings)
        candidate = from_manifest(source, surroundings)
        world.assume((*candidate.gaps, *candidate.admission_gaps))
        refuse_update(candidate, now)
        is_other = runs_another_template(candidate, now)
        wanted_now = _of_candidate(candidate, is_other=is_other)
        return _as_before(world, wanted_now, candidate) if is_other else wanted_now

    def _stored(
        self, world: World, now: Snapshot, name: WorkloadName, surroundings: Surroundings, restarted_at: str = ""
    ) -> AppliedWorkload:
        row = POD_CREATORS[name.kind]
        if reason := now.origin.unread.get(name.kind):
            raise SnapshotError(f'{row.resource} "{name.name}" cannot be looked up: {reason}')
        if row.cls is Pod or not row.is_kept:
            raise UsageError(f"a {name.kind} cannot be applied again by name: name its manifest")
        obj = now.objects.named(row.cls, name.name, name.namespace)
        if obj is None:
            raise not_found(world, name)
        candidate = revised(obj, row, surroundings, restarted_at)
        world.assume(candidate.admission_gaps)
        return _of_candidate(candidate, is_other=candidate.template is not None)


def _sources(read: Sources, choosing: Choosing, namespace: str) -> Iterator[Source]:
    """Every workload, or the named one; manifests may hold none at all."""
    bearing = [source for source in read.bearing if not isinstance(source, Manifest) or source.workloads]
    yield from replace(read, bearing=bearing).chosen(choosing, namespace) if bearing else ()


def _new_objects(before: Snapshot, after: Snapshot) -> Iterator[ApiObject]:
    """Objects that are new or changed, except pods, nodes and workloads."""
    for cls, objects in after.objects.by_type.items():
        unchanged = {id(obj) for obj in before.objects.of(cls)}
        if cls not in WORKLOADS:
            yield from (obj for obj in objects if id(obj) not in unchanged)


def _of_candidate(candidate: Candidate, *, is_other: bool) -> AppliedWorkload:
    creator = candidate.object
    row = KEPT.get(type(creator)) if creator is not None else None
    has_replicas = row is not None and row.has_replicas
    return AppliedWorkload(
        candidate.pod,
        candidate.workload,
        creator if row is not None else None,
        creator.spec.replicas if has_replicas else None,  # type: ignore[union-attr]  # the row says that it has the field
        is_other,
        candidate.replicas,
    )


def _with_replicas(workload: AppliedWorkload, replicas: int | None) -> AppliedWorkload:
    return workload if replicas is None else replace(workload, replicas=replicas, count=replicas)


def _as_before(world: World, workload: AppliedWorkload, candidate: Candidate) -> AppliedWorkload:
    """A Deployment that returns to an earlier template gets exactly that one: its ReplicaSet exists already."""
    obj, name = workload.object, workload.name
    if not isinstance(obj, Deployment) or name is None or candidate.template is None:
        return workload
    rollout = world.rollouts.get(name) or rollout_of_cluster(world, name)
    templates = [without_hash(replica_set.spec.template) for replica_set in rollout.replica_sets]
    same = next(
        (template for template in templates if template is not None and scheduled_alike(template, candidate.template)),
        None,
    )
    if same is None:
        return workload
    return replace(workload, object=replace(obj, spec=replace(obj.spec, template=same)))


class Applied(Struct, frozen=True):
    """Manifests, resolved against the cluster of that moment."""

    objects: Sequence[ApiObject] = ()
    """New or changed objects that are no workloads: budgets, Services, PriorityClasses, ..."""
    workloads: Sequence[AppliedWorkload] = ()
    """In the order of the manifests."""
    notes: Sequence[str] = ()


class Changes(Protocol):
    """Turns manifests, and fields to set, into workloads."""

    def applied(self, world: World, step: Apply, namespace: str) -> Applied:
        """The manifests to apply. Raises KubespreadError for what the API server would refuse."""

    def rolled_out(self, world: World, step: Rollout, namespace: str) -> AppliedWorkload:
        """A workload with its new template. Raises KubespreadError likewise."""


Autoscale = Callable[[World], AutoscalingReport]
"""Adds nodes for pods that find none."""


class Playing(Struct, frozen=True):
    """What the steps of one scenario share."""

    world: World
    changes: Changes
    namespace: str
    """The namespace of names without one."""
    autoscale: Autoscale | None = None


Told = RolloutReport | UpgradeReport


def _apply(playing: Playing, trial: Trial, verb: Verb) -> Sequence[Told | None]:
    """Raises KubespreadError."""
    world, changes, namespace = trial.world, playing.changes, playing.namespace
    match verb:
        case Edit():
            edit(world, verb, namespace)
        case Restore():
            restore(world, _nodes(world, verb))
        case Rollout():
            return [apply_workload(world, changes.rolled_out(world, verb, namespace))]
        case Rollback():
            return [rolled_back(world, verb.workload.within(namespace))]
        case Apply():
            applied = changes.applied(world, verb, namespace)
            world.add_objects(applied.objects)
            for note in applied.notes:
                world.happenings.note(note)
            return [apply_workload(world, workload) for workload in applied.workloads]
        case Upgrade():
            return [replace_nodes(trial, _nodes(world, verb), verb.surge, verb.batch, DrainFlags(force=verb.force))]
    return ()


def _nodes(world: World, verb: OfNodes) -> list[str]:
    return [node.metadata.name for node in nodes_of_target(verb.target, world.living.nodes.objects)]


def played(playing: Playing, scenario: Scenario, version: KubeVersion) -> tuple[PlayReport, list[Happenings]]:
    """Play the steps of ``scenario`` once, in a world that is then as after the last one. Also returns what happened
    before the first step and in each.

    What goes wrong on the way is told with its step, and the next one goes on: `checking.check` finds mistakes before.
    """
    world = playing.world
    stuck = frozenset(name.within(playing.namespace) for name in scenario.stuck)
    world.surroundings = replace(world.surroundings, stuck=stuck)
    before = world.cluster
    # The steps happen in the world itself; what they are compared with is a fork.
    baseline = Baseline.settled(world)
    start = happened(world, before, baseline.happenings)
    trial = Trial(replace(baseline, world=world.fork()), world)
    steps = tuple(_step_played(playing, trial, number, step) for number, step in enumerate(scenario.steps, 1))
    last = steps[-1] if steps else None
    report = PlayReport(
        kube_version=str(version),
        scenario=scenario.name or None,
        nodes=len(before),
        preemption=world.surroundings.preempts,
        start=start,
        steps=steps,
        pending=0 if last is None else last.pending,
        not_created=0 if last is None else last.not_created,
        not_made_yet=0 if last is None else last.not_made_yet,
        short=() if last is None else last.short,
        blocked=tuple(step.number for step in steps if step.is_blocked),
        notes=(),
        gaps=tuple(world.assumed),
        not_modelled=Play.never_modelled if playing.autoscale is None else tuple(_not_modelled(steps)),
    )
    return report, [baseline.happenings, *trial.happened]


def _not_modelled(steps: Sequence[StepReport]) -> Iterator[str]:
    """What a played node autoscaler leaves out."""
    scaled = (step.autoscaling for step in steps if step.autoscaling is not None)
    yield Play.never_modelled[0]
    yield from dict.fromkeys(text for report in scaled for text in report.not_modelled)
    yield "what autoscalers of pods, and the descheduler, do meanwhile"


def _step_played(playing: Playing, trial: Trial, number: int, step: Step) -> StepReport:
    world, before = playing.world, playing.world.cluster
    failed: list[str] = []
    changes: Sequence[Told | None] = ()
    scaled: AutoscalingReport | None = None

    def happen(_: World) -> None:
        nonlocal changes, scaled
        try:
            _switch_readiness(playing, step)
            if step.action is not None:
                changes = _apply(playing, trial, step.action)
        except KubespreadError as error:
            failed.append(str(error))
        world.settle()
        if playing.autoscale is not None and world.waiting:
            scaled = playing.autoscale(world)

    difference = trial.after(happen)
    done = difference.happened[-1]
    failed += map(str, done.refused)
    return StepReport(
        number=number,
        name=step.name or None,
        text=step.text,
        failed="; ".join(failed) or None,
        happened=happened(world, before, done),
        pending=len(difference.waiting),
        not_created=sum(row.count for row in difference.unmade if row.is_refused),
        not_made_yet=sum(row.count for row in difference.unmade if not row.is_refused),
        short=tuple(difference.short),
        worse=tuple(sorted(difference.worse, key=in_order)),
        rollouts=tuple(change for change in changes if isinstance(change, RolloutReport)),
        upgrades=tuple(change for change in changes if isinstance(change, UpgradeReport)),
        autoscaling=scaled,
    )


def _switch_readiness(playing: Playing, step: Step) -> None:
    """Switch readiness from now on. Unready pods of a workload that is no longer stuck become ready at once."""
    world, namespace = playing.world, playing.namespace
    named = {name.within(namespace) for name in step.ready}
    ready = named | {owner for name in named for owner in world.owners_below(name)}
    stuck = (world.surroundings.stuck | {name.within(namespace) for name in step.stuck}) - ready
    world.surroundings = replace(world.surroundings, stuck=stuck)
    since = running_since(world.timestamp, ready=True)
    pods = [pod for owner in sorted(ready, key=in_order) for pod in world.book.of(owner) if pod.spec.node_name]
    unready = [pod for pod in pods if is_active(pod) and not is_ready(pod)]
    world.change_pods((pod, on_node(pod, pod.spec.node_name, since)) for pod in unready)
