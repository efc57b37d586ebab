"""What is wrong with manifests, or with a cluster's own workloads: gather them, run the rules, report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct

from kubespread.candidate.input.command_line import is_reference
from kubespread.candidate.input.references import ClusterWorkloads
from kubespread.errors import Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.manifest.text import MAX_MANIFEST_BYTES, STDIN, MalformedError, display_name, read_text_bytes
from kubespread.questions.check.lint import baseline as baselines
from kubespread.questions.check.lint.engine import Checked, Checking, Surroundings, not_asked, together
from kubespread.questions.check.lint.registry import RULES, rule_called, selected, unknown_codes
from kubespread.questions.check.lint.rule import AnyRule
from kubespread.questions.check.question import Check
from kubespread.questions.check.report import CheckReport, Excerpt, Finding, Line, RuleReport, Severity
from kubespread.questions.check.subjects import Gathered, gather
from kubespread.questions.patches import commands_for
from kubespread.questions.remedies.change import Change
from kubespread.questions.scene import Scene
from kubespread.snapshot.atomic_file import replacing
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

if TYPE_CHECKING:
    from kubespread.candidate.input.commit import Earlier

_CODES_SHOWN = 5
_CONSTRAINTS = "topologySpreadConstraints:"
_LONGEST, _MOST_OF_ONE = 200, 20
"""Letters of a line, and lines of a constraint, that a report shows of a file."""


def answer(question: Check, scene: Scene) -> CheckReport:
    """What the chosen rules find, without the findings in the baseline."""
    snapshot = scene.given
    rules, bar = selected(question.select, question.ignore), _bar(question.fail_on)
    baseline = _baseline(question.baseline)
    if not question.pods and snapshot is None:
        raise UsageError("nothing to check: name manifests, or a cluster")
    if not rules:
        raise UsageError("nothing to check: what is selected and ignored leaves no rule")
    if snapshot is None and all(rule.needs_cluster for rule in rules):
        codes, need = some_of([rule.code for rule in rules], _CODES_SHOWN), "needs" if len(rules) == 1 else "need"
        raise UsageError(f"nothing to check: {codes} {need} a cluster (-S FILE)")
    with _base_of(question) as earlier:
        work = _Checking.of(question, scene)
        gathered = work.gathered
        parts = list(work.searched(_checked(work, question, scene)))
        missing = [subject.name for subject in gathered.subjects[len(parts) :]]
        unfinished = scene.unfinished("workload", len(gathered.subjects), missing)
        before = None if earlier is None else _before(question, earlier, scene)
    checked = together(gathered.refused, rules, parts)
    findings, gone = (checked.findings, 0) if baseline is None else baselines.without_known(checked.findings, baseline)
    new = findings if before is None else [finding for finding in findings if before.is_new(finding)]
    return CheckReport(
        kube_version=str(gathered.version),
        cluster=scene.source,
        files=gathered.files,
        workloads=len(parts) + sum(refused.workload is not None for refused in gathered.refused),
        asked=tuple(rule.code for rule in rules if not rule.needs_cluster or snapshot is not None),
        not_asked=not_asked(rules, work.surroundings),
        not_chosen=tuple(rule.code for rule in RULES if rule not in rules),
        fail_on=bar,
        findings=tuple(new if snapshot is None else (_with_commands(finding, snapshot) for finding in new)),
        rules=_reported(new),
        excerpts=tuple(_excerpts(new, gathered.texts)),
        ignored=checked.ignored,
        in_baseline=len(checked.findings) - len(findings),
        base=question.base,
        base_commit=None if earlier is None else earlier.commit,
        in_base=len(findings) - len(new),
        patch=_patch(new, gathered, question) if question.diff else None,
        gaps=tuple(dict.fromkeys((*gathered.gaps, *work.assumed))),
        not_modelled=Check.never_modelled if snapshot is not None else (),
        notes=(*gathered.notes, *_notes(gathered, 0 if unfinished else gone), *(before.notes if before else ())),
        unfinished=unfinished,
    )


def _checked(work: _Checking, question: Check, scene: Scene) -> Iterator[Checked]:
    """What is found in each workload; in the first ones where the time is up. Raises UsageError."""
    same = msgspec.structs.replace(question, pods=tuple(work.gathered.sources))
    return scene.tasks(work, range(len(work.gathered.subjects)), same, _known)


def _patch(findings: Sequence[Finding], gathered: Gathered, question: Check) -> str:
    # What edits texts is imported where some text is edited.
    from kubespread.questions.check.patching import patch

    return patch(findings, gathered.written, question.template_path)


def _known(checked: Checked) -> str:
    worst = min(checked.findings, key=lambda finding: finding.severity.rank, default=None)
    return "" if worst is None else f"{worst.called}: {worst.severity} {worst.code}: {worst.message}"


def _base_of(question: Check) -> AbstractContextManager[Earlier | None]:
    """The manifests as they were in the base, if one is named. Raises UsageError."""
    if question.base is None:
        return nullcontext()
    paths = [str(pod) for pod in question.pods if isinstance(pod, str | Path) and str(pod) != STDIN]
    if not paths or len(paths) < len(question.pods) or any(map(is_reference, paths)):
        raise UsageError(
            f"--base {question.base} compares files of a git repository: name files and directories (of anything else "
            "--write-baseline records the findings, and --baseline leaves them out)"
        )
    # What runs git is imported where it is run.
    from kubespread.candidate.input.commit import as_of

    return as_of(question.base, paths)


class _Before(Struct, frozen=True):
    """What the manifests' base has."""

    severities: Mapping[str, Severity]
    """Of its findings, by fingerprint."""
    notes: Sequence[str]

    def is_new(self, finding: Finding) -> bool:
        """Whether the base does not have it, or has it less severe."""
        earlier = self.severities.get(finding.fingerprint)
        return earlier is None or finding.severity.rank < earlier.rank


