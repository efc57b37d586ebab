"""The subjects of a check: workloads of manifests and of the cluster, and manifests that are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.candidate.applied import with_companions, with_manifest_objects
from kubespread.candidate.candidate import Candidate, NotInClusterError, candidate_of, unserved_faults
from kubespread.candidate.manifest import Manifest, kind_of, texts_at, value_at
from kubespread.candidate.replicas import (
    autoscaler_gaps,
    autoscalers_of,
    bound_replicas,
    first_missing,
    growth_gaps,
    runs_another_template,
)
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import (
    PodGiven,
    Reference,
    Source,
    Sources,
    Surroundings,
    missing_namespace,
    read_once,
    read_sources,
    selector_of,
)
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.errors import Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import Kind, pod_creator, templates_of
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.text import FieldLines
from kubespread.questions.check.rule import RefusedManifest
from kubespread.questions.check.rules import silenced_codes
from kubespread.questions.check.trial import Place, Subject
from kubespread.questions.editing import apply_edits
from kubespread.questions.remedies.edited_worlds import EditedWorlds
from kubespread.questions.resolving import distinct_replicas, replicas_of
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import world_of
from kubespread.regex import regex
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.profile.profile import Profile, default_profile
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, some_of, verb_of
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import key_of

_NAMES_SHOWN = 3
_ANEW = "all replicas are placed anew, without those that run"
_DIRECTIVE = "$patch"
_CONSTRAINTS = ".topologySpreadConstraints["
_MENDABLE = regex(
    "Required value|(?i:not found)|must specify one|`selector` does not match template `labels`|when |without |"
    r"\brequired\b|found none|the name of an? |needs |where |sidecars|all containers|no such|GracePeriodSeconds,"
)
"""Words in messages, the API server's and ours, on fields that are missing or that need a missing one."""


class Subjects(Struct):
    """Everything to check, and the cluster to try it on."""

    version: KubeVersion
    objects: ClusterObjects = field(default_factory=ClusterObjects)
    cluster: Cluster | None = None
    worlds: EditedWorlds | None = None
    """The edited cluster, for trying further edits; None without a cluster."""
    edits: Sequence[Edit] = ()
    """Edits of that cluster."""
    subjects: list[Subject] = field(default_factory=list)
    refused: list[RefusedManifest] = field(default_factory=list)
    files: int = 0
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sources: Sequence[PodGiven] = ()
    """Sources as given; with content, if they can be read only once."""


