"""A pod that is in the cluster already, as one that waits for a node."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import ENDED_PHASES


def scheduled_again(pod: Pod) -> tuple[Pod, tuple[str, ...]]:
    """The stored ``pod`` taken off its node, and what to say of that. Raises UsageError for one that has ended."""
    name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
    if pod.status.phase in ENDED_PHASES:
        raise UsageError(f"{name} has ended ({pod.status.phase}): it is not scheduled again")
    notes = []
    if pod.metadata.deletion_timestamp is not None:
        notes.append(f"{name} is being deleted; kube-scheduler would not place it")
    if pod.spec.node_name:
        notes.append(
            f"{name} runs on {pod.spec.node_name}; it is asked about as if it were scheduled again, without itself"
        )
        pod = replace(pod, spec=replace(pod.spec, node_name=""))
    return pod, tuple(notes)
