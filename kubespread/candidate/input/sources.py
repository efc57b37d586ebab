"""What a question is about: manifests from files and directories, and workloads of the cluster by name or kind.

Errors for a namespace, or workloads, that the cluster does not have.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from msgspec import Struct, field

from kubespread.candidate.input.kustomization import FILES as KUSTOMIZATION_FILES
from kubespread.candidate.input.kustomization import Kustomization
from kubespread.candidate.input.references import ClusterWorkloads, Reference, reference
from kubespread.candidate.manifests.file import (
    Manifest,
    listed_labels,
    manifest_from_text,
    manifest_of,
    read_manifest,
    workloads_named,
)
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.api.core import Namespace
from kubespread.kube.api.kinds import POD_CREATORS, READ
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.selector import Selector, SelectorError, parse_selector
from kubespread.manifest.objects import KubernetesObject, NotAnObjectError
from kubespread.manifest.text import STDIN, FieldLines
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

_ALWAYS_THERE = "default"
_MAX_NAMED = 3


def no_workloads(snapshot: Snapshot, namespace: str | None, labels: str = "") -> UsageError:
    """The error if ``namespace`` (None: all) holds no workload with the requested ``labels``.

    A namespace that is known to be missing is reported in the API server's words.
    """
    subject = f"no workloads{f' with the labels {labels}' if labels else ''} in"
    if namespace is None:
        return UsageError(f"{subject} the cluster")
    if missing := missing_namespace(snapshot, namespace):
        return UsageError(missing)
    namespaces = _namespace_names(snapshot)
    hint = (
        alternatives(namespace, namespaces) if namespace not in namespaces else "" if labels else _elsewhere(snapshot)
    )
    return UsageError(f"{subject} namespace {namespace}{hint}")


def _elsewhere(snapshot: Snapshot) -> str:
    """That other namespaces have workloads, if they do."""
    made = (obj.metadata.namespace for row in POD_CREATORS.values() for obj in snapshot.objects.of(row.cls))
    namespaces = sorted({*made, *(pod.metadata.namespace for pod in snapshot.pods)})
    return f"; there are some in {some_of(namespaces, _MAX_NAMED)}: -A asks about all" if namespaces else ""


def namespace_notes(snapshot: Snapshot, namespace: str) -> Iterator[str]:
    """That the API server would refuse a new pod in ``namespace``, which may well be made before the pod is."""
    if missing := missing_namespace(snapshot, namespace):
        yield f"{missing}; the answer is for once it is there"


def missing_namespace(snapshot: Snapshot, namespace: str) -> str:
    """In the API server's words; empty if the namespace exists, or if namespaces were not listed."""
    objects = snapshot.objects
    if not objects.knows(Namespace) or objects.named(Namespace, namespace) is not None:
        return ""
    # Few are asked about that are no objects; then all that the cluster has is looked through.
    namespaces = _namespace_names(snapshot)
    if namespace in namespaces:
        return ""
    return f"namespaces {quote(namespace)} not found{alternatives(namespace, namespaces)}"


def _namespace_names(snapshot: Snapshot) -> set[str]:
    return {_ALWAYS_THERE, *_namespaces(snapshot)}


def _namespaces(snapshot: Snapshot) -> Iterator[str]:
    """Those that objects are in, and those that are objects themselves."""
    objects = snapshot.objects
    yield from (namespace.metadata.name for namespace in objects.of(Namespace))
    yield from (pod.metadata.namespace for pod in snapshot.pods)
    for group in objects.by_type.values():
        yield from (obj.metadata.namespace for obj in group if obj.metadata.namespace)


PodGiven = Mapping[str, Any] | str | Path | ClusterWorkloads | Kustomization | Manifest | Reference
"""A Pod or a workload as an object, the path of a manifest or of a directory of them (``-``: standard input), KIND/NAME
of one in the snapshot as text or as what it stands for, all workloads of the snapshot, a kustomization, or a manifest
that is read already.
"""
Source = Manifest | Reference