class Gatherer:
    """Reader of all sources to check, with or without a cluster."""

    def __init__(self, snapshot: Snapshot | None, scheduler: Scheduler, surroundings: Surroundings) -> None:
        self._has_cluster = snapshot is not None
        self._scheduler = scheduler
        snapshot = Snapshot() if snapshot is None else snapshot
        origin = snapshot.origin
        self.gathered = Subjects(scheduler.release(origin.release))
        plugins = scheduler.admission_plugins
        self._surroundings = replace(
            surroundings,
            snapshot=snapshot,
            version=self.gathered.version,
            context_namespace=origin.namespace or DEFAULT_NAMESPACE,
            admission=plugins if self._has_cluster else replace(plugins, enabled=False),
        )
        self._namespace = self._surroundings.default_namespace
        self._lines: dict[int, FieldLines] = {}
        self._profiles: dict[str, Profile] = {}
        self._parts: list[str] = []

    @property
    def _snapshot(self) -> Snapshot:
        return self._surroundings.snapshot

    def gather(self, sources: Iterable[PodGiven]) -> Subjects:
        """Read the sources. Raises UsageError and SnapshotError."""
        gathered = self.gathered
        gathered.edits = self._snapshot.edits
        snapshot, edits = apply_edits(self._snapshot, self._scheduler, self._surroundings.namespace)
        self._surroundings = replace(self._surroundings, snapshot=snapshot)
        if self._has_cluster:
            gathered.gaps += self._scheduler.source_gaps(self._snapshot.origin)
        read = self._read(sources)
        gathered.files = len(read.manifests) + len(gathered.refused)
        gathered.gaps += read.gaps
        gathered.notes += (*edits, *read.notes)
        # Their other objects belong to the cluster.
        for manifest in read.manifests:
            try:
                self._surroundings, _ = with_manifest_objects(self._surroundings, [manifest])
            except ManifestError as error:
                gathered.refused.append(_refusal(error, _file(manifest), manifest.file))
        gathered.objects = self._snapshot.objects
        candidates = list(self._candidates(read))
        companions = [companion for _, candidate in candidates for companion in candidate.companions]
        active = [pod for pod in self._snapshot.pods if pod.status.phase not in ENDED_PHASES]
        running = as_counted(active, gathered.version)
        if self._has_cluster:
            objects = with_companions(self._snapshot.objects, companions)
            gathered.cluster = Cluster.build(self._snapshot.nodes, running, objects)
            gathered.worlds = EditedWorlds(self._world, self._namespace)
            gathered.cluster.assume(growth_gaps((candidate for _, candidate in candidates), self._snapshot))
        owned = PodsByController(running)
        gathered.subjects += (self._subject(source, candidate, owned) for source, candidate in candidates)
        if not gathered.subjects and not gathered.refused:
            raise self._nothing(read)
        return gathered

    def _nothing(self, read: Sources) -> UsageError:
        if self._parts:
            return UsageError(f"nothing to check: {some_of(self._parts, _NAMES_SHOWN)}")
        files = [*(manifest.file for manifest in read.manifests), *read.skipped]
        hold = verb_of(len(files), "hold")
        labeled = f" with the labels {self._surroundings.selector}" if self._surroundings.selector else ""
        return UsageError(f"nothing to check: {some_of(files, _NAMES_SHOWN)} {hold} no Pod or workload{labeled}")

    def _read(self, sources: Iterable[PodGiven]) -> Sources:
        """The manifests and references; files that are named and malformed, or in a directory, are refused."""
        readable: list[PodGiven] = []
        for source in sources:
            try:
                readable.append(read_once(source))
            except ManifestError as error:
                if isinstance(error.__cause__, OSError):
                    raise
                self.gathered.refused.append(RefusedManifest(error.file, None, error.faults))
        self.gathered.sources = readable
        if not readable:
            return Sources()
        read = read_sources(readable, self._surroundings)
        self.gathered.refused += (RefusedManifest(malformed.file, None, malformed.faults) for malformed in read.errors)
        return read

    def _sources(self, read: Sources) -> Iterator[Source]:
        selector = selector_of(self._surroundings)
        for source in read.workload_sources:
            if isinstance(source, Reference):
                yield source
                continue
            try:
                yield from source.split(selector)
            except ManifestError as error:
                self.gathered.refused.append(_refusal(error, _file(source), source.file))

    def _candidates(self, read: Sources) -> Iterator[tuple[Source, Candidate]]:
        """Yield workloads that are not refused, each with its first pod, as all replicas are placed anew."""
        for source in self._sources(read):
            try:
                candidate = self._make(source)
            except NotInClusterError:
                raise
            except (ManifestError, UsageError) as error:
                self._refuse(self._refusal_of(error, source), source)
            else:
                yield source, replace(candidate, pod=first_missing(candidate, ()))

    def _make(self, source: Source, settings: Sequence[str] = ()) -> Candidate:
        """Raises ManifestError and UsageError."""
        surroundings = replace(self._surroundings, settings=parse_settings(settings))
        return candidate_of(source, surroundings)

    def _revise(self, source: Source, settings: Sequence[str]) -> Pod | None:
        try:
            return self._make(source, settings).pod
        except (ManifestError, UsageError):
            return None

    def _world(self) -> World:
        assert self.gathered.cluster is not None
        return world_of(self._snapshot, self._scheduler, assumed=self.gathered.cluster.assumed)

    def _refuse(self, refused: RefusedManifest, source: Source) -> None:
        """Record the faults of ``source``; of a part of a workload, only faults that the rest could not mend."""
        part = _part_of(_choose(source)) if isinstance(source, Manifest) else None
        faults = [fault for fault in refused.faults if part is None or part.keeps(fault)]
        if faults:
            self.gathered.refused.append(replace(refused, faults=faults))
        elif part is not None:
            message = f"{refused.name} {part.text}"
            self._parts.append(message)
            (self.gathered.notes if part.is_of_pods else self.gathered.gaps).append(message)

    def _refusal_of(self, error: KubespreadError, source: Source) -> RefusedManifest:
        if isinstance(source, Reference):
            namespace = source.namespace or self._namespace
            return _refusal(error, None, WorkloadName(source.kind.kind, namespace, source.name))
        item = _choose(source)
        name = WorkloadName(item.kind, item.namespace or self._namespace, item.name)
        paths = ("metadata.annotations", f"{kind_of(item).template_path}.metadata.annotations")
        ignored = silenced_codes(*(texts_at(item, path) for path in paths))
        return replace(
            _refusal(error, _file(source), name), ignored=ignored, objects=self._snapshot.objects, data=item.data
        )

    def _subject(self, source: Source, candidate: Candidate, owned: PodsByController) -> Subject:
        pod, meta, gathered = candidate.pod, candidate.pod.metadata, self.gathered
        cluster = gathered.cluster
        name = candidate.workload or WorkloadName("Pod", meta.namespace, meta.name)
        replicas, why = bound_replicas(candidate.replicas, autoscalers_of(name, gathered.objects))
        if why:
            so_many = count_of(replicas, "replica")
            gathered.notes.append(f"{name.kind}/{name.name} is checked with {so_many}: {why}")
        if isinstance(source, Manifest) and runs_another_template(candidate, self._snapshot):
            label = f"{name.kind}/{name.name}"
            gathered.notes.append(f"{label} runs with another template: {_ANEW}; plan -f plays the rollout to this one")
        gathered.gaps += (*candidate.gaps, *candidate.admission_gaps)
        if self._has_cluster:
            gathered.gaps += autoscaler_gaps(name, gathered.objects)
        workload, template, template_path = candidate.object, candidate.template, ""
        file = _file(source) if isinstance(source, Manifest) else None
        if isinstance(source, Manifest):
            template_path = _choose(source).written_path(kind_of(_choose(source)).template_path)
        elif source.kind.template_path:
            # For a Deployment, the candidate is another pod of its ReplicaSet.
            namesakes = (obj for obj in self._snapshot.of_kind(source.kind) if obj.metadata.name == name.name)
            workload = next(obj for obj in namesakes if obj.metadata.namespace == name.namespace)
            stored = source.kind.pod_template(workload)
            template = None if stored is None else Pod(metadata=stored.metadata, spec=stored.spec)
            template_path = source.kind.template_path
        return Subject(
            name=name,
            pod=pod,
            profile=self._profile(pod.spec.scheduler_name),
            replicas=replicas,
            is_daemon=candidate.is_daemon,
            object=_with_replicas(workload, replicas) if why else workload,
            template=template,
            template_path=template_path,
            running=self._running(candidate, owned),
            distinct_replicas=None
            if cluster is None
            else distinct_replicas(candidate, replicas_of(candidate, cluster), cluster),
            one_by_one=candidate.one_by_one,
            file=file,
            is_written=isinstance(source, Manifest),
            missing_namespace=missing_namespace(self._snapshot, name.namespace) if self._has_cluster else "",
            place=self._place(source) if isinstance(source, Manifest) else _nowhere,
            ignored=silenced_codes(meta.annotations, {} if workload is None else workload.metadata.annotations),
            revised=partial(self._revise, source),
        )

    def _profile(self, scheduler_name: str) -> Profile:
        """The profile of that name; for an unknown scheduler kube-scheduler's default one, with a note.

        Otherwise a manifest could switch every rule off by naming some scheduler.
        """
        if scheduler_name not in self._profiles:
            try:
                profile = self._scheduler.profile_for(scheduler_name, self.gathered.version)
            except UsageError as error:
                self.gathered.gaps.append(f"{error}: its pods are checked as the default profile would place them")
                profile = default_profile(self.gathered.version)
            self._profiles[scheduler_name] = profile
        return self._profiles[scheduler_name]

    def _place(self, manifest: Manifest) -> Callable[[str], Place]:
        item = _choose(manifest)
        if manifest.text is None:
            return _nowhere
        # Composed once for all findings in the file.
        lines = self._lines.setdefault(id(manifest.text), FieldLines(manifest.text))

        def place(path: str) -> Place:
            position = lines.position(item.document, f"{item.path}.{path}" if item.path else path)
            return (None, None) if position is None else (position.line, position.column)

        return place

    def _running(self, candidate: Candidate, owned: PodsByController) -> Sequence[Pod]:
        if candidate.workload is None:
            same = (pod for pod in self._snapshot.pods if key_of(pod) == key_of(candidate.pod))
            return [pod for pod in same if pod.status.phase not in ENDED_PHASES]
        return pods_of(candidate.workload, candidate.companions, self._snapshot.objects.get(ReplicaSet), owned)


