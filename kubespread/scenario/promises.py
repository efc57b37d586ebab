"""Promises as a file says them: read strictly, with every fault in it named by line."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import Named, named
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.selector import SelectorError, parse_selector
from kubespread.manifest.text import FieldLines, display_name
from kubespread.scenario.document import API_VERSION, Document, Faults, T, document_of, read_document
from kubespread.snapshot.edits.registry import parse as parse_edit
from kubespread.snapshot.edits.verb import Field, Fields, Holds

KIND = "Promises"
PROMISES: Fields = {
    "apiVersion": Field(Holds.TEXT, "kubespread.dev/v1alpha1", is_required=True),
    "kind": Field(Holds.TEXT, "Promises", is_required=True),
    "metadata": Field(Holds.OBJECT, "name and namespace"),
    "promises": Field(Holds.LIST, "what is to hold", is_required=True),
}
METADATA: Fields = {
    "name": Field(Holds.TEXT, "what the promises are called"),
    "namespace": Field(Holds.TEXT, "that of names without one"),
}
Back = Literal["while silent", "nodes deleted"]
BACKS: tuple[Back, ...] = get_args(Back)
NEVER_BLOCKED = "never blocked"
REPLICAS, HPA_MAX = "replicas", "hpaMax"
WHOSE: Fields = {
    "workload": Field(Holds.TEXT, "[NAMESPACE/]KIND/NAME, of a kind that has replicas"),
    "namespace": Field(Holds.TEXT, "all workloads of this namespace that have replicas"),
    "selector": Field(Holds.TEXT, "those of them with these labels, as kubectl's -l has them"),
    "cluster": Field(Holds.FLAG, "the cluster as a whole, of which only room is promised"),
}
OF_WORKLOADS: Fields = {
    "survives": Field(
        Holds.TEXT,
        "any zone, any node, any KEY; any zone after EDIT: with ready and back, else as the answer of survive has it",
    ),
    "ready": Field(
        Holds.AMOUNT,
        "how many pods are ready, a number or a share of the replicas (80%): with survives "
        "at the worst moment, else now",
    ),
    "back": Field(
        Holds.TEXT,
        "with survives, when as many pods are ready as before: while silent, or only once the "
        "nodes are deleted (nodes deleted)",
    ),
    "spread": Field(Holds.OBJECT, "the largest skew of its pods for each topology key: zone: 1"),
    "fits": Field(Holds.AMOUNT, "how many replicas find a node: replicas, hpaMax, a number, or a multiple (1.5x)"),
    "rollout": Field(Holds.AMOUNT, "a restart gets done, and no fewer pods are ready meanwhile: a number or a share"),
    "drain": Field(Holds.TEXT, "never blocked: no node that has pods of it keeps them when it is drained"),
}
OF_CLUSTER: Fields = {
    "room": Field(Holds.OBJECT, "what is left of each resource that pods can use: a quantity, or a share of the whole")
}
EXEMPT: Fields = {
    "until": Field(Holds.TEXT, "the last day, YYYY-MM-DD, on which it is accepted that the promise is broken"),
    "reason": Field(Holds.TEXT, "why that is accepted"),
}
PROMISE: Fields = {**WHOSE, **OF_WORKLOADS, **OF_CLUSTER, **EXEMPT}
_SURVIVES = re.compile(r"any (?P<key>\S+)(?: after (?P<after>.+))?")
SHARE, TIMES = "[0-9]{1,3}%", "[0-9]{1,4}(\\.[0-9]{1,3})?x"
"""Shares and multiples, as patterns."""
_KEYS = {"node": "hostname"}
_SMALLEST = (
    f"{{apiVersion: {API_VERSION}, kind: {KIND}, promises: [{{workload: shop/deploy/web, survives: any zone}}]}}"
)
_WITH_REPLICAS = tuple(row.kind for row in POD_CREATORS.values() if row.has_replicas)


class Amount(Struct, frozen=True):
    """A number, or a share in percent."""

    number: int
    is_share: bool = False

    def of(self, total: int) -> int:
        """How many that are of ``total``, a share rounded up."""
        return -(-total * self.number // 100) if self.is_share else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.is_share else f"{self.number:,}"


class Multiple(Struct, frozen=True):
    """So many times as many, in thousandths."""

    thousandths: int

    def of(self, total: int) -> int:
        return -(-total * self.thousandths // 1000)

    def __str__(self) -> str:
        return f"{self.thousandths / 1000:g}x"


Fits = Literal["replicas", "hpaMax"] | int | Multiple
Room = Amount | str
"""A share of the whole, or a quantity."""


class Survives(Struct, frozen=True):
    """Any one domain of a topology key, which may be short, is lost; after an edit."""

    key: str
    after: str = ""

    @property
    def topology_key(self) -> str:
        """It may still be short."""
        return _KEYS.get(self.key, self.key)

    def __str__(self) -> str:
        return f"any {self.key}{f' after {self.after}' if self.after else ''}"


class Promise(Struct, frozen=True):
    """What is to hold of workloads, or of the cluster."""

    path: str
    """Its place in the file: ``promises[0]``."""
    lines: Mapping[str, int] = {}
    """Where each of its fields stands, itself by an empty name; empty for plain data."""
    workload: Named | None = None
    namespace: str | None = None
    selector: str = ""
    survives: Survives | None = None
    ready: Amount | None = None
    back: Back | None = None
    spread: Mapping[str, int] = {}
    fits: Fits | None = None
    rollout: Amount | None = None
    drain: bool = False
    room: Mapping[str, Room] = {}
    until: datetime.date | None = None
    reason: str = ""

    def line(self, field: str) -> int | None:
        """Where ``field`` stands, or the promise."""
        return self.lines.get(field) or self.lines.get("")

    @property
    def keys(self) -> Iterator[tuple[str, str]]:
        """The topology keys in it, which may be short, each with its field."""
        if self.survives is not None:
            yield "survives", self.survives.topology_key
        yield from (("spread", key) for key in self.spread)

    @property
    def whose(self) -> str:
        """Of what it is, in a few words."""
        if self.room:
            return "the cluster"
        if self.workload is not None:
            return str(self.workload)
        return f"{self.namespace} {self.selector}".strip()


class Promises(Struct, frozen=True):
    """All promises of one file."""

    promises: tuple[Promise, ...]
    file: str | None = None
    name: str = ""
    namespace: str | None = None
    """That of names without one. None: the question's."""


