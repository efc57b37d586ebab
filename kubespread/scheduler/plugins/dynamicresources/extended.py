"""Extended resources that stand for devices: the claim that kube-scheduler makes of a pod's requests for them.

Source of the rules: kube-scheduler 1.36, dynamicresources/extendeddynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from kubespread.kube.api.core import Container, Pod
from kubespread.kube.api.devices import (
    DEVICE_CLASS_PREFIX,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from kubespread.kube.pod_requests import amounts, is_sidecar, pod_requests
from kubespread.kube.resource_names import is_extended
from kubespread.scheduler.cluster.amounts import scheduler_amounts

IN_MEMORY_NAME = "<extended-resources>"
"""What the claim is called until it is written."""


def requested_by_name(pod: Pod) -> Mapping[str, int]:
    """The extended resources that a pod requests, those named after a class among them."""
    requested = scheduler_amounts(pod_requests(pod))
    return {
        name: amount
        for name, amount in requested.items()
        if amount and (is_extended(name) or name.startswith(DEVICE_CLASS_PREFIX))
    }


def claim_for(pod: Pod, names: Collection[str], classes: Mapping[str, DeviceClass]) -> ResourceClaimSpec:
    """The claim of a pod for the resources ``names`` that a node does not have itself; ``classes`` are by resource."""
    requests = [request for name in names for request in _requests(pod, name, classes[name].metadata.name)]
    return ResourceClaimSpec(devices=DeviceClaim(requests=sorted(requests, key=lambda request: request.name)))


def _requests(pod: Pod, name: str, device_class: str) -> Iterator[DeviceRequest]:
    """One request per container that goes on running. The other init containers use the devices of containers after
    them, and the one that needs most beyond those asks for the rest.
    """
    spec = pod.spec
    init_containers = len(spec.init_containers)
    containers = [*spec.init_containers, *spec.containers]
    counts = [_count(container, name) for container in containers]
    ends = [number < init_containers and not is_sidecar(each) for number, each in enumerate(containers)]
    largest, asks_for_it = 0, 0
    for number, count in enumerate(counts):
        if not ends[number]:
            if count:
                yield _request(containers, number, name, device_class, count)
            continue
        later = sum(each for each, end in zip(counts[number:], ends[number:], strict=True) if not end)
        if count - later > largest:
            largest, asks_for_it = count - later, number
    if largest:
        yield _request(containers, asks_for_it, name, device_class, largest)


def _request(containers: Sequence[Container], number: int, name: str, device_class: str, count: int) -> DeviceRequest:
    place = sorted(containers[number].resources.requests).index(name)
    exactly = ExactDeviceRequest(device_class_name=device_class, count=count)
    return DeviceRequest(name=f"container-{number}-request-{place}", exactly=exactly)


def _count(container: Container, name: str) -> int:
    requested = amounts(container.resources.requests)
    return requested[name].value if name in requested else 0
