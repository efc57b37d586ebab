"""A cluster as scheduling sees it: typed objects, each once, and an account of omissions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from kubespread.errors import SnapshotError
from kubespread.escaping import escape
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE, default_cluster_objects, default_node
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Namespace, Node, Pod, PodTemplateSpec
from kubespread.kube.api.decoding import DecodingError, check, decode, decoder_of
from kubespread.kube.api.kinds import KIND_OF, READ, WORKLOADS, Kind, full_kind, holds_pods, skipped_gaps
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import LabelSelectingWorkload, ReplicaSet
from kubespread.kube.owners import controller_of
from kubespread.kube.pod_sharing import PodSharing
from kubespread.kube.templates import fields_of_applied, unread_of
from kubespread.kube.time import format_utc, instant
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import LAST_APPLIED, READ_ANNOTATIONS
from kubespread.manifest.objects import KubernetesObject
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.snapshot.edits.verb import Edit

LIST_COMMAND = (
    "kubectl get nodes,pods,ns,svc,deploy,rs,sts,ds,rc,jobs,hpa,"
    "pvc,pv,sc,csinodes,csidrivers,volumeattachments,pdb,pc,limits,quota -A -o json > cluster.json"
)
"""Command that lists all kinds that most questions need."""
STAMP = "kubespread"
"""Field of a saved List with its origin."""

SERVER_VERSION = "Version"
"""Name, in place of a kind, for the server's release."""

_MAX_FAULTS = 20
_MAX_NAMED = 3
_DOUBLED = (
    "more than once in the snapshot, with different content and no resourceVersion that tells which is newer, so the "
    "last one counts"
)
_REPLACED = "replaced by what a later source says of the same object"
_IN_EVERY_CLUSTER = frozenset({"Namespace", "PriorityClass", "Service"})
"""Kinds with objects in every cluster: a list with all of these should have all kinds that scheduling reads."""
_IN_FEW_CLUSTERS = ("LimitRange", "ResourceQuota", "VolumeAttachment")
_ASSUMED_ABSENT = "the cluster is taken to have none, since its priority classes were listed"
# JSON's way to write the field every pod template has.
_CONTAINER = b'"container'


T = TypeVar("T")
_COMPARED = attrgetter("nodes", "pods", "objects", "skipped", "origin", "faults", "edits")
Doubt = Literal["truncated", "clusters", "times", "errors"]
"""Kinds of doubt: a truncated list, an object with several UIDs, sources of different hours, errors in place of
objects.
"""
_MOST_APART = timedelta(hours=1)
"""Lists that are further apart do not show one moment."""


