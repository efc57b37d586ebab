"""What objects in a file are called, read without the rest of them."""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.kinds import REFERABLE, SERVICE, pod_creator
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.stream import read_objects
from kubespread.manifest.text import MAX_CLUSTER_BYTES, text_chunks
from kubespread.snapshot.files.entries import entries
from kubespread.snapshot.files.reader import Recognized, collector_paused
from kubespread.snapshot.names import Names
from kubespread.snapshot.snapshot import STAMP

_SHORT = {row.kind: row.short for row in (*REFERABLE, SERVICE)}


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    labels: dict[str, Any] | None = None


class _Named(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def read_names(path: str) -> Names:
    """The names in a file or archive. Raises OSError, KubespreadError and MalformedError."""
    collected = _Collected()
    recognized = Recognized()
    with collector_paused():
        for entry in entries(path):
            recognized.see(entry.path)
            for item in read_objects(text_chunks(entry.file, MAX_CLUSTER_BYTES, recognized.without_logs)):
                collected.receive(item)
    return collected.names()


class _Collected:
    def __init__(self) -> None:
        self._namespace = ""
        self._nodes: set[str] = set()
        self._labels: dict[str, set[str]] = {}
        self._namespaces: set[str] = set()
        self._by_kind: dict[str, dict[str, set[str]]] = {}

    def receive(self, item: KubernetesObject) -> None:
        if item.size is not None:
            stamp = item.data.get(STAMP)
            self._namespace = self._namespace or (stamp.get("namespace", "") if isinstance(stamp, dict) else "")
            return
        row = pod_creator(item.api_version, item.kind)
        is_service = (item.api_version or SERVICE.api_version, item.kind) == (SERVICE.api_version, SERVICE.kind)
        if row is None and item.kind not in ("Node", "Namespace") and not is_service:
            return
        meta = _metadata(item)
        if not meta.name:
            return
        if item.kind == "Node":
            self._nodes.add(meta.name)
            for key, value in (meta.labels or {}).items():
                self._labels.setdefault(key, set()).add(str(value))
        elif item.kind == "Namespace":
            self._namespaces.add(meta.name)
        elif item.kind in _SHORT:
            namespace = meta.namespace or DEFAULT_NAMESPACE
            self._by_kind.setdefault(_SHORT[item.kind], {}).setdefault(namespace, set()).add(meta.name)

    def names(self) -> Names:
        used = {namespace for names in self._by_kind.values() for namespace in names}
        return Names(
            self._namespace,
            sorted(self._nodes),
            {key: msgspec.Raw(msgspec.json.encode(sorted(values))) for key, values in sorted(self._labels.items())},
            sorted(self._namespaces | used),
            {
                short: msgspec.Raw(
                    msgspec.json.encode({namespace: sorted(names) for namespace, names in by_namespace.items()})
                )
                for short, by_namespace in self._by_kind.items()
            },
        )


def _metadata(item: KubernetesObject) -> _Metadata:
    """What of an object names it; nothing where that is not of the types it has to be."""
    try:
        return (
            msgspec.json.decode(item.json, type=_Named) if item.json else msgspec.convert(item.data, _Named)
        ).metadata
    except msgspec.ValidationError:
        return _Metadata()
