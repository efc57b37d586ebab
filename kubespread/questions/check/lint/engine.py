"""Runs every rule on every workload; its findings get the rule's code, their place and their workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.errors import Fault
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.lint.baseline import fingerprinted
from kubespread.questions.check.lint.registry import is_silenced
from kubespread.questions.check.lint.rule import (
    AnyRule,
    Case,
    ClusterRule,
    Company,
    FaultRule,
    LastRule,
    Rule,
    RuleFinding,
)
from kubespread.questions.check.lint.together import with_remedies_together
from kubespread.questions.check.lint.trial import Refused, Subject, Trial
from kubespread.questions.check.lint.ways_out import UNSEARCHED, WaysOut
from kubespread.questions.check.report import Finding, Remedy
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import framework


class Surroundings(Struct, frozen=True):
    """What all workloads are checked in."""

    objects: ClusterObjects
    version: KubeVersion
    cluster: Cluster | None = None
    """None: static rules only."""


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
        """The same with the remedy that was searched for."""
        findings = (replace(each, remedy=remedy) if each.remedy == UNSEARCHED else each for each in self.findings)
        return replace(self, findings=list(findings))


class Checking:
    """Runs the rules on one workload at a time, beside the others."""

    def __init__(self, subjects: Sequence[Subject], rules: Sequence[AnyRule], surroundings: Surroundings) -> None:
        self._subjects, self._rules, self._surroundings = subjects, rules, surroundings
        self._plugins, self._company = dict[int, Framework](), Company(subjects)

    def check(self, number: int) -> Checked:
        """What is found in the workload of that number."""
        subject, surroundings = self._subjects[number], self._surroundings
        trial = None if surroundings.cluster is None else self._trial(subject, surroundings.cluster)
        plugins = self._plugins_of(subject)
        case = Case(subject, self._company, surroundings.objects, surroundings.version, plugins, trial)
        return _kept(_findings(case, self._rules), subject.ignored)

    def way_out(self, number: int, ways_out: WaysOut) -> Remedy:
        """What gets the replicas of the workload of that number placed, as far as it is searched for."""
        cluster = self._surroundings.cluster
        assert cluster is not None, "without one no replica waits"
        return ways_out.remedy(lambda: self._trial(self._subjects[number], cluster))

    def _trial(self, subject: Subject, cluster: Cluster) -> Trial:
        return Trial(subject, cluster, self._plugins_of(subject))

    def _plugins_of(self, subject: Subject) -> Framework:
        made = self._plugins.get(id(subject.profile))
        if made is None:
            made = self._plugins[id(subject.profile)] = framework(subject.profile)
        return made


def together(refused: Iterable[Refused], rules: Sequence[AnyRule], checked: Iterable[Checked]) -> Checked:
    """All findings, in the order of files and of their content."""
    parts = [*(_kept(_faults(part, rules), part.ignored) for part in refused), *checked]
    findings = (finding for part in parts for finding in part.findings)
    return Checked(list(fingerprinted(sorted(findings, key=_order))), sum(part.ignored for part in parts))


def not_asked(rules: Iterable[AnyRule], surroundings: Surroundings) -> tuple[str, ...]:
    """The codes of the rules that need a cluster where there is none."""
    return tuple(rule.code for rule in rules if rule.needs_cluster and surroundings.cluster is None)


def _kept(findings: Iterable[Finding], silenced: Sequence[str]) -> Checked:
    checked = Checked()
    for finding in findings:
        if is_silenced(finding.code, silenced):
            checked.ignored += 1
        else:
            checked.findings.append(finding)
    return checked


def _findings(case: Case, rules: Iterable[AnyRule]) -> Iterator[Finding]:
    subject = case.subject
    for rule, finding in _rule_findings(case, rules):
        line, column = subject.place(finding.field)
        yield Finding(
            code=rule.code,
            rule=rule.name,
            severity=finding.severity or rule.severity,
            workload=subject.name,
            file=subject.file,
            line=line,
            column=column,
            field=finding.field,
            message=finding.message,
            proven=finding.proven,
            remedy=finding.remedy,
        )


def _rule_findings(case: Case, rules: Iterable[AnyRule]) -> Iterator[tuple[AnyRule, RuleFinding]]:
    before = [(rule, finding) for rule in rules for finding in _check(rule, case)]
    revived = with_what_shows(
        [(rule.code, finding) for rule, finding in before],
        case,
        lambda then: ((rule.code, finding) for rule in rules for finding in _check(rule, then)),
    )
    together = with_remedies_together(revived, case.trial)
    after = [(rule, finding) for (rule, _), finding in zip(before, together, strict=True)]
    yield from after
    reported = [finding for rule, finding in after if not is_silenced(rule.code, case.subject.ignored)]
    for rule in rules:
        if isinstance(rule, LastRule) and case.trial is not None:
            yield from ((rule, finding) for finding in rule.check(case, case.trial, reported))


def _check(rule: AnyRule, case: Case) -> Iterable[RuleFinding]:
    if isinstance(rule, Rule):
        return rule.check(case)
    if isinstance(rule, ClusterRule) and case.trial is not None:
        return rule.check(case, case.trial)
    return ()


def _faults(refused: Refused, rules: Sequence[AnyRule]) -> Iterator[Finding]:
    fault_rules = [rule for rule in reversed(rules) if isinstance(rule, FaultRule)]
    for fault in refused.faults:
        for rule in fault_rules:
            remedy = rule.remedy(fault, refused)
            if remedy is not None:
                yield Finding(
                    code=rule.code,
                    rule=rule.name,
                    severity=rule.severity,
                    workload=refused.workload,
                    file=refused.file,
                    line=fault.line,
                    column=fault.column,
                    field=fault.field,
                    message=_message(fault),
                    proven=False,
                    remedy=remedy,
                )
                break


def _message(fault: Fault) -> str:
    """The API server's text, which begins with the field where it does not name it otherwise."""
    return f"{fault.field}: {fault.message}" if fault.field and fault.field not in fault.message else fault.message


def _order(finding: Finding) -> tuple[object, ...]:
    line, column = finding.line or 0, finding.column or 0
    return finding.file or "", line, column, finding.workload or "", finding.code, finding.field


Asking = Callable[[Case], Iterable[tuple[str, RuleFinding]]]
"""What every rule finds in a case, each with the rule's code."""


def with_what_shows(findings: Sequence[tuple[str, RuleFinding]], case: Case, ask: Asking) -> list[RuleFinding]:
    """The findings of ``case``; those whose remedy revives a constraint say what is found with it."""
    reported = {(code, finding.field) for code, finding in findings}
    return [_with_following(finding, case, ask, reported) if finding.revives else finding for _, finding in findings]


def _with_following(finding: RuleFinding, case: Case, ask: Asking, reported: set[tuple[str, str]]) -> RuleFinding:
    subject, trial = case.subject, case.trial
    if finding.mended is None or trial is None:
        return finding
    change, template = finding.mended.change, subject.template
    changed = replace(subject, pod=change(subject.pod), template=None if template is None else change(template))
    then = Case(changed, case.company, case.objects, case.version, case.plugins, trial.of(changed))
    codes = dict.fromkeys(code for code, other in ask(then) if (code, other.field) not in reported)
    if not codes:
        return finding
    following = f"{', '.join(codes)} {'are' if len(codes) > 1 else 'is'} found then"
    outcome = following if finding.remedy.outcome is None else f"{finding.remedy.outcome}; {following}"
    return replace(finding, remedy=replace(finding.remedy, outcome=outcome))
