"""Suggested changes as what people apply: a JSON Patch, a diff of the manifest, commands for kubectl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from kubespread.candidate.manifest_file import Manifest, choose
from kubespread.candidate.patching import Operation, operations, text_diff
from kubespread.candidate.references import Reference
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS, UNKNOWN, Kind, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import controller_of
from kubespread.library.resolving import Resolved
from kubespread.manifest.objects import KubernetesObject
from kubespread.planner import kubectl
from kubespread.planner.advise.advise import Advised
from kubespread.planner.advise.change import Change
from kubespread.planner.advise.families.evictions import WAIT
from kubespread.planner.reports.advise import AdviseReport, PatchOperation, Suggestion
from kubespread.snapshot.edits.types import EvictPod, RemoveLabel, RemoveTaint, SetLabel, Uncordon
from kubespread.snapshot.snapshot import Snapshot

_ANOTHER_TEMPLATE = "its workload's template has no such field by now: the pod is of another revision"
_IMMUTABLE = "a pod's own fields cannot be changed: delete the pod and create it anew"


@dataclass(frozen=True, slots=True)
class Patched:
    """The object that fields are set in: as plain data, and where it is."""

    data: Mapping[str, Any]
    row: Kind
    reference: str = ""
    """KIND/NAME and namespace for kubectl, of what is in the cluster."""
    manifest: Manifest | None = None
    item: KubernetesObject | None = None


def with_patches(advised: Advised, asked: Resolved, settings: Sequence[str], name: str | None) -> AdviseReport:
    """The report, each suggestion with its patch. ``settings`` were made already, and belong to each patch."""
    report = advised.report
    if report.advice is None:
        return report
    patched = _patched(asked, name)
    enough = tuple(
        _with_patch(each, advised.changes[each.change], patched, settings, asked.snapshot)
        for each in report.advice.enough
    )
    return msgspec.structs.replace(report, advice=msgspec.structs.replace(report.advice, enough=enough))


def commands_for(change: Change, workloads: Sequence[str], snapshot: Snapshot) -> tuple[str, ...]:
    """What kubectl does the change with: NAMESPACE/Kind/name are what fields are set in; pods by themselves are left
    out.
    """
    commands = []
    for workload in workloads if change.settings else ():
        namespace, kind, name = workload.split("/")
        row = POD_CREATORS.get(kind)
        found = None if row is None or not row.is_kept or row.cls is Pod else _named(row, namespace, name, snapshot)
        if row is not None and found is not None:
            patched = Patched(msgspec.to_builtins(found), row, _reference(row, found))
            # Some of a group may have no such field.
            with suppress(UsageError):
                changed = operations(patched.data, patched.row, change.settings)
                commands.append(_patch_command(patched.reference, changed))
    return (*commands, *_commands(change, snapshot))


def _with_patch(
    suggestion: Suggestion, change: Change, patched: Patched | None, settings: Sequence[str], snapshot: Snapshot
) -> Suggestion:
    commands = [] if change.family == WAIT else list(_commands(change, snapshot))
    notes = suggestion.notes
    changed: list[Operation] = []
    diff = None
    if change.settings and patched is not None:
        try:
            changed = operations(patched.data, patched.row, (*settings, *change.settings))
        except UsageError:
            # In mid-rollout a pod of a former revision has fields that the workload's template has no more.
            notes = (*notes, _ANOTHER_TEMPLATE)
        if patched.reference and not _can_be_set(patched.row, changed):
            changed, notes = [], (*notes, _IMMUTABLE)
    if changed and patched is not None:
        if patched.manifest is not None and patched.item is not None and patched.manifest.text is not None:
            diff = text_diff(patched.manifest.file, patched.manifest.text, patched.item, changed)
        if patched.reference:
            commands.insert(0, _patch_command(patched.reference, changed))
    return msgspec.structs.replace(
        suggestion,
        patch=tuple(map(_reported, changed)),
        commands=tuple(commands),
        diff=diff,
        notes=notes,
    )


def _can_be_set(row: Kind, changed: Sequence[Operation]) -> bool:
    """Of what is set here the API server lets nothing be changed in a pod but tolerations be added."""
    return row.cls is not Pod or all(operation.path[1] == "tolerations" for operation in changed)


def _reported(operation: Operation) -> PatchOperation:
    # ``add`` also replaces a field that is there.
    op = "remove" if operation.removes else "add"
    return PatchOperation(op=op, path=operation.pointer, value=operation.value)


def _patch_command(reference: str, changed: Sequence[Operation]) -> str:
    patch = [
        {"op": "remove", "path": each.pointer}
        if each.removes
        else {"op": "add", "path": each.pointer, "value": each.value}
        for each in changed
    ]
    return kubectl.patch(reference, patch)


def _commands(change: Change, snapshot: Snapshot) -> Iterator[str]:
    """What kubectl does the edits with; it cannot make new nodes."""
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


def _patched(asked: Resolved, name: str | None) -> Patched | None:
    """None where the source is not in the cluster any more."""
    source, snapshot = asked.source, asked.snapshot
    if isinstance(source, Manifest):
        item = source.chosen or choose(source, name, snapshot.origin.namespace or DEFAULT_NAMESPACE)
        return Patched(item.data, pod_creator(item.api_version, item.kind) or UNKNOWN, manifest=source, item=item)
    found = _object(source, asked)
    if found is None:
        return None
    row, obj = found
    while (above := _controller(obj, snapshot)) is not None:
        row, obj = above
    return Patched(msgspec.to_builtins(obj), row, _reference(row, obj))


def _reference(row: Kind, obj: ApiObject) -> str:
    return f"{row.resource} {obj.metadata.name} -n {obj.metadata.namespace}"


def _object(source: Reference, asked: Resolved) -> tuple[Kind, ApiObject] | None:
    namespace = source.namespace or asked.candidates[0].pod.metadata.namespace
    found = _named(source.kind, namespace, source.name, asked.snapshot)
    return None if found is None else (source.kind, found)


def _named(row: Kind, namespace: str, name: str, snapshot: Snapshot) -> ApiObject | None:
    alike = (obj for obj in snapshot.of_kind(row) if obj.metadata.name == name)
    return next((obj for obj in alike if obj.metadata.namespace == namespace), None)


def _controller(obj: ApiObject, snapshot: Snapshot) -> tuple[Kind, ApiObject] | None:
    owner = controller_of(obj)
    row = pod_creator(owner.api_version, owner.kind) if owner is not None else None
    if owner is None or row is None or not row.is_kept:
        return None
    found = _named(row, obj.metadata.namespace, owner.name, snapshot)
    return None if found is None else (row, found)
