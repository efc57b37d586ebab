"""Which label a topology key was probably meant to be: one that names the same thing, or none."""

from __future__ import annotations

import pytest

from kubespread.questions.causes.bars import similar_key

KNOWN = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "karpenter.sh/nodepool",
    "team-a",
    "pool-1",
]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("zone", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/zones", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/zoen", "topology.kubernetes.io/zone"),
        ("topology.kuberentes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("az", "topology.kubernetes.io/zone"),
        ("kubernetes.io/host-name", "kubernetes.io/hostname"),
        ("topology.kubernetes.io/host", "kubernetes.io/hostname"),
        ("node", "kubernetes.io/hostname"),
        ("node-pool", "karpenter.sh/nodepool"),
        ("topology.kubernetes.io/rack", ""),
        ("topology.kubernetes.io/row", ""),
        ("topology.kubernetes.io/subnet", ""),
        ("topology.kubernetes.io/zone-group", ""),
        ("topology.kubernetes.io/block", ""),
        ("kubernetes.io/os", ""),
        ("team-b", ""),
        ("pool-2", ""),
    ],
)
def test_a_key_stands_for_one_that_names_the_same_thing(key: str, meant: str) -> None:
    assert similar_key(key, KNOWN) == meant


def test_a_region_is_never_taken_for_a_zone() -> None:
    assert similar_key("topology.kubernetes.io/region", ["topology.kubernetes.io/zone"]) == ""


def test_the_labels_of_kubernetes_come_before_others() -> None:
    assert similar_key("zone", ["example.com/zone", "topology.kubernetes.io/zone"]) == "topology.kubernetes.io/zone"
