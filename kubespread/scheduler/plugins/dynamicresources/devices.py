"""The devices of a cluster: their pools, the pools that a node reaches, and the claims and classes beside them; and the
feature gates that their allocation depends on.

Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go, GatherPools,
    addSlice, NodeMatches
Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, AllocatorFeatures
Source: staging/src/k8s.io/dynamic-resource-allocation/resourceslice/tracker/tracker.go, deviceTaintAdd
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from kubespread.kube.api import devices as api
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.cluster.memo import Memo, Results
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_node_selector, nodes_named, nowhere
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, Value, parse_semver


class Rules(Struct, frozen=True):
    """Feature gates, and behavior that differs between releases."""

    extended_resource: bool = True
    """DRAExtendedResource."""
    device_taints: bool = True
    """DRADeviceTaints."""
    device_taint_rules: bool = True
    """DRADeviceTaintRules since 1.37: kube-scheduler 1.36 watches and reads the rules in different API versions."""
    owner_kind: str = "Pod"
    """Word for a pod in the message that a claim is another pod's; lower case up to 1.35."""
    taint_rules_without_selector: bool = False
    """Up to 1.37.0 a DeviceTaintRule without a selector was for every device, since then for none."""
    invalid_pools_end_the_search: bool = True
    """Up to 1.37 a request for all devices fails on every node for the incomplete or invalid pool of one."""
    excludes_shared: bool = False
    """Since 1.38 no claim gets a device exclusively that others still share, even if its slice now forbids sharing."""
    qualifies_capacity_names: bool = False
    """Since 1.38 a request may name a capacity with its driver's name and without, however it is published."""
    distinct_compares_last_device: bool = False
    """Up to 1.36 distinctAttribute compares with the last device of each request, not with all."""
    prioritized_list: bool = True
    """DRAPrioritizedList."""
    admin_access: bool = True
    """DRAAdminAccess."""
    partitionable: bool = True
    """DRAPartitionableDevices."""
    consumable_capacity: bool = True
    """DRAConsumableCapacity."""
    binding_conditions: bool = True
    """DRADeviceBindingConditions, and DRAResourceClaimDeviceStatus, which it depends on."""
    fractional_capacity_range: bool = True
    """DRAFractionalCapacityRange: the range of a capacity need not be in whole numbers."""
    miscounts: bool = False
    """Up to 1.36 counters, constraints and capacity reserved for a device stay reserved if it is then not allocated.

    Counters are kept by the names of pools, whichever driver's; a device shared without capacity counts its counters
    twice; a request for all devices leaves out full ones; and every node looks at all slices with counters.
    """

    @property
    def knows_sharing(self) -> bool:
        """True if the allocator implements device sharing, distinctAttribute and binding conditions at all."""
        return self.consumable_capacity or self.binding_conditions

    @classmethod
    def from_version(cls, version: KubeVersion) -> Rules:
        """Rules of a release with its feature gates."""
        has = version.has
        return cls(
            extended_resource=has("DRAExtendedResource"),
            device_taints=has("DRADeviceTaints"),
            device_taint_rules=has("DRADeviceTaintRules") and version.reaches(37),
            owner_kind="Pod" if version.reaches(36) else "pod",
            taint_rules_without_selector=not version.reaches(37, 1),
            invalid_pools_end_the_search=not version.reaches(38),
            excludes_shared=version.reaches(38),
            qualifies_capacity_names=version.reaches(38),
            distinct_compares_last_device=not version.reaches(37),
            prioritized_list=has("DRAPrioritizedList"),
            admin_access=has("DRAAdminAccess"),
            partitionable=has("DRAPartitionableDevices"),
            consumable_capacity=has("DRAConsumableCapacity"),
            binding_conditions=has("DRADeviceBindingConditions") and has("DRAResourceClaimDeviceStatus"),
            fractional_capacity_range=has("DRAFractionalCapacityRange"),
            miscounts=not version.reaches(37),
        )


