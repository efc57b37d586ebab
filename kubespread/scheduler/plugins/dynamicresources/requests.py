"""What a claim asks for, request by request, with the classes looked up.

Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    validateDeviceRequest
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kubespread.kube.api.devices import (
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from kubespread.kube.quantity import QuantityText
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.devices import OfferedDevice

MAX_DEVICES = 32
"""How many devices the allocation of one claim can hold."""
MAX_ALTERNATIVES = 8
EXACT_COUNT, ALL = "ExactCount", "All"


class AllocationError(Exception):
    """Allocation cannot go on, on this node or any other; the text is kube-scheduler's."""


class NodeAllocationError(AllocationError):
    """The same on this node alone."""


class RequestToAllocate(Struct, frozen=True):
    """A request, or one of its alternatives."""

    claim: str
    """``namespace/name``."""
    request: str
    alternative: str
    """Empty where the request has none."""
    mode: str
    count: int
    selectors: tuple[tuple[str, str], ...]
    """CEL expressions, each with the prefix of its error."""
    tolerations: Sequence[DeviceToleration] = ()
    admin_access: bool = False
    names_admin_access: bool = False
    """Whether it sets admin access at all, even to false."""
    capacity: Mapping[str, QuantityText | None] | None = None
    """How much of each capacity of a device it needs."""

    @property
    def name(self) -> str:
        """Its own name, without that of the request it is an alternative of."""
        return self.alternative or self.request

    @property
    def full_name(self) -> str:
        """What allocation results call it."""
        return f"{self.request}/{self.alternative}" if self.alternative else self.request

    def selects(self, device: OfferedDevice) -> bool:
        """Whether class and request select a device. Raises AllocationError.

        A selector that cannot be evaluated here selects every device.
        """
        for expression, owner in self.selectors:
            try:
                if not device.is_selected_by(expression):
                    return False
            except UnsupportedExpressionError:
                continue
            except EvaluationError as error:
                raise AllocationError(f"{owner}: CEL runtime error: {error}") from error
        return True


class ClaimToAllocate(Struct, frozen=True):
    """One claim without an allocation."""

    name: str
    """``namespace/name``."""
    requests: tuple[tuple[RequestToAllocate, ...], ...]
    """Per request its alternatives, or the request itself."""
    constraints: Sequence[DeviceConstraint] = field(default_factory=list)

    def score(self, chosen: set[str]) -> int:
        """The sooner an alternative is listed, the more it is worth; ``chosen`` are the full names that got devices."""
        return sum(
            MAX_ALTERNATIVES - rank
            for alternatives in self.requests
            for rank, request in enumerate(alternatives)
            if request.alternative and request.full_name in chosen
        )


def claim_to_allocate(name: str, spec: ResourceClaimSpec, classes: Mapping[str, DeviceClass]) -> ClaimToAllocate:
    """A claim as the allocator sees it; a class that is not among ``classes`` selects every device."""
    requests = tuple(_alternatives(name, request, classes) for request in spec.devices.requests)
    return ClaimToAllocate(name, requests, spec.devices.constraints)


def _alternatives(
    claim: str, request: DeviceRequest, classes: Mapping[str, DeviceClass]
) -> tuple[RequestToAllocate, ...]:
    if request.exactly is not None:
        return (_request(claim, request.name, request.exactly, classes),)
    return tuple(_request(claim, request.name, subrequest, classes) for subrequest in request.first_available)


def _request(
    claim: str, request: str, device_request: ExactDeviceRequest | DeviceSubRequest, classes: Mapping[str, DeviceClass]
) -> RequestToAllocate:
    device_class = classes.get(device_request.device_class_name)
    owners = (
        (f"class {device_request.device_class_name}", device_class.spec.selectors if device_class is not None else []),
        (f"claim {claim}", device_request.selectors),
    )
    return RequestToAllocate(
        claim=claim,
        request=request,
        alternative=device_request.name if isinstance(device_request, DeviceSubRequest) else "",
        mode=device_request.allocation_mode or EXACT_COUNT,
        count=device_request.count or 1,
        selectors=tuple(
            (selector.cel.expression, f"{owner}: selector #{position}")
            for owner, selectors in owners
            for position, selector in enumerate(selectors)
            if selector.cel is not None
        ),
        tolerations=device_request.tolerations,
        admin_access=bool(device_request.admin_access) and not isinstance(device_request, DeviceSubRequest),
        names_admin_access=device_request.admin_access is not None and not isinstance(device_request, DeviceSubRequest),
        capacity=None if device_request.capacity is None else device_request.capacity.requests,
    )
