"""Problems of manifests, or of a cluster's own workloads: gather them, run every rule on every workload, report."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.candidate.sources import ClusterWorkloads
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.questions.check import Check, CheckFinding, CheckReport, Remedy, Severity
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
    remedy_of,
)
from kubespread.questions.check.rules import RULES, begins, rule_called, select_rules, unknown_codes
from kubespread.questions.check.subjects import Gatherer, Subjects
from kubespread.questions.check.trial import MendedPod, Place, PodChange, ReplicaTrial, Subject, TrialResult, combine
from kubespread.questions.patches import commands_for
from kubespread.questions.remedies.change import Answer, Change, QuestionEdits
from kubespread.questions.remedies.edited_worlds import EditedWorlds, PlayedGoal
from kubespread.questions.remedies.families import StuckPod
from kubespread.questions.remedies.search import SharedSearch
from kubespread.questions.scene import Scene
from kubespread.reports.parts import RuleReport, letter
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.profile.profile import framework
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import short_key, some_of, verb_of
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.pod_book import key_of

_CODES_SHOWN = 5


def answer(question: Check, scene: Scene) -> CheckReport:
    snapshot = scene.snapshot_or_none
    rules, bar = select_rules(question.select, question.ignore), _bar(question.fail_on)
    if not question.pods and snapshot is None:
        raise UsageError("nothing to check: name manifests, or a cluster")
    if not rules:
        raise UsageError("nothing to check: what is selected and ignored leaves no rule")
    if snapshot is None and all(rule.needs_cluster for rule in rules):
        codes, need = some_of([rule.code for rule in rules], _CODES_SHOWN), verb_of(len(rules), "need")
        raise UsageError(f"nothing to check: {codes} {need} a cluster (-S FILE)")
    work = Checking.build(question, scene)
    gathered = work.gathered
    same = msgspec.structs.replace(question, pods=tuple(gathered.sources))
    parts = list(work.search(scene.tasks(work, range(len(gathered.subjects)), same)))
    missing = [subject.name for subject in gathered.subjects[len(parts) :]]
    unfinished = scene.budget.missing("workload", len(gathered.subjects), missing)
    checked = work.merge(parts)
    ignored = (*(subject.ignored for subject in gathered.subjects), *(refused.ignored for refused in gathered.refused))
    unknown = dict.fromkeys(unknown_codes(code for codes in ignored for code in codes))
    notes = [f"annotations silence unknown rules: {', '.join(unknown)}"] if unknown else []
    return CheckReport(
        kube_version=str(gathered.version),
        cluster=scene.source,
        files=gathered.files,
        workloads=len(parts) + sum(refused.name is not None for refused in gathered.refused),
        asked=tuple(rule.code for rule in rules if not rule.needs_cluster or snapshot is not None),
        not_asked=tuple(rule.code for rule in rules if rule.needs_cluster and snapshot is None),
        not_chosen=tuple(rule.code for rule in RULES if rule not in rules),
        fail_on=bar,
        findings=tuple(
            finding if snapshot is None else _with_commands(finding, snapshot) for finding in checked.findings
        ),
        rules=tuple(rule.report for rule in RULES if any(finding.code == rule.code for finding in checked.findings)),
        ignored=checked.ignored,
        gaps=tuple(dict.fromkeys((*gathered.gaps, *work.assumed))),
        not_modelled=Check.never_modelled if snapshot is not None else (),
        notes=(*gathered.notes, *notes),
        unfinished=unfinished,
    )


def _bar(fail_on: Severity | str) -> Severity:
    """The severity of that name. Raises UsageError."""
    try:
        return Severity(fail_on)
    except ValueError:
        raise UsageError(f"invalid fail_on {fail_on!r}: expected {', '.join(Severity)}") from None


def _with_commands(finding: CheckFinding, snapshot: Snapshot) -> CheckFinding:
    """Add the kubectl commands that fix a finding in the cluster; a manifest is edited instead."""
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
    """Rule with this code or name. Raises UsageError."""
    return rule_called(code).report


class CheckResult(Struct):
    """Result of checking one workload."""

    findings: list[CheckFinding] = field(default_factory=list)
    ignored: int = 0
    """Number of findings silenced by annotations."""


class Checking:
    """Check of one workload, by its number, in the company of the others."""

    def __init__(self, gathered: Subjects, rules: Sequence[AnyRule]) -> None:
        self.gathered, self._rules = gathered, rules
        self.assumed: dict[str, None] = {} if gathered.cluster is None else gathered.cluster.assumed
        self._company = Company(gathered.subjects)
        profiles = {id(subject.profile): subject.profile for subject in gathered.subjects}
        self._plugins = {number: framework(profile) for number, profile in profiles.items()}

    @classmethod
    def build(cls, question: Check, scene: Scene) -> Self:
        sources = question.pods or (ClusterWorkloads(all_namespaces=question.namespace is None),)
        gathered = Gatherer(scene.snapshot_or_none, scene.scheduler, question.surroundings).gather(sources)
        return cls(gathered, select_rules(question.select, question.ignore))

    def __call__(self, number: int) -> CheckResult:
        """Findings in the workload of that number."""
        gathered, subject = self.gathered, self.gathered.subjects[number]
        trial = None if gathered.cluster is None else self._trial(subject, gathered.cluster)
        case = Case(subject, self._company, gathered.objects, self._plugins[id(subject.profile)], trial)
        return _keep(_findings(case, self._rules), subject.ignored)

    def search(self, parts: Iterable[CheckResult]) -> Iterator[CheckResult]:
        """Search for the remedies still missing, in the order of the workloads: one process, with one limit for all."""
        search, worlds, cluster = SharedSearch(), self.gathered.worlds, self.gathered.cluster
        for subject, checked in zip(self.gathered.subjects, parts, strict=False):
            is_open = UNSEARCHED in [finding.remedy for finding in checked.findings]
            if is_open and worlds is not None and cluster is not None:
                goal = _PlaceAll(self._trial(subject, cluster), worlds)
                remedy = _least_remedy(goal, search, QuestionEdits(self.gathered.edits, workload=subject.name))
                checked.findings = [
                    replace(finding, remedy=remedy) if finding.remedy == UNSEARCHED else finding
                    for finding in checked.findings
                ]
            yield checked

    def merge(self, parts: Iterable[CheckResult]) -> CheckResult:
        """All findings, by file and position."""
        refused = [_keep(_faults(refused, self._rules), refused.ignored) for refused in self.gathered.refused]
        all_parts = [*refused, *parts]
        findings = sorted((finding for part in all_parts for finding in part.findings), key=_order)
        return CheckResult(list(add_fingerprints(findings)), sum(part.ignored for part in all_parts))

    def _trial(self, subject: Subject, cluster: Cluster) -> ReplicaTrial:
        return ReplicaTrial(subject, cluster, self._plugins[id(subject.profile)])


def _keep(findings: Iterable[CheckFinding], silenced: Sequence[str]) -> CheckResult:
    all_findings = list(findings)
    reported = [finding for finding in all_findings if not begins(finding.code, silenced)]
    return CheckResult(reported, len(all_findings) - len(reported))


def _findings(case: Case, rules: Iterable[AnyRule]) -> Iterator[CheckFinding]:
    before = list[tuple[AnyRule, RuleFinding]]()
    for rule in rules:
        if isinstance(rule, Rule):
            before += ((rule, finding) for finding in rule.check(case))
        elif isinstance(rule, ClusterRule) and case.trial is not None:
            before += ((rule, finding) for finding in rule.check(case, case.trial))
    changed = with_remedies_together([finding for _, finding in before], case.trial)
    after = list(zip((rule for rule, _ in before), changed, strict=True))
    reported = [finding for rule, finding in after if not begins(rule.code, case.subject.ignored)]
    last = [(rule, finding) for rule in rules if isinstance(rule, LastRule) for finding in rule.check(case, reported)]
    for rule, finding in (*after, *last):
        yield _report(rule, finding, case.subject, case.subject.place(finding.field))


class _PlaceAll(PlayedGoal):
    """All replicas of a workload. Changes are as printed: ``--set`` makes the pod again from its manifest, edits play
    in a world.
    """

    def __init__(self, trial: ReplicaTrial, worlds: EditedWorlds) -> None:
        self.trial, self.worlds = trial, worlds

    def ask(self, change: Change) -> Answer | None:
        placed = self.place(change)
        if placed is None:
            return None
        edited = self.worlds.apply(change.edits) if change.edits else None
        # What quotas refuse is no matter of nodes.
        return self.answer(edited, placed.count, placed.desired - placed.refused)

    def place(self, change: Change) -> TrialResult | None:
        """Replicas placed after the change; None where an edit or a field is refused."""
        trial = self._edit(change.edits) if change.edits else self.trial
        set_fields = self._setting(change.settings)
        return None if trial is None or set_fields is None else trial.placed_with(set_fields)

    def _setting(self, settings: Sequence[str]) -> PodChange | None:
        if not settings:
            return lambda pod: pod
        revised = self.trial.subject.revised(settings)
        if revised is None:
            return None
        spec, labels = revised.spec, self.trial.subject.pod.metadata.labels
        # The hash of the template, which constraints may count by, is another one.
        others = {key: value for key, value in revised.metadata.labels.items() if labels.get(key) != value}

        def change(pod: Pod) -> Pod:
            metadata = replace(pod.metadata, labels={**pod.metadata.labels, **others})
            # Each replica may have claims of its own.
            return Pod(metadata=metadata, spec=replace(spec, volumes=pod.spec.volumes), status=pod.status)

        return change

    def _edit(self, edits: tuple[Edit, ...]) -> ReplicaTrial | None:
        edited = self.worlds.apply(edits)
        if edited is None:
            return None
        book, subject = edited.world.book, self.trial.subject
        running = [book[key_of(pod)] for pod in subject.running if key_of(pod) in book]
        return self.trial.on_cluster(edited.world.cluster, replace(subject, running=running))

    def is_own(self, pod: Pod) -> bool:
        return workload_of(self.worlds.original.world, pod) == self.trial.subject.name


def _least_remedy(goal: _PlaceAll, search: SharedSearch, edits: QuestionEdits) -> Remedy:
    """The least change, or two or three together, with which every replica finds a node."""
    trial, placed = goal.trial, goal.trial.placement
    if trial.subject.is_daemon or placed.unplaced is None or not len(trial.cluster):
        return Remedy(text="let its pods onto other nodes, or change what keeps them from these")
    are_distinct, version = trial.subject.distinct_replicas is not None, trial.subject.profile.version
    stuck = StuckPod(placed.unplaced, version, placed.pending, placed.count, edits=edits, are_distinct=are_distinct)
    least, why_none = search.least(goal, stuck)
    if least is None:
        return Remedy(text=why_none)
    # A constraint has no letter here.
    constraints = stuck.pod.spec.topology_spread_constraints
    keys = {letter(place): short_key(constraint.topology_key) for place, constraint in enumerate(constraints)}
    text = " and ".join(
        f"{part.what} on the constraint over {keys[part.letter]}" if part.letter else part.what
        for part in least.change.parts
    )
    after = goal.place(least.change)
    text = f"{why_none}; most does {text}" if why_none else text
    return remedy_of(least.change, text, None if after is None else after.text)


def with_remedies_together(findings: Sequence[RuleFinding], trial: ReplicaTrial | None) -> Sequence[RuleFinding]:
    """Findings of one workload, with the outcome of all their remedies together.

    If no remedy alone gets more replicas placed, those needed together become errors: each of them keeps replicas from
    running.
    """
    # Findings that several constraints share have one remedy.
    mended = {_remedy_key(finding): finding.mended for finding in findings if finding.mended is not None}
    if trial is None or len(mended) < 2 or all(change.placed.is_complete for change in mended.values()):
        return findings
    all_placed = trial.placed_with(combine(mended.values()))
    best_alone = max(trial.placement.count, *(change.placed.count for change in mended.values()))

    def is_needed(one: MendedPod) -> bool:
        others = combine(other for other in mended.values() if other is not one)
        return all_placed.count > best_alone and trial.placed_with(others).count < all_placed.count

    needed = {remedy: is_needed(change) for remedy, change in mended.items() if change.placed.count < all_placed.count}
    changed = []
    for finding in findings:
        key, remedy, severity = _remedy_key(finding), finding.remedy, finding.severity
        if key in needed:
            remedy = replace(remedy, outcome=f"{remedy.outcome}; with the other remedies {all_placed.text}")
            severity = Severity.ERROR if needed[key] else severity
        changed.append(replace(finding, remedy=remedy, severity=severity))
    return changed


def _remedy_key(finding: RuleFinding) -> tuple[object, ...]:
    """Identity of a remedy, which several findings may share."""
    return finding.remedy.text, finding.remedy.settings, finding.remedy.edits


def _report(rule: AnyRule, finding: RuleFinding, subject: Subject | RefusedManifest, place: Place) -> CheckFinding:
    return CheckFinding(
        code=rule.code,
        rule=rule.name,
        level=finding.severity or rule.severity,
        subject=subject.name or "",
        file=subject.file,
        line=place[0],
        column=place[1],
        field=finding.field,
        text=finding.message,
        proven=finding.proven or rule.needs_cluster,
        remedy=finding.remedy,
    )


def _faults(refused: RefusedManifest, rules: Sequence[AnyRule]) -> Iterator[CheckFinding]:
    fault_rules = [rule for rule in reversed(rules) if isinstance(rule, FaultRule)]
    for fault in refused.faults:
        # The API server's text, which begins with the field where it does not name it otherwise.
        is_unnamed = fault.field and fault.field not in fault.message
        message = f"{fault.field}: {fault.message}" if is_unnamed else fault.message
        for rule in fault_rules:
            if (remedy := rule.check(fault, refused)) is not None:
                yield _report(rule, RuleFinding(fault.field, message, remedy), refused, (fault.line, fault.column))
                break


def _order(finding: CheckFinding) -> tuple[object, ...]:
    line, column = finding.line or 0, finding.column or 0
    return finding.file or "", line, column, finding.subject, finding.code, finding.field


def add_fingerprints(findings: Iterable[CheckFinding]) -> Iterator[CheckFinding]:
    """Add fingerprints, made from code, workload and field; equal ones are numbered.

    File names and the numbers in messages are left out, so files may be renamed and clusters may grow. Findings without
    a workload use their file instead.
    """
    occurrences: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        key = (finding.code, finding.subject or finding.file or "", finding.field)
        text = "\0".join((*key, str(occurrences[key])))
        occurrences[key] += 1
        yield replace(finding, fingerprint=hashlib.sha256(text.encode()).hexdigest()[:32])
