"""What is read of a live cluster: every kind a snapshot holds, where the API serves it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodGroup, Workload
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import KEPT, REFERABLE, Kind, group_of
from kubespread.kube.owners import SELECTING_CONTROLLERS
from kubespread.kube.well_known import ENDED_PHASES

UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 401, 403, 404
# Pods that have ended take no part in anything, and there may be many.
RUNNING_PODS = ",".join(f"status.phase!={phase}" for phase in ENDED_PHASES)
_OPTIONAL_GROUP = "resource.k8s.io"

RESOURCES = tuple(row for row in KEPT.values() if row.is_listed)
_WIDTH = 120
_ROLE = """\
# The least that `kubespread` needs to read a cluster. Only nodes and pods are required: what else is refused
# becomes a gap that the answer names. The last rule is for asking about workloads by name (`kubespread explain \
deploy/web`).
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
        versions = (
            row.api_version,
            *(other_version for other_version in row.other_versions if group_of(other_version) == row.group),
        )
        served_versions = [version for version in versions if version in api_versions]
        if served_versions:
            yield replace(row, api_version=served_versions[-1])


def path_of(resource: Kind) -> str:
    return f"/{'apis' if resource.group else 'api'}/{resource.api_version}/{resource.plural}"


def field_selector(resource: Kind) -> str | None:
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


def is_required(resource: Kind) -> bool:
    """Whether nothing can be said without it."""
    return resource.cls in (Node, Pod)


def right_to_list(resource: Kind) -> str:
    """What a ClusterRole has to allow, in the fields of its rules."""
    return f'apiGroups ["{resource.group}"], resources [{resource.plural}], verbs [list]'


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
