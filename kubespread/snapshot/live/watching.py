"""Running clusters that are read again and again: each is listed once and then watched, kind by kind.

A kind that may not be watched is listed each time. Whatever else goes wrong with a watch, an expired version or a lost
connection, is mended by the next reading, which lists all again; so is, after a while, what no watch tells of: kinds
that the server has not had, and permissions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

import msgspec

from kubespread.errors import ApiError
from kubespread.kube.api.kinds import Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.files.reader import collector_paused
from kubespread.snapshot.live.api import FORBIDDEN
from kubespread.snapshot.live.connection import Connection, Listed, NoProgress, Progress, fields_selected, path_of
from kubespread.snapshot.live.kubeconfig import Access
from kubespread.snapshot.snapshot import Snapshot, TypedReader

_SECONDS = 300
"""After which the server ends a watch, and the next one goes on from there."""
_PAUSE = 0.5
"""Seconds before a watch, which a server may end at once."""
_PATIENCE = 90.0
"""Seconds without a word: a server sends a bookmark every minute."""
_LASTS = 600.0
"""Seconds after which a cluster is listed anew."""
_NOT_ALLOWED = (FORBIDDEN, 405)


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Versioned(msgspec.Struct):
    metadata: _Metadata


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


_events, _versions = msgspec.json.Decoder(_Event), msgspec.json.Decoder(_Versioned)


class Watching:
    """``on_refused`` is told, once for each cluster, what is listed each time."""

    def __init__(self, on_refused: Callable[[str], object]) -> None:
        self._on_refused = on_refused
        self._clusters: dict[Access, _Watched] = {}

    def connect(self, access: Access, progress: Progress | None = None) -> Snapshot:
        """The cluster as it is now. Raises UsageError, ManifestError and SnapshotError."""
        watched = self._clusters.pop(access, None)
        if watched is None or watched.is_over:
            if watched is not None:
                watched.close()
            watched = _Watched(access, progress or NoProgress())
        snapshot = watched.read()
        self._clusters[access] = watched
        if watched.refused and not watched.is_told:
            watched.is_told = True
            names = ", ".join(sorted(resource.plural for resource in watched.refused))
            self._on_refused(f"not allowed to watch {names}: listed each time")
        return snapshot

    def close(self) -> None:
        """Hang up."""
        while self._clusters:
            self._clusters.popitem()[1].close()


class _OfKind:
    """The objects of one kind, as they change."""

    def __init__(self, listed: Listed) -> None:
        self.version = listed.resource_version
        self._objects = {_key(obj): obj for obj in listed.objects}

    def listed(self) -> Listed:
        return Listed([*self._objects.values()], self.version)

    def change(self, line: bytes, reader: TypedReader) -> None:
        """By an event. Raises ApiError where the server has no more of them, as for a version that is too old."""
        event = _events.decode(line)
        text = bytes(event.object)
        if event.type == "ERROR":
            raise ApiError("the watch ended")
        self.version = _versions.decode(text).metadata.resource_version
        if event.type != "BOOKMARK" and (obj := reader.read(KubernetesObject(text))) is not None:
            if event.type == "DELETED":
                self._objects.pop(_key(obj), None)
            else:
                self._objects[_key(obj)] = obj


def _key(obj: ApiObject) -> tuple[str, str]:
    return obj.metadata.namespace, obj.metadata.name


class _Watched:
    """One cluster."""

    def __init__(self, access: Access, progress: Progress) -> None:
        self._connection = Connection(access, progress)
        self.is_told = False
        self._ended = threading.Event()
        self._until = monotonic() + _LASTS
        self.refused: set[Kind] = set()
        self._lock = threading.Lock()
        self._of_kinds: dict[Kind, _OfKind | str] = {}
        """What may not be listed stays so."""

    @property
    def is_over(self) -> bool:
        return self._ended.is_set() or monotonic() > self._until

    def close(self) -> None:
        self._ended.set()
        self._connection.close()

    def read(self) -> Snapshot:
        resources = self._connection.resources
        with self._lock:
            anew = [each for each in resources if each not in self._of_kinds or each in self.refused]
        with collector_paused():
            for resource, listed in zip(anew, self._connection.listed(anew), strict=True):
                is_first = resource not in self._of_kinds
                of_kind = listed if isinstance(listed, str) else _OfKind(listed)
                with self._lock:
                    self._of_kinds[resource] = of_kind
                if is_first and isinstance(of_kind, _OfKind):
                    threading.Thread(target=self._watch, args=(resource, of_kind), daemon=True).start()
            with self._lock:
                kinds = [self._of_kinds[resource] for resource in resources]
                lists = [kind if isinstance(kind, str) else kind.listed() for kind in kinds]
            return self._connection.snapshot(lists)

    def _watch(self, resource: Kind, of_kind: _OfKind) -> None:
        """Until it is refused or breaks."""
        reader = TypedReader()
        try:
            while not self._ended.wait(_PAUSE):
                events = self._connection.api.lines(
                    path_of(resource),
                    _PATIENCE,
                    watch=1,
                    allowWatchBookmarks="true",
                    timeoutSeconds=_SECONDS,
                    resourceVersion=of_kind.version,
                    fieldSelector=fields_selected(resource),
                )
                for line in filter(None, events):
                    with self._lock:
                        of_kind.change(line, reader)
        except ApiError as error:
            if error.status in _NOT_ALLOWED:
                with self._lock:
                    self.refused.add(resource)
            else:
                self._ended.set()
        except Exception:  # noqa: BLE001 - however a connection ends, the next reading makes another
            self._ended.set()
