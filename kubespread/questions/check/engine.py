"""Runs every rule on every workload; its findings get the rule's code, their place and their workload."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.candidate.sources import ClusterWorkloads
from kubespread.questions.check.question import Check
from kubespread.questions.check.report import Finding, Remedy, Severity
from kubespread.questions.check.rule import (
    UNSEARCHED,
    AnyRule,
    Case,
    ClusterRule,
    Company,
    FaultRule,
    LastRule,
    RefusedManifest,
    Rule,
    RuleFinding,
)
from kubespread.questions.check.rules import begins, selected
from kubespread.questions.check.subjects import Gathered, gather
from kubespread.questions.check.trial import Mended, Place, Placed, ReplicaTrial, Subject, together
from kubespread.questions.scene import Scene
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import framework
from kubespread.wording import verb_of


class Checked(Struct):
    """What came of it."""

    findings: list[Finding] = field(default_factory=list)
    ignored: int = 0
    """Findings that annotations silence."""

    @property
    def is_open(self) -> bool:
        """Whether a remedy is still to be searched for."""
        return any(finding.remedy == UNSEARCHED for finding in self.findings)

    def with_way_out(self, remedy: Remedy) -> Checked:
        """With the remedy that was searched for."""
        findings = (replace(each, remedy=remedy) if each.remedy == UNSEARCHED else each for each in self.findings)
        return replace(self, findings=list(findings))


class Checking:
    """Runs the rules on one workload at a time, by its number, beside the others."""

    def __init__(self, gathered: Gathered, rules: Sequence[AnyRule]) -> None:
        self.gathered, self._rules = gathered, rules
        self.assumed: dict[str, None] = {} if gathered.cluster is None else gathered.cluster.assumed
        self._plugins, self._company = dict[int, Framework](), Company(gathered.subjects)

    @classmethod
    def of(cls, question: Check, scene: Scene) -> Self:
        sources = question.pods or (ClusterWorkloads(all_namespaces=question.namespace is None),)
        gathered = gather(sources, scene.given, scene.scheduler, question.choosing)
        return cls(gathered, selected(question.select, question.ignore))

    def __call__(self, number: int) -> Checked:
        """What is found in the workload of that number."""
        gathered, subject = self.gathered, self.gathered.subjects[number]
        trial = None if gathered.cluster is None else self._trial(subject, gathered.cluster)
        plugins = self._plugins_of(subject)
        case = Case(subject, self._company, gathered.objects, gathered.version, plugins, trial)
        return _kept(_findings(case, self._rules), subject.ignored)

    def searched(self, parts: Iterable[Checked]) -> Iterator[Checked]:
        """With the remedies that are still to be searched for: by one process, in the order of the workloads, whose
        searches share one effort.
        """
        ways_out, cluster = self.gathered.ways_out, self.gathered.cluster
        for subject, checked in zip(self.gathered.subjects, parts, strict=False):
            if ways_out is not None and cluster is not None and checked.is_open:
                trial = partial(self._trial, subject, cluster)
                yield checked.with_way_out(ways_out.remedy(trial))
            else:
                yield checked

    def together(self, parts: Iterable[Checked]) -> Checked:
        """All findings, in the order of files and of their content."""
        refused = [_kept(_faults(refused, self._rules), refused.ignored) for refused in self.gathered.refused]
        all_parts = [*refused, *parts]
        findings = sorted((finding for part in all_parts for finding in part.findings), key=_order)
        return Checked(list(fingerprinted(findings)), sum(part.ignored for part in all_parts))

    def _trial(self, subject: Subject, cluster: Cluster) -> ReplicaTrial:
        return ReplicaTrial(subject, cluster, self._plugins_of(subject))

    def _plugins_of(self, subject: Subject) -> Framework:
        made = self._plugins.get(id(subject.profile))
        if made is None:
            made = self._plugins[id(subject.profile)] = framework(subject.profile)
        return made


def _kept(findings: Iterable[Finding], silenced: Sequence[str]) -> Checked:
    checked = Checked()
    for finding in findings:
        if begins(finding.code, silenced):
            checked.ignored += 1
        else:
            checked.findings.append(finding)
    return checked


def _findings(case: Case, rules: Iterable[AnyRule]) -> Iterator[Finding]:
    before = list(_found(case, rules))
    revived = [_with_following(found, case, rules, before) if found.revives else found for _, found in before]
    after = list(zip((rule for rule, _ in before), with_remedies_together(revived, case.trial), strict=True))
    reported = [found for rule, found in after if not begins(rule.code, case.subject.ignored)]
    last = [(rule, found) for rule in rules if isinstance(rule, LastRule) for found in rule.check(case, reported)]
    for rule, found in (*after, *last):
        yield _reported(rule, found, case.subject, case.subject.place(found.field))


def _found(case: Case, rules: Iterable[AnyRule]) -> Iterator[tuple[AnyRule, RuleFinding]]:
    """What the rules find that run first."""
    for rule in rules:
        found: Iterable[RuleFinding] = ()
        if isinstance(rule, Rule):
            found = rule.check(case)
        elif isinstance(rule, ClusterRule) and case.trial is not None:
            found = rule.check(case, case.trial)
        yield from ((rule, finding) for finding in found)


def _with_following(
    finding: RuleFinding, case: Case, rules: Iterable[AnyRule], before: Sequence[tuple[AnyRule, RuleFinding]]
) -> RuleFinding:
    """The finding, whose remedy revives a constraint, saying what is found with it."""
    subject, trial = case.subject, case.trial
    if finding.mended is None or trial is None:
        return finding
    change, template = finding.mended.change, subject.template
    changed = replace(subject, pod=change(subject.pod), template=None if template is None else change(template))
    then = Case(changed, case.company, case.objects, case.version, case.plugins, trial.of(changed))
    reported = {(rule.code, found.field) for rule, found in before}
    codes = dict.fromkeys(rule.code for rule, found in _found(then, rules) if (rule.code, found.field) not in reported)
    if not codes:
        return finding
    following = f"{', '.join(codes)} {verb_of(len(codes), 'are')} found then"
    outcome = following if finding.remedy.outcome is None else f"{finding.remedy.outcome}; {following}"
    return replace(finding, remedy=replace(finding.remedy, outcome=outcome))


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
    all_placed = trial.placed_with(together(mended.values()))
    lacking = {remedy for remedy, change in mended.items() if change.placed.count < all_placed.count}
    needed = set[_Remedied]()
    if all_placed.count > max(trial.placed.count, *(change.placed.count for change in mended.values())):
        needed = {remedy for remedy in lacking if _is_needed(mended[remedy], mended.values(), all_placed, trial)}
    outcome = f"with the other remedies {all_placed.text}"
    return [
        _together(finding, outcome, _remedy_of(finding) in needed) if _remedy_of(finding) in lacking else finding
        for finding in findings
    ]


def _remedy_of(finding: RuleFinding) -> _Remedied:
    remedy = finding.remedy
    return remedy.text, remedy.settings, remedy.edits


def _is_needed(mended: Mended, among: Iterable[Mended], all_placed: Placed, trial: ReplicaTrial) -> bool:
    """Whether fewer replicas are placed without this one."""
    others = [other for other in among if other is not mended]
    return trial.placed_with(together(others)).count < all_placed.count


def _together(finding: RuleFinding, outcome: str, is_needed: bool) -> RuleFinding:
    remedy = replace(finding.remedy, outcome=f"{finding.remedy.outcome}; {outcome}")
    return replace(finding, remedy=remedy, severity=Severity.ERROR if is_needed else finding.severity)


def _reported(rule: AnyRule, found: RuleFinding, whose: Subject | RefusedManifest, place: Place) -> Finding:
    return Finding(
        code=rule.code,
        rule=rule.name,
        severity=found.severity or rule.severity,
        workload=whose.name,
        file=whose.file,
        line=place[0],
        column=place[1],
        field=found.field,
        message=found.message,
        proven=found.proven or rule.needs_cluster,
        remedy=found.remedy,
    )


def _faults(refused: RefusedManifest, rules: Sequence[AnyRule]) -> Iterator[Finding]:
    fault_rules = [rule for rule in reversed(rules) if isinstance(rule, FaultRule)]
    for fault in refused.faults:
        remedies = ((rule, remedy) for rule in fault_rules if (remedy := rule.check(fault, refused)) is not None)
        for rule, remedy in islice(remedies, 1):
            # The API server's text, which begins with the field where it does not name it otherwise.
            is_unnamed = fault.field and fault.field not in fault.message
            message = f"{fault.field}: {fault.message}" if is_unnamed else fault.message
            yield _reported(rule, RuleFinding(fault.field, message, remedy), refused, (fault.line, fault.column))


def _order(finding: Finding) -> tuple[object, ...]:
    line, column = finding.line or 0, finding.column or 0
    return finding.file or "", line, column, finding.workload or "", finding.code, finding.field


def fingerprinted(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with their fingerprints, made from code, workload and field; equal ones are numbered.

    File names and the numbers in messages are left out, so files may be renamed and clusters may grow. Findings
    without a workload use their file instead.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        key = (finding.code, finding.workload or finding.file or "", finding.field)
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        yield replace(finding, fingerprint=hashlib.sha256(text.encode()).hexdigest()[:32])
