"""Names that Kubernetes itself gives a meaning to, and the zone that a node's labels name.

Scheduling, controllers and the descheduler read these annotations. No others are stored, as they may contain whole
manifests and secrets.

Source: staging/src/k8s.io/api/core/v1/well_known_labels.go, LabelHostname, LabelTopologyZone,
    LabelFailureDomainBetaZone
Source: staging/src/k8s.io/component-helpers/node/topology/helpers.go, GetZoneKey
"""

from __future__ import annotations

from collections.abc import Mapping

STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
REVISION = "deployment.kubernetes.io/revision"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
MIRROR_POD = "kubernetes.io/config.mirror"
CONFIG_SOURCE = "kubernetes.io/config.source"
"""Source that a kubelet has a pod from; ``api`` for all but static pods."""
DESCHEDULER_EVICT = "descheduler.alpha.kubernetes.io/evict"
DESCHEDULER_PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""On pods: ``false`` keeps cluster-autoscaler from removing their nodes."""
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
"""On pods and nodes: ``true`` keeps Karpenter from disrupting the node."""
JOB_COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The manifest that kubectl applied last: which fields it had is read, and nothing else of it."""
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a template by which ``kubectl rollout restart`` makes another one of it."""
CHECK_IGNORE = "kubespread.dev/ignore"
"""Codes of findings that ``kubespread check`` is not to report of a workload."""

READ_OF_PODS = frozenset(
    {
        POD_DELETION_COST,
        MIRROR_POD,
        CONFIG_SOURCE,
        DESCHEDULER_EVICT,
        DESCHEDULER_PREFER_NO_EVICTION,
        SAFE_TO_EVICT,
        DO_NOT_DISRUPT,
        JOB_COMPLETION_INDEX,
    }
)
"""Annotations and labels that controllers, drains, autoscalers of nodes and the descheduler read of pods."""

READ_ANNOTATIONS = frozenset(
    {
        STORAGE_CLASS,
        BIND_COMPLETED,
        SELECTED_NODE,
        MIGRATED_PLUGINS,
        *DEFAULT_CLASS,
        NODE_SELECTOR,
        REVISION,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
        CHECK_IGNORE,
        RESTARTED_AT,
        *READ_OF_PODS,
    }
)


HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
BETA_INSTANCE_TYPE = "beta.kubernetes.io/instance-type"

ENDED_PHASES = ("Succeeded", "Failed")
"""A pod in one of these has ended: it is not scheduled, and it takes no room on its node."""
REMOVED_FINALIZERS = frozenset({"batch.kubernetes.io/job-tracking", "orphan", "foregroundDeletion"})
"""Finalizers that the Job controller and the garbage collector remove once a pod has ended."""
DISRUPTION_TARGET = "DisruptionTarget"
"""The condition of a pod that is about to be evicted, and why."""
BY_SCHEDULER = "PreemptionByScheduler"
"""The reason of that condition where the pod is preempted."""
READY = "Ready"
"""The condition of a pod or node that works."""
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
CORDON_TAINT_KEY = "node.kubernetes.io/unschedulable"
"""The taint that the node controller puts on a cordoned node."""
NOT_READY_TAINT_KEY = "node.kubernetes.io/not-ready"
UNREACHABLE_TAINT_KEY = "node.kubernetes.io/unreachable"
"""The taints that the node controller puts on a node with the Ready condition False, and Unknown."""
EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"
"""The label of nodes that are ignored when a zone's health is judged."""


def zone_key(labels: Mapping[str, str]) -> tuple[str, str]:
    """Region and zone of a node's labels, as GetZoneKey of k8s.io/component-helpers/node/topology reads them; empty
    where there is no label.
    """
    return _either(labels, BETA_REGION, REGION), _either(labels, BETA_ZONE, ZONE)


def _either(labels: Mapping[str, str], beta: str, general: str) -> str:
    """Value of the beta label, even if empty; without one, of the general label."""
    return labels[beta] if beta in labels else labels.get(general, "")


SELECTOR_MERGE_GATE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
