"""Remedies that only help together: two faults may each be enough to keep replicas from running."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.questions.check.lint.finding import Found
from kubespread.questions.check.lint.trial import Mended, Placed, PodChange, Trial
from kubespread.questions.check.report import Remedy, Severity


def with_remedies_together(found: Sequence[Found], trial: Trial | None) -> Sequence[Found]:
    """The findings of one workload. A remedy that leaves replicas without a node says what all of them do together.

    Where no remedy alone gets more replicas placed, those that it takes to do so are errors: each of them keeps
    replicas from running.
    """
    # Findings that several constraints share have one remedy.
    mended = {_told(each): each.mended for each in found if each.mended is not None}
    if trial is None or len(mended) < 2 or all(each.placed.is_complete for each in mended.values()):
        return found
    together = trial.placed_with(_all(mended.values()))
    lacking = {told for told, each in mended.items() if each.placed.count < together.count}
    needed = set[Remedy]()
    if together.count > max(trial.placed.count, *(each.placed.count for each in mended.values())):
        needed = {told for told in lacking if _is_needed(mended[told], mended.values(), together, trial)}
    said = f"with the other remedies {together.text}"
    return [_with(each, said, _told(each) in needed) if _told(each) in lacking else each for each in found]


def explains_pending(found: Iterable[Found], trial: Trial | None) -> bool:
    """Whether the remedies of these findings, together, get a node for every replica that is created."""
    mended = [each.mended for each in found if each.mended is not None and each.mended.is_taken]
    return trial is not None and bool(mended) and not trial.placed_with(_all(mended)).pending


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


def _with(found: Found, said: str, is_needed: bool) -> Found:
    remedy = msgspec.structs.replace(found.remedy, outcome=f"{found.remedy.outcome}; {said}")
    return replace(found, remedy=remedy, severity=Severity.ERROR if is_needed else found.severity)
