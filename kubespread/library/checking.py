"""What is wrong with manifests, or with a cluster's own workloads: from texts and a snapshot to the rules and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import msgspec

from kubespread.candidate.references import ClusterWorkloads
from kubespread.candidate.sources import Choosing, PodGiven
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.proposals import told
from kubespread.library.asked_cluster import cluster_reference
from kubespread.library.deciding import Scheduler
from kubespread.library.patches import commands_for
from kubespread.library.subjects import Gathered, gather
from kubespread.lint import baseline as baselines
from kubespread.lint.engine import Surroundings, not_asked
from kubespread.lint.engine import check as check_all
from kubespread.lint.registry import RULES
from kubespread.lint.selection import rule_called, selected, unknown_codes
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, display_name, read_text_bytes
from kubespread.planner.advise.change import Change
from kubespread.planner.reports.check import CheckReport, Finding, RuleReport
from kubespread.snapshot.edits.text import parse
from kubespread.snapshot.snapshot import Snapshot

_DEFAULT = Scheduler()
_BY_ITSELF = (
    "each workload is tried by itself, all replicas afresh: what others that are checked with it take is not counted"
)


class CheckKeywords(TypedDict, total=False):
    """The keywords of `check`."""

    select: Sequence[str]
    """Codes of the rules to ask, or what codes begin with; all without it."""
    ignore: Sequence[str]
    """Those to leave out."""
    baseline: str | Path | None
    """A file of findings that are known and left, as `write_baseline` makes it."""
    namespace: str | None
    """Where a manifest names none, and whose workloads of the cluster are checked; without it those of all."""
    selector: str
    """Labels of the workloads that are meant, as kubectl's ``-l`` has them."""
    recursive: bool
    """Read directories to their depths."""
    template_path: str
    """Where kinds that are not known have their pod template."""
    on_progress: Callable[[int], None] | None
    """Told before each workload how many were checked."""


def check(
    snapshot: Snapshot | None,
    manifests: PodGiven | Sequence[PodGiven] = (),
    scheduler: Scheduler = _DEFAULT,
    **options: Unpack[CheckKeywords],
) -> CheckReport:
    """What is wrong with the workloads of ``manifests``, and of directories of them, each fault with its remedy.

    With a ``snapshot`` they are tried on its cluster, and without manifests its own workloads are checked; without one
    only rules that need no cluster are asked. A file that cannot be read, or an object that the API server would
    refuse, is a finding and does not keep the others from being checked. The keywords are `CheckKeywords`.
    Raises UsageError, SnapshotError, and ManifestError for a baseline that is none.
    """
    rules = selected(options.get("select", ()), options.get("ignore", ()))
    known = _baseline(options.get("baseline"))
    given = [manifests] if not isinstance(manifests, Sequence) or isinstance(manifests, str) else list(manifests)
    if not given:
        if snapshot is None:
            raise UsageError("nothing to check: name manifests, or a cluster")
        given = [ClusterWorkloads(all_namespaces=options.get("namespace") is None)]
    choosing = Choosing(
        namespace=options.get("namespace"),
        selector=options.get("selector", ""),
        recursive=options.get("recursive", False),
        template_path=options.get("template_path", ""),
    )
    gathered = gather(given, snapshot, scheduler, choosing)
    surroundings = Surroundings(gathered.objects, gathered.version, gathered.cluster)
    checked = check_all(gathered.subjects, gathered.refused, rules, surroundings, options.get("on_progress"))
    findings, gone = (checked.findings, 0) if known is None else baselines.without_known(checked.findings, known)
    left_out = not_asked(rules, surroundings)
    return CheckReport(
        kube_version=str(gathered.version),
        cluster=cluster_reference(snapshot) if snapshot is not None else None,
        files=gathered.files,
        workloads=len(gathered.subjects) + sum(each.workload is not None for each in gathered.refused),
        asked=tuple(rule.code for rule in rules if rule.code not in left_out),
        not_asked=left_out,
        findings=tuple(findings if snapshot is None else (_with_commands(each, snapshot) for each in findings)),
        rules=_reported(findings),
        ignored=checked.ignored,
        in_baseline=len(checked.findings) - len(findings),
        gaps=tuple(gathered.gaps),
        not_modelled=(_BY_ITSELF,) if snapshot is not None else (),
        notes=(*told(gathered.version.proposed), *gathered.notes, *_notes(gathered, gone)),
    )


def _with_commands(finding: Finding, snapshot: Snapshot) -> Finding:
    """With what kubectl mends it with: a manifest is edited instead."""
    remedy = finding.remedy
    if finding.file is not None or finding.workload is None:
        return finding
    change = Change("", remedy.text, 0, settings=remedy.settings, edits=tuple(map(parse, remedy.edits)))
    commands = commands_for(change, (finding.workload,), snapshot)
    return msgspec.structs.replace(finding, remedy=msgspec.structs.replace(remedy, commands=commands))


def rules() -> tuple[RuleReport, ...]:
    """Every rule there is, by code."""
    return tuple(rule.report for rule in RULES)


def rule(code: str) -> RuleReport:
    """The rule with this code or name. Raises UsageError."""
    return rule_called(code).report


def write_baseline(report: CheckReport, path: str | Path) -> None:
    """Remember the findings of ``report`` as known, for the ``baseline`` of another `check`. Raises UsageError."""
    try:
        Path(path).write_bytes(baselines.encoded(baselines.baseline_of(report.findings)))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _baseline(path: str | Path | None) -> baselines.Baseline | None:
    if path is None:
        return None
    file = display_name(str(path))
    try:
        return baselines.decoded(read_text_bytes(str(path), MAX_MANIFEST_BYTES), file)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def _reported(findings: Sequence[Finding]) -> tuple[RuleReport, ...]:
    codes = {finding.code for finding in findings}
    return tuple(each.report for each in RULES if each.code in codes)


def _notes(gathered: Gathered, gone: int) -> Sequence[str]:
    notes = []
    ignored = (*(each.ignored for each in gathered.subjects), *(each.ignored for each in gathered.refused))
    silenced = dict.fromkeys(code for codes in ignored for code in codes)
    if unknown := list(unknown_codes(silenced)):
        notes.append(f"annotations silence what no rule is called: {', '.join(unknown)}")
    if gone:
        notes.append(f"{gone} finding{'' if gone == 1 else 's'} of the baseline {'is' if gone == 1 else 'are'} gone")
    return notes
