"""Suggested changes as commands for kubectl, which has none for an eviction.

Its subresource is called with ``kubectl create --raw``, and answers 429 where a budget refuses. ``kubectl delete``
checks no budget.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from shlex import quote
from typing import Any

import msgspec

from kubespread.candidate.settings import Operation, operations
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF, POD_CREATORS, Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import WorkloadName
from kubespread.questions.remedies.change import Change
from kubespread.snapshot.edits.nodes import RemoveLabel, RemoveTaint, SetLabel, Uncordon
from kubespread.snapshot.edits.pods import EvictPod, SetMaxUnavailable, Spread
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.store.pod_book import PodKey

_ROLLED_OUT = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_TIMEOUT = "10m"


def evict(key: PodKey) -> str:
    """Command that asks the API server to evict a pod."""
    namespace, name = key
    metadata = {"name": name, "namespace": namespace}
    eviction = _compact({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata})
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    return f"echo {quote(eviction)} | kubectl create --raw {quote(path)} -f -"


def patch(reference: str, operations: Sequence[dict[str, Any]]) -> str:
    """Command that applies a JSON Patch to ``reference``: ``deployments web -n shop``."""
    return f"kubectl patch {reference} --type=json -p {quote(_compact(operations))}"


def wait_until_gone(key: PodKey) -> str:
    namespace, name = key
    return f"kubectl wait -n {quote(namespace)} --for=delete {quote(f'pod/{name}')} --timeout={_TIMEOUT}"


def wait_until_whole(workload: WorkloadName, replicas: int) -> str:
    """Command that waits until the workload has all desired pods ready; only some kinds have a rollout."""
    row = POD_CREATORS.get(workload.kind)
    reference = f"{row.short if row is not None else workload.kind.lower()}/{workload.name}"
    where = f"-n {quote(workload.namespace)}"
    if workload.kind in _ROLLED_OUT:
        return f"kubectl rollout status {where} {quote(reference)} --timeout={_TIMEOUT}"
    ready = quote(f"--for=jsonpath={{.status.readyReplicas}}={replicas}")
    return f"kubectl wait {where} {ready} {quote(reference)} --timeout={_TIMEOUT}"


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def commands_for(change: Change, workloads: Sequence[WorkloadName], snapshot: Snapshot) -> tuple[str, ...]:
    """kubectl commands for a change: setting fields of ``workloads``, single pods excepted, and its edits."""
    patches = (_setting(change.settings, workload, snapshot) for workload in workloads if change.settings)
    return (*(command for setting in patches for command in setting), *commands(change, snapshot))


def _setting(settings: Sequence[str], workload: WorkloadName, snapshot: Snapshot) -> Iterator[str]:
    row = POD_CREATORS.get(workload.kind)
    if row is None or not row.is_stored or row.cls is Pod:
        return
    if (obj := find(row, workload.namespace, workload.name, snapshot)) is not None:
        # Some of a group may lack the field.
        with suppress(UsageError):
            yield patch_command(reference(row, obj), operations(msgspec.to_builtins(obj), row, settings))


def patch_command(reference: str, changed: Sequence[Operation]) -> str:
    """Command that sets the ``changed`` fields."""
    json_patch = [
        {"op": "remove", "path": change.pointer}
        if change.removes
        else {"op": "add", "path": change.pointer, "value": change.value}
        for change in changed
    ]
    return patch(reference, json_patch)


def commands(change: Change, snapshot: Snapshot) -> Iterator[str]:
    """Yield kubectl commands for the edits of a change; kubectl cannot add nodes."""
    labels = {node.metadata.name: node.metadata.labels for node in snapshot.nodes}
    for edit in change.edits:
        match edit:
            case Uncordon():
                yield f"kubectl uncordon {edit.target}"
            case RemoveTaint():
                yield f"kubectl taint node {edit.target} {edit.mark}-"
            case SetLabel():
                is_other = edit.key in labels.get(str(edit.target), ())
                yield f"kubectl label node {edit.target} {edit.key}={edit.value}{' --overwrite' if is_other else ''}"
            case RemoveLabel():
                yield f"kubectl label node {edit.target} {edit.key}-"
            case EvictPod():
                yield evict((edit.namespace or DEFAULT_NAMESPACE, edit.name))
            case SetMaxUnavailable():
                if (deployment := find(KIND_OF[Deployment], edit.namespace, edit.name, snapshot)) is not None:
                    rolling = {"rollingUpdate": {"maxUnavailable": edit.max_unavailable}}
                    merged = _compact({"spec": {"strategy": rolling}})
                    yield f"kubectl patch {reference(KIND_OF[Deployment], deployment)} -p {quote(merged)}"
            case Spread(name=name) if name:
                workload = WorkloadName(edit.kind, edit.namespace or DEFAULT_NAMESPACE, name)
                yield from _setting((f"topologySpreadConstraints={edit.constraint}",), workload, snapshot)


def reference(row: Kind, obj: ApiObject) -> str:
    """``deployment web -n shop``."""
    return f"{row.resource} {obj.metadata.name} -n {obj.metadata.namespace}"


def find(row: Kind, namespace: str, name: str, snapshot: Snapshot) -> ApiObject | None:
    alike = (obj for obj in snapshot.of_kind(row) if obj.metadata.name == name)
    return next((obj for obj in alike if obj.metadata.namespace == namespace), None)
