"""The shapes of the API server's validation errors.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go, Error, ErrorBody, Invalid, Required,
    Forbidden, NotSupported, Duplicate
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kubespread.kube.gotext import compact_json, quote, quoted_list


class FieldFault(NamedTuple):
    """One validation error: the field's path and the rest of the API server's text."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def _printed(value: object) -> str:
    return quote(value) if isinstance(value, str) else compact_json(value)


def invalid(path: str, value: object, detail: str) -> FieldFault:
    return FieldFault(path, f"Invalid value: {_printed(value)}: {detail}")


def invalid_each(path: str, value: object, details: Iterable[str]) -> list[FieldFault]:
    return [invalid(path, value, detail) for detail in details]


def required(path: str, detail: str = "") -> FieldFault:
    return FieldFault(path, f"Required value: {detail}" if detail else "Required value")


def unsupported(path: str, value: object, supported: Iterable[str]) -> FieldFault:
    return FieldFault(path, f"Unsupported value: {_printed(value)}: supported values: {quoted_list(supported)}")


def duplicate(path: str, value: object) -> FieldFault:
    return FieldFault(path, f"Duplicate value: {_printed(value)}")


def forbidden(path: str, detail: str) -> FieldFault:
    return FieldFault(path, f"Forbidden: {detail}")


def not_found(path: str, value: object, detail: str) -> FieldFault:
    return FieldFault(path, f"Not found: {_printed(value)}: {detail}")