PromisesGiven = Promises | Mapping[str, Any] | str | Path


def read_promises(source: PromisesGiven) -> Promises:
    """The promises that were given: a path (``-``: standard input), a text, which has a line break or begins with a
    brace, or plain data. Raises ManifestError with every fault.
    """
    if isinstance(source, Promises):
        return source
    return _promises(read_document(source, KIND, _SMALLEST))


def promises_of(text: str) -> Promises:
    """The promises in a text, which is never a path. Raises ManifestError."""
    return _promises(document_of(text, KIND, _SMALLEST))


def _promises(document: Document) -> Promises:
    data, faults = document.data, document.faults
    fields = faults.checked(data, PROMISES, "")
    metadata = faults.checked(fields.get("metadata", {}), METADATA, "metadata")
    entries = fields.get("promises", ())
    if "promises" in fields and not entries:
        faults.add("promises", "expected at least one promise, found none")
    reader = _Reader(faults, document.lines)
    promises = [reader.promise(entry, f"promises[{place}]") for place, entry in enumerate(entries)]
    namespace = metadata.get("namespace")
    faults.check_namespace(namespace, "metadata.namespace")
    if faults.entries:
        raise faults.error()
    file = None if document.path is None else display_name(document.path)
    return Promises(tuple(promises), file, metadata.get("name", ""), namespace)


