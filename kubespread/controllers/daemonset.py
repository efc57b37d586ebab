"""DaemonSets: pods that tolerate the troubles of their node."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.made_up_names import template_hash
from kubespread.controllers.pod_creator import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.kube.api.core import PodSpec, Toleration
from kubespread.kube.api.workloads import DaemonSet

_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_TOLERATED_ON_HOST_NETWORK = (("network-unavailable", "NoSchedule"),)


def new_pod(daemon_set: PodCreator[DaemonSet]) -> NewPod:
    labels = {"controller-revision-hash": template_hash(daemon_set.template_text), "pod-template-generation": "1"}
    pod = pod_of_template(daemon_set, controlled_by(DaemonSet, daemon_set.name), labels=labels)
    pod.spec = with_added_tolerations(pod.spec)
    notes = (
        "controller-revision-hash is computed by kubespread",
        "a DaemonSet pins each of its pods to one node; the pod is judged here without that pin",
    )
    return NewPod(pod, (daemon_set.object,), notes)


def with_added_tolerations(spec: PodSpec) -> PodSpec:
    """A template's spec with what every pod of a DaemonSet tolerates."""
    tolerations = spec.tolerations
    for key, effect in (*_TOLERATED, *(_TOLERATED_ON_HOST_NETWORK if spec.host_network else ())):
        added = Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
        # The same for a limited time gives way.
        kept = [own for own in tolerations if replace(own, toleration_seconds=None) != added]
        tolerations = [*kept, added]
    return replace(spec, tolerations=tolerations)
