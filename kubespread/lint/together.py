"""Remedies that only help together: two faults may each be enough to keep replicas from running."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.lint.finding import Found
from kubespread.lint.trial import Mended, Placed, PodChange, Trial
from kubespread.planner.reports.check import Remedy, Severity


def with_remedies_together(found: Sequence[Found], trial: Trial | None) -> Sequence[Found]:
    """The findings of one workload, told what their remedies do together.

    Where no remedy alone gets all replicas placed and several together get more of them placed, those that it takes say
    so and are errors: each of them keeps replicas from running.
    """
    # Findings that several constraints share have one remedy.
    mended = {_told(each): each.mended for each in found if each.mended is not None}
    if trial is None or len(mended) < 2 or any(each.placed.is_complete for each in mended.values()):
        return found
    together = trial.placed_with(_all(mended.values()))
    if together.count <= max(each.placed.count for each in mended.values()):
        return found
    needed = {told for told, each in mended.items() if _is_needed(each, mended.values(), together, trial)}
    said = f"with the other remedies {together.text}"
    return [_with(each, said) if _told(each) in needed else each for each in found]


def _told(found: Found) -> Remedy:
    return msgspec.structs.replace(found.remedy, outcome=None)


def _is_needed(mended: Mended, among: Iterable[Mended], together: Placed, trial: Trial) -> bool:
    """Whether fewer replicas are placed without this one."""
    others = [each for each in among if each is not mended]
    return trial.placed_with(_all(others)).count < together.count


def _all(mended: Iterable[Mended]) -> PodChange:
    changes = [each.change for each in mended]

    def change(pod: Pod) -> Pod:
        for each in changes:
            pod = each(pod)
        return pod

    return change


def _with(found: Found, said: str) -> Found:
    outcome = f"{found.remedy.outcome}; {said}"
    remedy = msgspec.structs.replace(found.remedy, outcome=outcome)
    return replace(found, remedy=remedy, severity=Severity.ERROR)
