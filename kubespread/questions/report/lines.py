"""What each question's answer contributes to a report: its bad rows as lines, its own words and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.well_known import HOSTNAME
from kubespread.questions.audit.report import AuditedWorkload, AuditFinding, AuditReport, counts_text, sentence
from kubespread.questions.pending.report import PendingReport, StuckGroup
from kubespread.questions.report.report import Area, Badness, ReportLine
from kubespread.questions.survive.report import DomainLoss, SurviveReport, domain_name, troubles_of
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, short_key, some_of

_MAX_NAMED = 3
_NUMBER = re.compile(r"\d[\d,]*")
_NOUNS = {"hostname": "node"}
_LATER = frozenset({"fits", "preempts", "nominated"})
"""Why pods wait that get a node without anybody's doing."""
_MISSING: Mapping[str, tuple[Area, Badness]] = {
    "stuckRollout": ("running", "critical"),
    "notCreated": ("running", "critical"),
    "notReady": ("running", "critical"),
    "noRoom": ("running", "warning"),
    "gated": ("running", "notice"),
    "otherScheduler": ("running", "notice"),
}
"""Findings of an audit that are not about where pods are; ``pending`` is what the question of that name tells."""
_OF_PENDING = frozenset({"gated", "otherScheduler"})
"""What it tells too where pods wait for that."""


class Commands(Struct, frozen=True):
    """How the commands name the cluster, and the workloads, that a report is about."""

    cluster: Snapshot
    context: str | None
    whose: str
    """``-A``, or ``-n NAMESPACE`` and ``-l LABELS``."""

    def of(self, question: str, *words: str, namespace: str | None = None) -> str:
        """The command that asks ``question`` of the same cluster, of the report's workloads or of a namespace."""
        whose = self.whose if namespace is None else f"-n {quote(namespace)}"
        return " ".join(["kubespread", question, *words, *([whose] if whose else []), *self._source()])

    def _source(self) -> Iterator[str]:
        for file in self.cluster.files:
            yield f"-S {quote(file)}"
        if self.context is not None:
            yield f"--context {quote(self.context)}"
        for edit in self.cluster.edits:
            verb, _, rest = str(edit).partition(" ")
            target, *flags = rest.split(" --")
            yield " ".join([f"--{verb} {quote(target)}", *(f"--{flag}" for flag in flags)])


def of_pending(report: PendingReport, pods: Mapping[NamespacedName, Pod], commands: Commands) -> Iterator[ReportLine]:
    """A line for each cause that pods wait for."""
    for group in report.groups:
        whom = some_of([workload.called for workload in group.workloads], _MAX_NAMED)
        number = count_of(len(group.pods), "pod")
        namespaces = {workload.namespace for workload in group.workloads}
        yield ReportLine(
            # Who waits for the same cause changes, and so do the numbers in it.
            key=f"running/pending/{group.cause}/{_NUMBER.sub('#', group.why)}",
            area="running",
            question="pending",
            level="notice" if group.cause in _LATER else "critical",
            what=f"{number} of {whom} pending: {group.why}",
            extent=len(group.pods),
            workloads=group.workloads,
            since=min((since for pod in group.pods if (since := _waiting_since(pods[pod]))), default=None),
            command=commands.of("pending", namespace=namespaces.pop() if len(namespaces) == 1 else None),
            remedy=_freeing(group),
            commands=() if group.change is None else group.change.commands,
        )


def _waiting_since(pod: Pod) -> str:
    """When kube-scheduler first said that it finds no node; else when the pod was created."""
    said = (condition.last_transition_time for condition in pod.status.conditions if condition.type == "PodScheduled")
    return next(filter(None, said), pod.metadata.creation_timestamp)


def _freeing(group: StuckGroup) -> str | None:
    change = group.change
    if change is None or not group.freed:
        return None
    harm = "".join(f"; {consequence}" for consequence in change.consequences)
    return f"{change.brief or change.change}: {group.freed:,} of {len(group.pods):,} find a node{harm}"


