"""Steps, and the passes of their rollouts, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.planner.reports.rollout import DomainRevisions
from kubespread.views.aligned import NONE, blocks
from kubespread.views.look import Look
from kubespread.views.play.rows import unmade, worst_skew

_STEPS = [
    "STEP", "PLACED", "GONE", "BLOCKED", "PENDING", "WORKLOAD", "KEY", "MAX-SKEW", "BEFORE", "AFTER", "NOT-CREATED",
    "NOT-MADE", "TEXT", "WHY",
]  # fmt: skip
_PASSES = ["STEP", "WORKLOAD", "PASS", "OLD", "NEW", "READY", "KEY", "DOMAIN", "OLD-PODS", "NEW-PODS", "SKEW"]


def write(report: PlayReport, look: Look) -> str:
    """Up to two blocks; what holds blanks comes last."""
    return blocks(*parts(report), headers=look.headers)


def parts(report: PlayReport) -> Sequence[tuple[Sequence[str], Iterator[list[str]]]]:
    """Each with its header."""
    return (_STEPS, (_step(report, step) for step in report.steps)), (_PASSES, _passes(report))


def _step(report: PlayReport, step: StepReport) -> list[str]:
    happened, worst = step.happened, worst_skew(report, step)
    change = worst.change if worst is not None else None
    return [
        str(step.number),
        str(len(happened.placed)),
        str(len(happened.gone)),
        str(len(happened.blocked)),
        str(step.pending),
        NONE if worst is None else worst.workload,
        NONE if change is None else change.topology_key,
        NONE if change is None else str(change.max_skew),
        NONE if change is None else str(change.before),
        NONE if change is None else str(change.after),
        str(step.not_created),
        str(step.not_made_yet),
        step.text,
        _why(step),
    ]


def _why(step: StepReport) -> str:
    """What went wrong first."""
    wedged = (each.wedged_on for each in step.rollouts if each.wedged_on is not None)
    blocked = (f"{each.message} {each.cause}".strip() for each in step.happened.blocked)
    pending = (each.message for each in step.happened.pending)
    lacking = (each.message for each in unmade(step.happened))
    failed = [] if step.failed is None else [" ".join(step.failed.split("\n"))]
    return next(iter((*failed, *blocked, *wedged, *pending, *lacking)), NONE)


def _holds_pods(domain: DomainRevisions) -> bool:
    return domain.old + domain.new > 0


def _passes(report: PlayReport) -> Iterator[list[str]]:
    for step in report.steps:
        for rollout in step.rollouts:
            for each in rollout.passes:
                figures = [each.number, each.running.old, each.running.new, each.ready.old + each.ready.new]
                row = [str(step.number), rollout.workload, *map(str, figures)]
                domains = [(key, domain) for key in each.constraints for domain in key.domains if _holds_pods(domain)]
                if not domains:
                    yield [*row, NONE, NONE, NONE, NONE, NONE]
                for key, domain in domains:
                    yield [
                        *row, key.topology_key, domain.value or '""', str(domain.old), str(domain.new), str(key.skew),
                    ]  # fmt: skip
