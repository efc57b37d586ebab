"""Which kind of resource a name denotes.

Source: pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName, IsNativeResource, IsHugePageResourceName
Source: pkg/apis/core/v1/helper/helpers.go, IsAttachableVolumeResourceName, IsPrefixedNativeResource
"""

from __future__ import annotations

from functools import lru_cache

from kubespread.kube.name_rules import label_key_faults

NATIVE_DOMAIN = "kubernetes.io/"
STANDARD_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_QUOTA_ONLY = frozenset(
    {
        "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
        "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
        "configmaps", "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports",
        "services.loadbalancers",
    }
)  # fmt: skip
_COUNTED = frozenset(
    {
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
_REQUESTS_PREFIX = "requests."


def is_hugepages(name: str) -> bool:
    return name.startswith("hugepages-")


def is_native(name: str) -> bool:
    return "/" not in name or NATIVE_DOMAIN in name


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    return (
        not is_native(name) and not name.startswith(_REQUESTS_PREFIX) and not label_key_faults(_REQUESTS_PREFIX + name)
    )


def is_integer(name: str) -> bool:
    """Whether there are only whole ones of it."""
    return name in _COUNTED or is_extended(name)


def is_scalar(name: str) -> bool:
    """Whether the scheduler counts the resource by its name, besides cpu, memory and ephemeral-storage."""
    return is_extended(name) or is_hugepages(name) or NATIVE_DOMAIN in name or name.startswith("attachable-volumes-")


def is_standard(name: str) -> bool:
    return name in STANDARD_CONTAINER_RESOURCES or name in _QUOTA_ONLY or is_hugepages(name)


def is_standard_for_containers(name: str) -> bool:
    return name in STANDARD_CONTAINER_RESOURCES or is_hugepages(name)


def allows_overcommit(name: str) -> bool:
    return is_native(name) and not is_hugepages(name)
