"""Validation of resource requests and limits, of containers and of whole pods, and of the claims that a pod names.

Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements, validateResourceRequirements,
    validateResourceClaimNames, validatePodResources, validatePodResourceRequirements, validatePodResourceConsistency,
    ValidateResourceQuantityValue, validateOverhead, validatePodResourceClaims, validatePodResourceClaimSource
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kubespread.kube import name_rules
from kubespread.kube.api.core import ContainerClaim, Pod, PodResourceClaim, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.pod_requests import Amounts, amounts, container_total, is_pod_level_resource
from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.kube.validation import faults
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import LATEST, KubeVersion

NameFaults = Callable[[str, str], Iterable[FieldFault]]
"""Function that finds faults of a resource's name at a path."""

_NOT_FOR_CONTAINERS = "must be a standard resource for containers"
_POD_LEVEL_RESOURCES = ("cpu", "hugepages-", "memory")


def resource_faults(
    resources: ResourceRequirements, path: str, claims: Iterable[str] = (), version: KubeVersion = LATEST
) -> Iterator[FieldFault]:
    """Yield faults of a container's resources, in a pod with ``claims``; limits before requests, by name, as the API
    server's own order is random.
    """
    return _requirement_faults(resources, path, claims, version, _container_name_faults)


def overhead_faults(overhead: ResourceList, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Yield faults of a pod's overhead, which the API server checks like a container's limits, the path included."""
    return resource_faults(ResourceRequirements(limits=overhead), path, version=version)


def pod_level_faults(pod: Pod, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Yield faults of spec.resources, by themselves and against the containers' resources."""
    resources = pod.spec.resources
    if resources is None:
        return
    if pod.spec.os is not None and pod.spec.os.name == "windows":
        yield faults.forbidden(path, "may not be set for a windows pod")
        return
    if resources.claims:
        yield faults.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    claims = [claim.name for claim in pod.spec.resource_claims]
    yield from _requirement_faults(resources, path, claims, version, _pod_level_name_faults)
    yield from _against_containers(pod, amounts(resources.requests), amounts(resources.limits), path)


def _requirement_faults(
    resources: ResourceRequirements, path: str, claims: Iterable[str], version: KubeVersion, name_faults: NameFaults
) -> Iterator[FieldFault]:
    limits, requests = amounts(resources.limits), amounts(resources.requests)
    for kind, named_amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(named_amounts.items()):
            yield from name_faults(name, f"{path}.{kind}[{name}]")
            yield from _amount_faults(name, amount, f"{path}.{kind}[{name}]", version)
            if kind == "requests":
                yield from _limit_faults(name, amount, limits.get(name), path)
            if name_rules.is_hugepages(name) and not _is_multiple(amount, name):
                detail = f"{amount} is not positive integer multiple of {name}"
                yield faults.invalid(f"{path}.{kind}[{name}]", str(amount), detail)
    named = limits.keys() | requests.keys()
    if any(name_rules.is_hugepages(name) for name in named) and not named & {"cpu", "memory"}:
        yield faults.forbidden(path, "HugePages require cpu or memory")
    yield from _claim_faults(resources.claims, sorted(set(filter(None, claims))), f"{path}.claims")


def _claim_faults(references: Sequence[ContainerClaim], claims: Sequence[str], path: str) -> Iterator[FieldFault]:
    """Each must be one of the pod's ``claims``, and none be named whole beside a request of it."""
    rule = "must be one of the names in pod.spec.resourceClaims"
    rule += f": {', '.join(claims)}" if claims else " which is empty"
    keys: list[str] = []
    for position, reference in enumerate(references):
        name, field = reference.name, f"{path}[{position}]"
        if not name:
            yield faults.required(field)
            continue
        if name in keys:
            yield faults.duplicate(field, name)
        else:
            key = f"{name}/{reference.request}" if reference.request else name
            if reference.request:
                details = name_rules.dns_label_faults(reference.request)
                yield from faults.invalid_each(f"{field}.request", reference.request, details)
            if key in keys:
                yield faults.duplicate(field, key)
            elif key == name:
                yield from (faults.duplicate(field, name) for other in keys if other.partition("/")[0] == name)
            keys.append(key)
        if name not in claims:
            yield faults.not_found(field, name, rule)


def _against_containers(pod: Pod, requests: Amounts, limits: Amounts, path: str) -> Iterator[FieldFault]:
    for name, aggregate in sorted(container_total(pod, "requests").items()):
        if name in requests and aggregate.nano > requests[name].nano:
            detail = f"must be greater than or equal to aggregate container requests of {aggregate}"
            yield faults.invalid(f"{path}.requests[{name}]", str(requests[name]), detail)
    for name, aggregate in sorted(container_total(pod, "limits").items()):
        if name_rules.is_hugepages(name) and name in limits and aggregate.nano > limits[name].nano:
            detail = f"must be greater than or equal to aggregate container limits of {aggregate}"
            yield faults.invalid(f"{path}.limits[{name}]", str(limits[name]), detail)
    for position, container in enumerate(pod.spec.containers):
        for name, limit in sorted(amounts(container.resources.limits).items()):
            if name in limits and limit.nano > limits[name].nano:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield faults.invalid(f"{path}.containers[{position}][{name}].limits", str(limit), detail)


def _qualified_name_faults(name: str, path: str) -> list[FieldFault]:
    violations = faults.invalid_each(path, name, name_rules.label_key_faults(name))
    if not violations and "/" not in name and not name_rules.is_standard(name):
        violations = [faults.invalid(path, name, "must be a standard resource type or fully qualified")]
    return violations


def _container_name_faults(name: str, path: str) -> Iterator[FieldFault]:
    yield from _qualified_name_faults(name, path)
    if "/" not in name:
        if name not in name_rules.STANDARD_CONTAINER_RESOURCES and not name_rules.is_hugepages(name):
            yield faults.invalid(path, name, _NOT_FOR_CONTAINERS)
    elif not name_rules.is_native(name) and not name_rules.is_extended(name):
        yield faults.invalid(path, name, "doesn't follow extended resource name standard")


def _pod_level_name_faults(name: str, path: str) -> Iterator[FieldFault]:
    violations = _qualified_name_faults(name, path)
    yield from violations
    if not violations and not is_pod_level_resource(name):
        yield faults.not_supported(path, name, _POD_LEVEL_RESOURCES)


def _amount_faults(name: str, amount: Quantity, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    if amount.nano < 0:
        yield faults.invalid(path, str(amount), "must be greater than or equal to 0")
    # Up to 1.37 whole amounts whose thousandths are beyond an int64 pass for fractions.
    if name_rules.is_integer(name) and (amount.nano % NANO if version.reaches(38) else amount.milli_value % 1000):
        yield faults.invalid(path, str(amount), "must be an integer")


def _is_multiple(amount: Quantity, name: str) -> bool:
    try:
        page = parse(name.removeprefix("hugepages-"))
    except QuantityError:
        return False
    return page.value > 0 and page.milli_value % 1000 == 0 and amount.value % page.value == 0


def _limit_faults(name: str, request: Quantity, limit: Quantity | None, path: str) -> Iterator[FieldFault]:
    if not name_rules.allows_overcommit(name):
        if limit is None:
            yield faults.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif request.nano != limit.nano:
            yield faults.invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")
    elif limit is not None and request.nano > limit.nano:
        yield faults.invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")


def pod_claim_faults(claims: Sequence[PodResourceClaim], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, claim in enumerate(claims):
        field = f"{path}[{position}]"
        if not claim.name:
            yield faults.required(f"{field}.name")
        elif claim.name in names:
            yield faults.duplicate(f"{field}.name", claim.name)
        else:
            names.add(claim.name)
            yield from faults.invalid_each(f"{field}.name", claim.name, name_rules.dns_label_faults(claim.name))
        yield from _source_faults(claim, field)


def _source_faults(claim: PodResourceClaim, path: str) -> Iterator[FieldFault]:
    sources = (
        ("resourceClaimName", claim.resource_claim_name),
        ("resourceClaimTemplateName", claim.resource_claim_template_name),
    )
    named = [(field, name) for field, name in sources if name is not None]
    if len(named) != 1:
        rule = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        detail = rule if named else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        # The API server prints its own struct, whose fields have Go names.
        yield faults.invalid(
            path, {"Name": claim.name, **{field[0].upper() + field[1:]: name for field, name in sources}}, detail
        )
    for field, name in named:
        yield from faults.invalid_each(f"{path}.{field}", name, name_rules.subdomain_faults(name))
