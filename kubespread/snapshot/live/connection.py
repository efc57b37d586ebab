"""A snapshot of a running cluster, read with GET and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import ApiError, SnapshotError
from kubespread.kube.api.cluster_objects import PodGroup, Workload
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import KEPT, REFERABLE, Kind, group_of
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import SELECTING_CONTROLLERS
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.manifest.objects import KubernetesObject, read_objects
from kubespread.manifest.text import MAX_CLUSTER_BYTES, MalformedError
from kubespread.redaction import without_secrets
from kubespread.snapshot.files.reader import collector_paused
from kubespread.snapshot.live.api import FORBIDDEN, NOT_FOUND, Api, in_parallel
from kubespread.snapshot.live.kubeconfig import Access, choose
from kubespread.snapshot.live.transport import ClientTransport
from kubespread.snapshot.snapshot import SERVER_VERSION, Origin, Snapshot, SnapshotBuilder, TypedReader, object_name

# Pods that have ended take no part in anything, and there may be many.
RUNNING_PODS = ",".join(f"status.phase!={phase}" for phase in ENDED_PHASES)
_OPTIONAL_GROUP = "resource.k8s.io"

RESOURCES = tuple(row for row in KEPT.values() if row.is_listed)
_WIDTH = 120
_ROLE = """\
# The least that `kubespread` needs to read a cluster. Only nodes and pods are required: what else is refused
# becomes a gap that the answer names. The last rule is for asking about workloads by name (`kubespread explain \
deploy/web`). With the verb watch beside list, `-w` and `kubespread serve` are told of changes and list rarely.
# Say in the binding who may ask before you apply this.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubespread
rules:
{rules}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: kubespread
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: kubespread
subjects:
- kind: Group
  name: planners # whoever may ask; a Group, a User or a ServiceAccount
  apiGroup: rbac.authorization.k8s.io
"""
SCHEDULING_GROUP = "/apis/scheduling.k8s.io"
"""Says which versions there are of the group of OPTIONAL."""
OPTIONAL = (KEPT[PodGroup], KEPT[Workload])
"""What only some clusters serve, in versions that come and go with the release."""


def served(api_versions: Collection[str]) -> Iterator[Kind]:
    """The optional resources with a served version, each in the newest of these."""
    for row in OPTIONAL:
        versions = (row.api_version, *row.other_versions)
        served_versions = [each for each in versions if each in api_versions and group_of(each) == row.group]
        if served_versions:
            yield replace(row, api_version=served_versions[-1])


def path_of(resource: Kind) -> str:
    return f"/{'apis' if resource.group else 'api'}/{resource.api_version}/{resource.plural}"


def fields_selected(resource: Kind) -> str | None:
    """Which of its objects are asked for, where not all are."""
    return RUNNING_PODS if resource.cls is Pod else None


def cluster_role() -> str:
    """A ClusterRole that allows to list all of it, and a binding, in YAML."""
    rules: dict[tuple[str, ...], list[str]] = {}
    by_name = [row for row in RESOURCES if row in REFERABLE and row.cls not in (Pod, *SELECTING_CONTROLLERS.values())]
    for row in (*RESOURCES, *OPTIONAL):
        if row not in by_name:
            rules.setdefault((row.group,), []).append(row.plural)
    # Last, as it is for few questions.
    rules[tuple(dict.fromkeys(row.group for row in by_name))] = [row.plural for row in by_name]
    text = "".join(
        f"- apiGroups: {_flow(groups)}\n{_resources(sorted(rules[groups]))}  verbs: [list]\n" for groups in rules
    )
    return _ROLE.format(rules=text)


def _resources(names: Sequence[str]) -> str:
    line = f"  resources: {_flow(names)}\n"
    return line if len(line) <= _WIDTH else "".join(("  resources:\n", *(f"  - {name}\n" for name in names)))


def _flow(names: Iterable[str]) -> str:
    listed = ", ".join(name or '""' for name in names)
    return f"[{listed}]"


def why_unread(resource: Kind, status: int) -> str:
    """The gap in answers if the server refuses it with ``status``; empty if nothing is missing.

    A server that does not serve dynamic resource allocation, as before 1.34, has no claims either, and one that serves
    a version of a group may do so for other resources than pod groups.
    """
    if status == FORBIDDEN:
        return f"not allowed to list {resource.plural}"
    if resource.group == _OPTIONAL_GROUP or resource.cls in (PodGroup, Workload):
        return ""
    return f"{resource.plural} could not be read (not served as {resource.api_version})"


_REQUEST_TIMEOUT = 30.0
"""Seconds, for a request with all its attempts."""
_CHUNK_SIZE = 500
"""Objects per page."""
_GONE = 410
_MAX_RESTARTS = 3
_MAX_EMPTY_PAGES = 10
_MAX_SHORT_PAGES = 1000
"""Of fewer objects than were asked for, one after another."""


class Listed(Struct, frozen=True):
    """The objects of one kind, and the resourceVersion they are of."""

    objects: list[ApiObject]
    resource_version: str


def list_all(api: Api, resource: Kind, on_objects: Callable[[str, int], None]) -> Listed:
    """Every object of ``resource``; a list that expires midway (410) starts over.

    Raises ApiError and SnapshotError.
    """
    for _ in range(_MAX_RESTARTS):
        try:
            return _all_pages(api, resource, on_objects)
        except ApiError as error:
            if error.status != _GONE:
                raise
    raise ApiError(
        f"{api.transport.server}{path_of(resource)}: the list expired {_MAX_RESTARTS} times before its last page; "
        "try again when the server is less busy"
    )


def _all_pages(api: Api, resource: Kind, on_objects: Callable[[str, int], None]) -> Listed:
    name = f"{api.transport.server}{path_of(resource)}"
    page = _Page(resource, name)
    end = _End(name, api.timeout)
    token = None
    while True:
        selected = fields_selected(resource)
        body = api.get(path_of(resource), limit=_CHUNK_SIZE, fieldSelector=selected, **{"continue": token})
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

    def __init__(self, name: str, timeout: float) -> None:
        self._name, self._timeout = name, timeout
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
        if self._empty == _MAX_EMPTY_PAGES or monotonic() - self._last_came > self._timeout:
            self._refuse(f"{self._empty} empty pages, one after another")

    def _check_length(self, count: int) -> None:
        if count >= _CHUNK_SIZE:
            self._short, self._last_full = 0, monotonic()
            return
        self._short += 1
        is_late = monotonic() - self._last_full > self._timeout
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


T = TypeVar("T")

_CONNECTIONS = 6
"""For lists; each watch has one of its own."""
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_RELEASE = re.compile(r"v[1-9]\d{0,3}\.\d{1,4}\.\d{1,4}(?!\d).{0,60}")
_MAJOR_MINOR = re.compile(r"v[1-9]\d{0,3}\.\d{1,4}")


class Progress(Protocol):
    """Is notified of a download's progress, from several threads."""

    def bytes_came(self, size: int) -> None: ...
    def objects_came(self, resource: str, count: int) -> None: ...


class NoProgress:
    """Reports no progress."""

    def bytes_came(self, size: int) -> None:
        pass

    def objects_came(self, resource: str, count: int) -> None:
        pass


class Connection:
    """One running cluster: what is read of it, and what the answers make.

    Raises UsageError, ManifestError and SnapshotError.
    """

    def __init__(self, access: Access, progress: Progress) -> None:
        self._progress = progress
        self._target = choose(access, os.environ)
        self._transport = ClientTransport(self._target, _CONNECTIONS + len(RESOURCES) + len(OPTIONAL))
        self.api = Api(self._transport, _REQUEST_TIMEOUT, progress.bytes_came)
        self._version, self._why_no_version = _server_version(self.api)
        self._api_versions = _scheduling_versions(self.api)
        self.resources = (*RESOURCES, *served(self._api_versions or ()))

    def close(self) -> None:
        self._transport.close()

    def listed(self, resources: Sequence[Kind]) -> list[Listed | str]:
        """Of each the list, or why it may not be read; empty if nothing is missing without it."""
        jobs = [partial(_list_or_why, self.api, resource, self._progress.objects_came) for resource in resources]
        return in_parallel(jobs, _CONNECTIONS)

    def snapshot(self, lists: Sequence[Listed | str]) -> Snapshot:
        """Of the lists of all resources."""
        builder = SnapshotBuilder()
        builder.nodes_listed = True
        if self._why_no_version:
            builder.note_gap(self._why_no_version, SERVER_VERSION)
        complete, resource_version = self._optional_without_objects(builder), ""
        for resource, listed in zip(self.resources, lists, strict=True):
            if isinstance(listed, str):
                if listed:
                    builder.note_gap(listed, resource.kind)
            else:
                for obj in listed.objects:
                    builder.add(obj)
                complete.append(resource.kind)
                if resource.kind == "Pod":
                    resource_version = listed.resource_version
        builder.came_from(
            Origin(
                source="" if self._target is None else f"context {self._target.context}",
                server=self._transport.server,
                server_version=self._version,
                resource_version=resource_version,
                namespace=self._target.namespace if self._target is not None else _own_namespace(),
                listed=tuple(complete),
            )
        )
        return builder.build().stamped(self._transport.server)

    def _optional_without_objects(self, builder: SnapshotBuilder) -> list[str]:
        """The optional kinds that are known to have no objects."""
        if self._api_versions is None:
            for row in OPTIONAL:
                builder.note_gap(f"not allowed to read {SCHEDULING_GROUP}", row.kind)
            return []
        served_types = {resource.cls for resource in self.resources}
        return [row.kind for row in OPTIONAL if row.cls not in served_types]


def load_cluster(access: Access, progress: Progress | None = None) -> Snapshot:
    """What scheduling needs of the cluster that ``access`` leads to.

    Raises UsageError, ManifestError and SnapshotError.
    """
    with closing(Connection(access, progress or NoProgress())) as connection, collector_paused():
        return connection.snapshot(connection.listed(connection.resources))


def _list_or_why(api: Api, resource: Kind, on_objects: Callable[[str, int], None]) -> Listed | str:
    """The list, or why it may not be read; empty if nothing is missing without it."""
    try:
        return list_all(api, resource, on_objects)
    except ApiError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND):
            raise
        if resource.cls not in (Node, Pod):
            # Something can be said without it.
            return why_unread(resource, error.status)
        if error.status == FORBIDDEN:
            reason = str(error).rpartition("; ")[0]
            right = f'apiGroups ["{resource.group}"], resources [{resource.plural}], verbs [list]'
            message = (
                f"not allowed to list {resource.plural}: {reason}; "
                f"a ClusterRole has to allow {right} ('kubespread rbac' prints a whole one)"
            )
            raise ApiError(message, error.status) from None
        raise


def _said(api: Api, path: str, decoder: msgspec.json.Decoder[T]) -> T | int:
    """What the server says at ``path``; the status with which it does not, where that may be."""
    try:
        return decoder.decode(api.get(path))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise SnapshotError(
            f"{api.transport.server}{path}: not what a Kubernetes API server answers: {error}"
        ) from None
    except ApiError as error:
        if error.status in (FORBIDDEN, NOT_FOUND):
            return error.status
        raise


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _Group(msgspec.Struct):
    versions: list[_GroupVersion] = []


_groups = msgspec.json.Decoder(_Group)


def _scheduling_versions(api: Api) -> frozenset[str] | None:
    """The apiVersions that the server serves of the group that pod groups are in; None where it may not be asked."""
    group = _said(api, SCHEDULING_GROUP, _groups)
    if isinstance(group, int):
        return None if group == FORBIDDEN else frozenset()
    return frozenset(version.group_version for version in group.versions)


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""


_versions = msgspec.json.Decoder(_Version)


def _server_version(api: Api) -> tuple[str, str]:
    """The server's version, or why it is not known. It is the first request: an unreachable server fails here."""
    version = _said(api, "/version", _versions)
    if isinstance(version, int):
        return "", "not allowed to read /version" if version == FORBIDDEN else "/version is not served"
    numbers = f"v{version.major}.{version.minor.rstrip('+')}"
    for text, form in ((version.git_version, _RELEASE), (numbers, _MAJOR_MINOR)):
        if form.fullmatch(text):
            return text, ""
    return "", "/version names no release"


def _own_namespace() -> str:
    """The namespace of the pod this runs in."""
    try:
        return _NAMESPACE_FILE.read_text().strip()
    except OSError:
        return ""
