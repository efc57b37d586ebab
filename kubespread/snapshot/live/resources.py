"""What is read of a live cluster: every kind a snapshot holds, where the API serves it."""

from __future__ import annotations

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import KEPT, Kind
from kubespread.kube.well_known import ENDED_PHASES

UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 401, 403, 404
# Pods that have ended take no part in anything, and there may be many.
RUNNING_PODS = ",".join(f"status.phase!={phase}" for phase in ENDED_PHASES)
_OPTIONAL_GROUP = "resource.k8s.io"

RESOURCES = tuple(row for row in KEPT.values() if row.is_listed)


def path_of(resource: Kind) -> str:
    return f"/{'apis' if resource.group else 'api'}/{resource.api_version}/{resource.plural}"


def field_selector(resource: Kind) -> str | None:
    return RUNNING_PODS if resource.cls is Pod else None


def is_required(resource: Kind) -> bool:
    """Whether nothing can be said without it."""
    return resource.cls in (Node, Pod)


def right_to_list(resource: Kind) -> str:
    """What a ClusterRole has to allow, in the fields of its rules."""
    return f'apiGroups ["{resource.group}"], resources [{resource.plural}], verbs [list]'


def why_unread(resource: Kind, status: int) -> str:
    """What an answer that depends on it has to say when the server refuses it with ``status``; empty when nothing is
    missing.

    A server that does not serve dynamic resource allocation, as before 1.34, has no claims either.
    """
    if status == FORBIDDEN:
        return f"not allowed to list {resource.plural}"
    if resource.group == _OPTIONAL_GROUP:
        return ""
    return f"{resource.plural} could not be read (not served as {resource.api_version})"