class DeviceID(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


PoolID = tuple[str, str]
"""The driver and the pool's name."""
CounterID = tuple[str, str]
"""The names of a counter set and of a counter in it."""


class _ByDomain(dict[str, dict[str, Value]]):
    """Attributes or capacities by domain and name; a domain without any reads as empty."""

    def __missing__(self, domain: str) -> dict[str, Value]:
        return {}


class OfferedDevice(Struct, eq=False, dict=True):
    """One device of one slice, with cached answers of selectors."""

    id: DeviceID
    device: api.Device
    slice: api.ResourceSlice
    taint_rules: tuple[api.DeviceTaintRule, ...] = ()
    """Rules that select it, and rules without any selector."""
    exposes_sharing: bool = False
    """True if selectors see that it allows several allocations; scores and older allocators hide this."""
    _answers: dict[str, bool | str] = field(default_factory=dict)
    """Answers by expression; for one that failed only the text: an error keeps every value on its way."""

    def is_selected_by(self, expression: str) -> bool:
        """True if a CEL expression selects it. Raises EvaluationError, CompileError and UnsupportedExpressionError."""
        answer = self._answers.get(expression)
        if answer is None:
            # Most clusters have no such devices, and the language takes its time to load.
            from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compile_selector

            try:
                answer = compile_selector(expression)(self._facts)
            except EvaluationError as error:
                answer = str(error)
            self._answers[expression] = answer
        if isinstance(answer, str):
            raise EvaluationError(answer)
        return answer

    def taints(self, rules: Rules) -> Sequence[api.DeviceTaint]:
        """Taints of the device itself, and of DeviceTaintRules."""
        if not rules.device_taints:
            return ()
        if not self.taint_rules or not rules.device_taint_rules:
            return self.device.taints
        rule_taints = (
            rule.spec.taint
            for rule in self.taint_rules
            if rule.spec.device_selector is not None or rules.taint_rules_without_selector
        )
        return (*self.device.taints, *rule_taints)

    def is_shared(self, rules: Rules) -> bool:
        """True if several claims may have it at once."""
        return rules.consumable_capacity and self.device.allow_multiple_allocations

    def attribute(self, qualified_name: str) -> api.DeviceAttribute | None:
        """Attribute by its full name; a device may publish it without its driver's domain."""
        attributes = self.device.attributes
        if qualified_name in attributes:
            return attributes[qualified_name]
        domain, _, name = qualified_name.partition("/")
        return attributes.get(name) if domain == self.id.driver else None

    @cached_property
    def consumes(self) -> Sequence[tuple[CounterID, int]]:
        """Amounts it takes of its pool's counters, in units of 10^-9."""
        return [
            ((consumed.counter_set, name), parse(counter.value).nano)
            for consumed in self.device.consumes_counters
            for name, counter in consumed.counters.items()
        ]

    @cached_property
    def _facts(self) -> Mapping[str, Value]:
        """The fields of CEL's variable ``device``."""
        return {
            "driver": self.id.driver,
            "allowMultipleAllocations": self.exposes_sharing and self.device.allow_multiple_allocations,
            "attributes": self._by_domain(
                (name, _attribute_value(name, value)) for name, value in self.device.attributes.items()
            ),
            "capacity": self._by_domain(
                (name, parse(quantity.value)) for name, quantity in self.device.capacity.items()
            ),
        }

    def _by_domain(self, named: Iterable[tuple[str, Value]]) -> _ByDomain:
        domains = _ByDomain()
        try:
            for qualified_name, value in named:
                domain, slash, name = qualified_name.partition("/")
                domains.setdefault(domain if slash else self.id.driver, {})[name if slash else domain] = value
        except QuantityError as error:
            raise EvaluationError(str(error)) from error
        return domains


def _attribute_value(name: str, attribute: api.DeviceAttribute) -> Value:
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    if attribute.version_value is None:
        raise EvaluationError(f"attribute {name}: unsupported attribute value")
    try:
        return parse_semver(attribute.version_value)
    except EvaluationError as error:
        raise EvaluationError(f"attribute {name}: parse semantic version: {error}") from error


class Pool(Struct, frozen=True, eq=False, dict=True):
    """Part of a pool that a node reaches."""

    id: PoolID
    devices: tuple[OfferedDevice, ...] = ()
    """Slice by slice in the order of their names."""
    is_incomplete: bool = False
    """True if its driver is still writing its slices."""
    is_invalid: bool = False
    """True if two of its devices or counter sets share a name, or a device consumes counters the pool lacks."""
    counters: Mapping[CounterID, int] = field(default_factory=dict)
    """Counters its devices share, in units of 10^-9."""
    others: tuple[OfferedDevice, ...] = ()
    """Devices for other nodes, which may hold some of the counters."""
    unreached: frozenset[DeviceID] = frozenset()
    """Devices of the pool meant for other nodes, though their slice is for this one too."""

    def __str__(self) -> str:
        return "/".join(self.id)

    @property
    def is_usable(self) -> bool:
        return not (self.is_incomplete or self.is_invalid)

    @cached_property
    def candidates(self) -> Sequence[ReachedDevice]:
        """Its devices, each with this pool, which has the counters it consumes."""
        return [ReachedDevice(device, self) for device in self.devices]

    @cached_property
    def consumers(self) -> Sequence[OfferedDevice]:
        return [device for device in (*self.devices, *self.others) if device.device.consumes_counters]

    @property
    def order(self) -> tuple[bool, PoolID]:
        """Sort key of the search: by name, pools with binding conditions last."""
        return any(device.device.binding_conditions for device in self.devices), self.id


class ReachedDevice(NamedTuple):
    """A device that a node reaches."""

    device: OfferedDevice
    pool: Pool


Pools = tuple[Pool, ...]


class _ViewKey(NamedTuple):
    """Key of a node's view of the slices: nodes with the same key see the same devices."""

    numbers: tuple[int, ...]
    """The slices it reaches."""
    devices: tuple[bytes, ...] = ()
    """Per slice with perDeviceNodeSelection, a mask of the devices that are for this node."""


class Inventory:
    """All slices of a cluster, seen from each node."""

    def __init__(
        self,
        slices: Sequence[api.ResourceSlice],
        nodes: Nodes,
        taint_rules: Sequence[api.DeviceTaintRule],
        rules: Rules,
    ) -> None:
        self._nodes, self._taint_rules, self._rules = nodes, taint_rules, rules
        self._slices = slices
        self._by_pool: dict[PoolID, list[int]] = {}
        self._on_node: dict[str, list[int]] = {}
        self._shared: list[tuple[int, Mask]] = []
        self._counters: dict[PoolID, list[int]] = {}
        """Slices with counters, which every node looks at, whichever they are for."""
        self._choosing: dict[int, Mask] = {}
        """Slices with perDeviceNodeSelection: for each device, a mask of the nodes it is for."""
        for number, resource_slice in enumerate(slices):
            spec, pool_id = resource_slice.spec, _pool_id(resource_slice)
            self._by_pool.setdefault(pool_id, []).append(number)
            if not rules.partitionable and (spec.per_device_node_selection is not None or spec.shared_counters):
                continue
            if spec.per_device_node_selection:
                reached = [_reachable_nodes(nodes, device) for device in spec.devices]
                self._choosing[number] = np.array(reached, dtype=bool).reshape(len(reached), len(nodes))
            if spec.shared_counters and (rules.miscounts or not spec.node_name):
                self._counters.setdefault(pool_id, []).append(number)
            elif spec.node_name:
                self._on_node.setdefault(spec.node_name, []).append(number)
            elif spec.all_nodes or spec.node_selector is not None:
                self._shared.append((number, _reachable_nodes(nodes, spec)))
            elif number in self._choosing:
                self._shared.append((number, np.logical_or.reduce(self._choosing[number], axis=0)))
        self._devices: dict[int, tuple[OfferedDevice, ...]] = {}
        self._pools: dict[_ViewKey, Pool | None] = {}
        self._reachable: dict[_ViewKey, Pools] = {}

    def pools(self, node: int) -> Pools:
        """Pools that a node reaches, in search order; nodes that reach the same pools share one tuple."""
        on_node = self._on_node.get(self._nodes.names[node], [])
        view_key = self._view_key((*on_node, *(number for number, reached in self._shared if reached[node])), node)
        if view_key not in self._reachable:
            self._reachable[view_key] = tuple(sorted(self._gather_pools(view_key, node), key=lambda pool: pool.order))
        return self._reachable[view_key]

    def _view_key(self, numbers: tuple[int, ...], node: int) -> _ViewKey:
        choosing = (self._choosing.get(number) for number in numbers)
        return _ViewKey(numbers, tuple(chosen[:, node].tobytes() for chosen in choosing if chosen is not None))

    def nodes_of(self, pools: Iterable[PoolID]) -> Mask:
        """The nodes that reach devices of some of these pools."""
        numbers = {number for pool in pools for number in self._by_pool.get(pool, ())}
        reached = nodes_named(self._nodes, (self._slices[number].spec.node_name for number in numbers))
        for number, mask in self._shared:
            if number in numbers:
                reached |= mask
        return reached

    @cached_property
    def binding_devices(self) -> Sequence[OfferedDevice]:
        """The devices with binding conditions."""
        late = [
            number
            for number, offered in enumerate(self._slices)
            if any(device.binding_conditions for device in offered.spec.devices)
        ]
        return [device for device in self._all_offered(late) if device.device.binding_conditions]

    @cached_property
    def ambiguous_pools(self) -> Sequence[str]:
        """Names of pools of several drivers for which, up to 1.36, the first node decides which counters are used."""
        if not self._rules.miscounts:
            return ()
        drivers: dict[str, list[PoolID]] = {}
        for pool in self._counters:
            drivers.setdefault(pool[1], []).append(pool)
        return [name for name, pools in sorted(drivers.items()) if len(pools) > 1 and self.nodes_of(pools).sum() > 1]

    def _gather_pools(self, view_key: _ViewKey, node: int) -> Iterator[Pool]:
        by_pool: dict[PoolID, list[int]] = {}
        for number in view_key.numbers:
            by_pool.setdefault(_pool_id(self._slices[number]), []).append(number)
        for pool_id, numbers in by_pool.items():
            pool = self._pool_of((*numbers, *self._counters.get(pool_id, ())), node)
            if pool is not None:
                yield pool
        yield from (pool for pool in self._unusable if pool.id not in by_pool)

    @cached_property
    def _unusable(self) -> Sequence[Pool]:
        """Pools that a node cannot use, judging by the counters it sees."""
        pools = [self._pool(numbers, frozenset()) for numbers in self._counters.values()]
        return [pool for pool in pools if pool is not None and not pool.is_usable]

    def _pool_of(self, numbers: tuple[int, ...], node: int) -> Pool | None:
        view_key = self._view_key(numbers, node)
        if view_key not in self._pools:
            unreached = frozenset(
                device.id
                for number in numbers
                if number in self._choosing
                for device, is_reached in zip(self._device_offers(number), self._choosing[number][:, node], strict=True)
                if not is_reached
            )
            self._pools[view_key] = self._pool(numbers, unreached)
        return self._pools[view_key]

    def _pool(self, numbers: Sequence[int], unreached: frozenset[DeviceID]) -> Pool | None:
        """Part of a pool that a node reaches; None if all of it is outdated, even if the node lacks its successor."""
        specs = [self._slices[number].spec for number in numbers]
        pool_id = specs[0].driver, specs[0].pool.name
        generation = max(spec.pool.generation for spec in specs)
        current = self._of_generation(numbers, generation)
        expected = self._slices[current[0]].spec.pool.resource_slice_count
        whole = current
        if len(current) != expected:
            generations = [self._slices[number].spec.pool.generation for number in self._by_pool[pool_id]]
            if max(generations) > generation:
                return None
            whole = self._of_generation(self._by_pool[pool_id], generation)
            if len(whole) != expected:
                return Pool(pool_id, is_incomplete=True)
        current.sort(key=lambda number: self._slices[number].metadata.name)
        counting = [
            number for number in current if self._rules.partitionable and self._slices[number].spec.shared_counters
        ]
        devices = self._all_offered(number for number in current if number not in counting)
        sets = [counters for number in counting for counters in self._slices[number].spec.shared_counters]
        names = {counters.name for counters in sets}
        is_invalid = len({device.id for device in devices}) < len(devices) or len(names) < len(sets)
        if not self._rules.partitionable:
            return Pool(pool_id, is_invalid=True) if is_invalid else Pool(pool_id, devices)
        counters = {
            (counters.name, name): parse(counter.value).nano
            for counters in sets
            for name, counter in counters.counters.items()
        }
        others = self._all_offered(number for number in whole if number not in current)
        for device in (*self._all_offered(current), *others):
            if device.device.consumes_counters:
                is_invalid |= not names.issuperset(consumed.counter_set for consumed in device.device.consumes_counters)
                is_invalid |= any(counter not in counters for counter, _ in device.consumes)
        if is_invalid:
            return Pool(pool_id, is_invalid=True)
        return Pool(pool_id, devices, counters=counters, others=others, unreached=unreached)

    def _of_generation(self, numbers: Iterable[int], generation: int) -> list[int]:
        return [number for number in numbers if self._slices[number].spec.pool.generation == generation]

    def _all_offered(self, numbers: Iterable[int]) -> tuple[OfferedDevice, ...]:
        return tuple(device for number in numbers for device in self._device_offers(number))

    def _device_offers(self, number: int) -> tuple[OfferedDevice, ...]:
        if number not in self._devices:
            part = self._slices[number]
            driver, pool = _pool_id(part)
            self._devices[number] = tuple(
                OfferedDevice(
                    device_id := DeviceID(driver, pool, device.name),
                    device,
                    part,
                    # The rules that taint a device, or might in some release.
                    tuple(rule for rule in self._taint_rules if _selects(rule.spec.device_selector, device_id)),
                    self._rules.knows_sharing,
                )
                for device in part.spec.devices
            )
        return self._devices[number]


def _reachable_nodes(nodes: Nodes, place: api.ResourceSliceSpec | api.Device) -> Mask:
    if place.node_name:
        return nodes_named(nodes, [place.node_name])
    if place.all_nodes:
        return everywhere(nodes)
    return nowhere(nodes) if place.node_selector is None else matches_node_selector(nodes, place.node_selector)


def _selects(selector: api.DeviceTaintSelector | None, device: DeviceID) -> bool:
    if selector is None:
        return True
    selected = (selector.driver, selector.pool, selector.device)
    return all(name is None or name == own for name, own in zip(selected, device, strict=True))


def _pool_id(offered: api.ResourceSlice) -> PoolID:
    return offered.spec.driver, offered.spec.pool.name


class ClaimID(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Facts:
    """Classes, claims, templates and slices of one cluster, and its nodes."""

    def __init__(self, objects: ClusterObjects, nodes: Nodes) -> None:
        self.objects, self.nodes = objects, nodes
        self._inventories: dict[Rules, Inventory] = {}

    @classmethod
    def build(cls, objects: ClusterObjects, nodes: Nodes, results: Results) -> Facts:
        """Build once for the nodes and objects of ``results``."""
        return _FACTS.get_or_make(results, None, lambda: cls(objects, nodes))

    @cached_property
    def classes(self) -> Mapping[str, api.DeviceClass]:
        return {device_class.metadata.name: device_class for device_class in self.objects.get(api.DeviceClass)}

    @cached_property
    def by_resource(self) -> Mapping[str, api.DeviceClass]:
        """The class behind each resource that stands for devices."""
        return api.extended_resources(self.objects.get(api.DeviceClass))

    @cached_property
    def claims(self) -> Mapping[ClaimID, api.ResourceClaim]:
        return {
            ClaimID(claim.metadata.namespace, claim.metadata.name): claim
            for claim in self.objects.get(api.ResourceClaim)
        }

    @cached_property
    def templates(self) -> Mapping[ClaimID, api.ResourceClaimTemplate]:
        return {
            ClaimID(template.metadata.namespace, template.metadata.name): template
            for template in self.objects.get(api.ResourceClaimTemplate)
        }

    def inventory(self, rules: Rules) -> Inventory:
        """The devices as a release with these rules sees them."""
        if rules not in self._inventories:
            slices, taint_rules = self.objects.get(api.ResourceSlice), self.objects.get(api.DeviceTaintRule)
            self._inventories[rules] = Inventory(slices, self.nodes, taint_rules, rules)
        return self._inventories[rules]

    @cached_property
    def _extended_resource_claims(self) -> Mapping[tuple[str, str, str], ClaimID]:
        """Claims for extended resources, by namespace, name and UID of their pod."""
        return {
            (key.namespace, owner.name, owner.uid): key
            for key, claim in self.claims.items()
            if claim.metadata.annotations.get(api.EXTENDED_RESOURCE_CLAIM) == "true"
            for owner in claim.metadata.owner_references
            if owner.controller
        }

    def extended_resource_claim_of(self, pod: Pod) -> ClaimID | None:
        """Claim that an earlier scheduling cycle created for the extended resources of this very pod."""
        return self._extended_resource_claims.get((pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))


_FACTS = Memo[None, Facts]()