def _before(question: Check, earlier: Earlier, scene: Scene) -> _Before:
    """The same question of the manifests as they were."""
    notes, findings = list[str](), list[Finding]()
    if not earlier.is_common:
        notes.append(f"HEAD and {question.base} have no commit in common here: compared with {question.base} itself")
    if earlier.paths:
        try:
            asked = msgspec.structs.replace(question, pods=earlier.paths)
            work = _Checking.of(asked, scene)
            parts = list(_checked(work, asked, scene))
        except KubespreadError as error:
            why = str(error).replace(f"{earlier.directory}/", "")
            notes.append(f"all findings are new; in {question.base}: {why}")
        else:
            checked = together(work.gathered.refused, selected(question.select, question.ignore), parts)
            findings = [_renamed(finding, earlier) for finding in checked.findings]
            if len(parts) < len(work.gathered.subjects):
                notes.append(f"{question.base} was not checked to the end: what it has too may count as new")
    return _Before({finding.fingerprint: finding.severity for finding in baselines.fingerprinted(findings)}, notes)


def _renamed(finding: Finding, earlier: Earlier) -> Finding:
    file = finding.file
    return finding if file is None else msgspec.structs.replace(finding, file=earlier.named(file))


class _Checking:
    """The workloads that are checked, by number."""

    def __init__(self, gathered: Gathered, rules: Sequence[AnyRule]) -> None:
        self.gathered = gathered
        self.surroundings = Surroundings(gathered.objects, gathered.version, gathered.cluster)
        self.assumed: dict[str, None] = {} if gathered.cluster is None else gathered.cluster.assumed
        self._checking = Checking(gathered.subjects, rules, self.surroundings)

    @classmethod
    def of(cls, question: Check, scene: Scene) -> Self:
        sources = question.pods or (ClusterWorkloads(all_namespaces=question.namespace is None),)
        gathered = gather(sources, scene.given, scene.scheduler, question.choosing)
        return cls(gathered, selected(question.select, question.ignore))

    def __call__(self, number: int) -> Checked:
        return self._checking.check(number)

    def searched(self, parts: Iterable[Checked]) -> Iterator[Checked]:
        """The same with the remedies that are still to be searched for: by one process, in the order of the workloads,
        whose searches share one effort.
        """
        ways_out = self.gathered.ways_out
        for number, checked in enumerate(parts):
            if ways_out is not None and checked.is_open:
                yield checked.with_way_out(self._checking.way_out(number, ways_out))
            else:
                yield checked


