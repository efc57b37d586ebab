"""Validation of resource requests and limits, of containers and of whole pods.

Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements, validateResourceRequirements,
    validatePodResources
Source: pkg/apis/core/validation/validation.go, validatePodResourceRequirements, validatePodResourceConsistency,
    ValidateResourceQuantityValue, validateOverhead
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kubespread.kube import name_rules
from kubespread.kube.api.core import Pod, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.pod_requests import Amounts, amounts, container_total, is_pod_level_resource
from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid, invalid_each, required, unsupported
from kubespread.kube.versions import LATEST, KubeVersion

NameFaults = Callable[[str, str], Iterable[FieldFault]]
"""What is wrong with a resource's name, standing at a path."""

_NOT_FOR_CONTAINERS = "must be a standard resource for containers"
_POD_LEVEL_RESOURCES = ("cpu", "hugepages-", "memory")


def resource_faults(resources: ResourceRequirements, path: str, version: KubeVersion = LATEST) -> Iterator[FieldFault]:
    """A container's resources; limits before requests, names in order since the API server's own order is random."""
    return _requirement_faults(resources, path, version, _container_name_faults)


def overhead_faults(overhead: ResourceList, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """A pod's overhead, which the API server checks as if it were a container's limits, the path included."""
    return resource_faults(ResourceRequirements(limits=overhead), path, version)


def pod_level_faults(pod: Pod, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """spec.resources against itself and against what the containers ask together."""
    resources = pod.spec.resources
    if resources is None:
        return
    if resources.claims:
        yield forbidden(f"{path}.claims", "claims cannot be set for Resources at pod-level")
    yield from _requirement_faults(resources, path, version, _pod_level_name_faults)
    yield from _against_containers(pod, amounts(resources.requests), amounts(resources.limits), path)


def _requirement_faults(
    resources: ResourceRequirements, path: str, version: KubeVersion, name_faults: NameFaults
) -> Iterator[FieldFault]:
    limits, requests = amounts(resources.limits), amounts(resources.requests)
    for kind, named_amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(named_amounts.items()):
            yield from name_faults(name, f"{path}.{kind}[{name}]")
            yield from _amount_faults(name, amount, f"{path}.{kind}[{name}]", version)
            if kind == "requests":
                yield from _limit_faults(name, amount, limits.get(name), path)
    named = limits.keys() | requests.keys()
    if any(name_rules.is_hugepages(name) for name in named) and not named & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def _against_containers(pod: Pod, requests: Amounts, limits: Amounts, path: str) -> Iterator[FieldFault]:
    for name, aggregate in sorted(container_total(pod, "requests").items()):
        if name in requests and aggregate.nano > requests[name].nano:
            detail = f"must be greater than or equal to aggregate container requests of {aggregate}"
            yield invalid(f"{path}.requests[{name}]", str(requests[name]), detail)
    for name, aggregate in sorted(container_total(pod, "limits").items()):
        if name_rules.is_hugepages(name) and name in limits and aggregate.nano > limits[name].nano:
            detail = f"must be greater than or equal to aggregate container limits of {aggregate}"
            yield invalid(f"{path}.limits[{name}]", str(limits[name]), detail)
    for position, container in enumerate(pod.spec.containers):
        for name, limit in sorted(amounts(container.resources.limits).items()):
            if name in limits and limit.nano > limits[name].nano:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{path}.containers[{position}][{name}].limits", str(limit), detail)


def _qualified_name_faults(name: str, path: str) -> list[FieldFault]:
    faults = invalid_each(path, name, name_rules.label_key_faults(name))
    if not faults and "/" not in name and not name_rules.is_standard(name):
        faults = [invalid(path, name, "must be a standard resource type or fully qualified")]
    return faults


def _container_name_faults(name: str, path: str) -> Iterator[FieldFault]:
    yield from _qualified_name_faults(name, path)
    if "/" not in name:
        if not name_rules.is_standard_for_containers(name):
            yield invalid(path, name, _NOT_FOR_CONTAINERS)
    elif not name_rules.is_native(name) and not name_rules.is_extended(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _pod_level_name_faults(name: str, path: str) -> Iterator[FieldFault]:
    faults = _qualified_name_faults(name, path)
    yield from faults
    if not faults and not is_pod_level_resource(name):
        yield unsupported(path, name, _POD_LEVEL_RESOURCES)


def _amount_faults(name: str, amount: Quantity, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    if amount.nano < 0:
        yield invalid(path, str(amount), "must be greater than or equal to 0")
    # Up to 1.37 whole amounts whose thousandths are beyond an int64 pass for fractions.
    if name_rules.is_integer(name) and (amount.nano % NANO if version.since(38) else amount.milli_value % 1000):
        yield invalid(path, str(amount), "must be an integer")
    if name_rules.is_hugepages(name) and not _is_multiple(amount, name):
        yield invalid(path, str(amount), f"{amount} is not positive integer multiple of {name}")


def _is_multiple(amount: Quantity, name: str) -> bool:
    try:
        page = parse(name.removeprefix("hugepages-"))
    except QuantityError:
        return False
    return page.value > 0 and page.milli_value % 1000 == 0 and amount.value % page.value == 0


def _limit_faults(name: str, request: Quantity, limit: Quantity | None, path: str) -> Iterator[FieldFault]:
    if not name_rules.allows_overcommit(name):
        if limit is None:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif request.nano != limit.nano:
            yield invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")
    elif limit is not None and request.nano > limit.nano:
        yield invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")
