"""Selectors of constraints that miss the pods that carry them, and what they were to select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.selector import Selector


def is_meant(written: TopologySpreadConstraint, others: Sequence[Pod], *, counts_own: bool) -> bool:
    """Whether a constraint counts ``others`` alone on purpose, and was not just copied from them; ``counts_own``: it
    accompanies one that counts its own pods.
    """
    return bool(others) and (counts_own or all(written not in pod.spec.topology_spread_constraints for pod in others))


def missing_them(selector: Selector, labels: Mapping[str, str]) -> str:
    """``app=web misses the pod's own labels (app is api)``, or ``no label tier``: what the pod has of the first
    requirement that it does not meet.
    """
    key = _missed(selector, labels)
    return (
        f"{selector} misses the pod's own labels ({f'{key} is {labels[key]}' if key in labels else f'no label {key}'})"
    )


def nearest(selector: Selector, labels: Mapping[str, str]) -> str:
    """The label of the pod that was probably meant: ``app=api``; empty where none is like it."""
    key = _missed(selector, labels)
    key = key if key in labels else near_miss(key, labels)
    return f"{key}={labels[key]}" if key else ""


def _missed(selector: Selector, labels: Mapping[str, str]) -> str:
    return next(requirement.key for requirement in selector.requirements if not requirement.matches(labels))