def _bar(fail_on: Severity | str) -> Severity:
    """The severity of that name. Raises UsageError."""
    try:
        return Severity(fail_on)
    except ValueError:
        raise UsageError(f"invalid fail_on {fail_on!r}: expected {', '.join(Severity)}") from None


def _with_commands(finding: Finding, snapshot: Snapshot) -> Finding:
    """The finding with the kubectl commands that fix it: a manifest is edited instead."""
    remedy = finding.remedy
    if finding.file is not None or not isinstance(finding.workload, WorkloadName):
        return finding
    change = Change("", remedy.text, 0, settings=remedy.settings, edits=tuple(map(parse, remedy.edits)))
    commands = commands_for(change, (finding.workload,), snapshot)
    return msgspec.structs.replace(finding, remedy=msgspec.structs.replace(remedy, commands=commands))


def rules() -> tuple[RuleReport, ...]:
    """Every rule, by code."""
    return tuple(rule.report for rule in RULES)


def rule(code: str) -> RuleReport:
    """The rule with this code or name. Raises UsageError."""
    return rule_called(code).report


def write_baseline(report: CheckReport, path: str | Path) -> None:
    """Record the findings of ``report`` as known, for the ``baseline`` of another `check`.

    The file is replaced atomically. Raises UsageError, also for an unfinished report: what it lacks would be new
    forever.
    """
    if report.unfinished is not None:
        raise UsageError(f"{path}: not written: {report.unfinished.sentence}")
    try:
        with replacing(Path(path)) as file:
            file.write(baselines.encoded(baselines.baseline_of(report.findings)))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _baseline(path: str | None) -> baselines.Baseline | None:
    if path is None:
        return None
    file = display_name(path)
    try:
        return baselines.decoded(read_text_bytes(path, MAX_MANIFEST_BYTES), file)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def _reported(findings: Sequence[Finding]) -> tuple[RuleReport, ...]:
    codes = {finding.code for finding in findings}
    return tuple(rule.report for rule in RULES if rule.code in codes)


def _excerpts(findings: Sequence[Finding], texts: Mapping[str, bytes]) -> Iterator[Excerpt]:
    """Of each file with findings whose lines are known."""
    marked: dict[str, set[int]] = {}
    for finding in findings:
        if finding.file is not None and finding.file in texts and finding.line is not None:
            marked.setdefault(finding.file, set()).add(finding.line - 1)
    for file, places in marked.items():
        lines = texts[file].decode(errors="replace").splitlines()
        shown = sorted({line for place in places if place < len(lines) for line in _around(place, lines)})
        yield Excerpt(file=file, lines=tuple(Line(number=line + 1, text=lines[line][:_LONGEST]) for line in shown))


def _around(place: int, lines: Sequence[str]) -> Iterator[int]:
    """A line with those it is indented below, and all of the constraint that it is in.

    Whatever else the file says, such as the environment of containers, is nobody's business who reads a report.
    """
    yield place
    inner, start, is_item = place, _indent(lines[place]), _is_item(lines[place])
    for above in range(place - 1, -1, -1):
        line = lines[above]
        if line.startswith("---"):
            return
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        # A list may be indented as much as its field is.
        if _indent(line) < start or (is_item and not _is_item(line) and _indent(line) == start):
            yield above
            if line.strip() == _CONSTRAINTS and _is_item(lines[inner]):
                yield from _item(inner, lines)
            inner, start, is_item = above, _indent(line), _is_item(line)


def _item(first: int, lines: Sequence[str]) -> Iterator[int]:
    for place in range(first + 1, min(first + _MOST_OF_ONE, len(lines))):
        if lines[place].strip() and _indent(lines[place]) <= _indent(lines[first]):
            return
        yield place


def _is_item(line: str) -> bool:
    return line.lstrip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _notes(gathered: Gathered, gone: int) -> Sequence[str]:
    notes = []
    ignored = (*(subject.ignored for subject in gathered.subjects), *(refused.ignored for refused in gathered.refused))
    silenced = dict.fromkeys(code for codes in ignored for code in codes)
    if unknown := list(unknown_codes(silenced)):
        notes.append(f"annotations silence unknown rules: {', '.join(unknown)}")
    if gone:
        notes.append(f"{gone} finding{'' if gone == 1 else 's'} of the baseline {'is' if gone == 1 else 'are'} gone")
    return notes
