"""Rules of Kubernetes for label keys, label values and names of DNS and images, and its messages when they are broken.

Lengths are bytes; the expressions match whole strings. Which kind of resource a name denotes.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsQualifiedName, IsValidLabelValue,
    IsDNS1123Label, IsDNS1123Subdomain, IsDNS1035Label
Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, normalizedImageName
Source: pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName, IsNativeResource, IsHugePageResourceName
Source: pkg/apis/core/v1/helper/helpers.go, IsAttachableVolumeResourceName, IsPrefixedNativeResource
"""

from __future__ import annotations

from functools import lru_cache

from kubespread.regex import regex

NATIVE_DOMAIN = "kubernetes.io/"
STANDARD_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_OBJECTS = ("resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims")
_COUNTED = frozenset({"pods", *_OBJECTS, "services.nodeports", "services.loadbalancers"})
_QUOTA_ONLY = _COUNTED.union(
    ("storage", "requests.storage"),
    (f"{kind}.{name}" for kind in ("requests", "limits") for name in STANDARD_CONTAINER_RESOURCES),
)
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
    """True for a resource counted in whole numbers only."""
    return name in _COUNTED or is_extended(name)


def is_scalar(name: str) -> bool:
    """True for a resource that the scheduler counts by name, besides cpu, memory and ephemeral-storage."""
    return is_extended(name) or is_hugepages(name) or NATIVE_DOMAIN in name or name.startswith("attachable-volumes-")


def is_standard(name: str) -> bool:
    return name in STANDARD_CONTAINER_RESOURCES or name in _QUOTA_ONLY or is_hugepages(name)


def allows_overcommit(name: str) -> bool:
    return is_native(name) and not is_hugepages(name)


_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"

_IS_NAME = regex(_NAME)
_IS_SUBDOMAIN = regex(_SUBDOMAIN)
_IS_LABEL = regex(_LABEL)

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_NAME_FORMAT = f"name part {_NAME_RULE}"
_KEY_FORMAT = (
    f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_VALUE_FORMAT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an "
    f"alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_SUBDOMAIN_FORMAT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an "
    f"alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL_FORMAT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an "
    f"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)


def _size(text: str) -> int:
    return len(text.encode())


@lru_cache(maxsize=4096)
def label_key_faults(key: str) -> tuple[str, ...]:
    """Faults of a label key, annotation key or any other qualified name; none when it is valid."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (_KEY_FORMAT,)
    faults = []
    if slash:
        if not prefix:
            faults.append("prefix part must be non-empty")
        else:
            if _size(prefix) > 253:
                faults.append("prefix part must be no more than 253 bytes")
            if not _IS_SUBDOMAIN.fullmatch(prefix):
                faults.append(f"prefix part {_SUBDOMAIN_FORMAT}")
    if not name:
        faults.append("name part must be non-empty")
    elif _size(name) > 63:
        faults.append("name part must be no more than 63 bytes")
    if not _IS_NAME.fullmatch(name):
        faults.append(_NAME_FORMAT)
    return tuple(faults)


@lru_cache(maxsize=4096)
def label_value_faults(value: str) -> tuple[str, ...]:
    faults = []
    if _size(value) > 63:
        faults.append("must be no more than 63 bytes")
    if value and not _IS_NAME.fullmatch(value):
        faults.append(_VALUE_FORMAT)
    return tuple(faults)


def subdomain_faults(name: str) -> tuple[str, ...]:
    """Faults of an object's name (pods, nodes)."""
    faults = []
    if _size(name) > 253:
        faults.append("must be no more than 253 characters")
    if not _IS_SUBDOMAIN.fullmatch(name):
        faults.append(_SUBDOMAIN_FORMAT)
    return tuple(faults)


def dns_label_faults(name: str) -> tuple[str, ...]:
    """Faults of the name of a container, a volume or a namespace."""
    faults = []
    if _size(name) > 63:
        faults.append("must be no more than 63 characters")
    if not _IS_LABEL.fullmatch(name):
        faults.append("must not contain dots" if _IS_SUBDOMAIN.fullmatch(name) else _LABEL_FORMAT)
    return tuple(faults)


def normalized_image(image: str) -> str:
    """Image name with its default tag: a colon before the last slash belongs to a registry's port."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
