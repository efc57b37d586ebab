"""A snapshot of a running cluster, read with GET and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from kubespread.errors import ApiError, SnapshotError
from kubespread.kube.api.kinds import Kind
from kubespread.snapshot.files.reader import collector_paused
from kubespread.snapshot.live.api import Api
from kubespread.snapshot.live.kubeconfig import Access, choose
from kubespread.snapshot.live.pages import Listed, list_all
from kubespread.snapshot.live.parallel import in_parallel
from kubespread.snapshot.live.resources import (
    FORBIDDEN,
    NOT_FOUND,
    OPTIONAL,
    RESOURCES,
    SCHEDULING_GROUP,
    is_required,
    right_to_list,
    served,
    why_unread,
)
from kubespread.snapshot.live.transport import ClientTransport
from kubespread.snapshot.snapshot import SERVER_VERSION, Origin, Snapshot, SnapshotBuilder

_CONNECTIONS = 6
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_RELEASE = re.compile(r"v[1-9]\d{0,3}\.\d{1,4}\.\d{1,4}(?!\d).{0,60}")
_MAJOR_MINOR = re.compile(r"v[1-9]\d{0,3}\.\d{1,4}")
_LONGEST_WAIT = 1e8
"""Seconds: three years, which a socket still accepts as a timeout."""


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


def load_cluster(access: Access, progress: Progress | None = None) -> Snapshot:
    """What scheduling needs of the cluster that ``access`` leads to.

    Raises UsageError, ManifestError and SnapshotError.
    """
    progress = progress or NoProgress()
    target = choose(access, os.environ)
    transport = ClientTransport(access, target, _CONNECTIONS)
    api = Api(transport, min(access.request_timeout, _LONGEST_WAIT), progress.bytes_came)
    with closing(transport), collector_paused():
        version, why_no_version = _server_version(api)
        builder = SnapshotBuilder()
        optional, complete = _optional(api, builder)
        resources = (*RESOURCES, *optional)
        jobs = [
            partial(_list_or_why, api, resource, access.chunk_size, progress.objects_came) for resource in resources
        ]
        builder.nodes_listed = True
        if why_no_version:
            builder.note_gap(why_no_version, SERVER_VERSION)
        resource_version = ""
        for resource, listed in zip(resources, in_parallel(jobs, _CONNECTIONS), strict=True):
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
                source=f"context {target.context}" if target is not None and target.context else "",
                server=transport.server,
                server_version=version,
                resource_version=resource_version,
                namespace=target.namespace if target is not None else _own_namespace(),
                listed=tuple(complete),
            )
        )
        return builder.build().stamped(transport.server)


def _list_or_why(api: Api, resource: Kind, chunk_size: int, on_objects: Callable[[str, int], None]) -> Listed | str:
    """The list, or why it may not be read; empty if nothing is missing without it."""
    try:
        return list_all(api, resource, chunk_size, on_objects)
    except ApiError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND):
            raise
        if not is_required(resource):
            return why_unread(resource, error.status)
        if error.status == FORBIDDEN:
            reason = str(error).rpartition("; ")[0]
            message = (
                f"not allowed to list {resource.plural}: {reason}; "
                f"a ClusterRole has to allow {right_to_list(resource)} ('kubespread rbac' prints a whole one)"
            )
            raise ApiError(message, error.status) from None
        raise


def _optional(api: Api, builder: SnapshotBuilder) -> tuple[list[Kind], list[str]]:
    """The optional kinds that can be listed, and those that are known to have no objects."""
    api_versions = _scheduling_versions(api)
    if api_versions is None:
        for row in OPTIONAL:
            builder.note_gap(f"not allowed to read {SCHEDULING_GROUP}", row.kind)
        return [], []
    resources = list(served(api_versions))
    served_types = {resource.cls for resource in resources}
    return resources, [row.kind for row in OPTIONAL if row.cls not in served_types]


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _Group(msgspec.Struct):
    versions: list[_GroupVersion] = []


def _scheduling_versions(api: Api) -> frozenset[str] | None:
    """The apiVersions that the server serves of the group that pod groups are in; None where it may not be asked."""
    try:
        group = msgspec.json.decode(api.get(SCHEDULING_GROUP), type=_Group)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise SnapshotError(
            f"{api.transport.server}{SCHEDULING_GROUP}: not what a Kubernetes API server answers: {error}"
        ) from None
    except ApiError as error:
        if error.status == FORBIDDEN:
            return None
        if error.status == NOT_FOUND:
            return frozenset()
        raise
    return frozenset(version.group_version for version in group.versions)


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""


def _server_version(api: Api) -> tuple[str, str]:
    """The server's version, or why it is not known. It is the first request: an unreachable server fails here."""
    try:
        version = msgspec.json.decode(api.get("/version"), type=_Version)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise SnapshotError(
            f"{api.transport.server}/version: not what a Kubernetes API server answers: {error}"
        ) from None
    except ApiError as error:
        if error.status == FORBIDDEN:
            return "", "not allowed to read /version"
        if error.status == NOT_FOUND:
            return "", "/version is not served"
        raise
    for text, form in (
        (version.git_version, _RELEASE),
        (f"v{version.major}.{version.minor.rstrip('+')}", _MAJOR_MINOR),
    ):
        if form.fullmatch(text):
            return text, ""
    return "", "/version names no release"


def _own_namespace() -> str:
    """The namespace of the pod this runs in."""
    try:
        return _NAMESPACE_FILE.read_text().strip()
    except OSError:
        return ""