def _nowhere(_field: str) -> Place:
    """The position of fields of an object that is in no file."""
    return None, None


def _with_replicas(workload: ApiObject | None, replicas: int) -> ApiObject | None:
    if not isinstance(workload, Deployment | ReplicaSet | ReplicationController | StatefulSet):
        return workload
    return replace(workload, spec=replace(workload.spec, replicas=replicas))


def _choose(manifest: Manifest) -> KubernetesObject:
    assert manifest.chosen is not None
    return manifest.chosen


def _file(manifest: Manifest) -> str | None:
    """Name of the file; None for an object at hand."""
    return manifest.file if manifest.text is not None else None


def _refusal(error: KubespreadError, file: str | None, workload: str | None) -> RefusedManifest:
    faults = error.faults if isinstance(error, ManifestError) else [Fault(str(error))]
    return RefusedManifest(file, workload, faults)


class _Part(Struct, frozen=True):
    """A patch of a kustomization, or a pod template that a controller completes: no whole workload."""

    text: str
    """Reason it is only a part, with advice."""
    is_of_pods: bool
    """True for Kubernetes' own kinds, as their fields are known."""

    def keeps(self, fault: Fault) -> bool:
        """True if the fault stays whatever is added to the part."""
        is_mendable = _MENDABLE.search(fault.message) or _DIRECTIVE in fault.field
        # Of other kinds, only fields that are copied unchanged into their pods are known.
        return not is_mendable and (self.is_of_pods or _CONSTRAINTS in fault.field)


