"""An upgrade: its batches, what blocks it and what would help."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import Frame, View, beside, source
from kubespread.wording import count_of


def account(report: UpgradeReport) -> View:
    surge = f", surge {report.surge}" if report.surge else ""
    return View(
        title=f"Replacing {count_of(len(report.nodes), 'node')}, {report.batch} at a time{surge}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        tables=[_steps(report), *_blocked(report)],
        frames=list(_frames(report)),
        beside=beside([report]),
    )


def _steps(report: UpgradeReport) -> Table:
    rows = [
        Row(
            [
                str(number),
                ", ".join(step.nodes),
                ", ".join(step.added),
                *map(str, (step.evicted, len(step.preempted), step.placed, step.daemons, step.pending)),
                step.state,
            ],
            Tone.BAD if step.is_bad or step.pending else Tone.GOOD,
        )
        for number, step in enumerate(report.steps, 1)
    ]
    header = ("Step", "Nodes", "Joined", "Evicted", "Preempted", "Placed", "Of DaemonSets", "Pending", "State")
    return Table("Batches", header, rows)


def _blocked(report: UpgradeReport) -> Iterator[Table]:
    if report.blocked is not None and report.blocked.pods:
        rows = [
            Row([each.pod, each.node, each.budget, f"{each.message} {each.cause}".strip()], Tone.BAD)
            for each in report.blocked.pods
        ]
        yield Table("Pods that cannot be evicted", ("Pod", "Node", "Budget", "Why"), rows)


def _frames(report: UpgradeReport) -> Iterator[Frame]:
    for number, step in enumerate(report.steps, 1):
        stuck = step.is_blocked
        said = f"{step.evicted:,} evicted, {step.placed:,} placed, {step.pending:,} pending"
        label = f"step {number}: {', '.join(step.nodes)}{' blocked' if stuck else ''}"
        states = dict.fromkeys(step.nodes, ("cordoned",)) if stuck else {}
        yield Frame(label, said, step.pods, () if stuck else step.nodes, step.added, states)
