"""A pod that is in the cluster already, as one that waits for a node."""

from __future__ import annotations

from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod


def scheduled_again(pod: Pod) -> list[str]:
    """Take the stored ``pod`` off its node, and say so. Raises UsageError for one that has ended."""
    name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
    if pod.status.phase in ("Succeeded", "Failed"):
        raise UsageError(f"{name} has ended ({pod.status.phase}): it is not scheduled again")
    said = []
    if pod.metadata.deletion_timestamp is not None:
        said.append(f"{name} is being deleted; kube-scheduler would not place it")
    if pod.spec.node_name:
        said.append(
            f"{name} runs on {pod.spec.node_name}; it is asked about as if it were scheduled again, without itself"
        )
        pod.spec.node_name = ""
    return said
