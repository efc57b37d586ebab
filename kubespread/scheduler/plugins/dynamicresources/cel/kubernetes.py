"""Quantities, versions and formats of names; and what only admission policies can call.

Source: staging/src/k8s.io/apiserver/pkg/cel/library/quantity.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/format.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/authz.go
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from kubespread.kube import name_rules
from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.scheduler.plugins.dynamicresources.cel import costs
from kubespread.scheduler.plugins.dynamicresources.cel.addresses import parsed_url
from kubespread.scheduler.plugins.dynamicresources.cel.costs import ONE, traversal
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import declared
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    NONE,
    EvaluationError,
    Format,
    List,
    Optional,
    Semver,
    Sum,
    parse_semver,
    quantity_of,
)


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _nano(quantity: Quantity | Sum) -> int:
    return quantity_of(quantity).nano


def _compared(left: Quantity | Sum, right: Quantity | Sum) -> int:
    return int(_nano(left) > _nano(right)) - int(_nano(left) < _nano(right))


def _added(sign: int) -> Callable[[Quantity | Sum, Quantity | Sum | int], Sum]:
    def add(quantity: Quantity | Sum, other: Quantity | Sum | int) -> Sum:
        nano = other * NANO if isinstance(other, int) else _nano(other)
        return Sum(Quantity(_nano(quantity) + sign * nano))

    return add


def _is_integer(quantity: Quantity | Sum) -> bool:
    return _nano(quantity) % NANO == 0 and -(2**63) <= _nano(quantity) // NANO < 2**63


def _integer(quantity: Quantity | Sum) -> int:
    if not _is_integer(quantity):
        raise EvaluationError("cannot convert value to integer")
    return _nano(quantity) // NANO


def _float(quantity: Quantity | Sum) -> float:
    try:
        return _nano(quantity) / NANO
    except OverflowError:
        return float("inf") if _nano(quantity) > 0 else float("-inf")


def _semver(text: str, normalize: bool = False) -> Semver:
    if not normalize:
        return parse_semver(text)
    parts = text.removeprefix("v").split(".", 2)
    if len(parts) < 3 and re.search("[+-]", parts[-1]):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    parts = [_without_zeros(part) for part in parts]
    return parse_semver(".".join([*parts, "0", "0"][: max(3, len(parts))]))


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    kept = part.lstrip("0")
    return kept if kept[:1].isdecimal() else f"0{kept}"


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _order(left: Semver, right: Semver) -> int:
    return int(left > right) - int(left < right)


Faults = Callable[[str], list[str]]


def _named(faults: Callable[[str], tuple[str, ...]], *, is_prefix: bool = False) -> Faults:
    """A prefix may end in a dash, as what is generated follows."""

    def judge(text: str) -> list[str]:
        is_open = is_prefix and len(text) > 1 and text.endswith("-")
        return list(faults(f"{text[:-2]}a" if is_open else text))

    return judge


def _like(pattern: str, fault: str, also: Callable[[str], bool] = lambda text: True) -> Faults:
    expression = re.compile(pattern, re.ASCII)
    return lambda text: [] if expression.fullmatch(text) and also(text) else [fault]


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _uri_faults(text: str) -> list[str]:
    try:
        parsed_url(text)
    except EvaluationError as error:
        return [str(error).partition("string: ")[2]]
    return []


_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?([zZ]|[+-]\d\d:\d\d)"
_BASE64 = r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})"
_HEX = "[0-9a-fA-F]"
FORMATS = {
    "dns1123Label": Format("DNS1123Label", _named(name_rules.dns_label_faults), 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _named(name_rules.subdomain_faults), 60),
    "dns1035Label": Format("DNS1035Label", _named(name_rules.dns1035_faults), 30),
    "qualifiedName": Format("QualifiedName", _named(name_rules.label_key_faults), 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _named(name_rules.dns_label_faults, is_prefix=True), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _named(name_rules.subdomain_faults, is_prefix=True), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _named(name_rules.dns1035_faults, is_prefix=True), 30),
    "labelValue": Format("LabelValue", _named(name_rules.label_value_faults), 40),
    "uri": Format("URI", _uri_faults, 1103),
    "uuid": Format(
        "uuid", _like(rf"{_HEX}{{8}}(?:-?{_HEX}{{4}}){{3}}-?{_HEX}{{12}}", "does not match the UUID format"), 70
    ),
    "byte": Format("byte", _like(_BASE64, "invalid base64"), 84),
    "date": Format("date", _like(_DATE, "invalid date", _is_date), 70),
    "datetime": Format("datetime", _like(rf"{_DATE}[tT]{_TIME}", "invalid datetime", _is_date), 70),
}


def _validate(format_: Format, text: str) -> Optional:
    faults = format_.faults(text)
    return Optional(List(faults)) if faults else NONE


_READ = traversal()
_AUTHORIZATION = {
    name: f"kubernetes.authorization.{name}"
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
}
FUNCTIONS = [
    declared("quantity", {"string -> Quantity": _quantity}, cost=_READ),
    declared("isQuantity", {"string -> bool": _is_quantity}, cost=_READ),
    declared("sign", {"Quantity -> int": lambda quantity: _compared(quantity, Quantity(0))}, cost=ONE),
    declared("isInteger", {"Quantity | -> bool": _is_integer}, cost=ONE),
    declared("asInteger", {"Quantity | -> int": _integer}, cost=ONE),
    declared("asApproximateFloat", {"Quantity | -> double": _float}, cost=ONE),
    declared("add", {"Quantity | Quantity -> Quantity": _added(1), "Quantity | int -> Quantity": _added(1)}, cost=ONE),
    declared(
        "sub", {"Quantity | Quantity -> Quantity": _added(-1), "Quantity | int -> Quantity": _added(-1)}, cost=ONE
    ),
    declared("compareTo", {"Quantity | Quantity -> int": _compared, "Semver | Semver -> int": _order}, cost=ONE),
    declared(
        "isGreaterThan",
        {
            "Quantity | Quantity -> bool": lambda left, right: _compared(left, right) > 0,
            "Semver | Semver -> bool": lambda left, right: left > right,
        },
        cost=ONE,
    ),
    declared(
        "isLessThan",
        {
            "Quantity | Quantity -> bool": lambda left, right: _compared(left, right) < 0,
            "Semver | Semver -> bool": lambda left, right: left < right,
        },
        cost=ONE,
    ),
    declared("semver", {"string -> Semver": _semver, "string, bool -> Semver": _semver}, cost=_READ),
    declared("isSemver", {"string -> bool": _is_semver, "string, bool -> bool": _is_semver}, cost=_READ),
    declared("major", {"Semver | -> int": lambda version: version.release[0]}, cost=ONE),
    declared("minor", {"Semver | -> int": lambda version: version.release[1]}, cost=ONE),
    declared("patch", {"Semver | -> int": lambda version: version.release[2]}, cost=ONE),
    *(declared(f"format.{name}", {"-> NamedFormat": lambda found=found: found}) for name, found in FORMATS.items()),
    declared(
        "format.named",
        {"string -> optional(NamedFormat)": lambda name: Optional(FORMATS[name]) if name in FORMATS else NONE},
        cost=ONE,
    ),
    declared("validate", {"NamedFormat | string -> optional(list(string))": _validate}, cost=costs.VALIDATION),
    # No selector has a value that these can be called on.
    declared("path", ["{Authorizer} | string -> {PathCheck}".format_map(_AUTHORIZATION)], cost=ONE),
    declared("group", ["{Authorizer} | string -> {GroupCheck}".format_map(_AUTHORIZATION)], cost=ONE),
    declared("serviceAccount", ["{Authorizer} | string, string -> {Authorizer}".format_map(_AUTHORIZATION)], cost=ONE),
    declared("resource", ["{GroupCheck} | string -> {ResourceCheck}".format_map(_AUTHORIZATION)], cost=ONE),
    *(
        declared(name, ["{ResourceCheck} | string -> {ResourceCheck}".format_map(_AUTHORIZATION)], cost=cost)
        for name, cost in {
            "subresource": ONE,
            "namespace": ONE,
            "name": ONE,
            "fieldSelector": costs.REQUIREMENTS,
            "labelSelector": costs.REQUIREMENTS,
        }.items()
    ),
    declared(
        "check",
        [f"{_AUTHORIZATION[of]} | string -> {_AUTHORIZATION['Decision']}" for of in ("PathCheck", "ResourceCheck")],
        cost=costs.fixed(350_000),
    ),
    *(
        declared(name, [f"{_AUTHORIZATION['Decision']} | -> {kind}"], cost=ONE)
        for name, kind in {"allowed": "bool", "errored": "bool", "error": "string", "reason": "string"}.items()
    ),
]
