"""The host ports a pod claims.

Source of the rules: kube-scheduler's GetHostPorts: containers and sidecars, every entry with a hostPort.
"""

from __future__ import annotations

from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import is_sidecar

HostPort = tuple[str, str, int]
"""Address, protocol, port."""

ANY_ADDRESS = "0.0.0.0"  # the address of a port that names none


def host_ports(pod: Pod, *, sidecars: bool = True) -> frozenset[HostPort]:
    beside = [container for container in pod.spec.init_containers if is_sidecar(container)] if sidecars else []
    containers = [*pod.spec.containers, *beside]
    return frozenset(
        (port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port)
        for container in containers
        for port in container.ports
        if port.host_port > 0
    )
