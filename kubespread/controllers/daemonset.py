"""DaemonSets: pods that tolerate problems of their node, which nodes should have one, and where it may stay.

The free room of a node does not matter: a pod that does not fit waits.

Source: pkg/controller/daemon/daemon_controller.go, NodeShouldRunDaemonPod, predicates
Source: pkg/controller/daemon/util/daemonset_util.go, AddOrUpdateDaemonPodTolerations,
    ReplaceDaemonSetPodNodeNameNodeAffinity
"""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template, template_hash
from kubespread.kube.api import core
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.selector import NODE_NAME_FIELD, from_map, parse_term, required_node_selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated

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


def with_added_tolerations(spec: core.PodSpec) -> core.PodSpec:
    """Spec of a template with the tolerations that every DaemonSet pod gets."""
    tolerations = spec.tolerations
    for key, effect in (*_TOLERATED, *(_TOLERATED_ON_HOST_NETWORK if spec.host_network else ())):
        added = core.Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
        # The same for a limited time gives way.
        others = [own for own in tolerations if replace(own, toleration_seconds=None) != added]
        tolerations = [*others, added]
    return replace(spec, tolerations=tolerations)


_EVICTING_EFFECTS = frozenset({"NoExecute"})


def should_run(pod: core.Pod, node: core.Node, *, compares: bool = False) -> bool:
    """True if the controller creates a pod for ``node``.

    ``pod`` is created from the DaemonSet's template: with added tolerations, and not pinned to a node. ``compares``
    enables the tolerations' operators Gt and Lt (a feature gate, off up to 1.36).
    """
    return _selects(pod, node) and _tolerates(pod, node, DO_NOT_SCHEDULE_EFFECTS, compares=compares)


def should_continue(pod: core.Pod, node: core.Node, *, compares: bool = False) -> bool:
    """True if a pod on ``node`` may stay: a taint NoSchedule does not drive it away."""
    return _selects(pod, node) and _tolerates(pod, node, _EVICTING_EFFECTS, compares=compares)


def _selects(pod: core.Pod, node: core.Node) -> bool:
    """True if the node matches the template's nodeName, nodeSelector and required node affinity."""
    spec, meta = pod.spec, node.metadata
    if spec.node_name not in ("", meta.name) or not from_map(spec.node_selector).matches(meta.labels):
        return False
    required = required_node_selector(pod)
    return required is None or any(
        parse_term(term).matches(meta.labels, meta.name) for term in required.node_selector_terms
    )


def _tolerates(pod: core.Pod, node: core.Node, effects: frozenset[str], *, compares: bool) -> bool:
    return not untolerated(node.spec.taints, pod.spec.tolerations, effects, compares=compares)


def pinned_to(pod: core.Pod, node: str) -> core.Pod:
    """The pod as a DaemonSet's controller creates it for one node, with the node's name as required node affinity.

    Source: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity
    """
    only = core.NodeSelectorRequirement(key=NODE_NAME_FIELD, operator="In", values=[node])
    required = core.NodeSelector(node_selector_terms=[core.NodeSelectorTerm(match_fields=[only])])
    affinity = pod.spec.affinity or core.Affinity()
    own = replace(
        affinity.node_affinity or core.NodeAffinity(), required_during_scheduling_ignored_during_execution=required
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=own)))
