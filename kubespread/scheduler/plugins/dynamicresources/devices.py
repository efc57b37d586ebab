"""The devices of a cluster: their pools, which pools a node reaches, and what objects say about them.

Source of the rules: kube-scheduler, dynamic-resource-allocation/structured (GatherPools).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import (
    EXTENDED_RESOURCE_CLAIM,
    AllocationResult,
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    extended_resources,
)
from kubespread.kube.quantity import QuantityError, parse
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import matches_node_selector, nowhere
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, Value, parse_semver
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


class DeviceID(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


PoolID = tuple[str, str]
"""The driver and the pool's name."""


class _ByDomain(dict[str, dict[str, Value]]):
    """Attributes or capacities by domain and name; a domain without any reads as empty."""

    def __missing__(self, domain: str) -> dict[str, Value]:
        return {}


@dataclass(eq=False)
class OfferedDevice:
    """One device of one slice, with what selectors said of it so far."""

    id: DeviceID
    device: Device
    slice: ResourceSlice
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    """Those that select it, and those that have no selector at all."""
    _answers: dict[str, bool | EvaluationError] = field(default_factory=dict)

    def is_selected_by(self, expression: str) -> bool:
        """Whether a CEL expression selects it. Raises EvaluationError, and UnsupportedExpressionError."""
        answer = self._answers.get(expression)
        if answer is None:
            try:
                answer = compiled(expression)(self._facts)
            except EvaluationError as error:
                answer = error
            self._answers[expression] = answer
        if isinstance(answer, EvaluationError):
            raise answer
        return answer

    def taints(self, rules: Rules) -> Sequence[DeviceTaint]:
        """Its own, and those of rules."""
        if not rules.taints_count:
            return ()
        if not self.taint_rules or not rules.taint_rules_count:
            return self.device.taints
        rule_taints = (
            rule.spec.taint
            for rule in self.taint_rules
            if rule.spec.device_selector is not None or rules.bare_taint_rules_count
        )
        return (*self.device.taints, *rule_taints)

    def attribute(self, qualified_name: str) -> DeviceAttribute | None:
        """An attribute by its full name; those of the driver's own domain may stand without it."""
        attributes = self.device.attributes
        if qualified_name in attributes:
            return attributes[qualified_name]
        domain, _, name = qualified_name.partition("/")
        return attributes.get(name) if domain == self.id.driver else None

    @cached_property
    def _facts(self) -> Mapping[str, Value]:
        """The fields of CEL's variable ``device``."""
        return {
            "driver": self.id.driver,
            "allowMultipleAllocations": self.device.allow_multiple_allocations,
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


def _attribute_value(name: str, attribute: DeviceAttribute) -> Value:
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    if attribute.version_value is None:
        raise EvaluationError(f"attribute {name}: unsupported attribute value")
    version = parse_semver(attribute.version_value)
    if version is None:
        raise EvaluationError(f"attribute {name}: parse semantic version: No Major.Minor.Patch elements found")
    return version


@dataclass(eq=False, frozen=True)
class Pool:
    """What a node reaches of one pool."""

    id: PoolID
    devices: tuple[OfferedDevice, ...] = ()
    """Slice by slice in the order of their names."""
    is_incomplete: bool = False
    """Whether its driver is still writing its slices."""
    is_invalid: bool = False
    """Whether two of its devices have one name."""

    def __str__(self) -> str:
        return "/".join(self.id)


Pools = tuple[Pool, ...]


class Inventory:
    """All slices of a cluster, seen from each node."""

    def __init__(
        self, slices: Sequence[ResourceSlice], nodes: Nodes, taint_rules: Sequence[DeviceTaintRule] = ()
    ) -> None:
        self._nodes, self._taint_rules = nodes, taint_rules
        self._slices = slices
        self._by_pool: dict[PoolID, list[int]] = {}
        self._on_node: dict[str, list[int]] = {}
        self._shared: list[tuple[int, Mask]] = []
        for number, resource_slice in enumerate(slices):
            self._by_pool.setdefault(_pool_id(resource_slice), []).append(number)
            if resource_slice.spec.node_name:
                self._on_node.setdefault(resource_slice.spec.node_name, []).append(number)
            elif (reached := self._reached(resource_slice)) is not None:
                self._shared.append((number, reached))
        self._devices: dict[int, tuple[OfferedDevice, ...]] = {}
        self._pools: dict[tuple[int, ...], Pool | None] = {}
        self._reachable: dict[tuple[int, ...], Pools] = {}

    def _reached(self, offered: ResourceSlice) -> Mask | None:
        """The nodes of a slice that names no single node; None if it selects them in an unknown way."""
        spec = offered.spec
        if spec.all_nodes:
            return ~nowhere(self._nodes)
        if spec.node_selector is not None:
            return matches_node_selector(self._nodes, spec.node_selector)
        if not spec.per_device_node_selection:
            return None
        reached = nowhere(self._nodes)
        for device in spec.devices:
            if device.node_name in self._nodes.index:
                reached[self._nodes.index[device.node_name]] = True
            elif device.all_nodes:
                reached[:] = True
            elif device.node_selector is not None:
                reached |= matches_node_selector(self._nodes, device.node_selector)
        return reached

    def pools(self, node: int) -> Pools:
        """The pools that a node reaches, by driver and name; nodes that reach the same get the very same."""
        numbers = self._on_node.get(self._nodes.names[node], [])
        key = (*numbers, *(number for number, reached in self._shared if reached[node]))
        if key not in self._reachable:
            self._reachable[key] = tuple(self._gathered(key))
        return self._reachable[key]

    def nodes_of(self, pools: Iterable[PoolID]) -> Mask:
        """The nodes that reach some of these pools."""
        numbers = {number for pool in pools for number in self._by_pool.get(pool, ())}
        reached = nowhere(self._nodes)
        for number in numbers:
            position = self._nodes.index.get(self._slices[number].spec.node_name)
            if position is not None:
                reached[position] = True
        for number, mask in self._shared:
            if number in numbers:
                reached |= mask
        return reached

    def _gathered(self, numbers: Iterable[int]) -> Iterator[Pool]:
        by_pool: dict[PoolID, list[int]] = {}
        for number in numbers:
            by_pool.setdefault(_pool_id(self._slices[number]), []).append(number)
        for _, parts in sorted(by_pool.items()):
            key = tuple(parts)
            if key not in self._pools:
                self._pools[key] = self._pool(parts)
            pool = self._pools[key]
            if pool is not None:
                yield pool

    def _pool(self, numbers: Sequence[int]) -> Pool | None:
        """What a node reaches of a pool; None where all of it is outdated, though what replaces it is not for the
        node.
        """
        specs = [self._slices[number].spec for number in numbers]
        pool_id = specs[0].driver, specs[0].pool.name
        generation = max(spec.pool.generation for spec in specs)
        current = [number for number in numbers if self._slices[number].spec.pool.generation == generation]
        expected = self._slices[current[0]].spec.pool.resource_slice_count
        if len(current) != expected:
            generations = [self._slices[number].spec.pool.generation for number in self._by_pool[pool_id]]
            if max(generations) > generation:
                return None
            if generations.count(generation) != expected:
                return Pool(pool_id, is_incomplete=True)
        current.sort(key=lambda number: self._slices[number].metadata.name)
        devices = [device for number in current for device in self._offered(number)]
        if len({device.id for device in devices}) < len(devices):
            return Pool(pool_id, is_invalid=True)
        return Pool(pool_id, tuple(devices))

    def _offered(self, number: int) -> tuple[OfferedDevice, ...]:
        if number not in self._devices:
            part = self._slices[number]
            driver, pool = _pool_id(part)
            self._devices[number] = tuple(
                OfferedDevice(
                    device_id := DeviceID(driver, pool, device.name), device, part, self._rules_for(device_id)
                )
                for device in part.spec.devices
            )
        return self._devices[number]

    def _rules_for(self, device: DeviceID) -> tuple[DeviceTaintRule, ...]:
        """The rules that taint a device, or might in some release."""
        return tuple(rule for rule in self._taint_rules if _selects(rule.spec.device_selector, device))


def _selects(selector: DeviceTaintSelector | None, device: DeviceID) -> bool:
    if selector is None:
        return True
    selected = (selector.driver, selector.pool, selector.device)
    return all(name is None or name == own for name, own in zip(selected, device, strict=True))


def _pool_id(offered: ResourceSlice) -> PoolID:
    return offered.spec.driver, offered.spec.pool.name


_MEMO = "devices"


class ClaimKey(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Facts:
    """Classes, claims, templates and slices of one cluster, and its nodes."""

    def __init__(self, objects: ClusterObjects, nodes: Nodes) -> None:
        self.objects, self.nodes = objects, nodes

    @classmethod
    def of(cls, objects: ClusterObjects, nodes: Nodes, memo: dict[Hashable, object]) -> Facts:
        """Made once for these nodes and cached in ``memo``."""
        facts = memo.get(_MEMO)
        if not isinstance(facts, Facts):
            facts = memo[_MEMO] = cls(objects, nodes)
        return facts

    @cached_property
    def classes(self) -> Mapping[str, DeviceClass]:
        return {device_class.metadata.name: device_class for device_class in self.objects.of(DeviceClass)}

    @cached_property
    def by_resource(self) -> Mapping[str, DeviceClass]:
        """The class behind each resource that stands for devices."""
        return extended_resources(self.objects.of(DeviceClass))

    @cached_property
    def claims(self) -> Mapping[ClaimKey, ResourceClaim]:
        return {
            ClaimKey(claim.metadata.namespace, claim.metadata.name): claim for claim in self.objects.of(ResourceClaim)
        }

    @cached_property
    def templates(self) -> Mapping[ClaimKey, ResourceClaimTemplate]:
        return {
            ClaimKey(template.metadata.namespace, template.metadata.name): template
            for template in self.objects.of(ResourceClaimTemplate)
        }

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self.objects.of(ResourceSlice), self.nodes, self.objects.of(DeviceTaintRule))

    @cached_property
    def allocated(self) -> frozenset[DeviceID]:
        """The devices that claims hold; admin access holds none."""
        return frozenset(
            device
            for claim in self.objects.of(ResourceClaim)
            if claim.status.allocation is not None
            for device in devices_of(claim.status.allocation)
        )

    @cached_property
    def _made_for_resources(self) -> Mapping[tuple[str, str, str], ClaimKey]:
        """The claims that stand for extended resources, by namespace, name and UID of their pod."""
        return {
            (key.namespace, owner.name, owner.uid): key
            for key, claim in self.claims.items()
            if claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true"
            for owner in claim.metadata.owner_references
            if owner.controller
        }

    def made_for_resources_of(self, pod: Pod) -> ClaimKey | None:
        """The claim that an earlier scheduling cycle made for the extended resources of this very pod."""
        return self._made_for_resources.get((pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))


def devices_of(allocation: AllocationResult) -> Iterator[DeviceID]:
    """The devices it takes exclusively, which are those without admin access."""
    for result in allocation.devices.results:
        if not result.admin_access:
            yield DeviceID(result.driver, result.pool, result.device)
