"""Objects that hold pods, of whatever kind: what creates pods and is not read must at least be named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from kubespread.kube.api.kinds import group_of

_NO_PODS_OF_THEIR_OWN = frozenset({("apps", "ControllerRevision")})
"""Histories of templates."""


def holds_pods(api_version: str, kind: str, data: Mapping[str, Any]) -> bool:
    """Whether containers with an image stand anywhere inside an object, as in every pod template there is."""
    if (group_of(api_version), kind) in _NO_PODS_OF_THEIR_OWN:
        return False
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            containers = value.get("containers", [value.get("container")])
            if isinstance(containers, list) and any(isinstance(each, dict) and "image" in each for each in containers):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def is_custom(api_version: str) -> bool:
    """Whether a kind is not one of Kubernetes' own, so that nothing is known of what its controller creates."""
    group = group_of(api_version)
    return "." in group and not group.endswith(".k8s.io")


def skipped_gaps(kinds: Iterable[str]) -> list[str]:
    """What to say of objects that hold pods and were not read, given by their kinds."""
    return [f"pods are missing: {skipped}" for skipped in _skipped(kinds)]


def custom_notes(kinds: Iterable[str]) -> list[str]:
    """What to say of custom objects that hold no pods themselves, given by their kinds."""
    return [f"{skipped}: pods that its controller creates are not part of the answer" for skipped in _skipped(kinds)]


def _skipped(kinds: Iterable[str]) -> list[str]:
    return [
        f"skipped {count} object{'' if count == 1 else 's'} of {kind}" for kind, count in sorted(Counter(kinds).items())
    ]