SUFFIXES = (".yaml", ".yml", ".json")
_NAMES_SHOWN = 5


class Choosing(Struct, frozen=True):
    """Which of the workloads that were given are meant."""

    name: str | None = None
    namespace: str | None = None
    """Where the manifest names none."""
    selector: str = ""
    """Labels of the workloads that are meant, as kubectl's ``-l`` has them."""
    recursive: bool = False
    """Whether what is below a directory counts too."""
    template_path: str = ""
    """Where kinds that are not known have their pod template."""
    one_only: bool = False
    """Whether several are refused."""
    none_will_do: bool = False
    """Whether manifests may hold other objects alone."""


class Sources(Struct):
    """All that was read of what was given."""

    manifests: list[Manifest] = field(default_factory=list)
    bearing: list[Source] = field(default_factory=list)
    """Those that hold workloads, and what is named in the cluster, in the order given."""
    gaps: list[str] = field(default_factory=list)
    errors: list[ManifestError] = field(default_factory=list)
    """Files of a directory that are malformed."""
    skipped: list[str] = field(default_factory=list)
    """Files that hold nothing scheduling reads."""

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.skipped:
            return ()
        files = "file" if len(self.skipped) == 1 else "files"
        more = f" and {len(self.skipped) - _NAMES_SHOWN} more" if len(self.skipped) > _NAMES_SHOWN else ""
        names = ", ".join(self.skipped[:_NAMES_SHOWN])
        return (f"skipped {len(self.skipped)} {files} without a workload: {names}{more}",)

    def chosen(self, choosing: Choosing, default_namespace: str) -> list[Source]:
        """The bearing ones that are meant, each with one workload. Raises ManifestError and UsageError."""
        if choosing.name is not None:
            return self._named(choosing.name, default_namespace)
        if choosing.one_only:
            if len(self.bearing) > 1:
                has_choice = all(isinstance(source, Manifest) for source in self.bearing)
                hint = "choose one with --name" if has_choice else "name one of them"
                raise UsageError(f"several workloads ({_listed(self.bearing, default_namespace)}); {hint}")
            return self.bearing
        selector = selector_of(choosing)
        chosen: list[Source] = []
        for source in self.bearing:
            chosen += source.split(selector) if isinstance(source, Manifest) and source.workloads else [source]
        if not chosen:
            raise UsageError(f"no workload has the labels {selector}")
        return chosen

    def _named(self, name: str, default_namespace: str) -> list[Source]:
        """Those that hold a workload of that name, or all where none does, so that the first one says so."""
        manifests = [source for source in self.bearing if isinstance(source, Manifest)]
        named = [manifest for manifest in manifests if workloads_named(manifest, name, default_namespace)]
        if not named and len(manifests) > 1:
            raise UsageError(f"no workload named {name!r}; found {_listed(manifests, default_namespace)}")
        return [*named] if named else [*self.bearing[:1]]


def read_sources(pods: Iterable[PodGiven], snapshot: Snapshot, choosing: Choosing, default_namespace: str) -> Sources:
    """Read what was given. Of a directory what is malformed or holds no workload is left out and named.

    Raises ManifestError and UsageError.
    """
    pods = list(pods)
    check_choosing(pods, choosing)
    read = Sources()
    for pod in pods:
        if isinstance(pod, Mapping):
            _take(read, manifest_of(pod, choosing.template_path), choosing)
        elif isinstance(pod, Manifest | Kustomization):
            _take(read, _built(pod, choosing.template_path), choosing)
        elif isinstance(pod, Reference):
            read.bearing.append(pod)
        elif isinstance(pod, ClusterWorkloads):
            read.gaps += pod.gaps(snapshot)
            references = list(pod.references(snapshot, default_namespace, selector_of(choosing)))
            if not references:
                raise no_workloads(snapshot, None if pod.all_namespaces else default_namespace, choosing.selector)
            read.bearing += references
        elif Path(pod).is_dir():
            for file in manifest_files(str(pod), recursive=choosing.recursive):
                _take_one_of_many(read, file, choosing)
        else:
            _take_path(read, str(pod), choosing)
    _drop_those_without_workload(read, choosing)
    return read


