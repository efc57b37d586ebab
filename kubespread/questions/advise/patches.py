"""The suggestions of an advice as patches: of the manifest that is asked about, or of the workload in the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from kubespread.candidate.input.references import Reference
from kubespread.candidate.json_patch import Operation, operations, text_diff
from kubespread.candidate.manifests.file import Manifest, choose
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import UNKNOWN, Kind, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import controller_of
from kubespread.manifest.objects import KubernetesObject
from kubespread.questions.patches import commands, named, patch_command, reference
from kubespread.questions.remedies.change import Change
from kubespread.questions.remedies.families.evictions import WAIT
from kubespread.questions.resolving import Resolved
from kubespread.reports.advise import Advice, PatchOperation, Suggestion
from kubespread.snapshot.snapshot import Snapshot

_ANOTHER_TEMPLATE = "its workload's template has no such field by now: the pod is of another revision"
_IMMUTABLE = "a pod's own fields cannot be changed: delete the pod and create it anew"


class _Patched(Struct, frozen=True):
    """The object whose fields are set: its plain data and its source."""

    data: Mapping[str, Any]
    row: Kind
    reference: str = ""
    """KIND/NAME and namespace for kubectl, of what is in the cluster."""
    manifest: Manifest | None = None
    item: KubernetesObject | None = None


def with_patches(
    advice: Advice, changes: Sequence[Change], resolved: Resolved, settings: Sequence[str], name: str | None
) -> Advice:
    """The advice, each suggestion with the patch of its change. ``settings`` were made already, and belong to each."""
    patched = _patched(resolved, name)
    enough = tuple(
        _with_patch(suggestion, change, patched, settings, resolved.snapshot)
        for suggestion, change in zip(advice.enough, changes, strict=True)
    )
    return msgspec.structs.replace(advice, enough=enough)


def _with_patch(
    suggestion: Suggestion, change: Change, patched: _Patched | None, settings: Sequence[str], snapshot: Snapshot
) -> Suggestion:
    made = [] if change.family == WAIT else list(commands(change, snapshot))
    notes = suggestion.notes
    changed: list[Operation] = []
    diff = None
    if change.settings and patched is not None:
        try:
            changed = operations(patched.data, patched.row, (*settings, *change.settings))
        except UsageError:
            # During a rollout, a pod of an old revision has fields that the workload's template no longer has.
            notes = (*notes, _ANOTHER_TEMPLATE)
        if patched.reference and not _can_be_set(patched.row, changed):
            changed, notes = [], (*notes, _IMMUTABLE)
    if changed and patched is not None:
        if patched.manifest is not None and patched.item is not None and patched.manifest.text is not None:
            diff = text_diff(patched.manifest.file, patched.manifest.text, patched.item, changed)
        if patched.reference:
            made.insert(0, patch_command(patched.reference, changed))
    return msgspec.structs.replace(
        suggestion,
        patch=tuple(map(_reported, changed)),
        commands=tuple(made),
        diff=diff,
        notes=notes,
    )


def _can_be_set(row: Kind, changed: Sequence[Operation]) -> bool:
    """Whether the API server allows the change: in a pod, only added tolerations."""
    return row.cls is not Pod or all(operation.path[1] == "tolerations" for operation in changed)


def _reported(operation: Operation) -> PatchOperation:
    # ``add`` also replaces an existing field.
    op = "remove" if operation.removes else "add"
    return PatchOperation(op=op, path=operation.pointer, value=operation.value)


def _patched(resolved: Resolved, name: str | None) -> _Patched | None:
    """None where the source is no longer in the cluster."""
    source, snapshot = resolved.source, resolved.snapshot
    if isinstance(source, Manifest):
        item = source.chosen or choose(source, name, snapshot.origin.namespace or DEFAULT_NAMESPACE)
        return _Patched(item.data, pod_creator(item.api_version, item.kind) or UNKNOWN, manifest=source, item=item)
    created = _object(source, resolved)
    if created is None:
        return None
    row, obj = created
    while (above := _controller(obj, snapshot)) is not None:
        row, obj = above
    return _Patched(msgspec.to_builtins(obj), row, reference(row, obj))


def _object(source: Reference, resolved: Resolved) -> tuple[Kind, ApiObject] | None:
    namespace = source.namespace or resolved.candidates[0].pod.metadata.namespace
    obj = named(source.kind, namespace, source.name, resolved.snapshot)
    return None if obj is None else (source.kind, obj)


def _controller(obj: ApiObject, snapshot: Snapshot) -> tuple[Kind, ApiObject] | None:
    owner = controller_of(obj)
    row = pod_creator(owner.api_version, owner.kind) if owner is not None else None
    if owner is None or row is None or not row.is_kept:
        return None
    controller = named(row, obj.metadata.namespace, owner.name, snapshot)
    return None if controller is None else (row, controller)
