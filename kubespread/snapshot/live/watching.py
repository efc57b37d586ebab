"""Running clusters that are read again and again: each is listed once and then watched, kind by kind.

A kind that may not be watched is listed each time. Whatever else goes wrong with a watch, an expired version or a lost
connection, is mended by the next reading, which lists all again; so is, after a while, what no watch tells of: kinds
that the server has not had, and permissions. The client's own watches give plain data.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

import msgspec

from kubespread.errors import ApiError
from kubespread.kube.api.kinds import Kind
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.files.reader import collector_paused
from kubespread.snapshot.live.api import FORBIDDEN
from kubespread.snapshot.live.connection import LISTED, Connection, Listed, OnPage, fields_selected, key_of, path_of
from kubespread.snapshot.live.kubeconfig import Access
from kubespread.snapshot.snapshot import Snapshot, TypedReader

_SECONDS = 300
"""Seconds after which the server ends a watch, and the next one goes on from there."""
_PAUSE = 0.5
"""Seconds before a watch, which a server may end at once."""
_PATIENCE = 90.0
"""Seconds without a word: a server sends a bookmark every minute."""
_LASTS = 600.0
"""Seconds after which a cluster is listed anew."""


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class Watching:
    """``on_refused`` is told, once for each cluster, what is listed each time."""

    def __init__(self, on_refused: Callable[[str], object]) -> None:
        self._on_refused = on_refused
        self._clusters: dict[Access, _Watched] = {}

    def connect(self, access: Access, on_page: OnPage | None = None) -> Snapshot:
        """The cluster as it is now. Raises UsageError, ManifestError and SnapshotError."""
        watched = self._clusters.pop(access, None)
        if watched is None or watched.is_over:
            if watched is not None:
                watched.close()
            watched = _Watched(access, on_page)
        try:
            snapshot = watched.read()
        except BaseException:
            watched.close()
            raise
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


class _Watched:
    """One cluster."""

    def __init__(self, access: Access, on_page: OnPage | None) -> None:
        self._connection = Connection(access, on_page)
        self.is_told = False
        self._ended = threading.Event()
        self._until = monotonic() + _LASTS
        self.refused: set[Kind] = set()
        self._lock = threading.Lock()
        self._lists: dict[Kind, Listed | str] = {}
        """Lists by resource, or the reason why one may not be read, which stays."""

    @property
    def is_over(self) -> bool:
        return self._ended.is_set() or monotonic() > self._until

    def close(self) -> None:
        self._ended.set()
        self._connection.api.close()

    def read(self) -> Snapshot:
        with self._lock:
            anew = [each for each in LISTED if each not in self._lists or each in self.refused]
        with collector_paused():
            lists = self._connection.listed(anew)
            with self._lock:
                for resource, listed in zip(anew, lists, strict=True):
                    if resource not in self._lists and isinstance(listed, Listed):
                        threading.Thread(target=self._watch, args=(resource, listed), daemon=True).start()
                    self._lists[resource] = listed
                return self._connection.snapshot([self._lists[resource] for resource in LISTED])

    def _watch(self, resource: Kind, listed: Listed) -> None:
        """Follow the resource until it is refused or breaks."""
        reader = TypedReader()
        try:
            while not self._ended.wait(_PAUSE):
                events = self._connection.api.lines(
                    path_of(listed.resource),
                    _PATIENCE,
                    watch=1,
                    allowWatchBookmarks="true",
                    timeoutSeconds=_SECONDS,
                    resourceVersion=listed.resource_version,
                    fieldSelector=fields_selected(resource),
                )
                for line in filter(None, events):
                    event = msgspec.json.decode(line, type=_Event)
                    obj = reader.read(KubernetesObject(bytes(event.object)))
                    if event.type == "ERROR" or obj is None:
                        # There is no more, as for a version that is too old.
                        self._ended.set()
                        break
                    with self._lock:
                        listed.resource_version = obj.metadata.resource_version
                        if event.type == "DELETED":
                            listed.objects.pop(key_of(obj), None)
                        elif event.type != "BOOKMARK":
                            listed.objects[key_of(obj)] = obj
        except ApiError as error:
            if error.status in (FORBIDDEN, 405):
                with self._lock:
                    self.refused.add(resource)
            else:
                self._ended.set()
        except Exception:  # noqa: BLE001 - however a connection ends, the next reading makes another
            self._ended.set()
