"""Sources of candidates: manifests from files and directories, and workloads of the cluster by name (``deploy/web``) or
all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path, PurePath
from typing import Any

from msgspec import Struct, field

from kubespread.candidate.manifest import Manifest, listed_labels, manifest_of, read_manifest, workloads_named
from kubespread.candidate.settings import Setting
from kubespread.errors import Fault, KubespreadError, ManifestError, SnapshotError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.api.kinds import POD_CREATORS, READ, REFERABLE, WORKLOADS, Kind, kind_called
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.gotext import quote
from kubespread.kube.owners import controller_of, other_kind
from kubespread.kube.selector import Selector, SelectorError, parse_selector
from kubespread.kube.versions import LATEST, KubeVersion
from kubespread.manifest.objects import KubernetesObject, NotAnObjectError
from kubespread.manifest.text import STDIN, FieldLines, display_name
from kubespread.regex import regex
from kubespread.snapshot.snapshot import LIST_COMMAND, Snapshot
from kubespread.wording import count_of, some_of

_REFERENCE = regex(r"(?P<kind>[A-Za-z0-9]+(?:\.[a-z0-9.-]+)?)/(?P<name>[a-z0-9][a-z0-9.-]*)")
# Whether a Job or a bare pod will run again is not known; a CronJob's pods belong to its Jobs.
_LASTING = tuple(
    POD_CREATORS[kind] for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")
)


class Reference(Struct, frozen=True):
    """One object of the cluster; without a namespace, in the question's."""

    kind: Kind
    name: str
    namespace: str | None = None


