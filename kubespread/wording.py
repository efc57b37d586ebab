"""Words that several rooms use in the same way: numbers with their nouns, lists that end, short names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

EMPTY = '""'
"""A value that is the empty string."""


def count_of(number: int, noun: str) -> str:
    """``1 pod``, ``2,000 pods``; a word that is the end of a label key gets its s too."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_OF_ONE = {"are": "is", "have": "has", "were": "was", "do": "does", "go": "goes"}


def verb_of(number: int, verb: str) -> str:
    """Plural verb phrase in agreement with ``number``: ``waits for it`` for 1, else ``wait for it``."""
    if number != 1:
        return verb
    first, blank, rest = verb.partition(" ")
    return f"{_OF_ONE.get(first, f'{first}s')}{blank}{rest}"


def says(number: int, noun: str, verb: str) -> str:
    """``1 pod waits``, ``3 pods wait``, of a verb in the plural."""
    return f"{count_of(number, noun)} {verb_of(number, verb)}"


def behind_gates(names: Sequence[str]) -> str:
    """Reason that kube-scheduler does not try a pod; empty for one without scheduling gates."""
    return f"waits behind scheduling gates: {', '.join(names)}" if names else ""


def without_gates(names: Sequence[str], outcome: str) -> str:
    """``outcome``, if a pod had no scheduling gates."""
    return f"{behind_gates(names)}; without them, {outcome}" if names else outcome


def some_of(names: Sequence[str], most: int) -> str:
    """``a, b and 3 more``: no more than ``most`` by name."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def describe(value: Any) -> str:
    """A plain value's type in JSON's words, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return f"the string {value!r}" if len(value) <= 40 else f"a string of {len(value)} characters"
        case list():
            return "a list"
    return "an object"


def short_key(topology_key: str) -> str:
    """``zone`` for ``topology.kubernetes.io/zone``."""
    return topology_key.rpartition("/")[2]


def counted_in(domain: str | None, count: str) -> str:
    """``a 2``, and ``1=2`` where a domain is called by a number; the empty value in quotes."""
    name = domain or EMPTY
    return f"{name}={count}" if name.replace(".", "").isdecimal() else f"{name} {count}"


def domain_noun(topology_key: str) -> str:
    """Name of one domain: ``zone``, and ``node`` for ``kubernetes.io/hostname``."""
    key = short_key(topology_key)
    return "node" if key == "hostname" else key


def age(seconds: int) -> str:
    """Age in the largest unit that it has two of: ``90 min``, ``2 h``, ``3 d``."""
    units = ((86_400, "d"), (3_600, "h"), (60, "min"))
    size, unit = next(((size, unit) for size, unit in units if seconds >= 2 * size), (1, "s"))
    return f"{seconds // size} {unit}"


class Decisive(str):
    """Note without which an answer would be misread: it is shown however many others there are."""

    __slots__ = ()
