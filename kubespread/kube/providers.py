"""Labels and taints that the owner of a machine sets on its node: a provider, Karpenter, the kubelet or kubeadm.

They describe the machine and are not edited by people: another value takes another machine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import msgspec

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.well_known import ZONE


class Provider(msgspec.Struct, frozen=True):
    """Labels and taints that one provider sets."""

    prefixes: tuple[str, ...]
    """Prefixes of labels and taints."""
    keys: tuple[str, ...] = ()
    """Labels without such a prefix."""
    taints: tuple[str, ...] = ()
    """Keys of taints without such a prefix."""
    everywhere: tuple[str, ...] = ()
    """Labels on each of its nodes."""
    pool: str = ""
    """Label with the name of a node's pool."""


PROVIDERS = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8")), dict[str, Provider]
)
POOLS = tuple(provider.pool for provider in PROVIDERS.values() if provider.pool)
"""Labels with the name of a node's pool."""
_AKS = "kubernetes.azure.com/"
_PREFIXES = tuple(chain.from_iterable(provider.prefixes for provider in PROVIDERS.values()))
_KEYS = frozenset(chain.from_iterable(provider.keys for provider in PROVIDERS.values()))
_TAINTS = frozenset(chain.from_iterable(provider.taints for provider in PROVIDERS.values()))


def owns_label(key: str) -> bool:
    """True if a label describes the machine."""
    return key in _KEYS or key.startswith(_PREFIXES)


def owns_taint(taint: Taint) -> bool:
    """True if a taint describes the machine."""
    return taint.key in _TAINTS or taint.key.startswith(_PREFIXES)


def fault_domains(nodes: Iterable[Node]) -> list[str]:
    """Zone labels that are fault domains inside a datacenter: AKS numbers them if a region or pool has no zones.

    Its zones are called ``westeurope-1`` (learn.microsoft.com/azure/aks/availability-zones).
    """
    of_aks = (node.metadata.labels for node in nodes if any(key.startswith(_AKS) for key in node.metadata.labels))
    return sorted({labels[ZONE] for labels in of_aks if labels.get(ZONE, "").isdecimal()})