class ClusterWorkloads(Struct, frozen=True):
    """Every workload of the cluster that runs until it is deleted."""

    all_namespaces: bool = False

    def references(self, snapshot: Snapshot, namespace: str, selector: Selector) -> Iterator[Reference]:
        """Yield top-level workloads that ``selector`` selects, by kind, namespace and name."""
        present = {_key(row, obj) for row in REFERABLE for obj in snapshot.of_kind(row)}
        for row in _LASTING:
            for obj in sorted(snapshot.of_kind(row), key=lambda obj: _key(row, obj)):
                meta = obj.metadata
                is_asked = self.all_namespaces or meta.namespace == namespace
                if is_asked and selector.matches(meta.labels) and not _is_part(obj, present):
                    yield Reference(row, meta.name, meta.namespace)

    def gaps(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield reasons some of them are unknown."""
        for row in _LASTING:
            if reason := snapshot.origin.unread.get(row.kind):
                yield f"{reason}: none of them is among the workloads"


def reference(text: str) -> Reference | None:
    """Parsed KIND/NAME of a kind that creates pods, as kubectl reads it; None for other text."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    # Only the cluster knows whether it has pods of another kind, but no pod is called web.yaml.
    row = kind_called(match["kind"]) or (None if text.endswith(SUFFIXES) else other_kind(match["kind"]))
    return None if row is None else Reference(row, match["name"])


def reference_kinds() -> str:
    """Short names of the kinds of `reference`."""
    return ", ".join(kind.short for kind in REFERABLE)


def _is_part(obj: ApiObject, present: Set[tuple[str, str, str]]) -> bool:
    """True if its controller is present, and for a ReplicaSet that a controller scaled down to 0."""
    owner = next((owner for owner in obj.metadata.owner_references if owner.controller), None)
    if owner is None:
        return False
    is_past = isinstance(obj, ReplicaSet) and obj.spec.replicas == 0
    return is_past or (owner.kind, obj.metadata.namespace, owner.name) in present


def _key(row: Kind, obj: ApiObject) -> tuple[str, str, str]:
    return row.kind, obj.metadata.namespace, obj.metadata.name


_ALWAYS_THERE = "default"
_MAX_NAMED = 3


def no_workloads(snapshot: Snapshot, namespace: str | None, labels: str = "") -> KubespreadError:
    """Error that ``namespace`` (None: all) has no workload with the requested ``labels``.

    A missing namespace is reported in the API server's words, a snapshot that holds neither pods nor workloads as a
    SnapshotError.
    """
    if Pod.__name__ not in snapshot.origin.listed and not any(map(snapshot.objects.get, WORKLOADS)):
        unread = (gap for gap in snapshot.origin.gaps if gap.startswith("unreadable"))
        source = ", ".join(map(display_name, snapshot.files)) or snapshot.origin.source
        why = "; ".join(("no Pod objects and no workloads", *unread))
        return SnapshotError(f"{source}: {why}; list them with: {LIST_COMMAND}")
    subject = f"no workloads{f' with the labels {labels}' if labels else ''} in"
    where = "the cluster" if namespace is None else f"namespace {namespace}"
    ending = [
        f"{row.kind.lower()}/{obj.metadata.name}"
        for row in POD_CREATORS.values()
        for obj in (snapshot.of_kind(row) if row not in _LASTING else ())
        if namespace in (None, obj.metadata.namespace) and controller_of(obj) is None
    ]
    if ending and not labels:
        return UsageError(f"{subject} {where}; name Jobs and pods to include them: {some_of(ending, _MAX_NAMED)}")
    if namespace is None:
        return UsageError(f"{subject} {where}")
    if missing := missing_namespace(snapshot, namespace):
        return UsageError(missing)
    hint = ""
    if namespace not in (namespaces := _namespaces(snapshot)):
        hint = alternatives(namespace, namespaces)
    elif not labels:
        owners = (obj.metadata.namespace for row in POD_CREATORS.values() for obj in snapshot.objects.get(row.cls))
        if elsewhere := sorted({*owners, *(pod.metadata.namespace for pod in snapshot.pods)} - {namespace}):
            hint = f"; there are some in {some_of(elsewhere, _MAX_NAMED)}: -A asks about all"
    return UsageError(f"{subject} {where}{hint}")


def namespace_notes(snapshot: Snapshot, namespace: str) -> Iterator[str]:
    """Yield a note if ``namespace`` is missing, so that the API server would refuse pods until it is created."""
    if missing := missing_namespace(snapshot, namespace):
        yield f"{missing}; the answer is for once it is there"


def missing_namespace(snapshot: Snapshot, namespace: str) -> str:
    """API server's message for a missing namespace; empty if it exists, or if namespaces were not listed."""
    objects = snapshot.objects
    if not objects.knows(Namespace) or objects.find(Namespace, namespace) is not None:
        return ""
    # Few names are not of objects; for them all that the cluster has is looked through.
    namespaces = _namespaces(snapshot)
    if namespace in namespaces:
        return ""
    return f"namespaces {quote(namespace)} not found{alternatives(namespace, namespaces)}"


def _namespaces(snapshot: Snapshot) -> set[str]:
    names = {_ALWAYS_THERE, *(namespace.metadata.name for namespace in snapshot.objects.get(Namespace))}
    names.update(pod.metadata.namespace for pod in snapshot.pods)
    for group in snapshot.objects.by_type.values():
        names.update(obj.metadata.namespace for obj in group if obj.metadata.namespace)
    return names


PodGiven = Mapping[str, Any] | str | Path | ClusterWorkloads | Manifest | Reference
"""Pod or workload: an object, a manifest or its path (``-``: standard input), KIND/NAME in the snapshot, or all."""
Source = Manifest | Reference

SUFFIXES = (".yaml", ".yml", ".json")
_NAMES_SHOWN = 5


class Surroundings(Struct, frozen=True):
    """Everything but manifests that decides which workloads are used, and which pods they create."""

    snapshot: Snapshot = field(default_factory=Snapshot)
    """The cluster after its edits, with the other objects of the manifests."""
    version: KubeVersion = LATEST
    name: str | None = None
    """Name of the workload to use, of several."""
    namespace: str | None = None
    """Requested namespace; a manifest with another one is refused."""
    context_namespace: str = DEFAULT_NAMESPACE
    """Namespace if nothing else sets one."""
    admission: AdmissionPlugins = AdmissionPlugins()
    settings: tuple[Setting, ...] = ()
    """Changes to the pod or its workload as written, before admission."""
    edits: tuple[Setting, ...] = ()
    """Changes that edits of the cluster make to manifests before ``settings``, except to DaemonSets."""
    selector: str = ""
    """Labels of the workloads to use, as in kubectl's ``-l``."""
    recursive: bool = False
    """True to read subdirectories too."""
    one_only: bool = False
    """True to refuse several workloads."""
    allows_no_workload: bool = False
    """True if manifests may hold no workload at all, only other objects."""

    @property
    def objects(self) -> ClusterObjects:
        return self.snapshot.objects

    @property
    def default_namespace(self) -> str:
        """Namespace of objects that set none."""
        return self.namespace or self.context_namespace


class Sources(Struct):
    """Manifests and references that were read."""

    manifests: list[Manifest] = field(default_factory=list)
    workload_sources: list[Source] = field(default_factory=list)
    """Manifests with workloads, and references to the cluster, in the order of the arguments."""
    gaps: list[str] = field(default_factory=list)
    errors: list[ManifestError] = field(default_factory=list)
    """Malformed files of a directory."""
    skipped: list[str] = field(default_factory=list)
    """Files without anything that scheduling reads."""

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.skipped:
            return ()
        files = count_of(len(self.skipped), "file")
        return (f"skipped {files} without a workload: {some_of(self.skipped, _NAMES_SHOWN)}",)

    def choose(self, surroundings: Surroundings) -> list[Source]:
        """Sources to use, each with one workload. Raises ManifestError and UsageError."""
        default_namespace = surroundings.default_namespace
        if surroundings.name is not None:
            return self._find(surroundings.name, default_namespace)
        if surroundings.one_only:
            if len(self.workload_sources) > 1:
                has_choice = all(isinstance(source, Manifest) for source in self.workload_sources)
                hint = "choose one with --name" if has_choice else "name one of them"
                raise UsageError(f"several workloads ({_listing(self.workload_sources, default_namespace)}); {hint}")
            return self.workload_sources
        selector = selector_of(surroundings)
        chosen: list[Source] = []
        for source in self.workload_sources:
            chosen += source.split(selector) if isinstance(source, Manifest) and source.workloads else [source]
        if not chosen:
            raise UsageError(f"no workload has the labels {selector}")
        return chosen

    def _find(self, name: str, default_namespace: str) -> list[Source]:
        """Manifests with a workload of that name; without any, the first source, which then reports that."""
        manifests = [source for source in self.workload_sources if isinstance(source, Manifest)]
        named = [manifest for manifest in manifests if workloads_named(manifest, name, default_namespace)]
        if not named and len(manifests) > 1:
            raise UsageError(f"no workload named {name!r}; found {_listing(manifests, default_namespace)}")
        return [*named] if named else [*self.workload_sources[:1]]


def read_sources(pods: Iterable[PodGiven], surroundings: Surroundings) -> Sources:
    """Read all sources. In a directory, files that are malformed or hold no workload are left out and named. Raises
    ManifestError and UsageError.
    """
    read, identities = Sources(), set[str | Reference]()
    for pod in pods:
        named, once = _reference(pod) if isinstance(pod, str | Path) else pod, dict[str, str | Reference]()
        if isinstance(named, Reference | ClusterWorkloads):
            _take_named(read, named, surroundings)
            once = {_label(named): named} if isinstance(named, Reference) else {}
        elif isinstance(named, str):
            paths = manifest_files(named, recursive=surroundings.recursive) if Path(named).is_dir() else [named]
            for path in paths:
                _take_file(read, path, surroundings, is_one_of_many=path != named)
            once = {path: os.path.realpath(path) for path in paths if path != STDIN}
        else:
            manifest = named if isinstance(named, Manifest) else manifest_of(named)
            _take(read, manifest, surroundings)
            once = {manifest.file: os.path.realpath(manifest.file)} if Path(manifest.file).is_file() else {}
        for label, identity in once.items():
            if identity in identities:
                raise UsageError(f"{label} is named twice")
            identities.add(identity)
    _drop_manifests_without_workload(read, surroundings)
    return read


def _take_named(read: Sources, named: Reference | ClusterWorkloads, surroundings: Surroundings) -> None:
    label = _label(named) if isinstance(named, Reference) else "all workloads of the cluster"
    if surroundings.name is not None:
        raise UsageError(f"--name and {label} do not go together: it chooses among the workloads of manifests")
    if isinstance(named, Reference):
        _refuse_selector(named, surroundings.selector)
        read.workload_sources.append(named)
        return
    snapshot = surroundings.snapshot
    read.gaps += named.gaps(snapshot)
    references = list(named.references(snapshot, surroundings.default_namespace, selector_of(surroundings)))
    if not references:
        namespace = None if named.all_namespaces else surroundings.default_namespace
        raise no_workloads(snapshot, namespace, surroundings.selector)
    read.workload_sources += references


def _label(named: Reference) -> str:
    return f"{named.kind.kind}/{named.name}"


def read_once(pod: PodGiven) -> PodGiven:
    """``pod`` for several questions, with files read, as a pipe can be read only once. Raises ManifestError."""
    named = _reference(pod) if isinstance(pod, str | Path) else pod
    return _read(named) if isinstance(named, str) and not Path(named).is_dir() else pod


def manifest_files(directory: str, *, recursive: bool) -> list[str]:
    """Files of a directory that kubectl would read, by name. Raises UsageError if there are none."""
    pattern = "**/*" if recursive else "*"
    files = sorted(path for path in Path(directory).glob(pattern) if path.suffix in SUFFIXES and path.is_file())
    if not files:
        below = "" if recursive else "; -R also looks below it"
        raise UsageError(f"{directory}: no {', '.join(SUFFIXES)} files in this directory{below}")
    return [str(path) for path in files]


def selector_of(surroundings: Surroundings) -> Selector:
    """Requested labels. Raises UsageError."""
    try:
        return parse_selector(surroundings.selector)
    except SelectorError as error:
        raise UsageError(f"invalid selector {surroundings.selector!r}: {error}") from error


def _reference(path: str | Path) -> Reference | str:
    """The object that KIND/NAME refers to, else the path; a file of that name takes precedence. Raises UsageError."""
    text = str(path)
    if not text or path == Path():
        raise UsageError("the path of a manifest is empty")
    return text if Path(path).exists() else reference(text) or text


def _take(read: Sources, manifest: Manifest, surroundings: Surroundings) -> None:
    if surroundings.name is None and manifest.workloads and (fault := _mistaken_cluster(manifest)):
        raise ManifestError(manifest.file, [fault])
    read.manifests.append(manifest)
    read.workload_sources.append(manifest)


def _take_file(read: Sources, file: str, surroundings: Surroundings, *, is_one_of_many: bool) -> None:
    try:
        _take(read, _read(file), surroundings)
    except ManifestError as error:
        if not is_one_of_many:
            raise
        if isinstance(error.__cause__, NotAnObjectError):
            read.skipped.append(file)
        else:
            read.errors.append(error)


def _refuse_selector(named: Reference, selector: str) -> None:
    if selector:
        raise UsageError(f"-l/--selector and {_label(named)} do not go together: its name says which it is")


def _read(file: str) -> Manifest:
    """Read a manifest. Raises ManifestError, which for a missing file says how to name a workload of the cluster."""
    if file != STDIN and not Path(file).exists():
        if file.count("/") == 1 and not Path(file).parent.exists():
            kinds = f"no such file; of KIND/NAME in the cluster, KIND is one of {reference_kinds()}"
            raise ManifestError(file, [Fault(kinds)])
        if kind_called(file) is not None:
            raise ManifestError(file, [Fault(f"no such file; a workload of the cluster is named {file}/NAME")])
    return read_manifest(file)


def _drop_manifests_without_workload(read: Sources, surroundings: Surroundings) -> None:
    """Leave out manifests without a workload where others have one. Raises UsageError if none has one, but has to."""
    empty = [manifest for manifest in read.manifests if not manifest.workloads]
    of_others = [source for source in read.workload_sources if not (isinstance(source, Manifest) and source in empty)]
    if of_others:
        read.skipped += [
            manifest.file
            for manifest in empty
            if not any((item.api_version, item.kind) in READ for item in manifest.items)
        ]
        # The others report their gaps with the pod made from them.
        read.gaps += [gap for manifest in empty for gap in manifest.gaps]
        read.workload_sources = of_others
    elif len(empty) == 1 and not read.skipped and (fault := _mistaken_manifest(empty[0])):
        raise ManifestError(empty[0].file, [fault])
    elif len(empty) + len(read.skipped) > 1 and not read.errors and not surroundings.allows_no_workload:
        raise UsageError(f"none of {len(empty) + len(read.skipped)} files holds a Pod or a workload")


def _listing(sources: Sequence[Source], default_namespace: str) -> str:
    return "; ".join(
        f"{source.file}: {listed_labels(source.workloads, default_namespace)}"
        if isinstance(source, Manifest)
        else _label(source)
        for source in sources
    )


_KUSTOMIZATION = "a kustomization, not a manifest: pipe `kubectl kustomize DIRECTORY` into kubespread"
_KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_VALUES = "Helm values, not a manifest: pipe `helm template -f FILE CHART` into kubespread"
_EMPTY = "an empty list: `kubectl get` found nothing; check its namespace and labels"

# What `helm create` writes into values.yaml and no Kubernetes object has at its top.
_VALUES_KEYS = frozenset({"replicaCount", "nameOverride", "fullnameOverride", "podAnnotations", "image"})


def _mistaken_manifest(manifest: Manifest) -> Fault | None:
    if not manifest.items:
        return None
    first, kinds = manifest.items[0], {item.kind for item in manifest.items}
    message = ""
    if "Kustomization" in kinds or PurePath(manifest.file).name in _KUSTOMIZATION_FILES:
        message = _KUSTOMIZATION
    elif all(item.size == 0 for item in manifest.items):
        message = _EMPTY
    elif kinds == {""} and (PurePath(manifest.file).name.startswith("values") or _VALUES_KEYS & first.data.keys()):
        message = _VALUES
    return Fault(message, line=_line(manifest, first)) if message else _mistaken_cluster(manifest)


def _mistaken_cluster(manifest: Manifest) -> Fault | None:
    """Fault of a manifest that is a cluster: it has nodes, and no workloads but pods that run on nodes."""
    nodes = [item for item in manifest.items if (item.api_version, item.kind) == ("v1", "Node")]
    if not nodes or not all(_runs(item) for item in manifest.workloads):
        return None
    count, pods = len(nodes), len(manifest.workloads)
    counted = f"{count_of(count, 'node')}, {count_of(pods, 'running pod')}"
    return Fault(f"a cluster ({counted}), not a pod: give it with -S/--snapshot", line=_line(manifest, nodes[0]))


def _runs(item: KubernetesObject) -> bool:
    spec = item.data.get("spec")
    return item.kind == "Pod" and isinstance(spec, dict) and bool(spec.get("nodeName"))


def _line(manifest: Manifest, item: KubernetesObject) -> int | None:
    return FieldLines(manifest.text).line(item.document, item.path) if manifest.text is not None else None


def is_reference(path: str) -> bool:
    """True for KIND/NAME in the cluster; an existing file takes precedence."""
    return isinstance(_reference(path), Reference)
