"""The search for devices: claim after claim, request after request, device after device, the first solution wins.

It backtracks if a choice fails, so a request may end up with other devices than the first possible ones. The next
steps are kept in a list of open choices instead of recursive calls, which would be too deep for claims of many
devices.

Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    Allocate, allocateOne, allocateDevice, selectorsMatch
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/constraint.go,
    distinctAttributeConstraint
Source: staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/devicetoleration.go, ToleratesTaint
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from kubespread.kube.api.devices import DeviceAttribute, DeviceConstraint, DeviceTaint, DeviceToleration
from kubespread.scheduler.plugins.dynamicresources.claims import (
    ALL,
    EXACT_COUNT,
    MAX_DEVICES,
    AllocationError,
    ClaimToAllocate,
    NodeAllocationError,
    RequestToAllocate,
)
from kubespread.scheduler.plugins.dynamicresources.devices import (
    CounterID,
    DeviceID,
    OfferedDevice,
    PoolID,
    Pools,
    ReachedDevice,
    Rules,
)
from kubespread.scheduler.plugins.dynamicresources.ledger import (
    Capacities,
    Consumption,
    Counters,
    DeviceLedger,
    consumption,
    counters_left,
    lacking,
    max_used_together,
)

_EFFECTS = ("NoSchedule", "NoExecute")


class ClaimConstraint:
    """One constraint of a claim, and the values of the devices chosen so far."""

    def __init__(self, constraint: DeviceConstraint, rules: Rules) -> None:
        self._requests = constraint.requests
        self._must_match = constraint.match_attribute is not None
        self._attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        self._values: list[object] = []
        """One value per device, in the order the devices came."""
        self._forgets = rules.distinct_compares_last_device and not self._must_match
        self._last: dict[str, object] = {}
        """Value of each request's last device, with which older releases compare; none after a device was removed."""

    def add(self, request: str, alternative: str, device: OfferedDevice) -> bool:
        """Add the device if the constraint allows it; True if it does."""
        if not self._applies(request, alternative):
            return True
        value = _comparable(device.attribute(self._attribute))
        values = list(self._last.values()) if self._forgets else self._values
        if value is None or (self._must_match and values and values[0] != value):
            return False
        if not self._must_match and self._values and value in values:
            return False
        self._values.append(value)
        self._last[request] = value
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Remove the last added device."""
        if self._applies(request, alternative):
            self._values.pop()
            self._last.pop(request, None)

    def _applies(self, request: str, alternative: str) -> bool:
        named = self._requests
        return not named or request in named or bool(alternative and f"{request}/{alternative}" in named)


def _comparable(attribute: DeviceAttribute | None) -> tuple[str, object] | None:
    """Value with its kind: values of different kinds are different."""
    if attribute is None:
        return None
    values = {
        "string": attribute.string_value,
        "int": attribute.int_value,
        "bool": attribute.bool_value,
        "version": attribute.version_value,
    }
    return next(((kind, value) for kind, value in values.items() if value is not None), None)


def has_untolerated_taint(taints: Iterable[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> bool:
    """True if a taint keeps a device from a request with these tolerations."""
    return any(
        taint.effect in _EFFECTS and not any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
    return False


_STEPS_BEFORE_COUNT = 1_000
"""Steps after which it pays to find out if there are enough devices at all."""
_MAX_MATCHED = 128
MAX_STEPS = 100_000
"""Steps after which a search ends; kube-scheduler ends it after ten seconds."""


class SearchTooLongError(Exception):
    """Too many combinations of devices to try them all."""


class _TooManyDevicesError(Exception):
    """More devices than one claim can hold: other devices do not help, other alternatives may."""


class AllocatedDevice(NamedTuple):
    """A device allocated for a request."""

    request: RequestToAllocate
    device: OfferedDevice
    consumed: Consumption | None = None
    """Amounts consumed of a shareable device; None for any other."""


class _Place(NamedTuple):
    """Position of a search."""

    claim: int = 0
    request: int = 0
    alternative: int | None = None
    """None where it is still open, of a request with alternatives."""
    allocated: int = 0
    """Number of devices allocated to the request so far."""
    start: int = 0
    """The first device that may come next: within a request devices come in order."""


Choices = Generator[_Place, None, None]


class _SizedRequest(Struct, frozen=True):
    """A request with its number of devices, and in mode All the devices themselves."""

    request: RequestToAllocate
    size: int
    devices: tuple[ReachedDevice, ...] = ()


def allocate(
    pools: Pools, claims: Sequence[ClaimToAllocate], ledger: DeviceLedger, rules: Rules
) -> list[list[AllocatedDevice]] | None:
    """Devices that each claim gets; None if ``ledger`` leaves too few. Raises AllocationError, SearchTooLongError."""
    return _DeviceSearch(pools, claims, ledger, rules).solution()


class _DeviceSearch:
    def __init__(self, pools: Pools, claims: Sequence[ClaimToAllocate], ledger: DeviceLedger, rules: Rules) -> None:
        self._pools, self._claims, self._ledger, self._rules = pools, claims, ledger, rules
        self._candidates = list(chain.from_iterable(pool.candidates for pool in pools if pool.is_usable))
        self._counters, self._capacities = Counters(ledger, rules), Capacities(ledger, rules)
        self._consumptions: dict[tuple[int, DeviceID], Consumption | None] = {}
        self._sized = [self._sizes(claim) for claim in claims]
        self._constraints = [
            [ClaimConstraint(constraint, rules) for constraint in claim.constraints] for claim in claims
        ]
        self._taking: dict[DeviceID, list[int]] = {}
        """Numbers of the claims that each device is being allocated to."""
        self._results: list[list[AllocatedDevice]] = [[] for _ in claims]

    def _sizes(self, claim: ClaimToAllocate) -> list[list[_SizedRequest]]:
        sized = [self._sizes_of(alternatives) for alternatives in claim.requests]
        least = sum(min(alternative.size for alternative in alternatives) for alternatives in sized)
        if least > MAX_DEVICES:
            text = f"number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}"
            raise AllocationError(f"claim {claim.name}: {text}")
        for number, constraint in enumerate(claim.constraints):
            distinct = constraint.distinct_attribute if self._rules.knows_sharing else None
            if constraint.match_attribute is None and distinct is None:
                text = "empty constraint (unsupported constraint type?)"
                raise AllocationError(f"claim {claim.name}, constraint #{number}: {text}")
        return sized

    def _sizes_of(self, alternatives: Sequence[RequestToAllocate]) -> list[_SizedRequest]:
        for request in alternatives if self._rules.knows_sharing and not self._rules.consumable_capacity else ():
            if request.capacity is not None:
                kind = "subrequest" if request.alternative else "request"
                disabled = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                raise AllocationError(f"claim {request.claim}, {kind} {request.name}: {disabled}")
        return [self._size(request) for request in alternatives]

    def _size(self, request: RequestToAllocate) -> _SizedRequest:
        owner = f"claim {request.claim}, request {request.name}"
        if request.names_admin_access and not self._rules.admin_access:
            raise AllocationError(f"{owner}: admin access is requested, but the feature is disabled")
        if request.mode == EXACT_COUNT:
            return _SizedRequest(request, request.count)
        if request.mode != ALL:
            raise AllocationError(f"{owner}: unsupported count mode {request.mode}")
        candidates: list[ReachedDevice] = []
        # Since 1.37 a device that is full counts among all, so that not all are to be had.
        capacities = self._capacities if self._rules.miscounts else Capacities(DeviceLedger(), self._rules)
        for pool in self._pools:
            if not pool.is_usable:
                state = "being updated" if pool.is_incomplete else "invalid"
                text = f"{owner}: asks for all devices, but resource pool {pool} is currently {state}"
                raise (AllocationError if self._rules.invalid_pools_end_the_search else NodeAllocationError)(text)
            candidates.extend(
                candidate
                for candidate in pool.candidates
                if self._selects(request, candidate) and self._has_room(request, candidate.device, capacities)
            )
        return _SizedRequest(request, len(candidates), tuple(candidates))

    def _selects(self, request: RequestToAllocate, candidate: ReachedDevice) -> bool:
        device, pool = candidate
        if device.device.binding_conditions and not self._rules.binding_conditions:
            return False
        return request.selects(device) and device.id not in pool.unreached

    def _has_room(
        self, request: RequestToAllocate, device: OfferedDevice, capacities: Capacities | None = None
    ) -> bool:
        """True if its capacities have room for one more allocation."""
        if not self._rules.consumable_capacity:
            return True
        consumed = self._consumption(request, device)
        return consumed is not None and (capacities or self._capacities).suffices(device, consumed)

    def _consumption(self, request: RequestToAllocate, device: OfferedDevice) -> Consumption | None:
        key = id(request), device.id
        if key not in self._consumptions:
            self._consumptions[key] = consumption(device, request.capacity or {}, self._rules)
        return self._consumptions[key]

    def solution(self) -> list[list[AllocatedDevice]] | None:
        """First solution, or None."""
        if not self._claims:
            return []
        open_choices = [self._choices(_Place())]
        too_many: _TooManyDevicesError | None = None
        for step in range(MAX_STEPS):
            if step == _STEPS_BEFORE_COUNT and self._is_hopeless():
                return None
            try:
                place = open_choices[-1].throw(too_many) if too_many else next(open_choices[-1])
            except StopIteration:
                open_choices.pop()
                too_many = None
            except _TooManyDevicesError as raised:
                open_choices.pop()
                too_many = raised
            else:
                too_many = None
                if place.claim == len(self._claims):
                    # What is still open is undone on the way out.
                    return [list(results) for results in self._results]
                open_choices.append(self._choices(place))
            if not open_choices:
                return None
        raise SearchTooLongError

    def _is_hopeless(self) -> bool:
        """True if there are too few devices even if each request could have all that is left.

        Devices that are not shared are matched to requests by augmenting paths; requests with alternatives are ignored.
        """
        lists = (alternatives for requests in self._sized for alternatives in requests)
        only = [first for first, *others in lists if not others and not first.request.admin_access]
        namesakes = Counter(pool.id[1] for pool in self._pools if self._rules.miscounts)
        left = {pool.id: counters_left(pool, self._ledger) for pool in self._pools if namesakes[pool.id[1]] <= 1}
        try:
            usable = [
                (self._usable(sized.request, left), sized.size) for sized in only if not sized.request.admin_access
            ]
        except AllocationError:
            return False
        if any(max_used_together(candidates, left, self._rules) < size for candidates, size in usable):
            return True
        alone = [
            (candidates, size)
            for candidates, size in usable
            if not any(candidate.device.is_shared(self._rules) for candidate in candidates)
        ]
        requested = [[device.id for device, _ in candidates] for candidates, size in alone for _ in range(size)]
        together = {candidate.device.id: candidate for candidates, _ in alone for candidate in candidates}
        if max_used_together(together.values(), left, self._rules) < len(requested):
            return True
        matches: dict[DeviceID, int] = {}
        return len(requested) <= _MAX_MATCHED and not all(
            _matched(number, requested, matches, set()) for number in range(len(requested))
        )

    def _usable(
        self, request: RequestToAllocate, left: Mapping[PoolID, Mapping[CounterID, int]]
    ) -> Sequence[ReachedDevice]:
        """The devices that a request could have if nothing was requested before it. Raises AllocationError."""
        untouched = Capacities(self._ledger, self._rules)
        return [
            candidate
            for candidate in self._candidates
            if candidate.device.id not in self._ledger.in_use
            and self._selects(request, candidate)
            and not has_untolerated_taint(candidate.device.taints(self._rules), request.tolerations)
            and self._has_room(request, candidate.device, untouched)
            and (
                candidate.device.is_shared(self._rules)
                or candidate.pool.id not in left
                or not lacking(candidate.device, left[candidate.pool.id])
            )
        ]

    def _choices(self, place: _Place) -> Choices:
        """Yield the next places; each choice is undone before the next one is made."""
        requests = self._sized[place.claim]
        if place.request == len(requests):
            with suppress(_TooManyDevicesError):
                yield _Place(place.claim + 1)
            return
        alternatives = requests[place.request]
        if place.alternative is None and alternatives[0].request.alternative:
            yield from self._alternatives(place, len(alternatives))
            return
        sized = alternatives[place.alternative or 0]
        if sized.request.mode == ALL and not sized.devices:
            return
        if place.allocated < sized.size:
            yield from self._device(place, sized)
        else:
            yield _Place(place.claim, place.request + 1)

    def _alternatives(self, place: _Place, count: int) -> Choices:
        all_too_many = True
        for alternative in range(count):
            try:
                yield place._replace(alternative=alternative)
            except _TooManyDevicesError:
                continue
            all_too_many = False
        if all_too_many:
            raise _TooManyDevicesError

    def _device(self, place: _Place, sized: _SizedRequest) -> Choices:
        if len(self._results[place.claim]) + sized.size - place.allocated > MAX_DEVICES:
            raise _TooManyDevicesError
        if sized.request.mode == ALL:
            candidates: Sequence[ReachedDevice] = sized.devices[place.allocated : place.allocated + 1]
            start = 0
        else:
            candidates, start = self._candidates, place.start
        for number in range(start, len(candidates)):
            candidate = candidates[number]
            request = sized.request
            if request.mode != ALL and not (
                self._is_free(place.claim, request, candidate.device)
                and self._selects(request, candidate)
                and self._has_room(request, candidate.device)
            ):
                continue
            give_back = self._allocate_device(place.claim, request, candidate)
            if give_back is None:
                continue
            try:
                yield place._replace(allocated=place.allocated + 1, start=number + 1)
            finally:
                give_back()

    def _is_free(self, claim: int, request: RequestToAllocate, device: OfferedDevice) -> bool:
        """True if a request may have the device: with admin access only a second time in the same claim is barred."""
        taking = self._taking.get(device.id, ())
        if request.admin_access:
            return claim not in taking
        if self._rules.excludes_shared and device.id in self._ledger.shares and not device.is_shared(self._rules):
            return False
        return device.id not in self._ledger.in_use and not taking

    def _allocate_device(
        self, claim: int, request: RequestToAllocate, candidate: ReachedDevice
    ) -> Callable[[], object] | None:
        """Allocate a device and return a function that undoes it; None if the device is not available."""
        device, pool = candidate
        undo: list[Callable[[], object]] = []
        if self._is_free(claim, request, device) and self._reserve(claim, request, candidate, undo):
            consumed = self._consumption(request, device) if device.is_shared(self._rules) else None
            if consumed is None:
                self._taking.setdefault(device.id, []).append(claim)
                undo.append(lambda: self._taking[device.id].remove(claim))
            else:
                self._capacities.reserve(device, consumed)
                undo.append(lambda: self._capacities.release(device, consumed))
            self._results[claim].append(AllocatedDevice(request, device, consumed))
            undo.append(lambda: self._results[claim].pop())
            return lambda: _run(undo)
        if not self._rules.miscounts:
            _run(undo)
        return None

    def _reserve(
        self, claim: int, request: RequestToAllocate, candidate: ReachedDevice, undo: list[Callable[[], object]]
    ) -> bool:
        """Reserve all that a device needs, adding steps to ``undo``; False if it may not be allocated."""
        device, pool = candidate
        if device.device.consumes_counters:
            if not self._rules.partitionable:
                return False
            if not (device.is_shared(self._rules) and self._capacities.is_in_use(device)):
                if not self._counters.reserve(device, pool):
                    return False
                if not (device.is_shared(self._rules) and self._rules.miscounts):
                    undo.append(lambda: self._counters.release(device, pool))
        if has_untolerated_taint(device.taints(self._rules), request.tolerations):
            return False
        added: list[Callable[[], object]] = []
        for constraint in self._constraints[claim]:
            if constraint.add(request.request, request.alternative, device):
                added.append(partial(constraint.remove, request.request, request.alternative))
                continue
            if request.mode == ALL:
                refused = f"cannot add device {device.id} because a claim constraint would not be satisfied"
                raise AllocationError(f"claim {request.claim}, request {request.name}: {refused}")
            _run(added)
            return False
        undo += added
        return self._has_room(request, device)


def _run(undo: Sequence[Callable[[], object]]) -> None:
    for step in reversed(undo):
        step()


def _matched(
    number: int, candidates: Sequence[Sequence[DeviceID]], matches: dict[DeviceID, int], tried: set[DeviceID]
) -> bool:
    """Match a device to one more request, if need be by matching others anew."""
    for device in candidates[number]:
        if device in tried:
            continue
        tried.add(device)
        if device not in matches or _matched(matches[device], candidates, matches, tried):
            matches[device] = number
            return True
    return False
