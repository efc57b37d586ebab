"""IP addresses and networks.

Source: staging/src/k8s.io/apiserver/pkg/cel/library/ip.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/cidr.go
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from kubespread.scheduler.plugins.dynamicresources.cel.declaring import declared
from kubespread.scheduler.plugins.dynamicresources.cel.values import NO_OVERLOAD, EvaluationError, Value, quoted

Address = IPv4Address | IPv6Address
Network = IPv4Interface | IPv6Interface


def _is(parse: Callable[[str], Value]) -> Callable[[str], bool]:
    """Whether a text can be parsed."""

    def judge(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return judge


def _parsed(text: str) -> Address:
    """As netip.ParseAddr reads it, which takes no zone without a name."""
    try:
        return IPv6Address(text) if ":" in text else IPv4Address(text)
    except ValueError:
        raise EvaluationError(f"ParseAddr({quoted(text)}): unable to parse IP") from None


def _address(text: str) -> Address:
    try:
        address = _parsed(text)
    except EvaluationError as error:
        raise EvaluationError(
            f"IP Address {quoted(text)} parse error during conversion from string: {error}"
        ) from error
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def _prefix(text: str) -> Network:
    address_text, slash, bits = text.rpartition("/")
    fault = ""
    if not slash:
        fault = "no '/'"
    else:
        try:
            address = _parsed(address_text)
        except EvaluationError as error:
            fault = str(error)
        else:
            if isinstance(address, IPv6Address) and address.scope_id is not None:
                fault = "IPv6 zones cannot be present in a prefix"
            elif not re.fullmatch(r"0|[1-9]\d*", bits, re.ASCII):
                fault = f"bad bits after slash: {quoted(bits)}"
            elif int(bits) > address.max_prefixlen:
                fault = "prefix length out of range"
    said = "network address parse error during conversion from string"
    if fault:
        raise EvaluationError(f"{said}: {said}: netip.ParsePrefix({quoted(text)}): {fault}")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"{said}: IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return IPv4Interface(text) if isinstance(address, IPv4Address) else IPv6Interface(text)


def _contains(network: Network, address: Address) -> bool:
    return network.version == address.version and address in network.network


def _contains_text(network: Network, text: str) -> bool:
    try:
        return _contains(network, _address(text))
    except EvaluationError as error:
        # Kubernetes takes the error for a value of the wrong type.
        raise EvaluationError(NO_OVERLOAD) from error


def _contains_network(network: Network, other: Network) -> bool:
    is_smaller = network.network.prefixlen <= other.network.prefixlen
    return is_smaller and _contains(network, other.network.network_address)


def _masked(network: Network) -> Network:
    kind = type(network)
    return kind(f"{network.network.network_address}/{network.network.prefixlen}")


def _is_global_unicast(address: Address) -> bool:
    """Whatever is no broadcast, unspecified, loopback, multicast or link-local address, as Go has it."""
    is_special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not is_special and address != IPv4Address("255.255.255.255")


def _is_link_local_multicast(address: Address) -> bool:
    start = "224.0.0.0/24" if isinstance(address, IPv4Address) else "ff02::/16"
    masked = int.from_bytes(address.packed[:2], "big") & 0xFF0F
    return address in IPv4Interface(start).network if isinstance(address, IPv4Address) else masked == 0xFF02


FUNCTIONS = [
    declared("ip", {"string -> IP": _address, "CIDR | -> IP": lambda network: network.ip}),
    declared("family", {"IP | -> int": lambda address: address.version}),
    declared("ip.isCanonical", {"string -> bool": lambda text: str(_address(text)) == text}),
    declared("isIP", {"string -> bool": _is(_address)}),
    declared("isUnspecified", {"IP | -> bool": lambda address: address.is_unspecified}),
    declared("isLoopback", {"IP | -> bool": lambda address: address.is_loopback}),
    declared("isLinkLocalMulticast", {"IP | -> bool": _is_link_local_multicast}),
    declared("isLinkLocalUnicast", {"IP | -> bool": lambda address: address.is_link_local}),
    declared("isGlobalUnicast", {"IP | -> bool": _is_global_unicast}),
    declared("cidr", {"string -> CIDR": _prefix}),
    declared("isCIDR", {"string -> bool": _is(_prefix)}),
    declared("containsIP", {"CIDR | string -> bool": _contains_text, "CIDR | IP -> bool": _contains}),
    declared(
        "containsCIDR",
        {
            "CIDR | string -> bool": lambda network, text: _contains_network(network, _prefix(text)),
            "CIDR | CIDR -> bool": _contains_network,
        },
    ),
    declared("prefixLength", {"CIDR | -> int": lambda network: network.network.prefixlen}),
    declared("masked", {"CIDR | -> CIDR": _masked}),
]
