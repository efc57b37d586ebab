"""Promises in a file, read strictly, each fault named by line."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import WorkloadReference, parse_reference
from kubespread.kube.quantity import IntOrString, QuantityError, parse
from kubespread.manifest.text import display_name
from kubespread.scenario.document import API_VERSION, Document, Field, Fields, FieldType, document_of, read_document

KIND = "Promises"
PROMISES: Fields = {"promises": Field(FieldType.LIST, "what is to hold", is_required=True)}
SUBJECTS: Fields = {
    "workload": Field(FieldType.TEXT, "[NAMESPACE/]KIND/NAME, of a kind that has replicas"),
    "namespace": Field(FieldType.TEXT, "all workloads of this namespace that have replicas"),
    "selector": Field(FieldType.TEXT, "those of them with these labels, as kubectl's -l has them"),
    "cluster": Field(FieldType.FLAG, "the cluster as a whole, of which only room is promised"),
}
OF_WORKLOADS: Fields = {
    "survives": Field(
        FieldType.TEXT, "any zone, any node, any KEY: with ready and back, else as the answer of survive"
    ),
    "ready": Field(
        FieldType.AMOUNT, "how many pods are ready, or a share (80%): at the worst moment, without survives now"
    ),
    "back": Field(
        FieldType.TEXT, "with survives, when as many pods are ready as before: while silent, or nodes deleted"
    ),
    "spread": Field(FieldType.OBJECT, "the largest skew of its pods for each topology key: zone: 1"),
    "fits": Field(FieldType.AMOUNT, "how many replicas find a node: replicas, hpaMax, or a number"),
    "rollout": Field(
        FieldType.AMOUNT, "a restart gets done, and no fewer pods are ready meanwhile: a number or a share"
    ),
    "drain": Field(FieldType.TEXT, "never blocked: no node that has pods of it keeps them when it is drained"),
}
OF_CLUSTER: Fields = {
    "room": Field(
        FieldType.OBJECT, "what is left of each resource that pods can use: a quantity, or a share of the whole"
    )
}
EXEMPT: Fields = {
    "until": Field(FieldType.TEXT, "the last day, YYYY-MM-DD, on which it is accepted that the promise is broken"),
    "reason": Field(FieldType.TEXT, "why that is accepted"),
}
NEEDS = {"selector": "namespace", "back": "survives", "reason": "until"}
"""Fields without meaning unless another is set."""
_ENTRIES: Fields = {"spread": Field(FieldType.NUMBER, "topology key"), "room": Field(FieldType.AMOUNT, "resource")}
"""Fields that are objects: the type of their values, and the noun for their keys."""
BACKS = WHILE_SILENT, NODES_DELETED = "while silent", "nodes deleted"
NEVER_BLOCKED = "never blocked"
WORDS = REPLICAS, HPA_MAX = "replicas", "hpaMax"
SHARE = "[0-9]{1,3}%"
"""Pattern of shares."""
_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: Promises, promises: [{{workload: deploy/web, survives: any zone}}]}}"


class Promise(Struct, frozen=True):
    """Requirement on workloads, or on the cluster."""

    path: str
    """Path in the file: ``promises[0]``."""
    lines: Mapping[str, int | None] = {}
    """Lines of its fields, its own by an empty name; empty for plain data."""
    workload: WorkloadReference | None = None
    namespace: str | None = None
    selector: str = ""
    cluster: bool = False
    survives: str = ""
    """Topology key, possibly short; any one of its domains may be lost."""
    ready: IntOrString | None = None
    back: str = ""
    spread: Mapping[str, int] = {}
    fits: IntOrString | None = None
    rollout: IntOrString | None = None
    drain: str = ""
    room: Mapping[str, str] = {}
    """Quantity of each resource, or a share of the whole."""
    until: datetime.date | None = None
    reason: str = ""

    def line(self, field: str) -> int | None:
        """Line of ``field``, or of the promise."""
        return self.lines.get(field) or self.lines.get("")

    @property
    def keys(self) -> Iterator[tuple[str, str]]:
        """Yield its topology keys, possibly short, each with its field."""
        yield from (("survives", key) for key in filter(None, [self.survives]))
        yield from (("spread", key) for key in self.spread)


class Promises(Struct, frozen=True):
    promises: tuple[Promise, ...]
    file: str | None = None
    namespace: str | None = None
    """Namespace of names without one; None for the question's."""


PromisesGiven = Promises | Mapping[str, Any] | str | Path


def read_promises(source: PromisesGiven) -> Promises:
    """Read promises. Raises ManifestError with every fault.

    ``source`` is a path (``-``: standard input), text (with a line break, or beginning with a brace) or plain data.
    """
    if isinstance(source, Promises):
        return source
    return _promises(read_document(source, KIND, _SMALLEST))


