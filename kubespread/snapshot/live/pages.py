"""One kind of a live cluster, page after page, all of one moment or not at all."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from msgspec import Struct

from kubespread.errors import ApiError, SnapshotError
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_objects
from kubespread.manifest.text import MAX_CLUSTER_BYTES
from kubespread.redaction import without_secrets
from kubespread.snapshot.live.api import Api
from kubespread.snapshot.live.resources import field_selector, path_of
from kubespread.snapshot.snapshot import TypedReader, object_name

_GONE = 410
_MAX_RESTARTS = 3
_MAX_EMPTY_PAGES = 10
_MAX_SHORT_PAGES = 1000
"""Of fewer objects than were asked for, one after another."""


class Listed(Struct, frozen=True):
    """The objects of one kind, and the resourceVersion they are of."""

    objects: list[ApiObject]
    resource_version: str


def list_all(api: Api, resource: Kind, chunk_size: int, on_objects: Callable[[str, int], None]) -> Listed:
    """Every object of ``resource``; a list that expires midway (410) starts over.

    Raises ApiError and SnapshotError.
    """
    for _ in range(_MAX_RESTARTS):
        try:
            return _all_pages(api, resource, chunk_size, on_objects)
        except ApiError as error:
            if error.status != _GONE:
                raise
    raise ApiError(
        f"{api.transport.server}{path_of(resource)}: the list expired {_MAX_RESTARTS} times before its last page; "
        "ask for larger pages with --chunk-size, 0 for a single one"
    )


def _all_pages(api: Api, resource: Kind, chunk_size: int, on_objects: Callable[[str, int], None]) -> Listed:
    name = f"{api.transport.server}{path_of(resource)}"
    page = _Page(resource, name)
    end = _End(name, api.timeout, chunk_size)
    token = None
    while True:
        body = api.get(
            path_of(resource), limit=chunk_size or None, fieldSelector=field_selector(resource), **{"continue": token}
        )
        before = len(page.objects)
        page.read(body)
        on_objects(resource.plural, len(page.objects) - before)
        token = page.token
        if not token:
            return Listed(page.objects, page.resource_version)
        end.check(token, page.objects[before:], len(body))


class _End:
    """Whether a list goes toward an end: pages that come again, or hold nothing or ever too little, do not.

    A server fills each page but the last.
    """

    def __init__(self, name: str, timeout: float, chunk_size: int) -> None:
        self._name, self._timeout, self._chunk_size = name, timeout, chunk_size
        self._tokens: set[int] = set()
        self._starts: set[tuple[str, str]] = set()
        self._empty = self._short = self._size = 0
        self._last_came = self._last_full = monotonic()

    def check(self, token: str, came: list[ApiObject], size: int) -> None:
        """After a page of ``size`` bytes that says that ``token`` leads on. Raises SnapshotError."""
        self._size += size
        if hash(token) in self._tokens:
            self._refuse("the continue token repeats")
        self._tokens.add(hash(token))
        if self._size > MAX_CLUSTER_BYTES:
            self._refuse(f"more than {MAX_CLUSTER_BYTES // 2**30} GiB")
        if came:
            start = came[0].metadata.namespace, came[0].metadata.name
            if start in self._starts:
                self._refuse("the same page came twice")
            self._starts.add(start)
            self._empty, self._last_came = 0, monotonic()
            self._check_length(len(came))
            return
        self._empty += 1
        if self._empty == _MAX_EMPTY_PAGES or (self._timeout and monotonic() - self._last_came > self._timeout):
            self._refuse(f"{self._empty} empty pages, one after another")

    def _check_length(self, count: int) -> None:
        if 0 < self._chunk_size <= count:
            self._short, self._last_full = 0, monotonic()
            return
        self._short += 1
        is_late = self._timeout and monotonic() - self._last_full > self._timeout
        if self._short == _MAX_SHORT_PAGES or (is_late and self._short > 1):
            self._refuse(f"{self._short} pages of fewer objects than were asked for, one after another")

    def _refuse(self, what: str) -> None:
        raise SnapshotError(
            f"{self._name}: the list does not end: {what}; check server in the kubeconfig, or read a file with -S"
        )


class _Page:
    """Reads the pages of one list."""

    def __init__(self, resource: Kind, name: str) -> None:
        self._resource, self._name = resource, name
        self._reader = TypedReader()
        self.objects: list[ApiObject] = []
        self.token = self.resource_version = ""

    def read(self, body: bytes) -> None:
        """Raises SnapshotError when the body is not a list of the resource."""
        self.token = ""
        self._ended = False
        try:
            for item in read_objects(iter([body])):
                self._receive(item)
        except MalformedError as error:
            message = without_secrets(error.fault.message)
            raise SnapshotError(f"{self._name}: not what a Kubernetes API server answers: {message}") from None
        if not self._ended:
            raise SnapshotError(
                f"{self._name}: not what a Kubernetes API server answers: expected a {self._resource.kind}List"
            )

    def _receive(self, item: KubernetesObject) -> None:
        if item.size is not None:
            metadata: Any = item.data.get("metadata")
            metadata = metadata if isinstance(metadata, dict) else {}
            self.token = str(metadata.get("continue") or "")
            self.resource_version = str(metadata.get("resourceVersion") or "")
            self._ended = item.kind == f"{self._resource.kind}List"
            return
        try:
            typed = self._reader.read(item)
        except DecodingError as error:
            raise SnapshotError(f"{self._name}: {object_name(item.data)}: {error.path}: {error}") from error
        if typed is not None:
            self.objects.append(typed)
