"""Admission that may refuse or change the pod and is only named: PodSecurity, node selectors of namespaces, webhooks,
policies.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.annotations import NODE_SELECTOR
from kubespread.kube.api.cluster_objects import ClusterObjects, Namespace
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.webhooks import RuleWithOperations
from kubespread.kube.selector import SelectorError, from_label_selector

_ENFORCE = "pod-security.kubernetes.io/enforce"
_LETS_ALL_PASS = "privileged"


def other_admission(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """What would look at a pod like this one when it is created; nothing for a pod that is there already."""
    if pod.metadata.uid:
        return
    namespace = next((each for each in objects.namespaces if each.metadata.name == pod.metadata.namespace), None)
    if namespace is not None:
        yield from _of_namespace(pod, namespace)
    webhooks = [
        (
            type(configuration).__name__,
            f"{configuration.metadata.name} ({webhook.name})",
            webhook.rules,
            webhook.namespace_selector,
        )
        for configuration in (*objects.mutating_webhook_configurations, *objects.validating_webhook_configurations)
        for webhook in configuration.webhooks
    ]
    policies = [
        (
            type(policy).__name__,
            policy.metadata.name,
            policy.spec.match_constraints.resource_rules,
            policy.spec.match_constraints.namespace_selector,
        )
        for policy in (*objects.mutating_admission_policies, *objects.validating_admission_policies)
    ]
    for kind, name, rules, selector in (*webhooks, *policies):
        if _concerns(rules, selector, namespace):
            yield f"{kind} {name}: what it would change or refuse"


def _of_namespace(pod: Pod, namespace: Namespace) -> Iterator[str]:
    name, meta = namespace.metadata.name, namespace.metadata
    level = meta.labels.get(_ENFORCE, _LETS_ALL_PASS)
    if level != _LETS_ALL_PASS:
        yield f"PodSecurity: namespace {name} enforces {level}; whether the pod meets it is not evaluated"
    if (selector := meta.annotations.get(NODE_SELECTOR)) and not _holds(pod, selector):
        yield f"PodNodeSelector: namespace {name} asks for {selector}; it is applied only with --pod-node-selector"


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