class Origin(msgspec.Struct, rename="camel", kw_only=True, frozen=True, omit_defaults=True):
    """Origin of a snapshot, saved with it."""

    source: str = ""
    server: str = ""
    """Address of the API server of a running cluster."""
    time: str = ""
    """Time of the snapshot, RFC 3339."""
    server_version: str = ""
    kubelet_version: str = ""
    """Newest kubelet of its nodes."""
    resource_version: str = ""
    namespace: str = ""
    """Namespace of manifests that set none."""
    listed: tuple[str, ...] = ()
    """Kinds that were read, even without objects."""
    notes: tuple[str, ...] = ()
    """Notes for every answer."""
    gaps: tuple[str, ...] = ()
    """Parts that could not be read."""
    undone: tuple[str, ...] = ()
    """Edits that were not done in full, such as a drain that a budget blocks."""
    unread: dict[str, str] = msgspec.field(default_factory=dict)
    """Gaps about one kind, which concern only questions that need it."""
    doubts: dict[Doubt, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Observations while reading that no object shows later."""

    @property
    def release(self) -> str:
        """Release reported by the server; else the minor of the newest kubelet, as no server is older."""
        minor = KubeVersion.minor_of(self.kubelet_version)
        return self.server_version or (f"v1.{minor}" if minor is not None else self.kubelet_version)


_MOST_CACHED = 12
"""Number of cached results of one snapshot; the results used last stay."""


class ResultCache:
    """Cached results about the objects of one snapshot."""

    def __init__(self, *objects: object) -> None:
        self._objects = objects
        self._results: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[object, ...]:
        # Another process computes the results again.
        return ResultCache, ()

    def is_about(self, *objects: object) -> bool:
        return len(objects) == len(self._objects) and all(map(is_, objects, self._objects))

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """Cached result of ``make``, which depends on the objects and ``key`` alone."""
        # Of two threads at once both may make it.
        cached = self._results.pop(key, msgspec.UNSET)
        result: T = make() if cached is msgspec.UNSET else cached
        self._results[key] = result
        for oldest in [*self._results][:-_MOST_CACHED]:
            self._results.pop(oldest, None)
        return result


class Snapshot(Struct, frozen=True, eq=False):
    """Objects of one cluster at one moment: nodes in listed order, all others by namespace and name."""

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    objects: ClusterObjects = field(default_factory=ClusterObjects)
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of ignored objects of each kind that scheduling does not read."""
    origin: Origin = Origin()
    faults: tuple[str, ...] = ()
    """Objects that could not be read, with place and reason; each is a gap too."""
    files: tuple[str, ...] = ()
    """Files it was read from; empty for a running cluster."""
    kubeconfig: str = ""
    """Named kubeconfig of a running cluster."""
    edits: tuple[Edit, ...] = ()
    """Edits to be made in order before a question; the objects are without them."""
    cache: ResultCache = field(default_factory=ResultCache)

    def __post_init__(self) -> None:
        objects = self.nodes, self.pods, self.objects, self.origin
        if not self.cache.is_about(*objects):
            force_setattr(self, "cache", ResultCache(*objects))

    def __eq__(self, other: object) -> bool:
        """True if the clusters are equal, wherever they were read from."""
        return isinstance(other, Snapshot) and _COMPARED(self) == _COMPARED(other)

    def edited(self, *edits: str | Edit) -> Snapshot:
        """The cluster with ``edits`` to be made before a question, after earlier ones.

        Texts are written as on the command line: ``cordon node-7``, ``fail zone=a``, ``scale deploy/web=5``. Nodes,
        pods and workloads are looked up when a question is asked. Raises UsageError for text that is no edit, and
        ManifestError for the manifest of a new node that the API server would refuse.
        """
        # Reads manifests of nodes, with parsers that most snapshots do without.
        from kubespread.snapshot.edits.registry import parse

        parsed = (parse(edit) if isinstance(edit, str) else edit for edit in edits)
        return replace(self, edits=(*self.edits, *parsed))

    def stamp(self, source: str) -> Snapshot:
        """The snapshot, read from ``source`` now unless it says where and when it was taken."""
        original = self.origin
        return replace(
            self,
            origin=replace(
                original, source=original.source or escape(source), time=original.time or format_utc(datetime.now(UTC))
            ),
        )

    def of_kind(self, row: Kind) -> tuple[ApiObject, ...]:
        objects: dict[type[ApiObject], tuple[ApiObject, ...]] = {Node: self.nodes, Pod: self.pods}
        return objects.get(row.cls) or self.objects.get(row.cls)

    @classmethod
    def from_objects(cls, objects: Iterable[Mapping[str, Any]]) -> Snapshot:
        """Make a snapshot of plain objects with ``apiVersion`` and ``kind``. Raises SnapshotError for values of the
        wrong type.
        """
        builder = SnapshotBuilder()
        for data in objects:
            builder.add_plain(data)
        return builder.build()


class TypedReader:
    """Decoder of text into typed objects, which share equal parts."""

    def __init__(self) -> None:
        self._sharing = PodSharing()
        self._unread: dict[bytes, str | None] = {}
        """Results of `unread_of` by the text of a template: a Deployment has that of its ReplicaSet."""
        self.whole: list[PodTemplateSpec] = []
        """Templates that are assumed to have all their fields."""

    def read(self, item: KubernetesObject) -> ApiObject | None:
        """Typed object; None for a kind that scheduling does not read.

        Raises DecodingError for a wrong type, and for an amount, selector or time that cannot be parsed.
        """
        cls = READ.get((item.api_version, item.kind))
        if cls is None:
            return None
        if (head := item.head) is not None:
            try:
                if cls is Pod:
                    return self._sharing.from_json(head.metadata, head.spec, head.status)
                return self._strip(decoder_of(cls).decode(item.json), item)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                # A null, which the slow way drops, or a fault that it names.
                pass
        obj = decode(item.data, cls)
        if isinstance(obj, Pod):
            self._sharing.share(obj)
        return self._strip(obj, item)

    def _strip(self, obj: ApiObject, item: KubernetesObject) -> ApiObject:
        if not isinstance(obj, Pod):
            check(obj)
        meta = obj.metadata
        if isinstance(obj, LabelSelectingWorkload):
            obj.last_applied = obj.last_applied or fields_of_applied(meta.annotations.get(LAST_APPLIED, ""))
            # Of the many templates that no pod has it is not worth the time.
            if not (isinstance(obj, ReplicaSet) and obj.spec.replicas == 0):
                self._digest(obj.spec.template, item)
        if meta.annotations:
            meta.annotations = {name: value for name, value in meta.annotations.items() if name in READ_ANNOTATIONS}
        if isinstance(obj, Node):
            self._sharing.share_node(obj)
        row = KIND_OF[type(obj)]
        if row.template_path and (template := row.pod_template(obj)) is not None:
            self._sharing.share_template(template)
        return obj

    def _digest(self, template: PodTemplateSpec | None, item: KubernetesObject) -> None:
        if template is None or template.unread is not None:
            return
        self.whole.append(template)
        annotations = template.metadata.annotations
        if item.head is None:
            template.unread = unread_of(item.data["spec"]["template"].get("spec") or {}, annotations)
            return
        text = bytes(_HOLDERS.decode(item.head.spec).template.spec) or b"{}"
        key = text + msgspec.json.encode(annotations)
        if key not in self._unread:
            self._unread[key] = unread_of(text, annotations)
        template.unread = self._unread[key]


class _Template(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw()


class _Holder(msgspec.Struct):
    template: _Template


_HOLDERS = msgspec.json.Decoder(_Holder)


class _Few:
    """The first of possibly very many faults, and the number of further ones."""

    def __init__(self, more: str) -> None:
        self._first: list[str] = []
        self._more, self._count = more, 0

    def add(self, fault: str) -> None:
        if len(self._first) < _MAX_FAULTS:
            self._first.append(fault)
        self._count += 1

    @property
    def lines(self) -> tuple[str, ...]:
        rest = self._count - len(self._first)
        return (*self._first, *([f"{rest} more {self._more}"] if rest else []))


class SnapshotBuilder:
    """Collector of objects from any number of sources; of duplicates the newest version counts."""

    def __init__(self) -> None:
        self._objects: dict[type[ApiObject], dict[str, dict[str, Any]]] = {cls: defaultdict(dict) for cls in KIND_OF}
        """By type, namespace and name."""
        self._reader = TypedReader()
        self._skipped: Counter[str] = Counter()
        self._with_pods: list[tuple[str, str, str]] = []
        """The objects of kinds that are not read and hold pods: kind, namespace and name."""
        self.faults = _Few("objects could not be read")
        self.unreadable = _Few("files could not be read")
        """Files, of many, that could not be read."""
        self._listed: set[str] = set()
        self._doubled: list[str] = []
        self._replaced: list[str] = []
        self._of_earlier_sources: set[int] = set()
        """The identities of objects that are still there."""
        self._origin = Origin()
        self.nodes_listed = False
        """True if a source listed nodes, even if it found none: an empty cluster is an answer, a forgotten kind is not.
        """

    def receive(self, item: KubernetesObject) -> ApiObject | None:
        """Add one object of a text, and return it if its kind is read. Raises DecodingError for a value of the wrong
        type.
        """
        if item.size is not None:
            self._note_list(item)
            return None
        if (typed := self._reader.read(item)) is not None:
            if isinstance(typed, Node) and not typed.metadata.name:
                # Each pod without a node would be on it.
                raise DecodingError("Required value: name or generateName is required", "metadata.name")
            self.add(typed)
        else:
            kind = full_kind(item.api_version, item.kind)
            self.skip(kind)
            if item.kind == "Status" and item.data.get("status") == "Failure":
                # What the API server answers in the place of a list.
                self.note_doubt("errors", str(item.data.get("message")))
            # Few objects are worth decoding to see whether they hold pods.
            if (not item.json or _CONTAINER in item.json) and holds_pods(item.api_version, item.kind, item.data):
                self._with_pods.append((kind, item.namespace or DEFAULT_NAMESPACE, item.name))
        return typed

    def add_plain(self, data: Mapping[str, Any]) -> None:
        """Add one plain object. Raises SnapshotError for a value of the wrong type."""
        try:
            self.receive(KubernetesObject(dict(data)))
        except DecodingError as error:
            raise SnapshotError(f"{object_name(data)}: {error.path}: {error}") from error

    def add(self, obj: ApiObject) -> None:
        """Add one typed object of a known kind."""
        meta = obj.metadata
        namespace = meta.namespace or DEFAULT_NAMESPACE if KIND_OF[type(obj)].is_namespaced else ""
        neighbors = self._objects[type(obj)][namespace]
        stored = neighbors.get(meta.name)
        if stored is not None and meta.uid != stored.metadata.uid and meta.uid and stored.metadata.uid:
            # What others are in or on keeps its UID as long as there is the cluster; what comes and goes does not.
            code: Doubt = "clusters" if isinstance(obj, Node | Namespace) else "times"
            self.note_doubt(code, f"two of {KIND_OF[type(obj)].kind} {'/'.join(filter(None, (namespace, meta.name)))}")
        if stored is None or _is_newer(meta.resource_version, stored.metadata.resource_version):
            neighbors[meta.name] = obj
            if stored is not None:
                self._note_again(obj, stored, namespace)

    def begin_source(self) -> None:
        """Begin another source, with objects that may replace earlier ones."""
        self._reader.whole.clear()
        kinds = self._objects.values()
        self._of_earlier_sources = {id(obj) for kind in kinds for named in kind.values() for obj in named.values()}

    def _note_again(self, obj: ApiObject, stored: ApiObject, namespace: str) -> None:
        """Record an object that replaced another, unless its version explains that."""
        is_of_earlier_source = id(stored) in self._of_earlier_sources
        self._of_earlier_sources.discard(id(stored))
        is_older = not _is_newer(stored.metadata.resource_version, obj.metadata.resource_version)
        if not is_older and obj != stored:
            name = f"{KIND_OF[type(obj)].kind} {'/'.join(filter(None, (namespace, obj.metadata.name)))}"
            (self._replaced if is_of_earlier_source else self._doubled).append(name)

    def skip(self, kind: str) -> None:
        """Count an object of a kind that scheduling does not read."""
        self._skipped[kind or "(no kind)"] += 1

    def note_gap(self, gap: str, kind: str = "") -> None:
        """Record a gap of a source, and the one kind it concerns, if any."""
        origin = self._origin
        unread = {**origin.unread, kind: gap} if kind else origin.unread
        self._origin = replace(origin, gaps=(*origin.gaps, gap), unread=unread)

    def note_doubt(self, code: Doubt, text: str) -> None:
        """Record why the objects may not be one cluster at one moment."""
        doubts = self._origin.doubts
        merged = {**doubts, code: tuple(dict.fromkeys((*doubts.get(code, ()), text)))}
        self._origin = replace(self._origin, doubts=merged)

    def note_origin(self, origin: Origin) -> None:
        """Record the origin of objects; the first source that knows a fact is believed."""
        mine = self._origin
        if are_apart(mine.time, origin.time):
            self.note_doubt("times", f"one of {mine.time}, one of {origin.time}")
        for code, texts in origin.doubts.items():
            for text in texts:
                self.note_doubt(code, text)
        doubts = self._origin.doubts
        merged = {name: getattr(mine, name) or getattr(origin, name) for name in origin.__struct_fields__}
        both = {
            name: tuple(dict.fromkeys(getattr(mine, name) + getattr(origin, name)))
            for name in ("listed", "notes", "gaps", "undone")
        }
        self._origin = Origin(**{**merged, **both, "unread": {**origin.unread, **mine.unread}, "doubts": doubts})

    def build(self) -> Snapshot:
        """Make the snapshot, with objects defaulted as by the API server."""
        by_type = {cls: tuple(_sort(cls, objects)) for cls, objects in self._objects.items() if objects}
        nodes, pods = by_type.pop(Node, ()), by_type.pop(Pod, ())
        for node in nodes:
            default_node(node)
        present = {cls.__name__ for cls, objects in self._objects.items() if objects}
        listed = present.union(self._listed, self._origin.listed)
        if not self._origin.listed and present.issuperset(_IN_EVERY_CLUSTER):
            none = [kind for kind in _IN_FEW_CLUSTERS if kind not in listed.union(self._origin.unread)]
            listed = listed.union(none)
            if none:
                self._origin = replace(
                    self._origin, notes=(*self._origin.notes, f"no {', '.join(none)} objects: {_ASSUMED_ABSENT}")
                )
        others = ClusterObjects(by_type, frozenset(listed), unread=self._origin.unread)
        default_cluster_objects(others)
        faults, files = self.faults.lines, self.unreadable.lines
        unread = (
            *(f"unreadable file: {fault}" for fault in files),
            *(f"unreadable object: {fault}" for fault in faults),
        )
        skipped = skipped_gaps(self._without_pods(pods, others))
        gaps = (*self._origin.gaps, *skipped, *unread, *_name_list(_DOUBLED, self._doubled))
        kubelets = {self._origin.kubelet_version, *(node.status.node_info.kubelet_version for node in nodes)}
        origin = replace(
            self._origin,
            kubelet_version=max(kubelets, key=_release_order),
            listed=tuple(sorted(listed)),
            notes=tuple(dict.fromkeys((*self._origin.notes, *_name_list(_REPLACED, self._replaced)))),
            gaps=tuple(dict.fromkeys(gaps)),
        )
        return Snapshot(nodes, pods, others, dict(self._skipped), origin, faults)

    def _without_pods(self, pods: Iterable[Pod], others: ClusterObjects) -> Iterator[str]:
        """Kinds of unread objects that hold pods and control no object that was read."""
        if self._with_pods:
            controlled = (*pods, *(obj for cls in WORKLOADS for obj in others.get(cls)))
            owners = ((obj.metadata.namespace, controller_of(obj)) for obj in controlled)
            present = {
                (full_kind(owner.api_version, owner.kind), namespace, owner.name)
                for namespace, owner in owners
                if owner is not None
            }
            yield from (holder[0] for holder in self._with_pods if holder not in present)

    @property
    def has_faults(self) -> bool:
        """True if something could not be read."""
        return bool(self.faults.lines or self.unreadable.lines)

    @property
    def has_pods(self) -> bool:
        """True if pods were listed, even if there were none."""
        return bool(self._objects[Pod]) or Pod.__name__ in self._listed.union(self._origin.listed)

    def _note_list(self, item: KubernetesObject) -> None:
        """Record the kinds of a list; a NodeList, or an empty List, shows that nodes were listed."""
        head = item.data
        if (cls := READ.get((item.api_version, item.kind.removesuffix("List")))) is not None:
            self._listed.add(cls.__name__)
        if item.kind == "NodeList" or (item.kind == "List" and item.size == 0):
            self.nodes_listed = True
        metadata = head.get("metadata")
        if isinstance(metadata, dict) and metadata.get("continue"):
            left = metadata.get("remainingItemCount")
            rest = f", {left:,} left" if isinstance(left, int) else ""
            self.note_doubt("truncated", f"{item.kind} after {count_of(item.size or 0, 'object')}{rest}")
        if STAMP in head:
            # Snapshots saved by versions without digests of unread fields do not show differences in these.
            for template in self._reader.whole:
                template.unread = None
            try:
                self.note_origin(msgspec.convert(head[STAMP], Origin))
            except msgspec.ValidationError as error:
                raise DecodingError(str(error), STAMP) from error
            self.nodes_listed = True


class DamagedError(DecodingError):
    """A required field is missing: the file was cut or edited."""


def check_whole(obj: ApiObject) -> None:
    """Raise DamagedError for a pod without containers, or a workload without a template or selector."""
    if isinstance(obj, Pod):
        if not obj.spec.containers:
            raise DamagedError("Required value", "spec.containers")
    elif (row := KIND_OF[type(obj)]).template_path:
        template = row.pod_template(obj)
        if template is None or not template.spec.containers:
            raise DamagedError("Required value", f"{row.template_path}.spec.containers")
        if isinstance(obj, LabelSelectingWorkload) and obj.spec.selector is None:
            raise DamagedError("Required value", "spec.selector")


def _sort(cls: type[ApiObject], objects: Mapping[str, Mapping[str, Any]]) -> Iterator[Any]:
    """Yield objects by namespace and name, as the API server lists them; nodes in listed order.

    Of equal pods kube-scheduler takes the first, and it samples nodes in their order.
    """
    for _, named in sorted(objects.items()):
        yield from map(named.__getitem__, named if cls is Node else sorted(named))


def are_apart(one: str, other: str) -> bool:
    """True if two RFC 3339 times are too far apart for one snapshot; False if one is unknown."""
    first, second = instant(one), instant(other)
    return first is not None and second is not None and abs(first - second) > _MOST_APART


def _name_list(note: str, names: Iterable[str]) -> Iterator[str]:
    if once := tuple(dict.fromkeys(names)):
        yield f"{note}: {some_of(once, _MAX_NAMED)}"


def _release_order(version: str) -> tuple[tuple[int, int], str]:
    """Order of versions: text that names no release goes before all that do."""
    return KubeVersion.numbers_in(version) or (-1, 0), version


def object_name(data: Mapping[str, Any]) -> str:
    """``Pod default/web`` for messages, from any object."""
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    parts = [str(metadata[key]) for key in ("namespace", "name") if metadata.get(key)]
    return f"{data.get('kind') or 'object'} {'/'.join(parts)}".rstrip()


def _is_newer(version: str, other: str) -> bool:
    """True if the object of ``version`` replaces the other: resourceVersions of one object grow; without both to
    compare, the later one read wins.
    """
    if not all(text.isascii() and text.isdecimal() for text in (version, other)):
        return True
    # However long the numbers are: Python reads no more than 4,300 digits.
    mine, its = version.lstrip("0"), other.lstrip("0")
    return (len(mine), mine) >= (len(its), its)
