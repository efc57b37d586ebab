"""The label that a topology key was meant to be: one that names the same thing, not one merely spelled alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.wording import short_key

_OTHER_NAMES = {"az": ZONE, "host": HOSTNAME, "node": HOSTNAME}
_USUAL = (ZONE, REGION, HOSTNAME, BETA_ZONE, BETA_REGION)
_SEPARATORS = re.compile(r"[-_.]")
_SHORT = 3
"""Words up to this length differ by a letter without being typos."""


def near_key(key: str, nodes: Nodes) -> str:
    """The node label that was meant by ``key``, which no node has; empty where no label is close."""
    return meant_key(key, dict.fromkeys(label for node in nodes.objects for label in node.metadata.labels))


def meant_key(key: str, keys: Iterable[str]) -> str:
    """The one of ``keys`` that is ``key`` with another prefix, under another of its names, or with a typo.

    Kubernetes' own keys come before others. Empty when no key is close.
    """
    usual_first = sorted(keys, key=lambda candidate: (candidate not in _USUAL, candidate))
    last_parts = {candidate: _last_part(candidate) for candidate in usual_first}
    written = _last_part(key)
    for is_meant in (_is_same, _is_slip):
        for full, last_part in last_parts.items():
            if is_meant(written, last_part):
                return full
        for name, full in _OTHER_NAMES.items():
            if full in last_parts and is_meant(written, name):
                return full
    return ""


def _last_part(key: str) -> str:
    return short_key(key).lower()


def _is_same(written: str, existing: str) -> bool:
    """Whether only separators differ: ``node-group`` and ``nodegroup``."""
    return _SEPARATORS.sub("", written) == _SEPARATORS.sub("", existing)


def _is_slip(written: str, existing: str) -> bool:
    """Whether a letter of one word is left out, added, replaced, or swapped with the next: ``hostnames``."""
    words = list(zip(_SEPARATORS.split(written), _SEPARATORS.split(existing), strict=False))
    if len(_SEPARATORS.findall(written)) != len(_SEPARATORS.findall(existing)):
        return False
    differing = [pair for pair in words if pair[0] != pair[1]]
    return len(differing) == 1 and _differs_by_a_letter(*differing[0])


def _differs_by_a_letter(written: str, existing: str) -> bool:
    if len(existing) <= _SHORT:
        return False
    same = next((index for index, pair in enumerate(zip(written, existing, strict=False)) if pair[0] != pair[1]), None)
    index = min(len(written), len(existing)) if same is None else same
    one, other = written[index:], existing[index:]
    # pool1 and pool2 are different things.
    if any(letter.isdigit() for letter in one[:1] + other[:1]):
        return False
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]
