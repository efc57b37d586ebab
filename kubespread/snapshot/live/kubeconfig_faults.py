"""What is wrong with a kubeconfig, field by field, without ever repeating a value: it may be a credential."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

ENTRIES = {"clusters": "cluster", "contexts": "context", "users": "user"}
"""The lists of a kubeconfig, and what each of their entries holds under."""

_STRING_FIELDS = {
    "clusters": ("server", "certificate-authority", "tls-server-name", "proxy-url"),
    "contexts": ("cluster", "user", "namespace"),
    "users": ("client-certificate", "client-key", "token", "tokenFile", "username", "password", "as"),
}
_DATA_FIELDS = {
    "clusters": ("certificate-authority-data",),
    "contexts": (),
    "users": ("client-certificate-data", "client-key-data"),
}
_PLUGIN_STRINGS = ("apiVersion", "command", "installHint", "interactiveMode")

Check = Callable[[Any], str]


def faults(config: Any) -> Iterator[tuple[str, str]]:
    """The path and the message of each field that is not what it must be, as far as fields are read."""
    if not isinstance(config, dict):
        yield "", f"expected a kubeconfig, found {_type_of(config)}"
        return
    yield from _fields(config, "", {"current-context": _string})
    for kind, singular in ENTRIES.items():
        entries = config.get(kind) or []
        if not isinstance(entries, list):
            yield kind, f"expected a list, found {_type_of(entries)}"
            continue
        for position, entry in enumerate(entries):
            place = f"{kind}[{position}]"
            if (
                not isinstance(entry, dict)
                or not isinstance(entry.get("name"), str)
                or not isinstance(entry.get(singular) or {}, dict)
            ):
                yield place, "expected an object with a name"
                continue
            content = entry.get(singular) or {}
            yield from _fields(content, f"{place}.{singular}.", _CHECKS[kind])
            if isinstance(content.get("exec"), dict):
                yield from _fields(content["exec"], f"{place}.{singular}.exec.", _PLUGIN_CHECKS)


def _fields(content: dict[str, Any], place: str, checks: dict[str, Check]) -> Iterator[tuple[str, str]]:
    for field, check in checks.items():
        value = content.get(field)
        if value is not None and (fault := check(value)):
            yield f"{place}{field}", fault


def _string(value: Any) -> str:
    return "" if isinstance(value, str) else f"expected a string, found {_type_of(value)}"


def _boolean(value: Any) -> str:
    return "" if isinstance(value, bool) else f"expected true or false, found {_type_of(value)}"


def _object(value: Any) -> str:
    return "" if isinstance(value, dict) else f"expected an object, found {_type_of(value)}"


def _strings(value: Any) -> str:
    if not isinstance(value, list):
        return f"expected a list of strings, found {_type_of(value)}"
    return next(
        (f"expected a list of strings, found {_type_of(item)} in it" for item in value if not isinstance(item, str)), ""
    )


def _variables(value: Any) -> str:
    def is_variable(item: Any) -> bool:
        return isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("value") or "", str)

    return (
        ""
        if isinstance(value, list) and all(map(is_variable, value))
        else "expected a list of objects with name and value"
    )


def _base64(value: Any) -> str:
    if fault := _string(value):
        return fault
    try:
        # Line breaks are skipped, as Go's decoder does.
        base64.b64decode("".join(value.split("\n")).replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return "not base64"
    return ""


def _type_of(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return "null" if value is None else "an object"


_CHECKS: dict[str, dict[str, Check]] = {
    kind: {**dict.fromkeys(_STRING_FIELDS[kind], _string), **dict.fromkeys(_DATA_FIELDS[kind], _base64)}
    for kind in ENTRIES
}
_CHECKS["clusters"]["insecure-skip-tls-verify"] = _boolean
_CHECKS["users"] |= {"as-groups": _strings, "exec": _object, "auth-provider": _object}
_PLUGIN_CHECKS: dict[str, Check] = {
    **dict.fromkeys(_PLUGIN_STRINGS, _string),
    "args": _strings,
    "env": _variables,
    "provideClusterInfo": _boolean,
}
