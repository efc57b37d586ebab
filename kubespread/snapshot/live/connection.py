"""A snapshot of a running cluster, read with GET and nothing else."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import ApiError, SnapshotError
from kubespread.kube.api.cluster_objects import PodGroup
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import KIND_OF, Kind, group_of
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.manifest.objects import read_objects
from kubespread.manifest.text import MAX_CLUSTER_BYTES, MalformedError
from kubespread.redaction import without_secrets
from kubespread.regex import regex
from kubespread.snapshot.files.reader import collector_paused
from kubespread.snapshot.live.api import FORBIDDEN, NOT_FOUND, Api
from kubespread.snapshot.live.kubeconfig import Access, choose
from kubespread.snapshot.snapshot import SERVER_VERSION, Origin, Snapshot, SnapshotBuilder, TypedReader, object_name

RESOURCES = tuple(row for row in KIND_OF.values() if row.is_listed)
OPTIONAL = KIND_OF[PodGroup]
"""The resource that only some clusters serve, in versions that come and go with the release."""
LISTED = (*RESOURCES, OPTIONAL)


def path_of(resource: Kind) -> str:
    return f"/{'apis' if resource.group else 'api'}/{resource.api_version}/{resource.plural}"


_REQUEST_TIMEOUT = 30.0
"""Seconds, for a request with all its attempts."""
_CHUNK_SIZE, _MAX_PAGES = 500, 1000
"""Objects per page, and pages of one list."""
_EXPIRED = 410
_MAX_RESTARTS = 3


OnPage = Callable[[str, int, int], object]
"""Function called for each page, from several threads, with its resource, number of objects and of bytes."""


class ObjectList(Struct):
    """Objects of one kind, and their resourceVersion."""

    objects: list[ApiObject]
    resource_version: str


def list_all(api: Api, resource: Kind, on_page: OnPage | None) -> ObjectList:
    """List all objects of ``resource``; a list that expires midway (410) starts over. Raises ApiError and
    SnapshotError.
    """
    for _ in range(_MAX_RESTARTS):
        try:
            return _all_pages(api, resource, on_page)
        except ApiError as error:
            if error.status != _EXPIRED:
                raise
    raise ApiError(
        f"{api.server}{path_of(resource)}: the list expired {_MAX_RESTARTS} times before its last page; "
        "try again when the server is less busy"
    )


def _all_pages(api: Api, resource: Kind, on_page: OnPage | None) -> ObjectList:
    name, reader, token = f"{api.server}{path_of(resource)}", TypedReader(), None
    # Pods that have ended take no part in anything.
    selected = ",".join(f"status.phase!={phase}" for phase in ENDED_PHASES) if resource.cls is Pod else None
    objects: list[ApiObject] = []
    size = 0
    for _ in range(_MAX_PAGES):
        body = api.get(path_of(resource), limit=_CHUNK_SIZE, fieldSelector=selected, **{"continue": token})
        page, meta = _page(body, resource, reader, name)
        objects += page
        size += len(body)
        if on_page is not None:
            on_page(resource.plural, len(page), len(body))
        token = meta.continue_
        if not token:
            return ObjectList(objects, meta.resource_version)
        if size > MAX_CLUSTER_BYTES:
            break
    raise SnapshotError(
        f"{name}: the list does not end within {_MAX_PAGES} pages and {MAX_CLUSTER_BYTES // 2**30} GiB; check server "
        "in the kubeconfig, or read a file with -S"
    )


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


def _page(body: bytes, resource: Kind, reader: TypedReader, name: str) -> tuple[list[ApiObject], _ListMeta]:
    """Raises SnapshotError when the body is not a list of the resource."""
    objects = []
    kind = ""
    try:
        for item in read_objects(iter([body])):
            if item.size is not None:
                kind, meta = item.kind, msgspec.convert(item.data.get("metadata") or {}, _ListMeta)
            elif (typed := reader.read(item)) is not None:
                objects.append(typed)
        if kind != f"{resource.kind}List":
            raise MalformedError(f"expected a {resource.kind}List")
    except DecodingError as error:
        raise SnapshotError(f"{name}: {object_name(item.data)}: {error.path}: {error}") from error
    except (MalformedError, msgspec.ValidationError) as error:
        raise SnapshotError(
            f"{name}: not what a Kubernetes API server answers: {without_secrets(str(error))}"
        ) from None
    return objects, meta


_CONNECTIONS = 6
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_RELEASE = regex(r"v[1-9]\d{0,3}\.\d{1,4}(\.\d{1,4}(?!\d).{0,60})?")


def load_cluster(access: Access, on_page: OnPage | None = None) -> Snapshot:
    """Read the objects that scheduling needs from a cluster. Raises UsageError, ManifestError and SnapshotError."""
    target = choose(access, os.environ)
    api = Api(target, _CONNECTIONS, _REQUEST_TIMEOUT)
    builder = SnapshotBuilder()
    builder.nodes_listed = True
    complete, resource_version = list[str](), ""
    with closing(api), collector_paused():
        version, why_unknown = _server_version(api)
        if why_unknown:
            builder.note_gap(why_unknown, SERVER_VERSION)
        for resource, listed in zip(LISTED, lists_of(api, LISTED, on_page), strict=True):
            if isinstance(listed, ObjectList):
                for obj in listed.objects:
                    builder.add(obj)
                if resource.cls is Pod:
                    resource_version = listed.resource_version
            elif listed:
                builder.note_gap(listed, resource.kind)
            if isinstance(listed, ObjectList) or (resource is OPTIONAL and not listed):
                complete.append(resource.kind)
        builder.note_origin(
            Origin(
                source="" if target is None else f"context {target.name}",
                server=api.server,
                server_version=version,
                resource_version=resource_version,
                namespace=target.context.namespace if target is not None else _own_namespace(),
                listed=tuple(complete),
            )
        )
        return builder.build().stamp(api.server)


def lists_of(api: Api, resources: Sequence[Kind], on_page: OnPage | None = None) -> list[ObjectList | str]:
    """Lists of ``resources``, in their order; in place of one that cannot be read the reason, empty if it is optional.

    The first error ends it, and the other lists are abandoned: an executor would wait for its threads at exit.
    """
    waiting = iter(enumerate(resources))
    lists: list[Any] = [None] * len(resources)
    results: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        for position, resource in waiting:
            try:
                lists[position] = _list_or_why(api, resource, on_page)
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                results.put(error)
                return
            results.put(None)

    for _ in range(_CONNECTIONS):
        threading.Thread(target=work, daemon=True).start()
    for _ in resources:
        if (error := results.get()) is not None:
            raise error
    return lists


def _list_or_why(api: Api, resource: Kind, on_page: OnPage | None) -> ObjectList | str:
    """List of a resource, of an optional one in the newest version served; else the reason, empty if it is optional."""
    versions = [resource.api_version]
    if resource is OPTIONAL:
        versions = [name for name in (*resource.other_versions[::-1], *versions) if group_of(name) == resource.group]
    for version in versions:
        try:
            return list_all(api, replace(resource, api_version=version), on_page)
        except ApiError as error:
            if error.status not in (FORBIDDEN, NOT_FOUND) or resource.cls in (Node, Pod):
                raise
            # Something can be said without it.
            if error.status == FORBIDDEN:
                return f"not allowed to list {resource.plural}"
    # A server without dynamic resource allocation, as before 1.34, has no claims either.
    is_missing = resource is not OPTIONAL and resource.group != "resource.k8s.io"
    return f"{resource.plural} could not be read (not served as {resource.api_version})" if is_missing else ""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""


def _server_version(api: Api) -> tuple[str, str]:
    """The server's version, or why it is not known. It is the first request: an unreachable server fails here."""
    try:
        version = msgspec.json.decode(api.get("/version"), type=_Version)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{api.server}/version: not what a Kubernetes API server answers: {error}") from None
    except ApiError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND):
            raise
        return "", "not allowed to read /version" if error.status == FORBIDDEN else "/version is not served"
    numbers = f"v{version.major}.{version.minor.rstrip('+')}"
    release = next(filter(_RELEASE.fullmatch, (version.git_version, numbers)), "")
    return release, "" if release else "/version names no release"


def _own_namespace() -> str:
    """The namespace of the pod this runs in."""
    try:
        return _NAMESPACE_FILE.read_text().strip()
    except OSError:
        return ""
