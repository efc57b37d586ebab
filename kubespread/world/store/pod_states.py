"""Pods in the states that controllers, the scheduler and kubelets bring them to."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from kubespread.kube.api.core import Pod, PodCondition, PodStatus
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.selector import pinned_names, required_node_selector
from kubespread.kube.well_known import JOB_COMPLETION_INDEX, READY

PENDING = PodStatus(phase="Pending")


@lru_cache(maxsize=256)
def running_since(time: str, *, ready: bool) -> PodStatus:
    """The status of a pod that runs; one object for all that began at the same time."""
    condition = PodCondition(type=READY, status="True" if ready else "False", last_transition_time=time)
    return PodStatus(phase="Running", start_time=time, conditions=[condition])


def readiness_known(pod: Pod) -> bool:
    """Whether the pod says if it is ready, as every pod that a kubelet runs does."""
    has_started = bool(pod.spec.node_name) and pod.status.phase in ("", "Running")
    return not has_started or any(condition.type == READY for condition in pod.status.conditions)


def taken_to_be_ready(pod: Pod) -> Pod:
    """The status of a running pod that is taken to have been ready since it was created."""
    if pod.status == PodStatus() or pod.status == PodStatus(phase="Running"):
        return replace(pod, status=running_since(pod.metadata.creation_timestamp, ready=True))
    ready = PodCondition(type=READY, status="True", last_transition_time=pod.metadata.creation_timestamp)
    status = replace(pod.status, phase="Running", conditions=[*pod.status.conditions, ready])
    return replace(pod, status=status)


def as_template(pod: Pod) -> Pod:
    """What the pod was before it had a name and a node: its controller makes others of the same."""
    meta = pod.metadata
    metadata = ObjectMeta(
        namespace=meta.namespace, labels=meta.labels, owner_references=meta.owner_references, name=meta.name
    )
    if (index := meta.annotations.get(JOB_COMPLETION_INDEX)) is not None:
        metadata.annotations = {JOB_COMPLETION_INDEX: index}
    return Pod(metadata=metadata, spec=replace(pod.spec, node_name=""), status=PENDING)


def alike(template: Pod, earlier: Pod | None) -> Pod:
    """``earlier`` if it differs from ``template`` in name only: nothing is worked out twice for one template."""
    if earlier is None or template.status != earlier.status or template.spec != earlier.spec:
        return template
    meta, other = template.metadata, earlier.metadata
    is_same = (meta.namespace, meta.labels, meta.owner_references) == (
        other.namespace,
        other.labels,
        other.owner_references,
    )
    return earlier if is_same else template


def copy_of(template: Pod, name: str, time: str) -> Pod:
    """A new pod of a template, which waits for a node."""
    metadata = replace(template.metadata, name=name, creation_timestamp=time)
    return Pod(metadata=metadata, spec=template.spec, status=PENDING)


def on_node(pod: Pod, node: str, status: PodStatus) -> Pod:
    """The pod once it runs on ``node``."""
    return Pod(metadata=pod.metadata, spec=replace(pod.spec, node_name=node), status=status)


def terminating(pod: Pod, time: str) -> Pod:
    """The pod while it terminates: no controller counts it, but it keeps its room until its kubelet is done."""
    return replace(pod, metadata=replace(pod.metadata, deletion_timestamp=pod.metadata.deletion_timestamp or time))


def node_of(pod: Pod) -> str:
    """The node that the pod runs on, or is pinned to."""
    required = required_node_selector(pod)
    names = pinned_names(required.node_selector_terms) if required is not None else None
    return pod.spec.node_name or next(iter(names or ()), "")
