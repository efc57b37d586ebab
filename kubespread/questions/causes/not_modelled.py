"""Features used by the input that are not modeled.

Plugins declare the features that they leave out (`Plugin.not_modelled`). Data that a snapshot lacks is declared by its
reader: `Plugin.gaps`, admission's `gaps`, and `assume` of a `World` or a `Cluster`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    MutatingAdmissionPolicy,
    MutatingWebhookConfiguration,
    PodGroup,
    RuleWithOperations,
    ValidatingAdmissionPolicy,
    ValidatingWebhookConfiguration,
)
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.gotext import compact_json
from kubespread.kube.pod_groups import GATES
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.versions import MODELLED, SCORES_SINCE
from kubespread.kube.well_known import NODE_SELECTOR
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import Profile

# Labels of the coscheduling plugin (kubernetes-sigs/scheduler-plugins) since v0.22 and before; the annotation is
# Volcano's.
_GROUP_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
)
_GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def not_modelled(
    pod: Pod, plugins: Framework, cluster: Cluster, profile: Profile, *, is_grouped: bool = False
) -> tuple[str, ...]:
    """Names of unmodeled features that matter to this pod; ``is_grouped`` if it is placed as a member of its group."""
    return (
        *other_admission(pod, cluster.objects),
        *(() if is_grouped else _pod_groups(cluster, pod)),
        *(gap for plugin in plugins.evaluators for gap in plugin.not_modelled(cluster, pod)),
        *not_modelled_of(profile),
    )


def not_modelled_of(profile: Profile) -> Iterator[str]:
    """Yield names of unmodeled features of the release, its gates and the configuration that matter to any pod."""
    version = profile.version
    for name, value in version.changed_gates.items():
        if name not in MODELLED or (name in GATES and not version.reaches(36)):
            yield f"feature gate {name}={compact_json(value)}"
    for point in profile.unread_points:
        yield f"scheduler configuration: plugins.{point}"
    if not version.reaches(SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: nodes that fit are listed by name"
    if profile.has_extenders:
        yield "extenders: what they would filter or score"


def groups_of_others(pod: Pod) -> Mapping[str, str]:
    """The groups of other schedulers that the pod names, by where it names them."""
    meta = pod.metadata
    named = {f"label {key}": meta.labels[key] for key in _GROUP_LABELS if key in meta.labels}
    if _GROUP_ANNOTATION in meta.annotations:
        named[f"annotation {_GROUP_ANNOTATION}"] = meta.annotations[_GROUP_ANNOTATION]
    return named


def _pod_groups(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Yield gaps for the groups that the pod names, else for groups of its namespace."""
    meta, group, named = pod.metadata, pod.spec.scheduling_group, {**groups_of_others(pod)}
    if group is not None:
        named["spec.schedulingGroup"] = group.pod_group_name or ""
    for where, name in named.items():
        yield f"pod group {name} ({where}): pods are judged one at a time, not all or none (simulate --gang N does)"
    in_namespace = [
        pod_group.metadata.name
        for pod_group in cluster.objects.get(PodGroup)
        if pod_group.metadata.namespace == meta.namespace
    ]
    if in_namespace and not named:
        yield (
            f"PodGroup {', '.join(in_namespace)} of namespace {meta.namespace}: pods are judged one at a time, not "
            "all or none of a group"
        )


def other_admission(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """Yield other admission checks that such a pod passes through when it is created; none for an existing pod."""
    if pod.metadata.uid:
        return
    namespace = objects.find(Namespace, pod.metadata.namespace)
    if namespace is not None:
        yield from _of_namespace(pod, namespace)
    webhooks = [
        (configuration, f" ({webhook.name})", webhook.rules, webhook.namespace_selector)
        for configuration in (*objects.get(MutatingWebhookConfiguration), *objects.get(ValidatingWebhookConfiguration))
        for webhook in configuration.webhooks
    ]
    policies = [
        (policy, "", policy.spec.match_constraints.resource_rules, policy.spec.match_constraints.namespace_selector)
        for policy in (*objects.get(MutatingAdmissionPolicy), *objects.get(ValidatingAdmissionPolicy))
    ]
    for judge, part, rules, selector in (*webhooks, *policies):
        if _concerns(rules, selector, namespace):
            yield f"{type(judge).__name__} {judge.metadata.name}{part}: what it would change or refuse"


def _of_namespace(pod: Pod, namespace: Namespace) -> Iterator[str]:
    name, meta = namespace.metadata.name, namespace.metadata
    if (selector := meta.annotations.get(NODE_SELECTOR)) and not _holds(pod, selector):
        yield f"PodNodeSelector: namespace {name} asks for {selector}; it is applied only where podNodeSelector is set"


def _holds(pod: Pod, selector: str) -> bool:
    pairs = (part.partition("=") for part in selector.split(","))
    return all(pod.spec.node_selector.get(key.strip()) == value.strip() for key, _, value in pairs if key.strip())


def _concerns(rules: list[RuleWithOperations], selector: LabelSelector | None, namespace: Namespace | None) -> bool:
    if not any(rule.takes_new_pods for rule in rules):
        return False
    if selector is None or namespace is None:
        return True
    try:
        return from_label_selector(selector).matches(namespace.metadata.labels)
    except SelectorError:
        return True