def promises_of(text: str) -> Promises:
    """Promises in a text, which is never a path. Raises ManifestError."""
    return _promises(document_of(text, KIND, _SMALLEST))


def _promises(document: Document) -> Promises:
    fields, namespace = document.fields(PROMISES)
    entries = fields.get("promises")
    if entries == []:
        document.faults.add("promises", "expected at least one promise, found none")
    promises = [_promise(document, data, f"promises[{place}]") for place, data in enumerate(entries or ())]
    if document.faults.entries:
        raise document.faults.error()
    return Promises(tuple(promises), None if document.path is None else display_name(document.path), namespace)


def _promise(document: Document, data: Any, path: str) -> Promise:
    faults, lines = document.faults, document.lines
    is_cluster = isinstance(data, Mapping) and data.get("cluster") is True
    valid = OF_CLUSTER if is_cluster else OF_WORKLOADS
    fields = faults.check(data, {**SUBJECTS, **valid, **EXEMPT}, path)
    if not isinstance(data, Mapping):
        return Promise(path)
    named_by = [name for name in ("workload", "namespace", "cluster") if fields.get(name)]
    if len(named_by) != 1:
        names = " and ".join(named_by) or "none"
        faults.add(path, f"expected one of workload, namespace and cluster: true, found {names}")
    if valid.keys().isdisjoint(data):
        faults.add(path, f"promises nothing: expected one of {', '.join(valid)}")
    for name, needed in NEEDS.items():
        if name in fields and needed not in fields:
            faults.add(f"{path}.{name}", f"says nothing without {needed}")
    faults.check_namespace(fields.get("namespace"), f"{path}.namespace")
    read: dict[str, Any] = {}
    for name, value in fields.items():
        field_path, read_value = f"{path}.{name}", _READ.get(name, lambda as_it_is: as_it_is)
        if name in _ENTRIES:
            entries = faults.check(value, dict.fromkeys(value, _ENTRIES[name]), field_path)
            read[name] = {
                key: faults.read(f"{field_path}.{key}", partial(read_value, entry)) for key, entry in entries.items()
            }
            if not value:
                faults.add(field_path, f"expected at least one {_ENTRIES[name].help}, found none")
        else:
            read[name] = faults.read(field_path, partial(read_value, value))
    paths = {name: f"{path}.{name}" if name else path for name in ("", *fields)}
    lines_of = {} if lines is None else {name: lines.line(0, field_path) for name, field_path in paths.items()}
    return Promise(path, lines_of, **read)


def _amount(value: IntOrString) -> IntOrString:
    if isinstance(value, str) and not (re.fullmatch(SHARE, value) and int(value[:-1]) <= 100):
        raise UsageError(f"expected a number or a share from 0% to 100%, found {value!r}")
    return value


def _room(value: IntOrString) -> str:
    text = str(value)
    try:
        quantity = parse(str(_amount(text)).removesuffix("%") if text.endswith("%") else text)
    except QuantityError as error:
        raise UsageError(f"expected a quantity or a share, such as 512Mi or 20%, found {text!r}: {error}") from None
    if quantity.nano < 0:
        raise UsageError(f"expected a quantity from 0, found {text!r}")
    return text


def _survives(text: str) -> str:
    match = re.fullmatch(r"any (\S+)", text)
    if match is None:
        raise UsageError(f"expected any zone, any node, or any KEY, found {text!r}")
    return "hostname" if match[1] == "node" else match[1]


def _choose(text: IntOrString, words: Sequence[str], or_a_number: str = "") -> IntOrString:
    if isinstance(text, str) and text not in words:
        suggestion = did_you_mean(near_miss(text, words)) if len(words) > 1 else ""
        raise UsageError(f"expected {' or '.join(words)}{or_a_number}, found {text!r}{suggestion}")
    return text


def _day(text: str) -> datetime.date:
    try:
        if len(text) == len("2027-01-31"):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise UsageError(f"expected a day, YYYY-MM-DD, found {text!r}")


_READ: Mapping[str, Callable[[Any], Any]] = {
    "workload": parse_reference,
    "survives": _survives,
    "ready": _amount,
    "back": partial(_choose, words=BACKS),
    "fits": partial(_choose, words=WORDS, or_a_number=" or a number"),
    "rollout": _amount,
    "drain": partial(_choose, words=(NEVER_BLOCKED,)),
    "room": _room,
    "until": _day,
}
"""Functions that convert the value of a field, or of each of its entries; other fields are unchanged."""
