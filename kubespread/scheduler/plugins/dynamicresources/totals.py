"""How many devices each node has for a resource backed by a DeviceClass, as scores count them.

Unlike the allocator this looks at every slice, of any generation, complete or not.

Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, calculateDRAResourceTotals,
    calculateDRAExtendedResourceAllocatableRequest
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kubespread.kube.api.devices import Device, DeviceClass, ResourceSlice
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import everywhere, matches_node_selector, nowhere
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.devices import DeviceID, Facts, OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.following import facts_of, ledger_of
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


def device_totals(held: Holdings, resource: str, rules: Rules) -> tuple[Counts, Counts] | None:
    """Devices and devices in use, per node; None if no class backs the resource."""
    facts = facts_of(held.cluster)
    device_class = facts.by_resource.get(resource)
    if device_class is None:
        return None
    key = "device totals", device_class.metadata.name
    cached = held.cluster.memo.get(key)
    offered = (
        cached if isinstance(cached, _Offered) else held.cluster.memo.setdefault(key, _Offered(facts, device_class))
    )
    assert isinstance(offered, _Offered)
    more = sum(by * kind.requests[0].get(resource, 0) for kind, by in held.more)
    ledger = ledger_of(held.cluster, rules)
    used = offered.in_use(ledger.in_use | ledger.shares.keys())
    return held.pick(offered.capacity), held.pick(used) + np.int64(more)


class _Offered:
    """The devices of one class, and the nodes each is for."""

    def __init__(self, facts: Facts, device_class: DeviceClass) -> None:
        self.capacity: Counts = np.zeros(len(facts.nodes), dtype=np.int64)
        self._nodes: dict[DeviceID, Mask] = {}
        is_failing = nowhere(facts.nodes)
        for part in facts.objects.of(ResourceSlice):
            for device, nodes in _reach(part, facts.nodes):
                offered = OfferedDevice(
                    DeviceID(part.spec.driver, part.spec.pool.name, device.name), device, part
                )  # fmt: skip
                try:
                    is_selected = _is_selected(offered, device_class)
                except EvaluationError:
                    is_failing |= nodes
                    continue
                if is_selected:
                    self.capacity += nodes
                    self._nodes[offered.id] = nodes
        # A selector that fails on one of its devices leaves the node without any.
        self.capacity[is_failing] = 0

    def in_use(self, devices: set[DeviceID]) -> Counts:
        used: Counts = np.zeros(len(self.capacity), dtype=np.int64)
        for device in devices & self._nodes.keys():
            used += self._nodes[device]
        return used


def _is_selected(device: OfferedDevice, device_class: DeviceClass) -> bool:
    for selector in device_class.spec.selectors:
        try:
            if selector.cel is not None and not device.is_selected_by(selector.cel.expression):
                return False
        except UnsupportedExpressionError:
            continue  # DynamicResources says so.
    return True


def _reach(part: ResourceSlice, nodes: Nodes) -> Iterator[tuple[Device, Mask]]:
    spec = part.spec
    if spec.per_device_node_selection:
        for device in spec.devices:
            reached = everywhere(nodes) if device.all_nodes else _named(nodes, device.node_name or "")
            if device.node_selector is not None:
                reached = reached | matches_node_selector(nodes, device.node_selector)
            yield device, reached
        return
    if spec.all_nodes or not (spec.node_name or spec.node_selector):
        reached = everywhere(nodes)
    else:
        reached = _named(nodes, spec.node_name or "")
        if spec.node_selector is not None:
            reached = reached | matches_node_selector(nodes, spec.node_selector)
    yield from ((device, reached) for device in spec.devices)


def _named(nodes: Nodes, name: str) -> Mask:
    named = nowhere(nodes)
    if name in nodes.index:
        named[nodes.index[name]] = True
    return named
