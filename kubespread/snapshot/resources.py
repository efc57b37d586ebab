"""What is read of a live cluster: every kind a snapshot holds, where the API serves it."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.snapshot.snapshot import KINDS

FORBIDDEN, NOT_FOUND = 403, 404
# Pods that have ended take no part in anything, and there may be many.
RUNNING_PODS = "status.phase!=Succeeded,status.phase!=Failed"
_INDISPENSABLE = frozenset({"Node", "Pod"})
_OPTIONAL_GROUP = "resource.k8s.io/v1"
# Asked about by name, and otherwise without a say in where pods go.
_BYSTANDERS = frozenset({"Deployment", "DaemonSet", "Job", "CronJob", "HorizontalPodAutoscaler"})
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
    def is_indispensable(self) -> bool:
        """Whether nothing can be said without it."""
        return self.kind in _INDISPENSABLE

    def leaves_gap(self, status: int) -> bool:
        """Whether an answer may be wrong without it, when the server refuses it with ``status``.

        A server that does not serve dynamic resource allocation, as before 1.34, has no claims either.
        """
        return self.kind not in _BYSTANDERS and not (status == NOT_FOUND and self.api_version == _OPTIONAL_GROUP)


RESOURCES = tuple(Resource(api_version, kind) for api_version, kind in KINDS if kind not in _NOT_ASKED_FOR)
