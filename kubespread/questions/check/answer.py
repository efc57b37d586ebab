"""Problems of manifests, or of a cluster's own workloads: gather them, run the rules, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kubespread.candidate.sources import is_reference
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.manifest.text import STDIN
from kubespread.questions.check.engine import Checked, Checking, fingerprinted
from kubespread.questions.check.question import Check
from kubespread.questions.check.report import CheckFinding, CheckReport, Severity
from kubespread.questions.check.rules import RULES, rule_called, selected, unknown_codes
from kubespread.questions.patches import commands_for
from kubespread.questions.remedies.change import Change
from kubespread.questions.scene import Scene
from kubespread.reports.parts import RuleReport
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of, verb_of

if TYPE_CHECKING:
    from kubespread.candidate.commit import EarlierManifests

_CODES_SHOWN = 5


def answer(question: Check, scene: Scene) -> CheckReport:
    """Findings of the chosen rules, without those that the base has too."""
    snapshot = scene.given
    rules, bar = selected(question.select, question.ignore), _bar(question.fail_on)
    if not question.pods and snapshot is None:
        raise UsageError("nothing to check: name manifests, or a cluster")
    if not rules:
        raise UsageError("nothing to check: what is selected and ignored leaves no rule")
    if snapshot is None and all(rule.needs_cluster for rule in rules):
        codes, need = some_of([rule.code for rule in rules], _CODES_SHOWN), verb_of(len(rules), "need")
        raise UsageError(f"nothing to check: {codes} {need} a cluster (-S FILE)")
    with _base_of(question) as earlier:
        work = Checking.of(question, scene)
        gathered = work.gathered
        parts = list(work.searched(_checked(work, question, scene)))
        missing = [subject.name for subject in gathered.subjects[len(parts) :]]
        unfinished = scene.budget.unfinished("workload", len(gathered.subjects), missing)
        before, notes = ({}, ()) if earlier is None else _before(question, earlier, scene)
    checked = work.together(parts)
    ignored = (*(subject.ignored for subject in gathered.subjects), *(refused.ignored for refused in gathered.refused))
    if unknown := dict.fromkeys(unknown_codes(code for codes in ignored for code in codes)):
        notes = [f"annotations silence unknown rules: {', '.join(unknown)}", *notes]
    # What the base does not have, or less severe.
    new = [
        finding
        for finding in checked.findings
        if (earlier_severity := before.get(finding.fingerprint)) is None or finding.level.rank < earlier_severity.rank
    ]
    return CheckReport(
        kube_version=str(gathered.version),
        cluster=scene.source,
        files=gathered.files,
        workloads=len(parts) + sum(refused.name is not None for refused in gathered.refused),
        asked=tuple(rule.code for rule in rules if not rule.needs_cluster or snapshot is not None),
        not_asked=tuple(rule.code for rule in rules if rule.needs_cluster and snapshot is None),
        not_chosen=tuple(rule.code for rule in RULES if rule not in rules),
        fail_on=bar,
        findings=tuple(new if snapshot is None else (_with_commands(finding, snapshot) for finding in new)),
        rules=tuple(rule.report for rule in RULES if any(finding.code == rule.code for finding in new)),
        ignored=checked.ignored,
        base=question.base,
        base_commit=None if earlier is None else earlier.commit,
        in_base=len(checked.findings) - len(new),
        gaps=tuple(dict.fromkeys((*gathered.gaps, *work.assumed))),
        not_modelled=Check.never_modelled if snapshot is not None else (),
        notes=(*gathered.notes, *notes),
        unfinished=unfinished,
    )


def _checked(work: Checking, question: Check, scene: Scene) -> Iterator[Checked]:
    """Findings in each workload; in the first ones where the time is up. Raises UsageError."""
    same = msgspec.structs.replace(question, pods=tuple(work.gathered.sources))
    return scene.tasks(work, range(len(work.gathered.subjects)), same)


def _base_of(question: Check) -> AbstractContextManager[EarlierManifests | None]:
    """The manifests as they were in the base, if one is named. Raises UsageError."""
    if question.base is None:
        return nullcontext()
    paths = [str(pod) for pod in question.pods if isinstance(pod, str | Path) and str(pod) != STDIN]
    if not paths or len(paths) < len(question.pods) or any(map(is_reference, paths)):
        raise UsageError(f"--base {question.base} compares files of a git repository: name files and directories")
    # What runs git is imported where it is run.
    from kubespread.candidate.commit import as_of

    return as_of(question.base, paths)


def _before(question: Check, earlier: EarlierManifests, scene: Scene) -> tuple[Mapping[str, Severity], Sequence[str]]:
    """Severities of the findings in the earlier manifests, by fingerprint, and notes on them."""
    notes, findings = list[str](), list[CheckFinding]()
    if not earlier.is_common:
        notes.append(f"HEAD and {question.base} have no commit in common here: compared with {question.base} itself")
    if earlier.paths:
        try:
            asked = msgspec.structs.replace(question, pods=earlier.paths)
            work = Checking.of(asked, scene)
            parts = list(_checked(work, asked, scene))
        except KubespreadError as error:
            why = str(error).replace(f"{earlier.directory}/", "")
            notes.append(f"all findings are new; in {question.base}: {why}")
        else:
            findings = [
                msgspec.structs.replace(finding, file=finding.file and earlier.named(finding.file))
                for finding in work.together(parts).findings
            ]
            if len(parts) < len(work.gathered.subjects):
                notes.append(f"{question.base} was not checked to the end: what it has too may count as new")
    return {finding.fingerprint: finding.level for finding in fingerprinted(findings)}, notes


def _bar(fail_on: Severity | str) -> Severity:
    """The severity of that name. Raises UsageError."""
    try:
        return Severity(fail_on)
    except ValueError:
        raise UsageError(f"invalid fail_on {fail_on!r}: expected {', '.join(Severity)}") from None


def _with_commands(finding: CheckFinding, snapshot: Snapshot) -> CheckFinding:
    """The finding with the kubectl commands that fix it: a manifest is edited instead."""
    remedy = finding.remedy
    if finding.file is not None or not isinstance(finding.subject, WorkloadName):
        return finding
    change = Change("", remedy.text, 0, settings=remedy.settings, edits=tuple(map(parse, remedy.edits)))
    commands = commands_for(change, (finding.subject,), snapshot)
    return msgspec.structs.replace(finding, remedy=msgspec.structs.replace(remedy, commands=commands))


def rules() -> tuple[RuleReport, ...]:
    """Every rule, by code."""
    return tuple(rule.report for rule in RULES)


def rule(code: str) -> RuleReport:
    """The rule with this code or name. Raises UsageError."""
    return rule_called(code).report
