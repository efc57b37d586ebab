"""Validation of containers, init containers and their ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Container, ContainerPort, PodSpec
from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.validation.claims import reference_faults
from kubespread.kube.validation.faults import FieldFault, duplicate, invalid, invalid_each, required, unsupported
from kubespread.kube.validation.resources import resource_faults
from kubespread.kube.versions import KubeVersion

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")


def container_faults(spec: PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """Containers, then init containers; a name may be used once among both."""
    if not spec.containers:
        yield required(f"{path}.containers")
    names: set[str] = set()
    claims = [claim.name for claim in spec.resource_claims]
    for position, container in enumerate(spec.containers):
        here = f"{path}.containers[{position}]"
        yield from _container_faults(container, here, names, version)
        yield from reference_faults(container.resources.claims, claims, f"{here}.resources.claims")
    yield from _host_port_faults(spec.containers, f"{path}.containers")
    for position, container in enumerate(spec.init_containers):
        here = f"{path}.initContainers[{position}]"
        yield from _container_faults(container, here, names, version)
        yield from reference_faults(container.resources.claims, claims, f"{here}.resources.claims")
        # Init containers run one by one, so each is alone with its ports, and the API server counts it as the first.
        yield from _host_port_faults([container], f"{path}.initContainers")


def host_network_faults(spec: PodSpec, path: str) -> Iterator[FieldFault]:
    if not spec.host_network:
        return
    for position, container in enumerate(spec.containers):
        for index, port in enumerate(container.ports):
            if port.host_port != port.container_port:
                field = f"{path}.containers[{position}].ports[{index}].hostPort"
                yield invalid(field, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _container_faults(container: Container, path: str, names: set[str], version: KubeVersion) -> Iterator[FieldFault]:
    if not container.name:
        yield required(f"{path}.name")
    else:
        yield from invalid_each(f"{path}.name", container.name, dns_label_faults(container.name))
        if container.name in names:
            yield duplicate(f"{path}.name", container.name)
        names.add(container.name)
    if not container.image:
        yield required(f"{path}.image")
    yield from _port_faults(container.ports, path)
    yield from resource_faults(container.resources, f"{path}.resources")
    if container.restart_policy is not None and container.restart_policy not in _RESTART_POLICIES:
        yield unsupported(f"{path}.restartPolicy", container.restart_policy, _RESTART_POLICIES)
    yield from _restart_rule_faults(container, path, version)


def _restart_rule_faults(container: Container, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    actions = (
        ("Restart", "RestartAllContainers") if version.has("RestartAllContainersOnContainerExits") else ("Restart",)
    )
    if container.restart_policy_rules and container.restart_policy is None:
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    for position, rule in enumerate(container.restart_policy_rules):
        if rule.action not in actions:
            yield unsupported(f"{path}.restartPolicyRules[{position}].action", rule.action, actions)


def _port_faults(ports: Sequence[ContainerPort], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, port in enumerate(ports):
        here = f"{path}.ports[{position}]"
        if port.name:
            yield from _port_name_faults(port.name, f"{here}.name", names)
        if port.container_port == 0:
            yield required(f"{here}.containerPort")
        elif not 1 <= port.container_port <= 65535:
            yield invalid(f"{here}.containerPort", port.container_port, _PORT_RANGE)
        if port.host_port and not 1 <= port.host_port <= 65535:
            yield invalid(f"{here}.hostPort", port.host_port, _PORT_RANGE)
        if port.protocol not in _PROTOCOLS:
            yield unsupported(f"{here}.protocol", port.protocol, _PROTOCOLS)


def _port_name_faults(name: str, path: str, names: set[str]) -> Iterator[FieldFault]:
    if len(name) > 15:
        yield invalid(path, name, "must be no more than 15 characters")
    elif not _PORT_NAME.fullmatch(name):
        yield invalid(path, name, "must contain only alphanumeric characters (a-z, 0-9), and hyphens (-)")
    elif not _LETTER.search(name):
        yield invalid(path, name, "must contain at least one letter (a-z)")
    if name in names:
        yield duplicate(path, name)
    names.add(name)


def _host_port_faults(containers: Sequence[Container], path: str) -> Iterator[FieldFault]:
    """Containers that run together may not ask for one host port twice; here ``0.0.0.0`` and no address differ."""
    used: set[str] = set()
    for position, container in enumerate(containers):
        for index, port in enumerate(container.ports):
            if port.host_port == 0:
                continue
            claim = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if claim in used:
                yield duplicate(f"{path}[{position}].ports[{index}].hostPort", claim)
            used.add(claim)