def _part_of(item: KubernetesObject) -> _Part | None:
    """Reason ``item`` is only a part of a workload; None where it has to be a whole one."""
    row = pod_creator(item.api_version, item.kind)
    if row is not None:
        patch = "is a patch: pipe `kubectl kustomize DIRECTORY` into kubespread"
        return _Part(patch, is_of_pods=True) if _is_patch(item, row) else None
    if any(unserved_faults(item, is_written=True)) or templates_of(item.api_version, item.kind) is not None:
        return None
    return _Part("is not checked: what its controller adds to the pod template is not known", is_of_pods=False)


def _is_patch(item: KubernetesObject, row: Kind) -> bool:
    """True if it has a directive of patches, or neither a selector nor an image for each container."""
    if not row.template_path:
        return False
    containers = value_at(item.data, f"{row.template_path}.spec.containers")
    listed = containers if isinstance(containers, list) else []
    has_images = listed and all(isinstance(value, dict) and bool(value.get("image")) for value in listed)
    return (not has_images and value_at(item.data, "spec.selector") is None) or _has_directive(item.data)


def _has_directive(data: Any) -> bool:
    if isinstance(data, dict):
        return _DIRECTIVE in data or any(_has_directive(value) for value in data.values())
    return isinstance(data, list) and any(_has_directive(value) for value in data)
