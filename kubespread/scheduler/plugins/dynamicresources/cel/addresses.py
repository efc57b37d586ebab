"""IP addresses, networks and URLs, as Go's net/netip and net/url parse them.

Source: staging/src/k8s.io/apiserver/pkg/cel/library/ip.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/cidr.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/urls.go
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from urllib.parse import quote_from_bytes, unquote_to_bytes

from msgspec import structs

from kubespread.scheduler.plugins.dynamicresources.cel import costs
from kubespread.scheduler.plugins.dynamicresources.cel.costs import ONE, traversal
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import declared
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    NO_OVERLOAD,
    EvaluationError,
    List,
    Map,
    Url,
    Value,
    quoted,
)

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
    """As netip.ParseAddr reads it."""
    kind = next((character for character in text if character in ".:%"), "")
    fault = "unable to parse IP"
    if kind == "%":
        fault = "missing IPv6 address"
    elif kind == ".":
        fault = _ipv4_fault(text)
        if not fault:
            return IPv4Address(text)
    elif kind == ":":
        try:
            return IPv6Address(text)
        except ValueError:
            fault = _ipv6_fault(text)
    raise EvaluationError(f"ParseAddr({quoted(text)}): {fault}")


def _ipv4_fault(text: str) -> str:
    """The first, from the left; empty where there is none."""
    digits, fields = "", 0
    for place, character in enumerate(text):
        rest = f" (at {quoted(text[place:])})"
        if character.isascii() and character.isdecimal():
            if digits == "0":
                return "IPv4 field has octet with leading zero"
            digits += character
            if int(digits) > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if not digits or place == len(text) - 1:
                return f"IPv4 field must have at least one digit{rest}"
            if fields == 3:
                return "IPv4 address too long"
            digits, fields = "", fields + 1
        else:
            return f"unexpected character{rest}"
    return "" if fields == 3 else "IPv4 address too short"


def _ipv6_fault(text: str) -> str:
    """The first, from the left."""
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        return "zone must be a non-empty string"
    has_gap, count = rest.startswith("::"), 0
    rest = rest.removeprefix("::")
    while count < 8 and rest:
        fault = _field_fault(rest, count, has_gap=has_gap)
        if fault or re.match(r"[0-9a-fA-F]*\.", rest):
            return fault
        count, rest = count + 1, rest.lstrip("0123456789abcdefABCDEF")[1:]
        if rest.startswith(":"):
            if has_gap:
                return f"multiple :: in address (at {quoted(rest)})"
            has_gap, rest = True, rest[1:]
    if rest:
        return f"trailing garbage after address (at {quoted(rest)})"
    return "the :: must expand to at least one field of zeros" if has_gap else "address string too short"


def _field_fault(rest: str, count: int, *, has_gap: bool) -> str:
    """Of the first field, before which there are ``count``, and of what is behind it."""
    digits = rest[: len(rest) - len(rest.lstrip("0123456789abcdefABCDEF"))]
    behind = rest[len(digits) :]
    here, there = f" (at {quoted(rest)})", f" (at {quoted(behind)})"
    if not digits:
        return f"each colon-separated field must have at least one digit{here}"
    if len(digits) > 4:
        return f"each group must have 4 or less digits{here}"
    if behind.startswith("."):
        if not has_gap and count != 6:
            return f"embedded IPv4 address must replace the final 2 fields of the address{here}"
        too_many = f"too many hex fields to fit an embedded IPv4 at the end of the address{here}"
        return too_many if count > 6 else _ipv4_fault(rest)
    if behind and behind[0] != ":":
        return f"unexpected character, want colon{there}"
    return f"colon must be followed by more characters{there}" if behind == ":" else ""


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


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
_IN_HOST, _IN_PATH = "!$&'()*+,;=:[]<>\"-_.~", "-_.~$&+,/:;=@"


def _url(text: str) -> Url:
    """As ParseRequestURI judges it, and Parse takes it to pieces, with the fragment cut off."""
    parsed_url(text)
    return structs.replace(parsed_url(text.partition("#")[0], has_authority=True), text=text)


def parsed_url(text: str, *, has_authority: bool = False) -> Url:
    """``//host`` names one only where a scheme is before it, or ``has_authority`` says so."""
    match = _SCHEME.fullmatch(text)
    scheme, rest = (match[1].lower(), match[2]) if match else ("", text)
    rest, _, query = rest.partition("?")
    said = _start_fault(text)
    if text == "*" or (scheme and not rest.startswith("/") and not said):
        return Url(text, scheme, "", rest if text == "*" else "", query)
    if not said and not rest.startswith("/"):
        said = "invalid URI for request"
    host = ""
    if rest.startswith("//") and (scheme or (has_authority and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, at, host = authority.rpartition("@")
        said = said or _host_fault(scheme, host)
        if at and not re.fullmatch(r"[A-Za-z0-9-._:~!$&'()*+,;=%@]*", user):
            said = said or "net/url: invalid userinfo"
    if bad := _BAD_ESCAPE.search(rest):
        said = said or f"invalid URL escape {quoted(bad[0])}"
    if said:
        raise EvaluationError(f"URL parse error during conversion from string: parse {quoted(text)}: {said}")
    return Url(text, scheme, host, rest, query)


def _start_fault(text: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return "net/url: invalid control character in URL"
    return "missing protocol scheme" if text.startswith(":") else "" if text else "empty url"


def _host_fault(scheme: str, host: str) -> str:
    strict = scheme in ("http", "https")
    name, colon, port = host.partition(":") if strict or ":" not in host else host.rpartition(":")
    if host.startswith("["):
        if "]" not in host:
            return "missing ']' in host"
        literal, _, port = host[1:].rpartition("]")
        if port and not re.fullmatch(r":\d*", port, re.ASCII):
            return f'invalid port "{port}" after host'
        try:
            return "invalid IP-literal" if _parsed(literal).version == 4 else ""
        except EvaluationError as error:
            return f"invalid host: {error}"
    if "[" in host:
        return "invalid IP-literal"
    if colon and not re.fullmatch(r"\d*", port, re.ASCII):
        return f'invalid port ":{port}" after host'
    if bad := re.search(r"[^A-Za-z0-9%\x80-\U0010ffff" + re.escape(_IN_HOST) + "]", name):
        return f"invalid character {quoted(bad[0])} in host name"
    if bad := _BAD_ESCAPE.search(name) or re.search(r"%(?!25)[0-7][0-9a-fA-F]", name):
        return f"invalid URL escape {quoted(bad[0])}"
    return ""


def _hostname(url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1:].partition("]")[0]
    return url.host.partition(":")[0]


def _port(url: Url) -> str:
    return re.sub(r"^\[.*\]", "", url.host).partition(":")[2]


def _escaped_path(url: Url) -> str:
    if url.path == "*" or re.fullmatch(rf"[A-Za-z0-9%{re.escape(_IN_PATH)}!'()*\[\]]*", url.path):
        return url.path
    return quote_from_bytes(unquote_to_bytes(url.path), safe=_IN_PATH)


def _query(url: Url) -> Map:
    found: dict[str, list[str]] = {}
    for part in url.query.split("&"):
        key, _, value = part.partition("=")
        if part and ";" not in part and not _BAD_ESCAPE.search(part):
            key, value = (unquote_to_bytes(text.replace("+", " ")).decode(errors="replace") for text in (key, value))
            found.setdefault(key, []).append(value)
    return Map((key, List(values)) for key, values in found.items())


_READ = traversal()
FUNCTIONS = [
    declared("ip", {"string -> IP": _address, "CIDR | -> IP": (lambda network: network.ip, ONE)}, cost=_READ),
    declared("family", {"IP | -> int": lambda address: address.version}, cost=ONE),
    declared(
        "ip.isCanonical",
        {"string -> bool": lambda text: str(_address(text)) == text},
        cost=traversal(2 * costs.TRAVERSAL),
    ),
    declared("isIP", {"string -> bool": _is(_address)}, cost=_READ),
    declared("isUnspecified", {"IP | -> bool": lambda address: address.is_unspecified}, cost=ONE),
    declared("isLoopback", {"IP | -> bool": lambda address: address.is_loopback}, cost=ONE),
    declared("isLinkLocalMulticast", {"IP | -> bool": _is_link_local_multicast}, cost=ONE),
    declared("isLinkLocalUnicast", {"IP | -> bool": lambda address: address.is_link_local}, cost=ONE),
    declared("isGlobalUnicast", {"IP | -> bool": _is_global_unicast}, cost=ONE),
    declared("cidr", {"string -> CIDR": _prefix}, cost=_READ),
    declared("isCIDR", {"string -> bool": _is(_prefix)}, cost=_READ),
    declared(
        "containsIP",
        {"CIDR | string -> bool": (_contains_text, costs.CONTAINS_IP_TEXT), "CIDR | IP -> bool": _contains},
        cost=costs.CONTAINS_IP,
    ),
    declared(
        "containsCIDR",
        {
            "CIDR | string -> bool": (
                lambda network, text: _contains_network(network, _prefix(text)),
                costs.CONTAINS_CIDR_TEXT,
            ),
            "CIDR | CIDR -> bool": _contains_network,
        },
        cost=costs.CONTAINS_CIDR,
    ),
    declared("prefixLength", {"CIDR | -> int": lambda network: network.network.prefixlen}, cost=ONE),
    declared("masked", {"CIDR | -> CIDR": _masked}, cost=ONE),
    declared("url", {"string -> URL": _url}, cost=traversal(keeps_size=True)),
    declared("isURL", {"string -> bool": _is(parsed_url)}),
    declared("getScheme", {"URL | -> string": lambda url: url.scheme}, cost=ONE),
    declared("getHost", {"URL | -> string": lambda url: unquote_to_bytes(url.host).decode(errors="replace")}, cost=ONE),
    declared("getHostname", {"URL | -> string": _hostname}, cost=ONE),
    declared("getPort", {"URL | -> string": _port}, cost=ONE),
    declared("getEscapedPath", {"URL | -> string": _escaped_path}, cost=ONE),
    declared("getQuery", {"URL | -> map(string, list(string))": _query}, cost=ONE),
]