def check_choosing(pods: Sequence[PodGiven], choosing: Choosing) -> None:
    """Raise UsageError where something is named twice, or chosen by what has no say in it, or has no name."""
    seen: set[Path | Reference] = set()
    for pod in pods:
        if pod == "":
            raise UsageError("the path of a manifest is empty")
        named = _named(str(pod)) if isinstance(pod, str | Path) else pod
        if isinstance(named, Reference | ClusterWorkloads):
            label = _label(named) if isinstance(named, Reference) else "all workloads of the cluster"
            if choosing.name is not None:
                raise UsageError(f"--name and {label} do not go together: it chooses among the workloads of manifests")
            if isinstance(named, Reference) and choosing.selector:
                raise UsageError(f"-l/--selector and {label} do not go together: its name says which it is")
        for label, identity in _identities(pod, named, recursive=choosing.recursive):
            if identity in seen:
                raise UsageError(f"{label} is named twice")
            seen.add(identity)


def _identities(pod: PodGiven, named: PodGiven | None, *, recursive: bool) -> Iterator[tuple[str, Path | Reference]]:
    """What can be named only once (files and workloads of the cluster), and what to call it."""
    if isinstance(named, Reference):
        yield _label(named), named
    elif isinstance(pod, Kustomization):
        yield pod.directory, Path(os.path.realpath(pod.directory))
    elif isinstance(pod, str | Path) and str(pod) != STDIN:
        files = manifest_files(str(pod), recursive=recursive) if Path(pod).is_dir() else [str(pod)]
        yield from ((file, Path(os.path.realpath(file))) for file in files)


def _label(named: Reference) -> str:
    return f"{named.kind.kind}/{named.name}"


def read_once(pod: PodGiven, template_path: str = "") -> PodGiven:
    """The same for several questions: files, of which a pipe can be read only once, and kustomizations are read.

    Raises ManifestError.
    """
    if isinstance(pod, Kustomization):
        return _built(pod, template_path)
    if not isinstance(pod, str | Path) or Path(pod).is_dir() or _named(str(pod)) is not None:
        return pod
    return read_manifest(str(pod), template_path)


def manifest_files(directory: str, *, recursive: bool) -> list[str]:
    """The files of a directory that kubectl would read, by name. Raises UsageError where there are none."""
    pattern = "**/*" if recursive else "*"
    files = sorted(path for path in Path(directory).glob(pattern) if path.suffix in SUFFIXES and path.is_file())
    if not files:
        below = "" if recursive else "; -R also looks below it"
        raise UsageError(f"{directory}: no {', '.join(SUFFIXES)} files in this directory{below}")
    return [str(path) for path in files]


def selector_of(choosing: Choosing) -> Selector:
    """The labels that are asked for. Raises UsageError."""
    try:
        return parse_selector(choosing.selector)
    except SelectorError as error:
        raise UsageError(f"invalid selector {choosing.selector!r}: {error}") from error


def _built(pod: Manifest | Kustomization, template_path: str) -> Manifest:
    return pod if isinstance(pod, Manifest) else manifest_from_text(pod.directory, pod.build(), template_path)


def _named(path: str) -> Reference | None:
    """What KIND/NAME refers to; a file of that name takes precedence."""
    return None if Path(path).exists() else reference(path)


def _take_path(read: Sources, path: str, choosing: Choosing) -> None:
    named = _named(path)
    if named is not None:
        read.bearing.append(named)
    else:
        _take(read, read_manifest(path, choosing.template_path), choosing)


def _take(read: Sources, manifest: Manifest, choosing: Choosing) -> None:
    if choosing.name is None and manifest.workloads and (fault := _mistaken_cluster(manifest)):
        raise ManifestError(manifest.file, [fault])
    read.manifests.append(manifest)
    read.bearing.append(manifest)


