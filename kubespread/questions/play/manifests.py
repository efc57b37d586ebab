"""What a scenario's manifests and settings become in a world: admitted workloads with their templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate, Surroundings
from kubespread.candidate.cluster import revised
from kubespread.candidate.companions import with_manifest_objects
from kubespread.candidate.input.references import Reference
from kubespread.candidate.input.sources import Choosing, Source, Sources, read_sources
from kubespread.candidate.manifests.file import Manifest
from kubespread.candidate.manifests.workload import from_manifest
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.update import refuse_update, runs_another_template, scheduled_alike
from kubespread.controllers.deployment.revisions import without_hash
from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT, POD_CREATORS, WORKLOADS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import WorkloadName
from kubespread.questions.play.steps import Applied
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import as_snapshot
from kubespread.scenario.verbs import Apply, Rollout
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.creating import AppliedWorkload
from kubespread.world.events.deployments import rollout_of_cluster
from kubespread.world.events.editing import not_found
from kubespread.world.events.world import World


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
