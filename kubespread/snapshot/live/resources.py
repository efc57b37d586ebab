"""What is read of a live cluster: every kind a snapshot holds, where the API serves it."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.snapshot.snapshot import KINDS

UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 401, 403, 404
# Pods that have ended take no part in anything, and there may be many.
RUNNING_PODS = "status.phase!=Succeeded,status.phase!=Failed"
_INDISPENSABLE = frozenset({"Node", "Pod"})
_OPTIONAL_GROUP = "resource.k8s.io/v1"
# No part of most clusters: a pod says itself which group it belongs to.
_NOT_ASKED_FOR = frozenset({"PodGroup"})


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind, as its API serves it."""

    api_version: str
    kind: str

    @property
    def plural(self) -> str:
        name = self.kind.lower()
        if name.endswith("y"):
            return f"{name.removesuffix('y')}ies"
        return f"{name}es" if name.endswith("s") else f"{name}s"

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def path(self) -> str:
        return f"/apis/{self.api_version}/{self.plural}" if self.group else f"/api/{self.api_version}/{self.plural}"

    @property
    def field_selector(self) -> str | None:
        return RUNNING_PODS if self.kind == "Pod" else None

    @property
    def is_required(self) -> bool:
        """Whether nothing can be said without it."""
        return self.kind in _INDISPENSABLE

    @property
    def right(self) -> str:
        """What a ClusterRole has to allow, in the fields of its rules."""
        return f'apiGroups ["{self.group}"], resources [{self.plural}], verbs [list]'

    def why_unread(self, status: int) -> str:
        """What an answer that depends on it has to say when the server refuses it with ``status``; empty when nothing
        is missing.

        A server that does not serve dynamic resource allocation, as before 1.34, has no claims either.
        """
        if status == FORBIDDEN:
            return f"not allowed to list {self.plural}"
        return (
            ""
            if self.api_version == _OPTIONAL_GROUP
            else f"{self.plural} could not be read (not served as {self.api_version})"
        )


RESOURCES = tuple(Resource(api_version, kind) for api_version, kind in KINDS if kind not in _NOT_ASKED_FOR)
