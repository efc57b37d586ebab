"""What an answer cannot know: what the snapshot lacks, and what the input uses that is not modeled.

What a plugin alone depends on it says itself (`Plugin.gaps`, `Plugin.not_modelled`).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    LimitRange,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.feature_gates import MODELLED
from kubespread.kube.gotext import compact_json
from kubespread.kube.versions import SCORES_SINCE
from kubespread.planner.other_admission import other_admission
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import Profile

_BUILT_IN_CLASSES = "system-"
# Labels of the coscheduling plugin (kubernetes-sigs/scheduler-plugins) since v0.22 and before; the annotation is
# Volcano's.
_GROUP_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
)
_GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def gaps(
    pod: Pod, plugins: Framework, cluster: Cluster, *, preemption: bool = False, workload: str = ""
) -> tuple[str, ...]:
    """What the snapshot lacks and this pod's answer could depend on; with ``preemption`` also what evictions depend on.

    ``workload`` is Kind/name of what is grown from the replicas it has, if anything is.
    """
    objects = cluster.objects
    return tuple(
        dict.fromkeys(
            (
                *(() if len(cluster.running) else objects.gap(Pod, "every node counts as empty")),
                *_replica_gaps(workload, objects),
                *_admission_gaps(pod, objects),
                *(gap for plugin in plugins.running for gap in plugin.gaps(cluster, pod)),
                *(_budget_gaps(objects) if preemption else ()),
            )
        )
    )


def _replica_gaps(workload: str, objects: ClusterObjects) -> Iterator[str]:
    """Only its ReplicaSets tell which pods are a Deployment's; the one made up for the new pod says nothing of the
    others.
    """
    if workload.startswith("Deployment/") and (refused := objects.unread.get(ReplicaSet.__name__)):
        yield f"{refused}: replicas that run already are not recognized"


def _admission_gaps(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """A pod that has a uid was admitted when it was stored."""
    spec, priority_class = pod.spec, pod.spec.priority_class_name
    if pod.metadata.uid:
        return
    if spec.priority is None and priority_class and not priority_class.startswith(_BUILT_IN_CLASSES):
        consequence = f"the priority of class {priority_class} is not known, and counts as 0"
        yield from objects.gap(PriorityClass, consequence)
    if spec.runtime_class_name:
        consequence = f"overhead, node selector and tolerations of class {spec.runtime_class_name} are not added"
        yield from objects.gap(RuntimeClass, consequence)
    # Few clusters have any and few people list them: a gap only where they were asked for and refused.
    if LimitRange.__name__ in objects.unread:
        yield from objects.gap(LimitRange, "default requests and limits are not added")
    if "ResourceQuota" in objects.unread:
        yield f"{objects.unread['ResourceQuota']}: quotas are taken not to be exhausted"


def _budget_gaps(objects: ClusterObjects) -> Iterator[str]:
    return objects.gap(PodDisruptionBudget, "preemption is predicted as if there were no budgets")


def not_modelled(
    pod: Pod, plugins: Framework, cluster: Cluster, profile: Profile, *, is_grouped: bool = False
) -> tuple[str, ...]:
    """What kube-scheduler would take into account for this input and kubespread does not.

    ``is_grouped``: the pod is placed as a member of its group.
    """
    return (
        *other_admission(pod, cluster.objects),
        *_gated(pod),
        *(() if is_grouped else _pod_groups(cluster, pod)),
        *(said for plugin in plugins.running for said in plugin.not_modelled(cluster, pod)),
        *not_modelled_of(profile),
    )


def _gated(pod: Pod) -> Iterator[str]:
    if pod.spec.scheduling_gates:
        names = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        yield f"waiting for scheduling gates: [{names}]; the pod is judged as if they were removed"


def not_modelled_of(profile: Profile) -> Iterator[str]:
    """What the release, its gates and the configuration would change, whatever the pod is."""
    version = profile.version
    for name, value in version.changed_gates.items():
        if name not in MODELLED:
            yield f"feature gate {name}={compact_json(value)}"
    for point in profile.unread_points:
        yield f"scheduler configuration: plugins.{point}"
    if not version.since(SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: nodes that fit are listed by name"
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
    in_namespace = [
        pod_group.metadata.name
        for pod_group in cluster.objects.pod_groups
        if pod_group.metadata.namespace == meta.namespace
    ]
    if in_namespace and not named:
        yield (
            f"PodGroup {', '.join(in_namespace)} of namespace {meta.namespace}: pods are judged one at a time, not "
            "all or none of a group"
        )
