"""The vocabulary of tables of checks: what is wrong with a field, or with what is below it.

A check has a value and the path where it stands. Fields are named as in manifests; what is wrong with absent ones only
`needs` says.

Source: pkg/apis/core/validation/validation.go, validateLocalDescendingPath, validatePathNoBacksteps,
    ValidateLocalNonReservedPath, fileModeErrorMsg
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from kubespread.kube.api.meta import KubeObject, attributes_of
from kubespread.kube.validation.faults import FieldFault, invalid, invalid_each, one_of, required

Check = Callable[[Any, str], Iterable[FieldFault]]


def value_of(fields: KubeObject, name: str) -> Any:
    return getattr(fields, attributes_of(type(fields))[name])


def all_of(checks: Sequence[Check], value: Any, path: str) -> Iterator[FieldFault]:
    for check in checks:
        yield from check(value, path)


def needs(*names: str) -> Check:
    return lambda fields, path: (required(f"{path}.{name}") for name in names if not value_of(fields, name))


def on(name: str, *checks: Check) -> Check:
    """Of a field that is there, or of each element of a list. A text may be there and empty where the API tells."""

    def check(fields: KubeObject, path: str) -> Iterator[FieldFault]:
        value = value_of(fields, name)
        if isinstance(value, list):
            for position, item in enumerate(value):
                yield from all_of(checks, item, f"{path}.{name}[{position}]")
        elif value is not None and value != value_of(_empty(type(fields)), name):
            yield from all_of(checks, value, f"{path}.{name}")

    return check


@cache
def _empty(cls: type[KubeObject]) -> KubeObject:
    return cls()


def named(rule: Callable[[str], Iterable[str]]) -> Check:
    """An empty name is for none."""
    return lambda value, path: invalid_each(path, value, rule(value)) if value else []


def among(*values: str) -> Check:
    return lambda value, path: one_of(path, value, values)


def between(low: int, high: int, detail: str = "") -> Check:
    said = detail or f"must be between {low} and {high}, inclusive"
    return lambda value, path: [] if low <= value <= high else [invalid(path, value, said)]


def not_negative(value: int, path: str) -> list[FieldFault]:
    return [] if value >= 0 else [invalid(path, value, "must be greater than or equal to 0")]


file_mode = between(0, 0o777, "must be a number between 0 and 0777 (octal), both inclusive")


def without_backsteps(value: str, path: str) -> list[FieldFault]:
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def relative_path(value: str, path: str) -> Iterator[FieldFault]:
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from without_backsteps(value, path)


def path_of_a_file(value: str, path: str) -> Iterator[FieldFault]:
    """The kubelet keeps names that begin with two dots for itself."""
    yield from relative_path(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")
