"""Names that Kubernetes itself gives a meaning to, and the zone that a node's labels name.

Source: staging/src/k8s.io/api/core/v1/well_known_labels.go, LabelHostname, LabelTopologyZone,
    LabelFailureDomainBetaZone
Source: staging/src/k8s.io/component-helpers/node/topology/helpers.go, GetZoneKey
"""

from __future__ import annotations

from collections.abc import Mapping

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
BETA_INSTANCE_TYPE = "beta.kubernetes.io/instance-type"
POOLS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
"""Labels whose values are pools of nodes."""

ENDED_PHASES = ("Succeeded", "Failed")
"""A pod in one of these has ended: it is not scheduled, and it takes no room on its node."""
DISRUPTION_TARGET = "DisruptionTarget"
"""The condition of a pod that is about to be evicted, and why."""
READY = "Ready"
"""The condition of a pod or node that works."""
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
CORDON_TAINT_KEY = "node.kubernetes.io/unschedulable"
"""The taint that the node controller puts on a cordoned node."""
NOT_READY_TAINT_KEY = "node.kubernetes.io/not-ready"
UNREACHABLE_TAINT_KEY = "node.kubernetes.io/unreachable"
"""The taints that the node controller puts on a node whose Ready condition is False, and Unknown."""
EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"
"""The label of nodes that are ignored when a zone's health is judged."""


def zone_key(labels: Mapping[str, str]) -> tuple[str, str]:
    """Region and zone of a node's labels, as GetZoneKey of k8s.io/component-helpers/node/topology reads them; empty
    where there is no label.
    """
    return _either(labels, BETA_REGION, REGION), _either(labels, BETA_ZONE, ZONE)


def _either(labels: Mapping[str, str], beta: str, general: str) -> str:
    """A beta label that is there decides, even an empty one."""
    return labels[beta] if beta in labels else labels.get(general, "")