class _Reader(Struct, frozen=True):
    """Reads promises; what is wrong with them goes to ``faults``."""

    faults: Faults
    lines: FieldLines | None

    def promise(self, data: Any, path: str) -> Promise:
        fields = self.faults.checked(data, PROMISE, path)
        if isinstance(data, Mapping):
            self._check_together(fields, path)

        def read(name: str, of: Callable[[Any], T]) -> T | None:
            """What a field holds; None where it is missing or wrong."""
            return self.faults.read(f"{path}.{name}", lambda: of(fields[name])) if name in fields else None

        self.faults.check_namespace(fields.get("namespace"), f"{path}.namespace")
        places = ("", *fields) if self.lines is not None else ()
        found = {name: self.lines.line(0, f"{path}.{name}" if name else path) for name in places} if self.lines else {}
        return Promise(
            path=path,
            lines={name: line for name, line in found.items() if line is not None},
            workload=read("workload", _workload),
            namespace=fields.get("namespace"),
            selector=read("selector", _selector) or "",
            survives=read("survives", _survives),
            ready=read("ready", amount),
            back=read("back", _back),
            spread=self._spread(fields.get("spread", {}), f"{path}.spread"),
            fits=read("fits", _fits),
            rollout=read("rollout", amount),
            drain=bool(read("drain", _drain)),
            room=self._room(fields.get("room", {}), f"{path}.room"),
            until=read("until", _day),
            reason=fields.get("reason", ""),
        )

    def _check_together(self, fields: Mapping[str, Any], path: str) -> None:
        """What belongs together, and what does not."""
        is_cluster = bool(fields.get("cluster"))
        named_by = [name for name in ("workload", "namespace", "cluster") if fields.get(name)]
        if len(named_by) != 1:
            found = " and ".join(named_by) or "none"
            self.faults.add(path, f"expected one of workload, namespace and cluster: true, found {found}")
        if "selector" in fields and "namespace" not in fields:
            self.faults.add(f"{path}.selector", "a selector is of a namespace: add namespace")
        valid, other = (OF_CLUSTER, OF_WORKLOADS) if is_cluster else (OF_WORKLOADS, OF_CLUSTER)
        whose = "the cluster" if is_cluster else "workloads"
        for name in other:
            if name in fields:
                self.faults.add(f"{path}.{name}", f"not a promise of {whose}: expected {', '.join(valid)}")
        if not any(name in fields for name in (*valid, *other)):
            self.faults.add(path, f"promises nothing: expected one of {', '.join(valid)}")
        for name, what in (("spread", "topology key"), ("room", "resource")):
            if fields.get(name) == {}:
                self.faults.add(f"{path}.{name}", f"expected at least one {what}, found none")
        if "back" in fields and "survives" not in fields:
            self.faults.add(f"{path}.back", "back from what: add survives")
        if "reason" in fields and "until" not in fields:
            self.faults.add(f"{path}.reason", "the reason of an exemption: add until, its last day")

    def _spread(self, data: Any, path: str) -> Mapping[str, int]:
        return self.faults.checked(data, dict.fromkeys(data, Field(Holds.NUMBER, "the largest skew")), path)

    def _room(self, data: Any, path: str) -> Mapping[str, Room]:
        fields = self.faults.checked(data, dict.fromkeys(data, Field(Holds.AMOUNT, "how much")), path)
        rooms = {name: self.faults.read(f"{path}.{name}", partial(room, value)) for name, value in fields.items()}
        return {name: value for name, value in rooms.items() if value is not None}


def amount(value: int | str) -> Amount:
    """``2`` or ``80%``. Raises UsageError."""
    if isinstance(value, int):
        return Amount(value)
    number = int(value[:-1]) if re.fullmatch(SHARE, value) else 101
    if number > 100:
        raise UsageError(f"expected a number or a share from 0% to 100%, found {value!r}")
    return Amount(number, is_share=True)


def room(value: int | str) -> Room:
    """``20%``, or a quantity. Raises UsageError."""
    text = str(value)
    if text.endswith("%"):
        return amount(text)
    try:
        quantity = parse(text)
    except QuantityError as error:
        raise UsageError(f"expected a quantity or a share, such as 512Mi or 20%, found {text!r}: {error}") from None
    if quantity.nano < 0:
        raise UsageError(f"expected a quantity from 0, found {text!r}")
    return text


def _workload(text: str) -> Named:
    workload = named(text)
    if workload.kind in POD_CREATORS and workload.kind not in _WITH_REPLICAS:
        raise UsageError(f"a {workload.kind} has no replicas of which anything could be promised")
    return workload


def _selector(text: str) -> str:
    try:
        parse_selector(text)
    except SelectorError as error:
        raise UsageError(f"invalid selector {text!r}: {error}") from None
    return text


def _survives(text: str) -> Survives:
    match = _SURVIVES.fullmatch(text)
    if match is None:
        raise UsageError(f"expected any zone, any node, any KEY, or any KEY after EDIT, found {text!r}")
    after = match["after"] or ""
    if after:
        # No edit reads a file: the promises may be another's.
        parse_edit(after, None)
    return Survives(match["key"], after)


def _chosen(text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        meant = did_you_mean(near_miss(text, words)) if len(words) > 1 else ""
        raise UsageError(f"expected {' or '.join(words)}, found {text!r}{meant}")
    return text


def _back(text: str) -> Back:
    return _chosen(text, BACKS)  # type: ignore[return-value]  # one of these


def _drain(text: str) -> str:
    return _chosen(text, (NEVER_BLOCKED,))


def _fits(value: int | str) -> Fits:
    if isinstance(value, int) or value in (REPLICAS, HPA_MAX):
        return value  # type: ignore[return-value]  # one of these words
    if not re.fullmatch(TIMES, value):
        expected = f"expected {REPLICAS}, {HPA_MAX}, a number, or a multiple such as 1.5x"
        raise UsageError(f"{expected}, found {value!r}{did_you_mean(near_miss(value, (REPLICAS, HPA_MAX)))}")
    return Multiple(round(float(value[:-1]) * 1000))


def _day(text: str) -> datetime.date:
    try:
        if len(text) == len("2027-01-31"):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise UsageError(f"expected a day, YYYY-MM-DD, found {text!r}")
