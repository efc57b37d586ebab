"""What kubectl drain would evict, its warnings and its errors, beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

import kubespread
from kubespread.controllers.disruption import DrainPlan, plan_drain
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.selector import parse_selector
from kubespread.kube.taint import DrainFlags
from kubespread.kube.time import instant
from tools.replay.cases import NOW, Data, Difference, Recorded


def ours(case: Data, snapshot: kubespread.Snapshot) -> DrainPlan:
    typed = {name.replace("-", "_"): value for name, value in case["flags"].items()}
    flags = {"ignore_daemonsets": False, "delete_emptydir_data": False, **typed}
    # Flags that kubespread does not have leave pods out before any other is looked at.
    selector, timeout = parse_selector(flags.pop("pod_selector", "")), flags.pop("skip_wait_for_delete_timeout", 0)
    pods = [
        pod
        for pod in snapshot.pods
        if selector.matches(pod.metadata.labels) and not (timeout and _overdue(pod) > timeout)
    ]
    return plan_drain(case["node"], pods, snapshot.objects.get(DaemonSet), DrainFlags(**flags))


def _overdue(pod: Pod) -> int:
    """Seconds since the pod was to be gone."""
    deletion = instant(pod.metadata.deletion_timestamp)
    return int((NOW - deletion).total_seconds()) if deletion is not None else 0


def snapshot_of(case: Data) -> kubespread.Snapshot:
    """Its pods in the order in which the recorder's API server lists them, which is not by name."""
    snapshot = kubespread.Snapshot.from_objects([*case["daemonSets"], *case["pods"]])
    listed = [(pod["metadata"].get("namespace"), pod["metadata"]["name"]) for pod in case["pods"]]
    pods = sorted(snapshot.pods, key=lambda pod: listed.index((pod.metadata.namespace, pod.metadata.name)))
    return replace(snapshot, pods=tuple(pods))


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    plan = ours(recorded.case, snapshot_of(recorded.case))
    said = {
        "evict": [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in plan.evict],
        "warnings": list(plan.warnings),
        "errors": list(plan.errors),
    }
    for what, found in said.items():
        wanted = recorded.expect[what] if what == "evict" else sorted(recorded.expect[what])
        if wanted != found:
            yield Difference(recorded.name, what, wanted, found)