def of_audit(report: AuditReport, commands: Commands) -> Iterator[ReportLine]:
    """A line for each finding, except of what `of_pending` tells."""
    for row in report.workloads:
        for finding in row.findings:
            if finding.cause != "pending" and not (row.pending and finding.cause in _OF_PENDING):
                yield _found(row, finding, commands)


def _found(row: AuditedWorkload, finding: AuditFinding, commands: Commands) -> ReportLine:
    area, level, what, extent = _judged(row, finding)
    key = f"/{short_key(finding.topology_key)}" if finding.topology_key else ""
    if finding.constraint is not None:
        key = f"{key}/{finding.constraint}"
    reference = f"{_short(row.workload)}/{row.workload.name}"
    return ReportLine(
        key=f"{area}/{what}/{row.workload}{key}",
        area=area,
        question="audit",
        level=level,
        what=f"{row.called}: {sentence(row, finding)}",
        extent=extent,
        workloads=(row.workload,),
        command=commands.of("audit", quote(reference), "--why", namespace=row.workload.namespace),
        remedy=_ending(finding),
    )


def _short(workload: WorkloadName) -> str:
    row = POD_CREATORS.get(workload.kind)
    return row.short if row is not None else workload.kind.lower()


def _judged(row: AuditedWorkload, finding: AuditFinding) -> tuple[Area, Badness, str, int]:
    """Where it belongs, how bad it is, what it is and of what extent."""
    if finding.cause in _MISSING:
        area, level = _MISSING[finding.cause]
        missing = row.replicas - (row.ready if finding.cause == "notReady" else row.placed)
        return area, level, finding.cause, max(1, missing) if level == "critical" else 1
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        level = "warning" if finding.level == "violated" else "notice"
        return "spread", level, finding.level, constraint.skew - constraint.max_skew
    if finding.cause == "missingLabel":
        return "spread", "notice", "missingLabel", 1
    return "spread", "notice" if row.placed < 2 else "warning", "oneDomain", row.placed


def _ending(finding: AuditFinding) -> str | None:
    """The last trial, where it ended what was found."""
    last = finding.trials[-1] if finding.trials else None
    if last is None or not last.holds or finding.cause == "unknown":
        return None
    return f"{last.how}: {counts_text(last.counts)}"


def of_survive(report: SurviveReport, hosts: int, commands: Commands) -> Iterator[ReportLine]:
    """A line for the worst domain of each key, and in pairs for each that leaves anything behind; of so many ``hosts``
    some may not be lost.
    """
    for key, losses in report.by_key():
        standing = [loss for loss in losses if not loss.already_lost]
        bad = sorted((loss for loss in standing if loss.trouble), key=lambda loss: (-missing_pods(loss), loss.domain))
        name = short_key(key)
        if report.pairs:
            others = [""] * len(bad)
            options = ["--key", quote(name), "--pairs"]
        else:
            safe, of = len(standing) - len(bad), count_of(len(standing), _NOUNS.get(name, name))
            tried = " tried, those with the most to lose," if key == HOSTNAME and len(losses) < hosts else ""
            others = [f" ({f'{safe:,}' if safe else 'none'} of {of}{tried} can be lost)"]
            options = ["--key", quote(name)]
        for loss, beside in zip(bad, others, strict=False):
            yield ReportLine(
                key=f"losses/{name}/{loss.domain}" if report.pairs else f"losses/{name}",
                area="losses",
                question="survive",
                level="notice" if report.pairs else "warning",
                what=f"{troubles_of(loss)}{beside}",
                extent=missing_pods(loss),
                workloads=tuple(short.workload for short in loss.short),
                nodes=(domain_name(loss),) if key == HOSTNAME else (),
                command=commands.of("survive", *options),
            )


def missing_pods(loss: DomainLoss) -> int:
    """How many pods wait, are not ready or are gone for good in the worse end state."""
    pending = max(loss.pending, loss.pending_after_removal)
    unready = sum(min(short.wanted, short.ready_before) - short.fewest_ready for short in loss.short)
    return max(pending, unready) + len(loss.not_made_again)
