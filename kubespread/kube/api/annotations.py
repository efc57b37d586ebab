"""The annotations that scheduling, controllers and the descheduler read.

No other is kept: they hold whole manifests, and secrets.
"""

from __future__ import annotations

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
"""Where a kubelet has a pod from; ``api`` for all but static pods."""
DESCHEDULER_EVICT = "descheduler.alpha.kubernetes.io/evict"
DESCHEDULER_PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""On pods: ``false`` keeps cluster-autoscaler from removing their nodes."""
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
"""On pods and nodes: ``true`` keeps Karpenter from disrupting the node."""
JOB_COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
CHECK_IGNORE = "kubespread.dev/ignore"
"""Codes of findings that ``kubespread check`` is not to report of a workload."""

GROUP_MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
GROUP_MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
CAPACITY_PREFIX = "capacity.cluster-autoscaler.kubernetes.io/"
READ_OF_MACHINES = (
    GROUP_MIN_SIZE,
    GROUP_MAX_SIZE,
    *(
        f"{CAPACITY_PREFIX}{name}"
        for name in ("cpu", "memory", "ephemeral-disk", "maxPods", "gpu-type", "gpu-count", "labels", "taints")
    ),
)
"""Those that cluster-autoscaler reads of MachineDeployments."""

READ_OF_PODS = (
    POD_DELETION_COST,
    MIRROR_POD,
    CONFIG_SOURCE,
    DESCHEDULER_EVICT,
    DESCHEDULER_PREFER_NO_EVICTION,
    SAFE_TO_EVICT,
    DO_NOT_DISRUPT,
    JOB_COMPLETION_INDEX,
)
"""Those that controllers, drains, autoscalers of nodes and the descheduler read of pods."""

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
        *READ_OF_PODS,
        *READ_OF_MACHINES,
    }
)
