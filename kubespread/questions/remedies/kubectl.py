"""The kubectl commands for changes; kubectl has none for an eviction.

The eviction subresource is called with ``kubectl create --raw``, and answers 429 where a budget refuses. ``kubectl
delete`` checks no budget.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from shlex import quote
from typing import Any

from kubespread.kube.api.annotations import POD_DELETION_COST
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.world.store.pod_book import PodKey

_ROLLED_OUT = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_TIMEOUT = "10m"


def evict(key: PodKey) -> str:
    """Ask the API server to evict a pod."""
    namespace, name = key
    metadata = {"name": name, "namespace": namespace}
    eviction = _compact({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata})
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    return f"echo {quote(eviction)} | kubectl create --raw {quote(path)} -f -"


def patch(reference: str, operations: Sequence[dict[str, Any]]) -> str:
    """Apply a JSON Patch to ``reference``: ``deployments web -n shop``."""
    return f"kubectl patch {reference} --type=json -p {quote(_compact(operations))}"


def wait_until_gone(key: PodKey) -> str:
    namespace, name = key
    return f"kubectl wait -n {quote(namespace)} --for=delete {quote(f'pod/{name}')} --timeout={_TIMEOUT}"


def wait_until_whole(workload: WorkloadName, replicas: int) -> str:
    """Wait until the workload has all desired pods ready; only some kinds have a rollout."""
    row = POD_CREATORS.get(workload.kind)
    reference = f"{row.short if row is not None else workload.kind.lower()}/{workload.name}"
    where = f"-n {quote(workload.namespace)}"
    if workload.kind in _ROLLED_OUT:
        return f"kubectl rollout status {where} {quote(reference)} --timeout={_TIMEOUT}"
    ready = quote(f"--for=jsonpath={{.status.readyReplicas}}={replicas}")
    return f"kubectl wait {where} {ready} {quote(reference)} --timeout={_TIMEOUT}"


def set_deletion_cost(key: PodKey, cost: int) -> str:
    """Mark a pod for its controller's next scale-down."""
    namespace, name = key
    return f"kubectl annotate pod -n {quote(namespace)} --overwrite {quote(name)} {POD_DELETION_COST}={cost}"


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))
