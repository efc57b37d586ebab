"""Labels and taints that the owner of a machine sets on its node: a provider, Karpenter, the kubelet or kubeadm.

They say what the machine is. Nobody edits them there: another value takes another machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.well_known import HOSTNAME, INSTANCE_TYPE, ZONE


class Provider(Struct, frozen=True):
    """What one of them sets."""

    prefixes: tuple[str, ...]
    """Of labels, and of taints."""
    keys: tuple[str, ...] = ()
    """Labels without such a prefix."""
    taints: tuple[str, ...] = ()
    """Keys of taints without such a prefix."""
    everywhere: tuple[str, ...] = ()
    """Of the labels those that each of its nodes has."""
    pool: str = ""
    """The label whose values are its pools of nodes."""


PROVIDERS = {
    "Kubernetes": Provider(
        prefixes=(
            "topology.kubernetes.io/",
            "failure-domain.beta.kubernetes.io/",
            "beta.kubernetes.io/",
            "node-role.kubernetes.io/",
        ),
        keys=(HOSTNAME, "kubernetes.io/os", "kubernetes.io/arch", INSTANCE_TYPE, "node.kubernetes.io/windows-build"),
    ),
    "GKE": Provider(
        prefixes=("cloud.google.com/", "topology.gke.io/", "iam.gke.io/", "sandbox.gke.io/"),
        taints=("nvidia.com/gpu", "google.com/tpu"),
        everywhere=("cloud.google.com/gke-nodepool", "topology.gke.io/zone"),
        pool="cloud.google.com/gke-nodepool",
    ),
    "EKS": Provider(
        prefixes=(
            "eks.amazonaws.com/",
            "k8s.amazonaws.com/",
            "topology.k8s.aws/",
            "topology.ebs.csi.aws.com/",
            "alpha.eksctl.io/",
        ),
        everywhere=(
            "eks.amazonaws.com/nodegroup",
            "eks.amazonaws.com/capacityType",
            "topology.k8s.aws/zone-id",
            "topology.ebs.csi.aws.com/zone",
        ),
        pool="eks.amazonaws.com/nodegroup",
    ),
    "AKS": Provider(
        prefixes=("kubernetes.azure.com/", "topology.disk.csi.azure.com/"),
        keys=("agentpool", "storageprofile", "storagetier"),
        everywhere=("kubernetes.azure.com/agentpool", "topology.disk.csi.azure.com/zone"),
        pool="kubernetes.azure.com/agentpool",
    ),
    "Karpenter": Provider(
        prefixes=("karpenter.sh/", "karpenter.k8s.aws/", "karpenter.azure.com/"),
        everywhere=("karpenter.sh/nodepool", "karpenter.sh/capacity-type"),
        pool="karpenter.sh/nodepool",
    ),
}
POOLS = tuple(provider.pool for provider in PROVIDERS.values() if provider.pool)
"""Labels whose values are pools of nodes."""
CAPACITY_TYPES = ("karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType")
"""Labels that tell spot machines from others."""
_AKS = "kubernetes.azure.com/"
_PREFIXES = tuple(chain.from_iterable(provider.prefixes for provider in PROVIDERS.values()))
_KEYS = frozenset(chain.from_iterable(provider.keys for provider in PROVIDERS.values()))
_TAINTS = frozenset(chain.from_iterable(provider.taints for provider in PROVIDERS.values()))


def owns_label(key: str) -> bool:
    """Whether a label says what the machine is."""
    return key in _KEYS or key.startswith(_PREFIXES)


def owns_taint(taint: Taint) -> bool:
    """Whether a taint says what the machine is."""
    return taint.key in _TAINTS or taint.key.startswith(_PREFIXES)


def fault_domains(nodes: Iterable[Node]) -> list[str]:
    """Values of the zone label that are fault domains: what AKS numbers inside of one datacenter, where a region or a
    pool has no zones. Its zones are called ``westeurope-1`` (learn.microsoft.com/azure/aks/availability-zones).
    """
    of_aks = (node.metadata.labels for node in nodes if any(key.startswith(_AKS) for key in node.metadata.labels))
    return sorted({labels[ZONE] for labels in of_aks if labels.get(ZONE, "").isdecimal()})
