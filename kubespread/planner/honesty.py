"""What an answer leaves out: features the input uses that kubespread does not model."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.feature_gates import MODELLED
from kubespread.kube.gotext import compact_json
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.versions import EXACT_SCORES_SINCE, SCORES_SINCE
from kubespread.planner.other_admission import other_admission
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.noderesources.fit import delegated_resources
from kubespread.scheduler.profile.profile import Profile

# Labels of the coscheduling plugin (kubernetes-sigs/scheduler-plugins) since v0.22 and before; the annotation is
# Volcano's.
_GROUP_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
)
_GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def not_modelled(cluster: Cluster, pod: Pod, profile: Profile) -> tuple[str, ...]:
    """What kube-scheduler would take into account for this input and kubespread does not."""
    return tuple(_not_modelled(cluster, pod, profile))


def _not_modelled(cluster: Cluster, pod: Pod, profile: Profile) -> Iterator[str]:
    spec, version = pod.spec, profile.args.version
    yield from other_admission(pod, cluster.objects)
    if spec.scheduling_gates:
        names = " ".join(gate.name for gate in spec.scheduling_gates)
        yield f"waiting for scheduling gates: [{names}]; the pod is judged as if they were removed"
    yield from _pod_groups(cluster, pod)
    if spec.resource_claims:
        yield (
            "DynamicResources: no devices are allocated to the pod's resource claims; take the nodes that fit "
            "as an upper bound"
        )
    if version.has("DRAExtendedResource") and (
        delegated := sorted(delegated_resources(cluster) & pod_requests(pod).keys())
    ):
        names = ", ".join(delegated)
        yield f"DynamicResources: {names} may come from devices; nodes that offer none themselves are taken to fit"
    for name, value in version.changed_gates.items():
        if name not in MODELLED:
            yield f"feature gate {name}={compact_json(value)}"
    for point in profile.unread_points:
        yield f"scheduler configuration: plugins.{point}"
    if not version.since(SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: nodes that fit are listed by name"
    elif not version.since(EXACT_SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: those of 1.{EXACT_SCORES_SINCE} stand in for them"
    if not version.since(22) and profile.args.spread.default_constraints:
        yield (
            f"default constraints of kube-scheduler {version}: their selector is derived as since 1.22, from the "
            "pod's controller"
        )
    if profile.has_extenders:
        yield "extenders: what they would filter or score"


def _pod_groups(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """The group that the pod says it belongs to, else those of its namespace."""
    meta, group = pod.metadata, pod.spec.scheduling_group
    named = {f"label {key}": meta.labels[key] for key in _GROUP_LABELS if key in meta.labels}
    if _GROUP_ANNOTATION in meta.annotations:
        named[f"annotation {_GROUP_ANNOTATION}"] = meta.annotations[_GROUP_ANNOTATION]
    if group is not None:
        named["spec.schedulingGroup"] = group.pod_group_name or ""
    for where, name in named.items():
        yield f"pod group {name} ({where}): pods are judged one at a time, not all or none of the group"
    there = [found.metadata.name for found in cluster.objects.pod_groups if found.metadata.namespace == meta.namespace]
    if there and not named:
        yield (
            f"PodGroup {', '.join(there)} of namespace {meta.namespace}: pods are judged one at a time, not all "
            "or none of a group"
        )
