"""Remedies that only help together: two faults may each be enough to keep replicas from running."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.questions.check.lint.rule import RuleFinding
from kubespread.questions.check.lint.trial import Mended, Placed, PodChange, ReplicaTrial
from kubespread.questions.check.report import Severity

_Remedied = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A remedy, whatever its outcome and whichever constraint it is told of: text, settings and edits."""


def with_remedies_together(findings: Sequence[RuleFinding], trial: ReplicaTrial | None) -> Sequence[RuleFinding]:
    """The findings of one workload. A remedy that leaves replicas without a node says what all of them do together.

    If no remedy alone gets more replicas placed, those that are needed together become errors: each of them keeps
    replicas from running.
    """
    # Findings that several constraints share have one remedy.
    mended = {_remedy_of(finding): finding.mended for finding in findings if finding.mended is not None}
    if trial is None or len(mended) < 2 or all(change.placed.is_complete for change in mended.values()):
        return findings
    together = trial.placed_with(_all(mended.values()))
    lacking = {remedy for remedy, change in mended.items() if change.placed.count < together.count}
    needed = set[_Remedied]()
    if together.count > max(trial.placed.count, *(change.placed.count for change in mended.values())):
        needed = {remedy for remedy in lacking if _is_needed(mended[remedy], mended.values(), together, trial)}
    outcome = f"with the other remedies {together.text}"
    return [
        _with(finding, outcome, _remedy_of(finding) in needed) if _remedy_of(finding) in lacking else finding
        for finding in findings
    ]


def explains_pending(findings: Iterable[RuleFinding], trial: ReplicaTrial | None) -> bool:
    """Whether the remedies of these findings, together, get a node for every replica that is created."""
    mended = [finding.mended for finding in findings if finding.mended is not None and finding.mended.is_taken]
    return trial is not None and bool(mended) and not trial.placed_with(_all(mended)).pending


def _remedy_of(finding: RuleFinding) -> _Remedied:
    remedy = finding.remedy
    return remedy.text, remedy.settings, remedy.edits


def _is_needed(mended: Mended, among: Iterable[Mended], together: Placed, trial: ReplicaTrial) -> bool:
    """Whether fewer replicas are placed without this one."""
    others = [other for other in among if other is not mended]
    return trial.placed_with(_all(others)).count < together.count


def _all(mended: Iterable[Mended]) -> PodChange:
    changes = [remedied.change for remedied in mended]

    def change(pod: Pod) -> Pod:
        for change in changes:
            pod = change(pod)
        return pod

    return change


def _with(finding: RuleFinding, outcome: str, is_needed: bool) -> RuleFinding:
    remedy = replace(finding.remedy, outcome=f"{finding.remedy.outcome}; {outcome}")
    return replace(finding, remedy=remedy, severity=Severity.ERROR if is_needed else finding.severity)