def _take_one_of_many(read: Sources, file: str, choosing: Choosing) -> None:
    try:
        _take(read, read_manifest(file, choosing.template_path), choosing)
    except ManifestError as error:
        if isinstance(error.__cause__, NotAnObjectError):
            read.skipped.append(file)
        else:
            read.errors.append(error)


def _drop_those_without_workload(read: Sources, choosing: Choosing) -> None:
    """Of several manifests some may have no workload. Raises UsageError if none has one, but has to."""
    empty = [manifest for manifest in read.manifests if not manifest.workloads]
    of_others = [source for source in read.bearing if not (isinstance(source, Manifest) and source in empty)]
    if of_others:
        read.skipped += [manifest.file for manifest in empty if not any(_is_read(manifest))]
        # The others report what they hold that is not known together with the pod made from them.
        read.gaps += [gap for manifest in empty for gap in manifest.gaps]
        read.bearing = of_others
    elif len(empty) == 1 and not read.skipped and (fault := _mistaken_manifest(empty[0])):
        raise ManifestError(empty[0].file, [fault])
    elif len(empty) + len(read.skipped) > 1 and not read.errors and not choosing.none_will_do:
        raise UsageError(f"none of {len(empty) + len(read.skipped)} files holds a Pod or a workload")


def _is_read(manifest: Manifest) -> Iterator[bool]:
    return ((item.api_version, item.kind) in READ for item in manifest.items)


def _listed(sources: Sequence[Source], default_namespace: str) -> str:
    return "; ".join(
        f"{source.file}: {listed_labels(source.workloads, default_namespace)}"
        if isinstance(source, Manifest)
        else _label(source)
        for source in sources
    )


_KUSTOMIZATION = "a kustomization, not a manifest: build it with -k DIRECTORY"
_VALUES = "Helm values, not a manifest: pipe `helm template -f FILE CHART` into kubespread"
_EMPTY = "an empty list: `kubectl get` found nothing; check its namespace and labels"

# What `helm create` writes into values.yaml and no Kubernetes object has at its top.
_VALUES_KEYS = frozenset({"replicaCount", "nameOverride", "fullnameOverride", "podAnnotations", "image"})


def _mistaken_manifest(manifest: Manifest) -> Fault | None:
    """What a manifest without a workload is, where that is known."""
    if not manifest.items:
        return None
    first, kinds = manifest.items[0], {item.kind for item in manifest.items}
    message = ""
    if "Kustomization" in kinds or PurePath(manifest.file).name in KUSTOMIZATION_FILES:
        message = _KUSTOMIZATION
    elif all(item.size == 0 for item in manifest.items):
        message = _EMPTY
    elif kinds == {""} and (PurePath(manifest.file).name.startswith("values") or _VALUES_KEYS & first.data.keys()):
        message = _VALUES
    return Fault(message, line=_line(manifest, first)) if message else _mistaken_cluster(manifest)


def _mistaken_cluster(manifest: Manifest) -> Fault | None:
    """Whether a manifest is a cluster: it has nodes, and no workloads but pods that run on nodes."""
    nodes = [item for item in manifest.items if (item.api_version, item.kind) == ("v1", "Node")]
    if not nodes or not all(_runs(item) for item in manifest.workloads):
        return None
    count, pods = len(nodes), len(manifest.workloads)
    counted = f"{count} node{'' if count == 1 else 's'}, {pods} running pod{'' if pods == 1 else 's'}"
    return Fault(f"a cluster ({counted}), not a pod: give it with -S/--snapshot", line=_line(manifest, nodes[0]))


def _runs(item: KubernetesObject) -> bool:
    spec = item.data.get("spec")
    return item.kind == "Pod" and isinstance(spec, dict) and bool(spec.get("nodeName"))


def _line(manifest: Manifest, item: KubernetesObject) -> int | None:
    return FieldLines(manifest.text).line(item.document, item.path) if manifest.text is not None else None
