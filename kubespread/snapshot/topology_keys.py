"""Topology keys as people type them: ``zone`` for the well-known label, and suggestions for unknown keys.

Topology spread constraints as people type them: ``zone:1``, ``zone:1:soft``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kubespread.errors import UsageError
from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.providers import fault_domains
from kubespread.kube.well_known import HOSTNAME, REGION, ZONE
from kubespread.regex import regex
from kubespread.wording import count_of, verb_of

if TYPE_CHECKING:
    from kubespread.kube.api.core import Node

SHORT_KEYS = {"hostname": HOSTNAME, "region": REGION, "zone": ZONE}

CONSTRAINT_FORM = "KEY:SKEW[:soft]"
SOFT = ":soft"
CONSTRAINT = regex(rf"(?P<topologyKey>[^:=\s]+):(?P<maxSkew>[0-9]{{1,9}})(?P<soft>{SOFT})?")
_ACTIONS = {False: "DoNotSchedule", True: "ScheduleAnyway"}

_FEW = 8
"""Maximum number of keys to list if none is similar."""


def full_topology_key(key: str, nodes: Sequence[Node]) -> str:
    """Well-known label for a short key, if nodes have it and no label with exactly that name."""
    labels = label_keys(nodes)
    well_known = SHORT_KEYS.get(key, key)
    return well_known if key not in labels and well_known in labels else key


def constraint_of(text: str) -> TopologySpreadConstraint | None:
    """Parsed constraint, without a selector, its key as written; None for text of another form."""
    match = CONSTRAINT.fullmatch(text)
    if match is None:
        return None
    return TopologySpreadConstraint(int(match["maxSkew"]), match["topologyKey"], _ACTIONS[bool(match["soft"])])


def check_topology_keys(keys: Iterable[str], nodes: Sequence[Node]) -> None:
    """Raise UsageError, a line for each, for keys that no node has."""
    known_keys = label_keys(nodes)
    unknown = [key for key in dict.fromkeys(keys) if key not in known_keys]
    if unknown:
        raise UsageError(*(f"no node has the topology key {key!r}{near_keys(key, known_keys)}" for key in unknown))


def domain_notes(keys: Iterable[str], nodes: Sequence[Node]) -> Iterator[str]:
    """Yield a note for each key that some nodes lack, and on values that are not zones."""
    for key in dict.fromkeys(keys):
        if key == ZONE and (values := fault_domains(nodes)):
            yield f"zone {' and '.join(values)} of AKS: fault domains inside of one datacenter, and no zones"
        outside = sum(key not in node.metadata.labels for node in nodes)
        if outside:
            are = verb_of(outside, "are")
            yield f"{count_of(outside, 'node')} without the label {key} {are} in none of its domains"


def label_keys(nodes: Sequence[Node]) -> set[str]:
    return {key for node in nodes for key in node.metadata.labels}


def near_keys(key: str, known_keys: set[str]) -> str:
    """Hint at keys with a similar spelling, in full or after their prefix; else at all keys, if few."""
    by_spelling: dict[str, list[str]] = {}
    for full in sorted(known_keys):
        for spelling in {full, full.rpartition("/")[2]}:
            by_spelling.setdefault(spelling, []).append(full)
    spellings = (key, key.rpartition("/")[2])
    close = dict.fromkeys(
        full
        for spelled in spellings
        for match in difflib.get_close_matches(spelled, by_spelling)
        for full in by_spelling[match]
    )
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; there are {', '.join(sorted(known_keys))}" if 0 < len(known_keys) <= _FEW else ""
