"""Suggested changes as commands for kubectl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from kubespread.candidate.settings import Operation, operations
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS, Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName
from kubespread.questions.remedies import kubectl
from kubespread.questions.remedies.change import Change
from kubespread.snapshot.edits.node_marks import RemoveLabel, RemoveTaint, SetLabel
from kubespread.snapshot.edits.nodes import Uncordon
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.snapshot.snapshot import Snapshot


def commands_for(change: Change, workloads: Sequence[WorkloadName], snapshot: Snapshot) -> tuple[str, ...]:
    """kubectl commands for the change: fields are set in ``workloads``; single pods are left out."""
    made = []
    for workload in workloads if change.settings else ():
        row = POD_CREATORS.get(workload.kind)
        if row is None or not row.is_kept or row.cls is Pod:
            continue
        if (obj := named(row, workload.namespace, workload.name, snapshot)) is not None:
            # Some of a group may lack the field.
            with suppress(UsageError):
                changed = operations(msgspec.to_builtins(obj), row, change.settings)
                made.append(patch_command(reference(row, obj), changed))
    return (*made, *commands(change, snapshot))


def patch_command(reference: str, changed: Sequence[Operation]) -> str:
    """The kubectl command that sets the fields."""
    patch = [
        {"op": "remove", "path": change.pointer}
        if change.removes
        else {"op": "add", "path": change.pointer, "value": change.value}
        for change in changed
    ]
    return kubectl.patch(reference, patch)


def commands(change: Change, snapshot: Snapshot) -> Iterator[str]:
    """kubectl commands for the edits; it cannot make new nodes."""
    labels = {node.metadata.name: node.metadata.labels for node in snapshot.nodes}
    for edit in change.edits:
        match edit:
            case Uncordon():
                yield f"kubectl uncordon {edit.target}"
            case RemoveTaint():
                yield f"kubectl taint node {edit.target} {edit.described}-"
            case SetLabel():
                is_other = edit.key in labels.get(str(edit.target), ())
                yield f"kubectl label node {edit.target} {edit.key}={edit.value}{' --overwrite' if is_other else ''}"
            case RemoveLabel():
                yield f"kubectl label node {edit.target} {edit.key}-"
            case EvictPod():
                yield kubectl.evict((edit.namespace or DEFAULT_NAMESPACE, edit.name))


def reference(row: Kind, obj: ApiObject) -> str:
    """``deployment web -n shop``."""
    return f"{row.resource} {obj.metadata.name} -n {obj.metadata.namespace}"


def named(row: Kind, namespace: str, name: str, snapshot: Snapshot) -> ApiObject | None:
    """The object of that kind and name."""
    alike = (obj for obj in snapshot.of_kind(row) if obj.metadata.name == name)
    return next((obj for obj in alike if obj.metadata.namespace == namespace), None)
