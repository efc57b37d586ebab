"""Why the devices of a node do not do: request by request, how many there are and how many are left."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.scheduler.causes import Causes, ClaimElsewhere, TooFewDevices
from kubespread.scheduler.plugins.dynamicresources.constraints import keeps_away
from kubespread.scheduler.plugins.dynamicresources.devices import OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.judging import Judge
from kubespread.scheduler.plugins.dynamicresources.ledger import Ledger
from kubespread.scheduler.plugins.dynamicresources.requests import ALL, AllocationError, Wanted


def shortages(judge: Judge, node: int, ledger: Ledger) -> Causes:
    """The claims that are allocated elsewhere, or else the requests that find too few devices by themselves."""
    elsewhere = judge.elsewhere(node)
    if elsewhere:
        return tuple(ClaimElsewhere(str(key)) for key in elsewhere)
    return tuple(_shortages(judge, node, ledger))


def _shortages(judge: Judge, node: int, ledger: Ledger) -> Iterator[TooFewDevices]:
    devices = [
        device
        for pool in judge.facts.inventory.pools(node)
        if not (pool.is_incomplete or pool.is_invalid)
        for device in pool.devices
    ]
    for claim in judge.to_allocate_on(node):
        for alternatives in claim.requests:
            found = [_shortage(judge, wanted, devices, ledger) for wanted in alternatives]
            if all(found):
                yield from (each for each in found if each is not None)


def _shortage(judge: Judge, wanted: Wanted, devices: list[OfferedDevice], ledger: Ledger) -> TooFewDevices | None:
    try:
        selected = [device for device in devices if wanted.selects(device)]
    except AllocationError:
        return None
    free = [device for device in selected if wanted.admin_access or device.id not in ledger.in_use]
    usable = [device for device in free if not keeps_away(device.taints(judge.rules), wanted.tolerations)]
    requested = max(1, len(selected)) if wanted.mode == ALL else wanted.count
    if len(usable) >= requested:
        return None
    return TooFewDevices(
        claim=wanted.claim,
        request=wanted.full_name,
        requested=requested,
        usable=len(usable),
        tainted=len(free) - len(usable),
        in_use=len(selected) - len(free),
        selected=len(selected),
        devices=len(devices),
    )
