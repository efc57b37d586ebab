"""What the owner of a machine sets on its node."""

from __future__ import annotations

import pytest

from kubespread.kube.api.core import Taint
from kubespread.kube.providers import owns_label, owns_taint

LABELS = {
    "topology.kubernetes.io/zone": True,
    "kubernetes.io/arch": True,
    "cloud.google.com/gke-spot": True,
    "eks.amazonaws.com/capacityType": True,
    "karpenter.sh/capacity-type": True,
    "karpenter.k8s.aws/instance-family": True,
    "kubernetes.azure.com/scalesetpriority": True,
    "agentpool": True,
    "node-role.kubernetes.io/control-plane": True,
    "pool": False,
    "disktype": False,
    "example.com/zone": False,
    "node.kubernetes.io/exclude-disruption": False,
}
TAINTS = {"kubernetes.azure.com/scalesetpriority": True, "nvidia.com/gpu": True, "dedicated": False, "gpu": False}


@pytest.mark.parametrize("key", LABELS)
def test_labels_that_say_what_a_machine_is(key: str) -> None:
    assert owns_label(key) is LABELS[key]


@pytest.mark.parametrize("key", TAINTS)
def test_taints_that_say_what_a_machine_is(key: str) -> None:
    assert owns_taint(Taint(key=key, effect="NoSchedule")) is TAINTS[key]
